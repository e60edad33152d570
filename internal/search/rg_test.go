package search

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/walk"
)

func goSource(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, look := os.Stat(root); err != nil || look != nil {
		tb.Skip("no Go source tree here")
	}
	return root
}

func needRipgrep(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("rg"); err != nil {
		tb.Skip("ripgrep is not installed")
	}
}

// patterns are searched for in trees by us and by ripgrep.
var patterns = []struct {
	pattern string
	o       Options
	rg      []string // what ripgrep is told instead of the pattern, or besides it
}{
	{pattern: "ErrUnexpectedEOF"},
	{pattern: "func main()", o: Options{Literal: true}},
	{pattern: "return nil, err"},
	{pattern: "nosuchtextanywhere12345"},
	{pattern: "errunexpectedeof", o: Options{IgnoreCase: true}},
	{pattern: "skiplist", o: Options{IgnoreCase: true}},
	{pattern: "k8s", o: Options{IgnoreCase: true}},
	{pattern: "straße", o: Options{IgnoreCase: true}},
	{pattern: "ÄÖÜ", o: Options{IgnoreCase: true}},
	{pattern: "kelvin", o: Options{IgnoreCase: true, Literal: true}},
	{pattern: `func [A-Za-z0-9_]+Handler`},
	{pattern: `EOFError|ErrShortWrite|errLeadingInt`},
	{pattern: `(?i)mutex|semaphore`},
	{pattern: `^package main$`},
	{pattern: `^import "C"`},
	{pattern: `\bfoo[a-z]*bar\b`},
	{pattern: `[A-Z]{3}_[0-9]{4}`},
	{pattern: `(a|b)+cde`},
	{pattern: `TODO\([a-z]+\)`},
	{pattern: `x{3,}y`},
	{pattern: `\.\.\.\)$`},
	{pattern: `"[^"]*\\n"\)$`},
	{pattern: `^\t\t\t\t\t\t}$`},
	{pattern: `世界`},
	{pattern: `(?:strings|bytes)\.Index(?:Byte|Any)`},
	{pattern: "fn*init", o: Options{Wildcard: true, IgnoreCase: true}, rg: []string{"-i", "-e", "fn.*init"}},
	{pattern: "func*error*nil", o: Options{Wildcard: true}, rg: []string{"-e", "func.*error.*nil"}},
	{pattern: "a.b(c)", o: Options{Literal: true}, rg: []string{"-F", "-e", "a.b(c)"}},
	{pattern: `func \w+Handler`, rg: ascii(`func \w+Handler`)},
	{pattern: `[a-z]+[0-9]{4}[A-Z]+`},
	{pattern: `(\w+)\s+=\s+(\w+)\[[0-9]\]`, rg: ascii(`(\w+)\s+=\s+(\w+)\[[0-9]\]`)},
	{pattern: `\b[a-z]{3}[0-9]\b$`, rg: ascii(`\b[a-z]{3}[0-9]\b$`)},
	{pattern: `^\s*$`, rg: ascii(`^\s*$`)},
	{pattern: `\Boo\B.*\bif\b`, rg: ascii(`\Boo\B.*\bif\b`)},
	{pattern: `[\x{80}-\x{fffc}]{2}`},
	{pattern: `\p{Greek}|\p{Han}{3}`},
	{pattern: `^.{150,160}$`},
	{pattern: `alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|omicron|upsilon`},
	{pattern: `(?i)alpha|beta|gamma|delta|epsilon|zeta|omega|theta|iota|kappa|lambda|omicron|upsilon|pi`},
	{pattern: `(?i)[aeiou]{5}`},
	{pattern: `x*y*z+[!;]$`},
	{pattern: `\t// [A-Z][a-z]+ is .*[^.]$`},
	{pattern: "if*{*return*}", o: Options{Wildcard: true}, rg: []string{"-e", `if.*\{.*return.*\}`}},
}

// ascii makes ripgrep read classes and borders of words as Go does: in ASCII.
// A dot and a class with an exclusion still stand for characters, not bytes.
func ascii(pattern string) []string {
	for _, class := range []string{`\w`, `\s`, `\b`, `\B`} {
		pattern = strings.ReplaceAll(pattern, class, "(?-u:"+class+")")
	}
	return []string{"-e", pattern}
}

// Same files, same lines. The differences by intent are handled here: ripgrep
// prints the matches of a file up to its first zero byte and a note, we leave
// such a file out; it is told to take CRLF for a line end, as we do; \w, \s and
// \b are those of Go, in ASCII; and where a byte is no UTF-8, which for Go is the
// character U+FFFD and for ripgrep nothing, no pattern here asks for it.
func TestTheLinesAreThoseOfRipgrep(t *testing.T) {
	needRipgrep(t)
	for _, root := range comparedTrees(t) {
		t.Run(filepath.Base(root), func(t *testing.T) { compareLines(t, root) })
	}
}

// comparedTrees are a part of the Go source tree, or with IKIGAI_SOAK all that
// the benchmark uses.
func comparedTrees(tb testing.TB) []string {
	if os.Getenv("IKIGAI_SOAK") != "" {
		return benchTrees(tb)
	}
	return []string{filepath.Join(goSource(tb), "text"), filepath.Join(goSource(tb), "regexp")}
}

func compareLines(t *testing.T, root string) {
	cache, known := walk.NewCache(root), NewSketches()
	for _, c := range patterns {
		t.Run(c.pattern, func(t *testing.T) {
			t.Parallel()
			q, err := Compile(c.pattern, c.o)
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			hits, err := q.Run(ctx, root, walk.Tree(ctx, root, walk.Options{}), Limits{Width: longest}, nil)
			if err != nil || len(hits.Problems) > 0 {
				t.Fatal(err, hits.Problems)
			}
			theirs := sorted(ripgrep(t, root, c.pattern, c.o, c.rg))
			if d := cmp.Diff(theirs, sorted(asText(hits))); d != "" {
				t.Errorf("ripgrep against search:\n%s", d)
			}
			for range 2 {
				again, err := q.Run(ctx, root, cache.Tree(ctx, walk.Options{}), Limits{Width: longest}, known)
				if d := cmp.Diff(hits, again); err != nil || d != "" {
					t.Errorf("search without and with memory: %v\n%s", err, d)
				}
			}
			t.Logf("%d lines in %d of %d files", hits.Matches, hits.Files, hits.Searched)
		})
	}
}

func asText(hits Hits) string {
	var b strings.Builder
	for _, l := range hits.Lines {
		fmt.Fprintf(&b, "%s:%d:%s\n", l.Path, l.Number, l.Text)
	}
	return b.String()
}

func ripgrep(t *testing.T, root, pattern string, o Options, instead []string) string {
	t.Helper()
	args := []string{"--no-config", "--no-require-git", "--no-heading", "--no-messages", "--crlf", "-n", "--color=never"}
	switch {
	case instead != nil:
		args = append(args, instead...)
	case o.Literal:
		args = append(args, "-F", "-e", pattern)
	default:
		args = append(args, "-e", pattern)
	}
	if o.IgnoreCase && instead == nil {
		args = append(args, "-i")
	}
	cmd := exec.Command("rg", append(args, ".")...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !(asExit(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	var text strings.Builder
	binary := binaries(string(out))
	for line := range strings.Lines(string(out)) {
		line = strings.TrimPrefix(strings.TrimRight(line, "\r\n"), "./")
		path, _, _ := strings.Cut(line, ":")
		if !binary[path] {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// binaries are the files of which ripgrep says that they have zero bytes.
func binaries(out string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(out) {
		if path, rest, ok := strings.Cut(line, ": "); ok && strings.Contains(rest, "inary file") {
			found[strings.TrimPrefix(path, "./")] = true
		}
	}
	return found
}

func sorted(text string) []string {
	lines := strings.Split(text, "\n")
	byLine := map[string][]string{}
	for _, l := range lines {
		path, _, _ := strings.Cut(l, ":")
		if len(l) > 300 { // a test that fails should stay readable
			l = fmt.Sprintf("%s... %d bytes, %x", l[:200], len(l), sha256.Sum256([]byte(l)))
		}
		byLine[path] = append(byLine[path], l)
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(byLine)) {
		all = append(all, byLine[path]...)
	}
	return all
}

func BenchmarkSearch(b *testing.B) {
	root := goSource(b)
	for _, c := range []struct {
		name, pattern string
		o             Options
		l             Limits
	}{
		{"rare", "ErrUnexpectedEOF", Options{}, Limits{}},
		{"common", "return nil, err", Options{}, Limits{}},
		{"none", "nosuchtextanywhere12345", Options{}, Limits{}},
		{"case", "errunexpectedeof", Options{IgnoreCase: true}, Limits{}},
		{"regexp", `func \w+Handler`, Options{}, Limits{}},
		{"choice", `EOFError|ErrShortWrite|errLeadingInt`, Options{}, Limits{}},
		{"wildcard", "fn*init", Options{Wildcard: true, IgnoreCase: true}, Limits{}},
		{"first200", "return nil, err", Options{}, Limits{Max: 200}},
		{"noliteral", `[a-z]+[0-9]{4}[A-Z]+`, Options{}, Limits{}},
	} {
		q, err := Compile(c.pattern, c.o)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/search", func(b *testing.B) {
			for b.Loop() {
				if _, err := q.Run(b.Context(), root, walk.Tree(b.Context(), root, walk.Options{}), c.l, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/cached", func(b *testing.B) {
			files := walk.NewCache(root).Tree(b.Context(), walk.Options{})
			for b.Loop() {
				if _, err := q.Run(b.Context(), root, files, c.l, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/ripgrep", func(b *testing.B) {
			needRipgrep(b)
			args := []string{"--no-config", "-n", "-e", strings.ReplaceAll(c.pattern, "*", ".*")}
			if !c.o.Wildcard {
				args[3] = c.pattern
			}
			if c.o.IgnoreCase {
				args = append(args, "-i")
			}
			for b.Loop() {
				_ = exec.Command("rg", append(args, root)...).Run() // 1 means that there is no match
			}
		})
	}
}
