package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp/syntax"
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
		for _, given := range forms(text, fold) {
			for k := range kinds {
				if sets := drawn(k, given); !anyOf([]want{w}).in(sets) || !allOf([]want{w, w}).in(sets) {
					t.Errorf("%q is said to lack %q (any case: %v, runs of %d)", given, w.text, fold, k.size())
				}
			}
		}
	})
}

// drawn is the set of a text, of one kind.
func drawn(k kind, text []byte) runSets {
	return runSets{new(drawing).draw(k, text)}
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
	source, err := os.ReadFile("sketch.go")
	if err != nil {
		t.Fatal(err)
	}
	for k := range kinds {
		sets, wrong := drawn(k, source), 0
		for i := range 1000 {
			if anyOf([]want{{fmt.Sprintf("zq%dxj%dvw", i*7919, i), false}}).in(sets) {
				wrong++
			}
		}
		if most := [kinds]int{20, 20, 100}[k]; wrong > most { // sets of long runs are fuller
			t.Errorf("%d of 1000 texts that are not there may be there (runs of %d)", wrong, k.size())
		}
	}
	for _, texts := range [][]want{{{"ab", false}}, {{"long enough", false}, {"no", false}}, {{"kskskS", true}}, nil} {
		if n := anyOf(texts); n != nil {
			t.Errorf("%v is a need: %v", texts, n)
		}
	}
}

// What is drawn of a text goes by what it is like.
func TestWhatTellsOfAText(t *testing.T) {
	source, err := os.ReadFile("sketch.go")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Repeat("one of few words and another one of them too\n", 100)
	for _, c := range []struct {
		name, text string
		kinds      []kind
		may, lacks string // what may be there and what is not, though all of its shorter runs are
	}{
		{"source", string(source), []kind{threes}, "func (s *Sketches)", "func (q *Sketches)"},
		{"long", strings.Repeat(string(source), 10), []kind{fours}, "func (s *Sketches)", "ketches func"},
		{"few words", words, []kind{threes, eights}, "another one", "few one of"},
		{"long, few words", strings.Repeat(words, 10), []kind{fours, eights}, "of them", "of one words"},
		{"short", "few words", []kind{threes}, "few words", "worlds"},
		{"nothing", "", []kind{threes}, "", "any"},
	} {
		sets := new(drawing).sets([]byte(c.text))
		var got []kind
		for _, s := range sets {
			if s.bits != nil {
				got = append(got, s.kind)
			}
		}
		if !slices.Equal(got, c.kinds) {
			t.Errorf("%s: kinds %v", c.name, got)
		}
		if !anyOf([]want{{c.may, false}}).in(sets) || anyOf([]want{{c.lacks, false}}).in(sets) {
			t.Errorf("%s: it has %q, or %q", c.name, c.lacks, c.may)
		}
		if len(c.kinds) > 1 && sets[1].lacks(anyOf([]want{{"xyz", false}})[0]) {
			t.Errorf("%s: is said to lack what is too short to be known", c.name)
		}
	}
}

// What an expression needs is in every text that it matches, and its parts count
// together.
func TestWhatAnExpressionNeeds(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		may           bool
	}{
		{`func \w+Handler`, "func serveHandler", true},
		{`func \w+Handler`, "the Handler of it", false},
		{`func \w+Handler`, "func serve", false},
		{`(open|close)d? (file|door)s`, "closed doors", true},
		{`(open|close)d? (file|door)s`, "closed window", false},
		{`(?:abc)+[0-9]`, "abc1", true},
		{`(?:abc)+[0-9]`, "and1", false},
		{`(?:abc)*[0-9]`, "1", true},
		{`(?i)ABC\d`, "xabc7", true},
		{`abc|\d+`, "7", true},
		{`abc\d|def\d`, "xyz", false},
		{`abc\d|def\d`, "def7", true},
		{`(a|b)(c|d)(e|f)(g|h)(i|j)(k|l)\d`, "acegik1", true},
		{`(ab1|cd2)x*(ef3|gh4)x*(ij5|kl6)x*(mn7|op8)x*(qr9|st0)x*(uv1|wx2)x*(yz3|ab4)`, "ab1ef3ij5mn7qr9uv1yz3", true},
		{"ab\ufffd", "ab\xff", true},
	} {
		tree, err := syntax.Parse(c.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if may := needOf(tree).in(drawn(threes, []byte(c.text))); may != c.may {
			t.Errorf("%s may be in %q: %v", c.pattern, c.text, may)
		}
	}
}

// A file that is read in windows is known like any other, unless it turns out to be
// no text.
func TestAHugeFileIsKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("marks cannot be relied on here, so nothing is known")
	}
	line := strings.Repeat("some words that are in every line of it ", 3) + "\n"
	root := tree(t, map[string]string{
		"huge":   strings.Repeat(line, 20_000) + "and one needle\n",
		"long":   strings.Repeat("one line without an end ", 100_000) + "needle",
		"binary": strings.Repeat(line, 20_000) + "\x00",
	})
	time.Sleep(150 * time.Millisecond) // more than a file must be old to be known
	cache, known := walk.NewCache(root), NewSketches()
	for i, pattern := range []string{"needle", "needle", "needle", "needle", "needle", "zebra", "needle"} {
		q, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := q.Run(context.Background(), root, cache.Tree(context.Background(), walk.Options{}), Limits{}, known)
		if want := strings.Count(pattern, "needle") * 2; err != nil || hits.Matches != want || hits.Binary != 1 {
			t.Errorf("search %d for %s: %d matches, %d binary, %v", i, pattern, hits.Matches, hits.Binary, err)
		}
	}
	if len(known.files) != 2 {
		t.Errorf("%d files are known", len(known.files))
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
	sets := runSets{{bits: make([]uint64, mostRuns/64)}}
	for i := range uint64(5000) {
		found := &sketch{sets: sets}
		found.used.Store(int64(i / 500))
		s.keep(i, found)
	}
	total := 0
	for _, known := range s.files {
		total += known.bytes()
	}
	if total != s.size || total > 24<<20 {
		t.Errorf("%d bytes are kept, %d are counted", total, s.size)
	}
	late := &sketch{sets: sets}
	late.used.Store(1000)
	if s.keep(9999, late); len(s.files) != 1 {
		t.Errorf("%d files are kept that nobody came by", len(s.files)-1)
	}
}

func TestRunsAreFoundWhereverTheyBegin(t *testing.T) {
	for size := range 40 {
		text := []byte(strings.Repeat("x", size))
		for k := range kinds {
			word := "aB9zYx7!"[:k.size()]
			for at := 0; at+len(word) <= size; at++ {
				given := slices.Clone(text)
				copy(given[at:], word)
				if !anyOf([]want{{word, false}}).in(drawn(k, given)) {
					t.Errorf("%s is said to lack %s", given, word)
				}
			}
		}
	}
}
