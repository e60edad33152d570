package external

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/files"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

func TestMain(m *testing.M) {
	sandbox.Main() // the test binary is its own helper
	os.Exit(m.Run())
}

// A bench is a workspace, a folder of tools, and the two ways processes start:
// to ask for a schema, and to do a call.
type bench struct {
	t     *testing.T
	tools string
	place tool.Place
	ask   tool.StartFunc
}

// newBench makes a throw-away bench whose processes are confined as mode says.
func newBench(t *testing.T, mode sandbox.Mode) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := func(name string) string {
		path := filepath.Join(base, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	work, tools, own, home := dir("work"), dir("tools"), dir("session"), dir("home")
	roots, err := files.Open(work)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roots.Close() })
	o := sandbox.Options{Mode: mode, Temp: dir("temp"), Home: home, Environ: os.Environ()}
	ask := newSandbox(t, o)
	o.Roots = []string{work}
	run := newSandbox(t, o)
	return &bench{t, tools, tool.Place{Files: roots, Session: rand.Text(), Dir: own, Start: run.Start}, ask.Start}
}

func newSandbox(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// put writes an executable into the folder of tools.
func (b *bench) put(name, script string) string {
	b.t.Helper()
	path := filepath.Join(b.tools, name)
	if err := writeProgram(path, []byte(script), 0o755); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// writeProgram writes a file that is to be executed. A process that is forked
// by another test meanwhile would hold it open for a moment, and nobody could
// execute it then.
func writeProgram(path string, data []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, mode)
}

// options give every tool ample time: that the machine is crowded is not what
// the tests are about. Those about time say so.
func (b *bench) options() Options { return Options{Start: b.ask, Timeout: time.Minute} }

// hasty are options with the time that the protocol gives.
func (b *bench) hasty() Options { return Options{Start: b.ask} }

func (b *bench) scan(o Options) *tool.Set {
	b.t.Helper()
	return Scan(b.t.Context(), []Dir{{b.tools, tool.User}}, o)
}

// only scans for the one tool that is there.
func (b *bench) only(o Options) *Tool {
	b.t.Helper()
	set := b.scan(o)
	if len(set.Names()) != 1 {
		b.t.Fatalf("tools %v, problems %+v", set.Names(), set.Problems)
	}
	t, _ := set.Lookup(set.Names()[0])
	return t.(*Tool)
}

// call runs one call of t as the agent would.
func (b *bench) call(t tool.Tool, args string) tool.Result {
	b.t.Helper()
	p, err := t.Prepare(b.t.Context(), b.place, []byte(args))
	if err != nil {
		b.t.Fatalf("preparing %s: %v", args, err)
	}
	return p.Run(b.t.Context(), tool.Grant{}, nil)
}

// sh is a tool in sh that does body when it is called.
func sh(name, schema, body string) string {
	if schema == "" {
		schema = `{"name":"` + name + `","description":"test tool","parameters":{"x":{"type":"string"}}}`
	}
	return "#!/bin/sh\nif [ \"$1\" = --schema ]; then\ncat <<'END'\n" + schema + "\nEND\nexit 0\nfi\n" + body + "\n"
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
