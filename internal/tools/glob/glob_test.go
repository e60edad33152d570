package glob

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

func TestNewestFirst(t *testing.T) {
	s := stage.New(t, map[string]string{"a": "", "b": "", "c": ""})
	now := time.Now()
	for i, name := range []string{"b", "a", "c"} {
		at := now.Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(s.Workspace, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Output(Tool, `{"pattern":"*","sort":"modified"}`); got != "b\na\nc" {
		t.Errorf("%q", got)
	}
	if got := s.Output(Tool, `{"pattern":"*","sort":"name"}`); got != "a\nb\nc" {
		t.Errorf("%q", got)
	}
}

func TestAPatternMayBeginAtTheRoot(t *testing.T) {
	s := stage.New(t, map[string]string{"src/a.go": "", "src/deep/b.go": "", "c.go": ""})
	pattern := filepath.Join(s.Workspace, "src/**/*.go")
	want := filepath.Join(s.Workspace, "src/a.go") + "\n" + filepath.Join(s.Workspace, "src/deep/b.go")
	args := fmt.Sprintf(`{"pattern":%q}`, pattern)
	if got := s.Output(Tool, args); got != want {
		t.Errorf("%q", got)
	}
	if p := s.Plan(Tool, args); p.Reads[0] != filepath.Join(s.Workspace, "src") {
		t.Errorf("it reads %v", p.Reads)
	}
	if got := s.Output(Tool, `{"pattern":"../*.go","path":"src"}`); got != "c.go" {
		t.Errorf("%q", got)
	}
	for _, args := range []string{`{"pattern":"/etc/*"}`, `{"pattern":"../../*"}`, `{"pattern":"*","path":"/"}`} {
		if r := s.Call(Tool, args); r.Code() != tool.PermissionDenied {
			t.Errorf("%s: %s", args, r.Envelope())
		}
	}
}

func TestManyFilesAreCountedAndSpilled(t *testing.T) {
	many := map[string]string{}
	for i := range 2500 {
		many[fmt.Sprintf("f%04d", i)] = ""
	}
	s := stage.New(t, many)
	r := s.Call(Tool, `{"pattern":"f*"}`)
	if !r.Truncated || !strings.Contains(string(r.Data), `"count":2500`) || r.Summary != "2500 files found" || !strings.Contains(string(r.Data), s.Dir) {
		t.Errorf("%s, %.100s", r.Summary, r.Data)
	}
}

func TestIgnoreRulesOfTheRepositoryHoldBelowIt(t *testing.T) {
	s := stage.New(t, map[string]string{".git/HEAD": "", ".gitignore": "*.log\n!keep.log\n", "src/a.log": "", "src/keep.log": "", "src/b": ""})
	if got := s.Output(Tool, `{"pattern":"**","path":"src"}`); got != "src/b\nsrc/keep.log" {
		t.Errorf("%q", got)
	}
}

func BenchmarkGlob(b *testing.B) {
	many := map[string]string{}
	for i := range 1000 {
		many[fmt.Sprintf("d%d/f%d.go", i%20, i)] = ""
	}
	s := stage.New(b, many)
	for b.Loop() {
		s.Call(Tool, `{"pattern":"**/*.go"}`)
	}
}
