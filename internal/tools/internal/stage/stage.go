// Package stage is a small world for tests of tools: a workspace on the disk, a
// session, and a call as the agent would make it.
package stage

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ikigai/internal/files"
	"ikigai/internal/tool"
)

// A Stage is a workspace with a session. The session's folder is a root too, as
// the agent has it.
type Stage struct {
	tool.Place
	Workspace string
	t         testing.TB
}

// New makes a workspace with the given files in it. A name that ends in a slash
// is a folder.
func New(t testing.TB, content map[string]string) *Stage {
	t.Helper()
	dir, session := t.TempDir(), t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path := filepath.Join(dir, name)
		if name[len(name)-1] == '/' {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content[name]), 0o644))
	}
	roots, err := files.Open(dir, session)
	must(t, err)
	t.Cleanup(func() { roots.Close() })
	at := tool.Place{Files: roots, Session: "test", Dir: roots.Roots()[1], Memo: &tool.Memo{}}
	return &Stage{Place: at, Workspace: roots.Dir(), t: t}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Call makes a call with nothing granted. What is refused before it runs is a
// failure, as the agent makes one of it.
func (s *Stage) Call(tl tool.Tool, args string) tool.Result {
	s.t.Helper()
	return s.CallWith(tl, args, tool.Grant{})
}

// CallWith is Call with a grant. A call that only reads is made three times, the
// last time without what the session remembers: the answers must be the same.
// Where there are jobs it is not: what a job printed is given once.
func (s *Stage) CallWith(tl tool.Tool, args string, g tool.Grant) tool.Result {
	s.t.Helper()
	r := s.once(tl, args, g, s.Memo)
	if _, bench := s.t.(*testing.B); bench || s.Jobs != nil || !tl.Spec().OnlyReads() {
		return r
	}
	for _, memo := range []*tool.Memo{s.Memo, nil} {
		if again := s.once(tl, args, g, memo); s.said(again) != s.said(r) {
			s.t.Errorf("%s(%s) with memory: %s\nagain, with memory %v: %s", tl.Spec().Name, args, s.said(r), memo != nil, s.said(again))
		}
	}
	return r
}

// CallOnce is Call for a world that changes meanwhile.
func (s *Stage) CallOnce(tl tool.Tool, args string) tool.Result {
	s.t.Helper()
	return s.once(tl, args, tool.Grant{}, s.Memo)
}

// said is what a result says. Where it says that the rest is in a file, only the
// name of that file may be another.
func (s *Stage) said(r tool.Result) string {
	text := string(r.Envelope())
	spilled := regexp.MustCompile(regexp.QuoteMeta(s.Dir) + `[/\\\w.-]+`)
	return spilled.ReplaceAllString(text, "SPILLED") + " " + r.Summary
}

func (s *Stage) once(tl tool.Tool, args string, g tool.Grant, memo *tool.Memo) tool.Result {
	s.t.Helper()
	at := s.Place
	at.Memo = memo
	p, err := tl.Prepare(s.t.Context(), at, json.RawMessage(args))
	if err != nil {
		return tool.Fail(tool.Call{Name: tl.Spec().Name}, tool.CodeOf(err, tool.InvalidParams), "%s", err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), s.Limits.Deadline(tl.Spec(), p.Plan))
	defer cancel()
	r := p.Run(ctx, g, nil)
	r.Name = tl.Spec().Name
	return r
}

// Plan is what a call would do; it must be understood.
func (s *Stage) Plan(tl tool.Tool, args string) tool.Plan {
	s.t.Helper()
	p, err := tl.Prepare(s.t.Context(), s.Place, json.RawMessage(args))
	must(s.t, err)
	return p.Plan
}

// Output is the words of a call that must succeed.
func (s *Stage) Output(tl tool.Tool, args string) string {
	s.t.Helper()
	r := s.Call(tl, args)
	var out struct {
		Output string `json:"output"`
	}
	if !r.OK() || json.Unmarshal(r.Data, &out) != nil {
		s.t.Fatalf("%s(%s): %s", tl.Spec().Name, args, r.Envelope())
	}
	return out.Output
}

// Read is the content of a file of the workspace.
func (s *Stage) Read(name string) string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Workspace, name))
	must(s.t, err)
	return string(raw)
}
