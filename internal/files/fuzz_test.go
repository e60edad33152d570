package files

import (
	"os"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

// Whatever the name, nothing outside is read or written and protected files stay.
func FuzzNames(f *testing.F) {
	for _, c := range rows(f) {
		f.Add(c.Path)
	}
	for _, name := range []string{"out/s.txt", "up/../out/s.txt", "abs/s.txt", "self/../../out/s.txt", "git/hooks/x", "in/up/up/etc/passwd"} {
		f.Add(name)
	}
	s := newStage(f)
	s.file("{OUT}/s.txt", "secret")
	s.file("d/e/f.txt", "fine")
	s.file(".git/config", "kept")
	s.link("out", "../out")
	s.link("abs", "{OUT}")
	s.link("up", "..")
	s.link("self", ".")
	s.link("root", "/")
	s.link("git", ".git")
	s.link("in", "{WS}/d")
	r := s.open()
	before := s.outside()
	f.Fuzz(func(t *testing.T, name string) {
		s := stage{t, s.tmp, s.replace}
		name = s.replace.Replace(name)
		for _, op := range []string{"read", "list", "write", "mkdir"} {
			got, err := perform(r, op, name)
			if strings.Contains(got, "secret") {
				t.Fatalf("SAFETY: %s %q read the outside", op, name)
			}
			if err != nil && tool.CodeOf(err, "") == "" {
				t.Fatalf("%s %q: an error without a code: %v", op, name, err)
			}
		}
		if !equal(before, s.outside()) {
			t.Fatalf("SAFETY: %q changed the outside", name)
		}
		if data, err := os.ReadFile(s.path(".git/config")); err != nil || string(data) != "kept" {
			t.Fatalf("SAFETY: %q changed .git/config", name)
		}
	})
}
