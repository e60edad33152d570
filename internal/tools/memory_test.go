package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/tools/file_read"
	"ikigai/internal/tools/get_file_tree"
	"ikigai/internal/tools/glob"
	"ikigai/internal/tools/grep"
	"ikigai/internal/tools/internal/stage"
	"ikigai/internal/tools/ls"
)

// readings are calls whose answers depend on the whole tree.
var readings = []struct {
	tool tool.Tool
	args string
}{
	{get_file_tree.Tool, `{}`},
	{get_file_tree.Tool, `{"path":"src"}`},
	{glob.Tool, `{"pattern":"**"}`},
	{glob.Tool, `{"pattern":"**","sort":"modified"}`},
	{glob.Tool, `{"pattern":"**","include_hidden":true}`},
	{glob.Tool, `{"pattern":"**/*.go","path":"src","include_ignored":true}`},
	{grep.Tool, `{"pattern":"needle"}`},
	{grep.Tool, `{"pattern":"NEEDLE","ignore_case":true,"path":"src","context":1}`},
	{grep.Tool, `{"pattern":"n[e]+dle","include_hidden":true,"include_ignored":true}`},
	{grep.Tool, `{"pattern":"needle","file_filter":"*.go","max_results":2}`},
	{ls.Tool, `{"path":"src","show_hidden":true}`},
	{file_read.Tool, `{"path":"src/a.go"}`},
}

func forest(t *testing.T) *stage.Stage {
	return stage.New(t, map[string]string{
		".git/HEAD": "", ".gitignore": "*.log\nbuild/\n", ".env.example": "needle\n", "top.go": "one\nneedle\nthree\n",
		"src/a.go": "needle\n", "src/b.log": "needle\n", "src/deep/c.go": "x\nneedle\n", "src/deep/.ignore": "d.go\n", "src/deep/d.go": "needle\n",
		"build/out.go": "needle\n", "other/e.go": "Needle\n", "other/f.go": "nothing\n",
	})
}

// rested waits until what was written is old enough to be remembered, and lets
// the session list everything.
func rested(t *testing.T, s *stage.Stage) {
	t.Helper()
	time.Sleep(150 * time.Millisecond) // more than a folder must be old; less only means that less is remembered
	readEverything(s)
}

// readEverything fails where an answer with memory is not that without; see stage.
func readEverything(s *stage.Stage) {
	for _, r := range readings {
		s.Call(r.tool, r.args)
	}
}

// Whatever changes between two calls, a session that remembers says what one that
// does not remember says.
func TestASessionRemembersNothingThatIsNoLongerTrue(t *testing.T) {
	s := forest(t)
	path := func(name string) string { return filepath.Join(s.Workspace, filepath.FromSlash(name)) }
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	outside := stage.New(t, map[string]string{"secret.go": "needle\n", "deep/c.go": "needle outside\n"})
	for _, change := range []struct {
		name string
		make func()
	}{
		{"nothing", func() {}},
		{"a new file", func() { write("src/new.go", "needle\n") }},
		{"a line in place", func() { write("src/a.go", "nothing\n") }},
		{"a file gone", func() { must(os.Remove(path("top.go"))) }},
		{"a file for another of the same size", func() { must(os.Rename(path("src/new.go"), path("src/a.go"))) }},
		{"an ignore file in place", func() { write("src/deep/.ignore", "c.go\n") }},
		{"rules for all", func() { write(".gitignore", "*.log\nother/\n") }},
		{"rules gone", func() { must(os.Remove(path(".gitignore"))) }},
		{"no repository", func() { must(os.RemoveAll(path(".git"))) }},
		{"folders change places", func() {
			must(os.Rename(path("src/deep"), path("aside")))
			must(os.Rename(path("other"), path("src/deep")))
			must(os.Rename(path("aside"), path("other")))
		}},
		{"another time", func() { must(os.Chtimes(path("other/c.go"), time.Unix(9e8, 0), time.Unix(9e8, 0))) }},
		{"the same times as before", func() {
			info, err := os.Stat(path("src"))
			must(err)
			write("src/late.go", "needle\n")
			must(os.Chtimes(path("src"), info.ModTime(), info.ModTime()))
		}},
		{"a folder becomes a link to the outside", func() {
			must(os.RemoveAll(path("src/deep")))
			must(os.Symlink(outside.Workspace, path("src/deep")))
		}},
		{"the folder is another", func() {
			must(os.RemoveAll(path("src")))
			write("src/a.go", "needle again\n")
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(change.name, "link") {
				t.Skip("links need a privilege")
			}
			rested(t, s)
			change.make()
			readEverything(s)
			if got := s.Output(grep.Tool, `{"pattern":"outside|needle","include_hidden":true,"include_ignored":true}`); strings.Contains(got, "secret.go") {
				t.Errorf("SAFETY: a search left the workspace:\n%s", got)
			}
		})
	}
}

// While the tree changes every call gives what stands still, and what it gives
// was there; when the tree has come to rest all answers are those without memory.
func TestReadingWhileTheTreeChanges(t *testing.T) {
	s := forest(t)
	rested(t, s)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		stir(s.Workspace, quit)
	}()
	for range 60 {
		for _, c := range []struct {
			tool tool.Tool
			args string
		}{
			{grep.Tool, `{"pattern":"needle"}`},
			{glob.Tool, `{"pattern":"**/*.go","sort":"modified"}`},
			{get_file_tree.Tool, `{}`},
		} {
			r := s.CallOnce(c.tool, c.args)
			said := string(r.Data)
			if !r.OK() || !strings.Contains(said, "src/a.go") || !strings.Contains(said, "top.go") {
				t.Fatalf("%s while the tree changes: %s", c.tool.Spec().Name, r.Envelope())
			}
			if strings.Contains(said, "b.log") || strings.Contains(said, "out.go") {
				t.Fatalf("%s shows what is ignored: %s", c.tool.Spec().Name, r.Envelope())
			}
		}
	}
	close(quit)
	<-done
	readEverything(s)
	rested(t, s)
	readEverything(s)
}

// stir changes one corner of a tree until it is told to stop.
func stir(root string, quit <-chan struct{}) {
	busy, moved := filepath.Join(root, "busy"), filepath.Join(root, "moved")
	for i := 0; ; i++ {
		select {
		case <-quit:
			return
		default:
		}
		dir := filepath.Join(busy, fmt.Sprint(i%3))
		_ = os.MkdirAll(dir, 0o755)
		_ = os.WriteFile(filepath.Join(dir, fmt.Sprint(i%7)+".go"), []byte("needle\n"), 0o644)
		_ = os.WriteFile(filepath.Join(busy, ".gitignore"), []byte(fmt.Sprintf("%d.go\n", i%5)), 0o644)
		_ = os.Rename(busy, moved)
		_ = os.Rename(moved, busy)
		if i%10 == 9 {
			_ = os.RemoveAll(busy)
		}
	}
}

// Calls that run side by side share what is remembered.
func TestReadingSideBySide(t *testing.T) {
	s := forest(t)
	rested(t, s)
	want := make([]string, len(readings))
	for i, r := range readings {
		want[i] = string(s.CallOnce(r.tool, r.args).Envelope())
	}
	errs := make(chan string, 8*len(readings))
	for range 8 {
		go func() {
			for i, r := range readings {
				got := string(s.CallOnce(r.tool, r.args).Envelope())
				if got != want[i] {
					errs <- fmt.Sprintf("%s: %s, want %s", r.args, got, want[i])
				} else {
					errs <- ""
				}
			}
		}()
	}
	var wrong []string
	for range cap(errs) {
		if e := <-errs; e != "" {
			wrong = append(wrong, e)
		}
	}
	if slices.Sort(wrong); len(wrong) > 0 {
		t.Errorf("%d wrong answers, such as %s", len(wrong), wrong[0])
	}
}
