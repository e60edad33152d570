package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/fake"
	"ikigai/internal/permit"
	"ikigai/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// A source is where a tool comes from, and a call of it that leaves a mark when
// it runs.
type source struct {
	name, tool, args string
	flags            []string
	setup            func(t *testing.T, w *workshop)
}

const marking = `#!/bin/sh
if [ "$1" = --schema ]; then
	echo '{"name":"mark","description":"leaves a mark","parameters":{}}'
	exit 0
fi
cat >/dev/null
: > mark
echo '{"output":"done"}'
`

func put(dir string) func(*testing.T, *workshop) {
	return func(t *testing.T, w *workshop) {
		t.Helper()
		name := filepath.Join(strings.NewReplacer("HOME", w.home, "WORK", w.work).Replace(dir), "mark")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(marking), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

var sources = []source{
	{name: "built-in that writes", tool: "file_write", args: `{"path":"mark","content":""}`},
	{name: "built-in that runs", tool: "bash", args: `{"command":"touch mark"}`},
	{name: "built-in that runs the unknown", tool: "bash", args: `{"command":"./mark.sh"}`},
	{name: "another name", tool: "execute_command", args: `{"command":"touch mark"}`},
	{name: "of the user", tool: "mark", args: `{}`, setup: put("HOME/.ikigai/tools")},
	{name: "of the project", tool: "mark", args: `{}`, setup: put("WORK/.ikigai/tools"), flags: []string{"--trust"}},
	{name: "given", tool: "mark", args: `{}`, setup: put("WORK/given"), flags: []string{"--tool-dir", "given"}},
}

// A workshop is a folder, a home and the program.
type workshop struct {
	t          *testing.T
	home, work string
}

func (w *workshop) run(args ...string) (code int, out string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "OPENAI_API_KEY=sk-test-0123456789", "NO_PROXY=*", "TMPDIR=" + os.TempDir()}
	code = Main(context.Background(), Env{Args: args, Environ: env, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: w.work, Home: w.home})
	return code, stdout.String() + stderr.String()
}

// marked reports whether the tool ran, and wipes the mark.
func (w *workshop) marked() bool {
	err := os.Remove(filepath.Join(w.work, "mark"))
	return err == nil
}

func newWorkshop(t *testing.T, s source) *workshop {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{t: t, home: filepath.Join(base, "home"), work: filepath.Join(base, "work")}
	for _, d := range []string{w.home, w.work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.work, "mark.sh"), []byte("#!/bin/sh\n: > mark\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if s.setup != nil {
		s.setup(t, w)
	}
	return w
}

// callers are the ways a call can come about.
var callers = map[string]func(w *workshop, s source, flags []string){
	"tool call": func(w *workshop, s source, flags []string) {
		w.run(append(append([]string{"tool", "call"}, flags...), s.tool, s.args)...)
	},
	"model": func(w *workshop, s source, flags []string) { w.prompt(s, flags) },
	"resumed session": func(w *workshop, s source, flags []string) {
		w.run("run", "--model", "demo", "--quiet", "what can you do?")
		w.prompt(s, append(flags, "--continue"))
	},
}

func (w *workshop) prompt(s source, flags []string) {
	m := fake.NewModel([]fake.Reply{{Calls: []fake.Call{{ID: "c", Name: s.tool, Args: json.RawMessage(s.args)}}}, {Text: "ok"}})
	defer m.Close()
	w.run(append([]string{"run", "--model", "openai/scripted", "--base-url", m.URL + "/v1", "go"}, flags...)...)
}

// A regime is a mode, and whether a rule forbids the call.
type regime struct {
	mode permit.Mode
	deny bool
}

// regimes are all modes, and a deny rule in the loosest of them.
func regimes() []regime {
	if testing.Short() {
		return []regime{{permit.AskMode, false}, {permit.Yolo, false}, {permit.Yolo, true}}
	}
	var all []regime
	for _, m := range permit.Modes {
		all = append(all, regime{m, false})
	}
	return append(all, regime{permit.Yolo, true})
}

// TestNothingRunsThatTheEngineDenies tries every source of tools in every mode by
// every caller. Whether the tool ran must be what policy check says, also when a
// rule forbids it.
func TestNothingRunsThatTheEngineDenies(t *testing.T) {
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkshop(t, s)
			for _, r := range regimes() {
				w.enforces(s, r)
			}
		})
	}
}

func (w *workshop) enforces(s source, r regime) {
	w.t.Helper()
	flags := append([]string{"--mode", string(r.mode)}, s.flags...)
	if r.deny {
		flags = append(flags, "--deny", denied(s))
	}
	want := w.verdict(s, flags)
	if r.deny && want != "deny" {
		w.t.Errorf("%s: a deny rule gives %s", r.mode, want)
	}
	for name, call := range callers {
		call(w, s, flags)
		if ran := w.marked(); ran != (want == "allow") {
			w.t.Errorf("%s, deny rule %v, %s: ran %v, and the engine says %s", r.mode, r.deny, name, ran, want)
		}
	}
}

// denied is a rule against the tool a call really is.
func denied(s source) string {
	if s.tool == "execute_command" {
		return "bash"
	}
	return s.tool
}

func (w *workshop) verdict(s source, flags []string) string {
	w.t.Helper()
	args := []string{"policy", "check", "--json"}
	for _, f := range flags {
		if f != "--trust" {
			args = append(args, f)
		}
	}
	if len(s.flags) > 0 && s.flags[0] == "--trust" {
		args = append(args, "--trust")
	}
	_, out := w.run(append(args, s.tool, s.args)...)
	var v struct{ Decision string }
	line := out[strings.Index(out, "{"):]
	if err := json.NewDecoder(strings.NewReader(line)).Decode(&v); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return v.Decision
}

// TestUntrustedToolsAreNotEvenAsked: a file of a project that nobody trusted is
// never started, not even for its schema.
func TestUntrustedToolsAreNotEvenAsked(t *testing.T) {
	w := newWorkshop(t, source{})
	dir := filepath.Join(w.work, ".ikigai", "tools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(w.work, "seen")
	script := fmt.Sprintf("#!/bin/sh\n: > %s\n", seen)
	if err := os.WriteFile(filepath.Join(dir, "spy"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w.run("tool", "list", "--sandbox", "off")
	if _, err := os.Stat(seen); err == nil {
		t.Error("an untrusted executable was started")
	}
}
