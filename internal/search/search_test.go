package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"ikigai/internal/walk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree writes files and gives their folder.
func tree(tb testing.TB, files map[string]string) string {
	tb.Helper()
	root := tb.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func run(tb testing.TB, root, pattern string, o Options, l Limits) Hits {
	tb.Helper()
	q, err := Compile(pattern, o)
	if err != nil {
		tb.Fatal(err)
	}
	hits, err := q.Run(context.Background(), root, walk.Tree(context.Background(), root, walk.Options{}), l, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return hits
}

// show writes hits as grep does: a colon for matches, a dash for context.
func show(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		mark := "-"
		if l.Match {
			mark = ":"
		}
		fmt.Fprintf(&b, "%s%s%d%s%s|", l.Path, mark, l.Number, mark, l.Text)
	}
	return strings.TrimSuffix(b.String(), "|")
}

func TestPatternsMatchAsTheyAreRead(t *testing.T) {
	root := tree(t, map[string]string{"f": "func fnXinit\nFN init\na.b\naxb\nKelvin \u212a\nSTRASSE \u017f\n\u00c4pfel\n[x]*\n\nend"})
	for _, c := range []struct {
		pattern string
		o       Options
		want    string // numbers of lines
	}{
		{"a.b", Options{}, "3 4"},
		{"a.b", Options{Literal: true}, "3"},
		{"fn*init", Options{Wildcard: true}, "1"},
		{"fn*init", Options{Wildcard: true, IgnoreCase: true}, "1 2"},
		{"init*fn", Options{Wildcard: true, IgnoreCase: true}, ""},
		{"n*n*n", Options{Wildcard: true}, "1"},
		{"*", Options{Wildcard: true}, "1 2 3 4 5 6 7 8 9 10"},
		{"*b*", Options{Wildcard: true}, "3 4"},
		{"[x]*", Options{Literal: true}, "8"},
		{"k", Options{IgnoreCase: true, Literal: true}, "5"},
		{"KELVIN K", Options{IgnoreCase: true}, "5"},
		{"e s", Options{IgnoreCase: true}, "6"},
		{"äpfel", Options{IgnoreCase: true}, "7"},
		{"^$", Options{}, "9"},
		{"^end$", Options{}, "10"},
		{"", Options{}, "1 2 3 4 5 6 7 8 9 10"},
		{"", Options{Literal: true}, "1 2 3 4 5 6 7 8 9 10"},
		{"xb|FN", Options{}, "2 4"},
		{"(?i)STRASSE|pfel", Options{}, "6 7"},
		{"(func|FN) ?[a-z]*X?init", Options{}, "1 2"},
		{"xb|FN|end|Ä|qq|SSE|01|02|03|04|05|06|07|08", Options{}, "2 4 6 7 10"},
		{"(?i)XB|fn|END|äp|qq|ra|01|02|03|04|05|06|07|08", Options{}, "1 2 4 6 7 10"},
		{`^\w+ \w+$`, Options{}, "1 2"},
		{`\b\w\b`, Options{}, "3 8"},
		{`^\W*$`, Options{}, "9"},
		{`^\w+$`, Options{}, "4 10"},
		{`\PL$`, Options{}, "8"},
	} {
		var got []string
		for _, l := range run(t, root, c.pattern, c.o, Limits{}).Lines {
			got = append(got, fmt.Sprint(l.Number))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q %+v: lines %v, want %s", c.pattern, c.o, got, c.want)
		}
	}
}

func TestTheColumnIsThatOfTheFirstMatch(t *testing.T) {
	root := tree(t, map[string]string{"f": "ab longword cd\nwhere is cd"})
	for pattern, want := range map[string]string{
		"cd": "13 10", "cd|gword|xx|yy|zz|longword|01|02|03|04|05|06|07|08": "4 10", "[a-z]*d$": "13 10", `\b[c-l]\w+`: "4 7", "w*r": "8 1",
	} {
		hits := run(t, root, pattern, Options{Wildcard: pattern == "w*r"}, Limits{})
		var got []string
		for _, l := range hits.Lines {
			got = append(got, fmt.Sprint(l.Column))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: columns %v, want %s", pattern, got, want)
		}
	}
}

// The parser takes apart what several words have in common; here they are whole again.
func TestTextsThatAnExpressionStandsFor(t *testing.T) {
	for pattern, want := range map[string]string{
		"foo":                      "foo",
		"EOFError|ErrShort|errInt": "EOFError ErrShort errInt",
		"foo|fob|fox":              "fob foo fox",
		"colou?r":                  "colour color",
		"a(b|)[cd]":                "abc abd ac ad",
		"(?i)abc|abd":              "ABC~ ABD~",
		"(?i)ab1|ab2":              "AB1~ AB2~",
		"(?i)[k-m]":                "K~ L~ M~",
		"[Kk]":                     "K k", // the sign for Kelvin is missing
		"a(?i:b)":                  "",    // case counts in one part only
		"1(?i:b)":                  "1B~",
		"x*|y":                     "",
		"a|":                       "", // matches everywhere
		"[a-z]x":                   "ax bx cx dx ex fx gx hx ix jx kx lx mx nx ox px qx rx sx tx ux vx wx xx yx zx",
		"[a-z][a-z]":               "", // too many
		"[\\r\\n]":                 "",
		"^ab":                      "",
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		texts, ok := plain(tree)
		if !ok {
			texts = nil
		}
		var got []string
		for _, w := range texts {
			mark := ""
			if w.fold {
				mark = "~"
			}
			got = append(got, w.text+mark)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s stands for %q, want %q", pattern, s, want)
		}
	}
}

// An expression whose automaton would need more states than there is room for
// is still searched for, and right.
func TestHugeAutomataAreForgotten(t *testing.T) {
	text := []byte(strings.Repeat("abbabaaabbbabababbbabaaabab", 4000) + "\nbbb\n" + strings.Repeat("ab", 300) + "bc\n")
	for pattern, want := range map[string]int{`(a|b)*a(a|b){14}c`: 1, `[ab]{200,300}c$`: 1, `(a|b)*a(a|b){14}d`: 0} {
		q, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tree, _ := syntax.Parse(pattern, syntax.Perl)
		q.finder = func() finder { return newAutomaton(newProgram(tree)) }
		p := newPage(q, Limits{})
		p.turn("f")
		p.search(text, 0, 1)
		if p.matches != want {
			t.Errorf("%s: %d matches, want %d", pattern, p.matches, want)
		}
		if a := p.find.(*automaton); len(a.table) > 1<<18 {
			t.Errorf("%s: a table of %d entries", pattern, len(a.table))
		}
	}
}

// A search of a tree that changes all the while ends, and finds what stays.
func TestASearchSurvivesAChangingTree(t *testing.T) {
	root := tree(t, map[string]string{"a/stays": "x\nhit\n", "b/f": "hit\n", "z/stays": "hit\n"})
	big := strings.Repeat("a hit in a long file\n", 5000)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		name := filepath.Join(root, "b/f")
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			_ = os.WriteFile(name, []byte(big[:i*7919%len(big)]), 0o644)
			_ = os.Rename(filepath.Join(root, "b"), filepath.Join(root, "c"))
			_ = os.Rename(filepath.Join(root, "c"), filepath.Join(root, "b"))
			_ = os.Truncate(name, int64(i%100))
			_ = os.Remove(name)
		}
	}()
	q, err := Compile("h[i]t", Options{})
	if err != nil {
		t.Fatal(err)
	}
	cache := walk.NewCache(root)
	for range 40 {
		hits, err := q.Run(context.Background(), root, cache.Tree(context.Background(), walk.Options{}), Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := hits.Lines[0], hits.Lines[len(hits.Lines)-1]; first.Path != "a/stays" || last.Path != "z/stays" || first.Number != 2 {
			t.Fatalf("found %v to %v", first, last)
		}
	}
	close(quit)
	<-done
}

func TestTheFirstLineOfALargeFileBeginsBehindTheMark(t *testing.T) {
	root := tree(t, map[string]string{"f": "\ufefffirst line\n" + strings.Repeat("another line\n", whole/10)})
	for _, pattern := range []string{"^f[i]rst", "^first", `^\w+ line$`, "first l[i]ne", `\bfirst\b`} {
		if hits := run(t, root, pattern, Options{}, Limits{Max: 1}); len(hits.Lines) != 1 || hits.Lines[0].Number != 1 || hits.Lines[0].Column != 1 {
			t.Errorf("%s: %v", pattern, hits.Lines)
		}
	}
}

func TestBadPatternsAreRefused(t *testing.T) {
	for pattern, o := range map[string]Options{
		"a\nb": {Literal: true}, "a(": {}, `a\nb`: {}, "\xff": {}, "*\xff": {Wildcard: true, IgnoreCase: true}, `x(?:a|b\n)`: {IgnoreCase: true},
	} {
		if _, err := Compile(pattern, o); err == nil {
			t.Errorf("%q was taken", pattern)
		}
	}
}

func TestContextIsShownOnce(t *testing.T) {
	root := tree(t, map[string]string{"f": "1\nhit\n3\n4\nhit\n6\n7\n8\n9\nhit"})
	for _, c := range []struct {
		l    Limits
		want string
	}{
		{Limits{}, "f:2:hit|f:5:hit|f:10:hit"},
		{Limits{Before: 1}, "f-1-1|f:2:hit|f-4-4|f:5:hit|f-9-9|f:10:hit"},
		{Limits{After: 1}, "f:2:hit|f-3-3|f:5:hit|f-6-6|f:10:hit"},
		{Limits{Before: 2, After: 2}, "f-1-1|f:2:hit|f-3-3|f-4-4|f:5:hit|f-6-6|f-7-7|f-8-8|f-9-9|f:10:hit"},
		{Limits{Before: 1, After: 1, Max: 1}, "f-1-1|f:2:hit|f-3-3"},
		{Limits{Before: 9, After: 9, Max: 2}, "f-1-1|f:2:hit|f-3-3|f-4-4|f:5:hit|f-6-6|f-7-7|f-8-8|f-9-9|f-10-hit"},
	} {
		hits := run(t, root, "hit", Options{}, c.l)
		if got := show(hits.Lines); got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.l, got, c.want)
		}
		if hits.Truncated != (c.l.Max > 0) {
			t.Errorf("%+v: truncated %v", c.l, hits.Truncated)
		}
	}
}

func TestTheFirstHitsInPathOrderAreReturned(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/f%03d", i%7, i)] = "x\nhit\nhit\n"
	}
	root := tree(t, files)
	all := run(t, root, "hit", Options{}, Limits{})
	if all.Matches != 800 || all.Files != 400 || all.Truncated || all.Searched != 400 {
		t.Fatalf("found %d in %d of %d", all.Matches, all.Files, all.Searched)
	}
	for _, most := range []int{1, 2, 3, 33, 799, 800, 801} {
		for range 5 {
			some := run(t, root, "hit", Options{}, Limits{Max: most})
			if d := cmp.Diff(all.Lines[:min(most, 800)], some.Lines); d != "" {
				t.Fatalf("first %d: %s", most, d)
			}
			if some.Truncated != (most < 800) || some.Matches != min(most, 800) {
				t.Errorf("first %d: truncated %v, %d matches", most, some.Truncated, some.Matches)
			}
		}
	}
}

func TestFilesThatAreNoTextArePassedOver(t *testing.T) {
	late := strings.Repeat("hit and more text\n", 5000) + "\x00"
	root := tree(t, map[string]string{"early": "hit\x00", "late": late, "text": "hit", "big": strings.Repeat("x\x00", 1<<20) + "hit"})
	hits := run(t, root, "hit", Options{}, Limits{})
	if show(hits.Lines) != "text:1:hit" || hits.Binary != 3 {
		t.Errorf("got %s, %d binary", show(hits.Lines), hits.Binary)
	}
}

func TestMarksAndLineEndsAreNoPartOfTheText(t *testing.T) {
	utf16Of := func(order func(uint16) []byte, text string) string {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			b.Write(order(u))
		}
		return b.String()
	}
	little := func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }
	big := func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }
	root := tree(t, map[string]string{
		"a-bom": "\xef\xbb\xbfhit ä", "b-le": utf16Of(little, "x\r\nhit ä\r\n"), "c-be": utf16Of(big, "hit ä"), "d-crlf": "x\r\nhit ä\r\nz", "e-odd": utf16Of(little, "hit ä") + "x",
	})
	want := "a-bom:1:hit ä|b-le:2:hit ä|c-be:1:hit ä|d-crlf:2:hit ä|e-odd:1:hit ä"
	if got := show(run(t, root, "^hit ä$", Options{}, Limits{}).Lines); got != want {
		t.Errorf("got %s", got)
	}
	if got := show(run(t, root, `ä\r$`, Options{}, Limits{}).Lines); got != "b-le:2:hit ä|d-crlf:2:hit ä" {
		t.Errorf("carriage returns: got %s", got)
	}
}

func TestLongLinesAreCutRoundTheMatch(t *testing.T) {
	long := strings.Repeat("ä", 3000) + "hit" + strings.Repeat("ö", 3000)
	root := tree(t, map[string]string{"f": long + "\nhit\n"})
	hits := run(t, root, "hit", Options{}, Limits{Width: 100})
	l := hits.Lines[0]
	if !l.Cut || l.Column != 6001 || len(l.Text) > 100 || !strings.Contains(l.Text, "hit") || strings.ContainsRune(l.Text, '\ufffd') {
		t.Errorf("got %+v", l)
	}
	if hits.Lines[1].Cut {
		t.Error("a short line is cut")
	}
}

func TestFiltersPickAsRipgrepDoes(t *testing.T) {
	names := []string{"a.go", "a.txt", "src/b.go", "src/deep/c.go", "src/deep/d.ts", "vendor/e.go", "x/vendor/f.go"}
	var list []walk.Entry
	for _, n := range names {
		list = append(list, walk.Entry{Path: n})
	}
	for _, c := range []struct{ globs, want string }{
		{"", strings.Join(names, " ")},
		{"*.go", "a.go src/b.go src/deep/c.go vendor/e.go x/vendor/f.go"},
		{"/*.go", "a.go"},
		{"src/*.go", "src/b.go"},
		{"src/**/*.go", "src/b.go src/deep/c.go"},
		{"**/*.ts", "src/deep/d.ts"},
		{"*.{go,ts} !vendor", "a.go src/b.go src/deep/c.go src/deep/d.ts"},
		{"!*.go", "a.txt src/deep/d.ts"},
		{"!vendor/ *.go", "a.go src/b.go src/deep/c.go vendor/e.go x/vendor/f.go"},
		{"!/vendor", "a.go a.txt src/b.go src/deep/c.go src/deep/d.ts x/vendor/f.go"},
		{"deep", "src/deep/c.go src/deep/d.ts"},
		{"?.go", "a.go src/b.go src/deep/c.go vendor/e.go x/vendor/f.go"},
	} {
		files, err := Filter(Files(list), strings.Fields(c.globs)...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e := range files {
			got = append(got, e.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s picks %v, want %s", c.globs, got, c.want)
		}
	}
	for _, bad := range []string{"[", "{a", "!", "/"} {
		if _, err := Filter(Files(nil), bad); err == nil {
			t.Errorf("%q is taken for a glob", bad)
		}
	}
}

func TestWhatCannotBeReadIsReported(t *testing.T) {
	root := tree(t, map[string]string{"a": "hit", "c": "hit"})
	if err := os.Symlink("a", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	q, err := Compile("hit", Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := []walk.Entry{{Path: "a"}, {Path: "gone"}, {Path: "link"}, {Path: "c"}}
	hits, err := q.Run(context.Background(), root, Files(list), Limits{}, nil)
	if err != nil || show(hits.Lines) != "a:1:hit|c:1:hit" || len(hits.Problems) != 2 {
		t.Errorf("got %s, %v, %v", show(hits.Lines), hits.Problems, err)
	}
	if _, err := q.Run(context.Background(), filepath.Join(root, "none"), Files(nil), Limits{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing root gives %v", err)
	}
}

func TestCancellingEndsASearch(t *testing.T) {
	root := tree(t, map[string]string{"a": "hit"})
	q, err := Compile("hit", Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	endless := func(yield func(walk.Entry, error) bool) {
		for n := 0; yield(walk.Entry{Path: "a"}, nil); n++ {
			if n == 1000 {
				cancel()
			}
		}
	}
	if _, err := q.Run(ctx, root, endless, Limits{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEnoughHitsEndASearch(t *testing.T) {
	root := tree(t, map[string]string{"a": "hit"})
	q, err := Compile("hit", Options{})
	if err != nil {
		t.Fatal(err)
	}
	endless := func(yield func(walk.Entry, error) bool) {
		for yield(walk.Entry{Path: "a"}, nil) {
		}
	}
	hits, err := q.Run(context.Background(), root, endless, Limits{Max: 100}, nil)
	if err != nil || hits.Matches != 100 || !hits.Truncated {
		t.Errorf("got %d, %v", hits.Matches, err)
	}
}

// A file that is searched in windows gives what it gives in one piece, however
// the windows fall.
func TestWindowsGiveTheSameAsAWholeFile(t *testing.T) {
	q, err := Compile("h[io]t", Options{})
	if err != nil {
		t.Fatal(err)
	}
	line := rapid.SampledFrom([]string{"", "hit", "a hot day", "x", "nothing at all in this long line", "\r", strings.Repeat("y", 150) + "hit"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "\n")
		l := Limits{Before: rapid.IntRange(0, 3).Draw(t, "before"), After: rapid.IntRange(0, 3).Draw(t, "after"), Max: rapid.IntRange(0, 5).Draw(t, "max")}
		size := rapid.IntRange(1, 200).Draw(t, "window")
		r := reader{page: newPage(q, l)}
		want := r.text("f", []byte(text))
		in := strings.NewReader(text)
		r.buf = make([]byte, size)
		n, last := fillUp(in, r.buf, 0)
		if last {
			return // it fits; no windows then
		}
		if d := cmp.Diff(want, r.windows("f", in, n, n), cmp.AllowUnexported(outcome{})); d != "" {
			t.Fatalf("whole against windows of %d: %s", size, d)
		}
	})
}

func TestAHugeFileIsSearched(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 2*whole; i++ {
		fmt.Fprintf(&b, "line %d of a large file\n", i)
	}
	b.WriteString("needle at the end")
	root := tree(t, map[string]string{"f": b.String(), "g": b.String()[b.Len()-whole/2:]})
	hits := run(t, root, "line 33333 |needle", Options{}, Limits{Before: 1})
	if hits.Matches != 3 || hits.Lines[1].Number != 33334 || hits.Lines[0].Number != 33333 || hits.Lines[3].Text != "needle at the end" {
		t.Errorf("got %s", show(hits.Lines))
	}
}

// Every pattern finds exactly the lines that a plain scan with the standard
// library finds, and no sketch of such a text says that there are none.
func FuzzSearch(f *testing.F) {
	for _, pattern := range []string{
		"foo", "Kelvin", "s", "a|b", "^x$", `\bfoo`, "fn*init", "[a-c]+d", "ſ", "ß", "(?i)ks", "a{2,}b", "\ufffd", "x|", "\x00\x00A", "(ab|cd)(ef|gh)", "日本",
		"foo|bar|baz|elvin|init|日本|01|02|03|04|05|06|07|08", "(?i)foo|BAR|ba|ab|fn x|it|01|02|03|04|05|06|07|08|o b", "(ab|cd|init|ef|foo|gh)[a-z ]", `^\S+\b.$`, `\B[a-z]\r?$`, `^\w+$|^$`, `[^a-z]{3}\z`, `(?i)[k-s]\b`, `\pL\PL`, `.{3}$`,
		`(a|b)*a(a|b){9}`, `\x{fffd}$`, `(?m)^f.*t$`, `(?s)a.b`,
		"foo|fob|fan?", "[ab]c|[a\\r]z", "x(|y)z?", "(?i)[ef]g|eh", "a(?i:b)c", "foo|(?i)fob|bar",
	} {
		for mode := range uint8(8) {
			f.Add(pattern, []byte("foo\nFOO bar\r\n\u212aelvin\xff\nfn x init\naab\n日本\n\u017fks"), mode)
			f.Add(pattern, []byte(strings.Repeat("of no use at all\n", 9)+"fob ef\ncdgh fan fa\r\nKELVIN"+strings.Repeat(" ", 70)+"baz\n"), mode)
		}
	}
	f.Fuzz(func(t *testing.T, pattern string, data []byte, mode uint8) {
		if len(pattern) > 60 || len(data) > 2000 {
			return
		}
		o := Options{Literal: mode&1 != 0, Wildcard: mode&2 != 0, IgnoreCase: mode&4 != 0}
		q, err := Compile(pattern, o)
		if err != nil {
			return
		}
		p := newPage(q, Limits{Width: 1 << 20})
		p.turn("f")
		p.search(data, 0, 1)
		var got []int
		for _, l := range p.lines {
			got = append(got, l.Number)
		}
		want := plainScan(pattern, o, data)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q %+v in %q: plain against search: %s", pattern, o, data, d)
		}
		if len(want) > 0 && !q.needs.in(new(drawing).sets(data)) {
			t.Errorf("%q %+v is said to be missing in %q", pattern, o, data)
		}
	})
}

func plainScan(pattern string, o Options, data []byte) (numbers []int) {
	expr := pattern
	switch {
	case o.Literal:
		expr = regexp.QuoteMeta(pattern)
	case o.Wildcard:
		expr = strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	}
	if o.IgnoreCase {
		expr = "(?i)" + expr
	}
	re := regexp.MustCompile(expr)
	for i, line := range strings.SplitAfter(string(data), "\n") {
		line = strings.TrimSuffix(line, "\n")
		if line == "" && i == bytes.Count(data, newline) {
			break // behind the last line break there is no line
		}
		if re.MatchString(strings.TrimSuffix(line, "\r")) || re.MatchString(line) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// A choice points out the first line that has one of its texts, wherever in the data
// that is and however many texts there are.
func TestAChoiceIsFoundWhereItIs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	texts := []want{{"xa_", false}, {"n,l", false}, {"FAx", true}, {"__x", false}, {"xx,Lfn", false}, {"a*", false}, {"bb", true}, {"x_x", true}}
	for len(texts) < 20 {
		texts = append(texts, want{fmt.Sprintf("never%d", len(texts)), len(texts)%2 == 0})
	}
	for range 5000 {
		few := texts[random.IntN(5):][:3+random.IntN(12)]
		data := make([]byte, random.IntN(300))
		for i := range data {
			data[i] = "fFnNlL,xX_abB*\x06\x0e\n......................"[random.IntN(38)]
		}
		from := bytes.LastIndexByte(data[:random.IntN(len(data)+1)], '\n') + 1
		want := -1
		for at := from; at < len(data) && want < 0; at = lineEnd(data, at) + 1 {
			if earliest(few)(data[at:lineEnd(data, at)]) >= 0 {
				want = at
			}
		}
		got := findAny(few)()
		got.begin()
		hit := got.next(data, from)
		if hit >= 0 {
			hit = bytes.LastIndexByte(data[:hit], '\n') + 1
		}
		if hit != want {
			t.Fatalf("%q from %d: one of %v is in the line at %d, got %d", data, from, few, want, hit)
		}
	}
}

// A pair is pointed out where it is and nowhere else: places that are none would
// cost a comparison each.
func TestAPairIsFoundWhereItIs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, p := range []*pair{
		{a: 'f', b: 'n', maskA: 0x20, maskB: 0x20, gap: 1},
		{a: 'l', b: ',', gap: 1},
		{a: 'x', b: '_', maskA: 0x20, gap: 2},
		{a: 'f', b: 'f', gap: 7},
		{a: 'n', b: 'x', maskB: 0x20, gap: 32},
	} {
		for range 2000 {
			data := make([]byte, random.IntN(300))
			for i := range data {
				data[i] = "fFnNlL,xX_ab*\x06\x0e\n................"[random.IntN(32)]
			}
			want := len(data)
			for i := len(data) - 1 - p.gap; i >= 0; i-- {
				if data[i]|p.maskA == p.a && data[i+p.gap]|p.maskB == p.b {
					want = i
				}
			}
			if got := p.index(data, 0); got != want {
				t.Fatalf("%q: %c and %c, %d apart, are at %d, got %d", data, p.a, p.b, p.gap, want, got)
			}
		}
	}
}

// Where nobody else can be had, for want of descriptors for instance, one does all.
func TestACrewOfOne(t *testing.T) {
	files := map[string]string{}
	for i := range 5 * batchSize {
		files[fmt.Sprintf("f%03d", i)] = "needle\n"
	}
	root := tree(t, files)
	q, err := Compile("needle", Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	c := &crew{collector: collector{stop: func() {}, waiting: map[int]batchResult{}}}
	c.reader = func() (*reader, error) {
		if asked++; asked > 1 {
			return nil, syscall.EMFILE
		}
		r, err := walk.OpenRoot(root)
		return newReader(q, Limits{}, r, nil), err
	}
	defer c.leave()
	if err := c.join(); err != nil {
		t.Fatal(err)
	}
	c.feed(context.Background(), walk.Tree(context.Background(), root, walk.Options{}))
	c.wait()
	if c.hits.Matches != len(files) || len(c.readers) != 1 || runtime.GOMAXPROCS(0) > 1 && asked != 2 {
		t.Errorf("%d of %d found by %d, %d were asked", c.hits.Matches, len(files), len(c.readers), asked)
	}
}
