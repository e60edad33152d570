package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/walk"
)

// A text is never said to lack what is in it.
func FuzzSketch(f *testing.F) {
	f.Add([]byte("func main() {\n\tfmt.Println(\"Hello, 世界\")\n}\n"), 3, 12, true)
	f.Add([]byte("Straße K8S K ſkip"), 0, 9, true)
	f.Add([]byte("abc"), 0, 3, false)
	f.Fuzz(func(t *testing.T, text []byte, from, size int, fold bool) {
		if from < 0 || size < 0 || from > len(text) || size > len(text)-from || !utf8.Valid(text[from:from+size]) {
			return
		}
		w := want{string(text[from : from+size]), fold}
		var table [mostRuns]uint8
		for _, given := range forms(text, fold) {
			if runs := drawRuns(&table, given); !anyOf([]want{w}).in(runs) || !allOf([]want{w, w}).in(runs) {
				t.Errorf("%q is said to lack %q (any case: %v)", given, w.text, fold)
			}
		}
	})
}

// forms are texts in which the same is found.
func forms(text []byte, fold bool) [][]byte {
	if !fold || !utf8.Valid(text) {
		return [][]byte{text}
	}
	other := strings.Map(func(r rune) rune {
		all := formsOf(r)
		last, _ := utf8.DecodeRune(all[len(all)-1])
		return last
	}, string(text))
	return [][]byte{text, []byte(other)}
}

func TestASketchTellsWhatIsNotThere(t *testing.T) {
	var table [mostRuns]uint8
	source, err := os.ReadFile("sketch.go")
	if err != nil {
		t.Fatal(err)
	}
	runs, wrong := drawRuns(&table, source), 0
	for i := range 1000 {
		if anyOf([]want{{fmt.Sprintf("zq%dxj%dvw", i*7919, i), false}}).in(runs) {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of 1000 texts that are not there may be there", wrong)
	}
	for _, texts := range [][]want{{{"ab", false}}, {{"long enough", false}, {"no", false}}, {{"kskskS", true}}, nil} {
		if n := anyOf(texts); n != nil {
			t.Errorf("%v is a need: %v", texts, n)
		}
	}
}

// remembering searches a tree often enough that all of it is drawn.
func remembering(t *testing.T, root string) func(pattern string) Hits {
	cache, known := walk.NewCache(root), NewSketches()
	search := func(pattern string) Hits {
		t.Helper()
		q, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := q.Run(context.Background(), root, cache.Tree(context.Background(), walk.Options{}), Limits{}, known)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	for range 6 {
		search("nosuchtext")
	}
	if list := paths(t, root); runtime.GOOS == "linux" && len(known.files) != len(list) {
		t.Fatalf("%d of %d files are known", len(known.files), len(list))
	}
	return search
}

func paths(t *testing.T, root string) []walk.Entry {
	t.Helper()
	list, err := walk.List(context.Background(), root, walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Whatever happens to a file, a search that knows the files finds what one that
// knows nothing finds.
func TestAKnownFileThatChangesIsReadAgain(t *testing.T) {
	root := t.TempDir()
	name := func(n string) string { return filepath.Join(root, n) }
	write := func(n, content string) {
		t.Helper()
		if err := os.WriteFile(name(n), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		write(n, "nothing here\n")
	}
	write("f", "needle\n")
	for _, change := range []struct {
		name string
		make func()
	}{
		{"nothing", func() {}},
		{"other bytes, the same size", func() { write("a", "needle here.\n") }},
		{"the time set back", func() {
			info, err := os.Stat(name("b"))
			if err != nil {
				t.Fatal(err)
			}
			write("b", "needle here.\n")
			if err := os.Chtimes(name("b"), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}},
		{"another file under its name", func() {
			write("new", "needle here.\n")
			if err := os.Rename(name("new"), name("c")); err != nil {
				t.Fatal(err)
			}
		}},
		{"the text gone", func() { write("f", "nobody\n") }},
		{"wide characters", func() { write("d", "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00") }},
	} {
		t.Run(change.name, func(t *testing.T) {
			time.Sleep(150 * time.Millisecond) // more than a file must be old to be known
			search := remembering(t, root)
			change.make()
			q, err := Compile("needle", Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := q.Run(context.Background(), root, walk.Tree(context.Background(), root, walk.Options{}), Limits{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if d := cmp.Diff(want, search("needle")); d != "" {
					t.Errorf("without and with memory:\n%s", d)
				}
			}
		})
	}
}

// While files change a known tree gives what stands still, and what is there
// when they have come to rest.
func TestSearchingAKnownTreeThatChanges(t *testing.T) {
	root := t.TempDir()
	write := func(n, content string) { _ = os.WriteFile(filepath.Join(root, n), []byte(content), 0o644) }
	for i := range 20 {
		write(fmt.Sprint("still", i), "needle\n")
		write(fmt.Sprint("busy", i), "nothing\n")
	}
	time.Sleep(150 * time.Millisecond) // more than a file must be old to be known
	search := remembering(t, root)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
				write(fmt.Sprint("busy", i%20), []string{"needle!\n", "nothing\n"}[i/20%2])
			}
		}
	}()
	for range 100 {
		if h := search("needle$"); h.Matches != 20 {
			t.Fatalf("%d matches", h.Matches)
		}
	}
	close(quit)
	<-done
	for i := range 20 {
		write(fmt.Sprint("busy", i), "needle!\n")
	}
	if h := search("needle!"); h.Matches != 20 {
		t.Errorf("%d matches at rest", h.Matches)
	}
}

func TestWhatIsKnownIsBounded(t *testing.T) {
	s := NewSketches()
	runs := make(runSet, mostRuns/64)
	for i := range uint64(5000) {
		found := &sketch{runs: runs}
		found.used.Store(int64(i / 500))
		s.keep(i, found)
	}
	total := 0
	for _, known := range s.files {
		total += known.bytes()
	}
	if total != s.size || total > 8<<20 {
		t.Errorf("%d bytes are kept, %d are counted", total, s.size)
	}
	late := &sketch{runs: runs}
	late.used.Store(1000)
	if s.keep(9999, late); len(s.files) != 1 {
		t.Errorf("%d files are kept that nobody came by", len(s.files)-1)
	}
}

func TestRunsAreFoundWhereverTheyBegin(t *testing.T) {
	var table [mostRuns]uint8
	for size := range 40 {
		text := []byte(strings.Repeat("x", size))
		for at := 0; at+3 <= size; at++ {
			given := slices.Clone(text)
			copy(given[at:], "aB9")
			if !anyOf([]want{{"aB9", false}}).in(drawRuns(&table, given)) {
				t.Errorf("%s is said to lack aB9", given)
			}
		}
	}
}
