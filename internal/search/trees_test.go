package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchTrees are the Go source tree, a made one, and what the environment names.
func benchTrees(tb testing.TB) []string {
	trees := []string{goSource(tb), madeTree(tb, 30_000)}
	if more := os.Getenv("IKIGAI_BENCH_TREES"); more != "" {
		trees = append(trees, filepath.SplitList(more)...)
	}
	return trees
}

// madeTree has so many files of source and prose, 20 in a folder, with an
// ignore file here and there; it is the same every time.
func madeTree(tb testing.TB, files int) string {
	tb.Helper()
	root := filepath.Join(tb.TempDir(), "made")
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("func return nil, err if err != nil { } the a of in to with for each value :=  range len(list) string int // -> and is not name type struct key")
	rare := strings.Fields("世界 Straße x0001A io.ErrUnexpectedEOF token[0] = 12345 TODO(gopher): fnord_init Handler kelvin K8S abc1 zeta errLeadingInt")
	for i := 0; i < files; i += 20 {
		dir := filepath.Join(root, fmt.Sprintf("part%02d/section%03d/unit%d", i%37, i%211, i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		for k := range 20 {
			var text strings.Builder
			for range 20 + random.IntN(200) {
				for range random.IntN(12) {
					text.WriteString(words[random.IntN(len(words))] + " ")
				}
				if random.IntN(200) == 0 {
					text.WriteString(rare[random.IntN(len(rare))])
				}
				text.WriteString("\n")
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.txt", k)), []byte(text.String()), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
		if i%200 == 0 {
			if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.o\nfile3.txt\n/build/\n"), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return root
}
