// Package stage is a small world for tests of tools: a workspace on the disk, a
// session, and a call as the agent would make it.
package stage

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
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
	return &Stage{Place: tool.Place{Files: roots, Session: "test", Dir: roots.Roots()[1]}, Workspace: roots.Dir(), t: t}
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

// CallWith is Call with a grant.
func (s *Stage) CallWith(tl tool.Tool, args string, g tool.Grant) tool.Result {
	s.t.Helper()
	p, err := tl.Prepare(s.t.Context(), s.Place, json.RawMessage(args))
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
