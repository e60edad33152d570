package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
)

func TestAPickNamesTheFilesAndTheCost(t *testing.T) {
	s, quarter := memory.New(), 0.25
	events := append(anEdit("1", "a.go", "x\n", "y\nz\n"), anEdit("2", "b.go", "x", "")...)
	events = append(events, anEdit("3", "a.go", "y\n", "z\n")...)
	events = append(events, convo.Of("", convo.Usage{CostUSD: &quarter}), convo.Of("", convo.Usage{}), convo.Of("", convo.Usage{CostUSD: &quarter}))
	kept(t, s, store.Session{ID: "1", Dir: "/p", Branch: "main"}, events...)
	kept(t, s, store.Session{ID: "2", Dir: "/q"}, convo.Event{Kind: convo.KindUser, Text: "last words"})
	var got []pick
	for p, err := range (&app{}).picks(context.Background(), s, "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	if len(got) != 2 || got[0].LastWords != "last words" || got[0].CostUSD != nil || len(got[0].Files) > 0 {
		t.Fatalf("%+v", got)
	}
	if d := cmp.Diff([]picked{{"a.go", 3, 2}, {"b.go", 0, 1}}, got[1].Files); d != "" || *got[1].CostUSD != 0.5 || got[1].Branch != "main" || got[1].Calls != 3 {
		t.Errorf("%s %+v", d, got[1])
	}
}

// exported is a house with a session and a folder to write to.
func exported(t *testing.T) (*app, *house) {
	dir := t.TempDir()
	s := memory.New()
	kept(t, s, store.Session{ID: "01a", Title: "a title", Dir: dir}, anEdit("1", "a.go", "x\n", "y\n")...)
	return &app{env: Env{Dir: dir, Home: dir, Stderr: new(strings.Builder)}}, &house{store: s, id: "01a", dir: dir}
}

func TestExportHereWritesWholeFilesForTheirOwnerAlone(t *testing.T) {
	a, h := exported(t)
	for form, want := range map[string]string{"": "+y", "html": "+y", "md": "```diff", "jsonl": `"kind":"tool_call"`} {
		text, err := a.exportHere(context.Background(), h, form)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(text, "Saved as ")
		raw, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %v, no %s in it", form, err, want)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v may be read by others", name, err)
		}
	}
	if _, err := a.exportHere(context.Background(), h, "pdf"); err == nil || !strings.Contains(err.Error(), "there is no form pdf") {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(h.dir, ".ikigai-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnExportThatCannotBeWrittenLeavesNothing(t *testing.T) {
	a, h := exported(t)
	h.dir = filepath.Join(h.dir, "nowhere")
	if _, err := a.exportHere(context.Background(), h, "md"); err == nil {
		t.Error("a file in no folder was written")
	}
}

func TestWithoutATerminalResumeNamesTheOtherWay(t *testing.T) {
	home := t.TempDir()
	env := Env{Args: []string{"run", "--model", "demo", "--quiet", "hello"}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: home, Home: home}
	if code := Main(context.Background(), env); code != 0 {
		t.Fatal(code)
	}
	c := &cobra.Command{}
	c.SetContext(context.Background())
	a := &app{env: env}
	var f *fault
	if err := a.resumeElsewhere(c, which{newest: true}); !errors.As(err, &f) || !strings.HasPrefix(f.hint, "ikigai run --session 0") {
		t.Errorf("%+v", err)
	}
	if err := a.resumeElsewhere(c, which{id: "zz"}); err == nil || err.Error() != "no session zz" {
		t.Error(err)
	}
}
