package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShortOutputIsKeptWhole(t *testing.T) {
	r := record{keep: 10}
	r.add([]byte("hello"))
	r.add([]byte("world"))
	if got := string(r.bytes()); got != "helloworld" {
		t.Errorf("got %q", got)
	}
}

func TestLongOutputKeepsHeadAndTailAndSaysHowMuchIsMissing(t *testing.T) {
	r := record{keep: 200}
	for i := range 1000 {
		r.add(fmt.Appendf(nil, "line %d\n", i))
	}
	got := string(r.bytes())
	if len(got) > 200 {
		t.Errorf("%d bytes kept of at most 200", len(got))
	}
	if !strings.HasPrefix(got, "line 0\nline 1\n") || !strings.HasSuffix(got, "line 998\nline 999\n") {
		t.Errorf("head or tail missing: %q", got)
	}
	head, rest, _ := strings.Cut(got, "\n[... ")
	count, tail, _ := strings.Cut(rest, " bytes left out ...]\n")
	var n int64
	if _, err := fmt.Sscan(count, &n); err != nil || n+int64(len(head)+len(tail)) != r.total {
		t.Errorf("the line says %q are missing of %d, %d+%d are there", count, r.total, len(head), len(tail))
	}
}

func TestOutputIsCutBetweenCharacters(t *testing.T) {
	for keep := 100; keep < 110; keep++ {
		r := record{keep: keep}
		r.add([]byte(strings.Repeat("日本", 1000)))
		if !utf8.Valid(r.bytes()) {
			t.Errorf("keep %d: %q", keep, r.bytes())
		}
	}
}

func TestRecordKeepsWhatAPlainBufferWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record{keep: rapid.IntRange(64, 300).Draw(t, "keep")}
		var all []byte
		for _, p := range rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange('a', 'z'), 0, 400), 0, 8).Draw(t, "pieces") {
			r.add(p)
			all = append(all, p...)
		}
		got := r.bytes()
		if len(all) <= r.keep {
			if !bytes.Equal(got, all) {
				t.Fatalf("short output changed: %q, not %q", got, all)
			}
			return
		}
		head, rest, _ := bytes.Cut(got, []byte("\n[... "))
		_, tail, found := bytes.Cut(rest, []byte(" bytes left out ...]\n"))
		if !found || len(got) > r.keep || !bytes.HasPrefix(all, head) || !bytes.HasSuffix(all, tail) {
			t.Fatalf("keep %d of %d: %q", r.keep, len(all), got)
		}
	})
}
