package walk

import (
	"strings"
	"testing"
)

// Any ignore file can be read, any path judged, and every pattern fits what a
// plain recursive reading of it fits.
func FuzzRules(f *testing.F) {
	for _, rule := range []string{
		"foo", "/foo", "foo/", "a/**/b", "**/foo", "*.o\n!x.o", "[a-c]?", "[[:alpha:]]*", "[!a-", "\\", "a\\ ", "**", "a**b/**c", "\xef\xbb\xbf#x\n\\#y", "*a*b*c*", "a/**/b/**/c*d",
	} {
		f.Add([]byte(rule), "a/b/foo.o")
		f.Add([]byte(rule), "a/x/b/y/cd")
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		path = strings.Trim(path, "/")
		if len(data) > 200 || len(path) > 60 || path == "" || strings.Contains(path, "//") {
			return
		}
		set := parseRules(data)
		if set == nil {
			return
		}
		for _, folder := range []bool{false, true} {
			got, want := set.judge(path, base(path), folder), set.plainly(path, folder)
			if len(set.all) == len(set.globs) && got != want {
				t.Errorf("%q judges %q (folder %v): %d, plainly %d", data, path, folder, got, want)
			}
		}
	})
}

// plainly tries the rules that are globs one after another.
func (s *ruleSet) plainly(path string, folder bool) verdict {
	v := undecided
	for _, n := range s.globs {
		p := s.all[n-1]
		text := path
		if p.byName {
			text = base(path)
		}
		rest, ok := strings.CutPrefix(text, p.prefix)
		budget := 200_000
		if ok && (folder || !p.folders) && recursive(p.glob, rest, &budget) {
			v = ignored
			if p.negated {
				v = included
			}
		}
		if budget < 0 {
			return s.judge(path, base(path), folder) // too much for this way; the other must have ended, and has
		}
	}
	return v
}

func recursive(g glob, text string, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	if len(g) == 0 {
		return text == ""
	}
	switch g[0].what {
	case some, deep:
		for i := 0; i <= len(text); i++ {
			if recursive(g[1:], text[i:], budget) {
				return true
			}
			if i < len(text) && text[i] == '/' && g[0].what == some {
				return false
			}
		}
		return false
	case levels:
		if recursive(g[1:], text, budget) {
			return true
		}
		for i := range len(text) {
			if text[i] == '/' && recursive(g[1:], text[i+1:], budget) {
				return true
			}
		}
		return false
	}
	return text != "" && g[0].fits(text[0]) && recursive(g[1:], text[1:], budget)
}

func BenchmarkJudge(b *testing.B) {
	set := parseRules([]byte("*.o\n*.a\n*.log\nnode_modules/\n/build\n/out/*\n!/out/keep\n.DS_Store\n**/testdata/*.golden\n*~\nbazel-*\n"))
	for b.Loop() {
		set.judge("pkg/apis/core/v1/types.go", "types.go", false)
	}
}
