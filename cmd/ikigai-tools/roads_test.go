package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/files"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools"
)

// program is the built ikigai-tools.
var program string

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	time.Local = time.UTC
	os.Setenv("TZ", "UTC")
	dir, err := os.MkdirTemp("", "ikigai-tools-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A roadCase is one call, the world it meets, and what comes of it.
type roadCase struct {
	ID    string            `json:"id"`
	Tool  string            `json:"tool"`
	Files map[string]string `json:"files"`
	First []string          `json:"first"` // raw arguments of earlier calls of the same tool
	Args  json.RawMessage   `json:"args"`
	Raw   *string           `json:"raw"`   // arguments that are no JSON
	Want  json.RawMessage   `json:"want"`  // the answer; {DIR} stands for the workspace
	Code  string            `json:"code"`  // or the code of its error
	Match string            `json:"match"` // or a pattern for it
	After map[string]string `json:"after"` // files as they are then
	Moves bool              `json:"moves"` // the answer is another at another time
}

func (c roadCase) args() string {
	if c.Raw != nil {
		return *c.Raw
	}
	return string(c.Args)
}

// Every case of every tool goes both roads, and the answers are the same bytes.
func TestBothRoadsGiveTheSameBytes(t *testing.T) {
	tested := map[string]int{}
	for _, c := range cases(t) {
		tested[c.Tool]++
		t.Run(c.ID, func(t *testing.T) {
			w := &world{dir: t.TempDir(), session: t.TempDir()}
			w.build(t, c.Files)
			short := w.shortRoad(t, c)
			w.check(t, c, short)
			w.build(t, c.Files)
			long := w.longRoad(t, c)
			w.check(t, c, long)
			if !c.Moves && !bytes.Equal(short, long) {
				t.Errorf("the roads differ\nshort: %s\nlong:  %s", short, long)
			}
		})
	}
	for _, tl := range tools.All() {
		if n := tested[tl.Spec().Name]; n < 2 {
			t.Errorf("%s has %d cases", tl.Spec().Name, n)
		}
	}
	t.Logf("%d cases of %d tools", len(cases(t)), len(tested))
}

func cases(t *testing.T) []roadCase {
	t.Helper()
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no cases", err)
	}
	var all []roadCase
	seen := map[string]bool{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			var c roadCase
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&c); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, line)
			}
			if seen[c.ID] {
				t.Fatalf("%s: %s is there twice", name, c.ID)
			}
			seen[c.ID] = true
			all = append(all, c)
		}
	}
	return all
}

// A world is a workspace and a session, which can be put back as they were.
type world struct{ dir, session string }

func (w *world) build(t *testing.T, content map[string]string) {
	t.Helper()
	for _, dir := range []string{w.dir, w.session} {
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			must(t, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		w.make(t, name, content[name])
	}
}

// make makes a file; "dir/" is a folder, content "-> x" a link, "@n" n bytes.
func (w *world) make(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(w.dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	var size int
	switch to, link := strings.CutPrefix(content, "-> "); {
	case strings.HasSuffix(name, "/"):
		must(t, os.MkdirAll(path, 0o755))
	case link:
		must(t, os.Symlink(to, path))
		return
	default:
		if n, _ := fmt.Sscanf(content, "@%d", &size); n == 1 {
			content = strings.Repeat("x", size)
		}
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
	old := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	must(t, os.Chtimes(path, old, old))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shortRoad runs the call in this process.
func (w *world) shortRoad(t *testing.T, c roadCase) []byte {
	tl, ok := tools.Find(c.Tool)
	if !ok {
		t.Fatalf("there is no tool %s", c.Tool)
	}
	roots, err := files.Open(w.dir, w.session)
	must(t, err)
	defer roots.Close()
	plain, err := sandbox.New(sandbox.Options{Mode: sandbox.Off, Roots: roots.Roots()[:1], Temp: os.TempDir(), Environ: os.Environ()})
	must(t, err)
	defer plain.Close()
	at := tool.Place{Files: roots, Dir: w.session, Start: plain.Start}
	var last []byte
	for _, args := range append(c.First, c.args()) {
		last = toolkit.Answer(tl, func() (tool.Place, error) { return at, nil }, []byte(args), io.Discard)
	}
	return last
}

// longRoad runs the call as a program of its own.
func (w *world) longRoad(t *testing.T, c roadCase) []byte {
	link := filepath.Join(t.TempDir(), c.Tool)
	must(t, os.Symlink(program, link))
	var last []byte
	for _, args := range append(c.First, c.args()) {
		cmd := exec.Command(link)
		cmd.Dir, cmd.Stdin = w.dir, strings.NewReader(args)
		cmd.Env = append(os.Environ(), "IKIGAI_SESSION_DIR="+w.session)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s ended with %v", c.Tool, err)
		}
		last = bytes.TrimSuffix(out, []byte("\n"))
	}
	return last
}

func (w *world) check(t *testing.T, c roadCase, got []byte) {
	t.Helper()
	real, err := filepath.EvalSymlinks(w.dir)
	must(t, err)
	want := strings.ReplaceAll(string(c.Want), "{DIR}", real)
	var report struct {
		Code string `json:"error_code"`
	}
	if err := json.Unmarshal(got, &report); err != nil {
		t.Errorf("the answer is no JSON: %v\n%s", err, got)
	}
	switch {
	case c.Match != "":
		if !regexp.MustCompile(c.Match).Match(got) {
			t.Errorf("got  %s\nwant %s", got, c.Match)
		}
	case c.Code != "":
		if report.Code != c.Code {
			t.Errorf("got  %s\nwant the code %s", got, c.Code)
		}
	case string(got) != want:
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, content := range c.After {
		raw, err := os.ReadFile(filepath.Join(w.dir, name))
		if string(raw) != content {
			t.Errorf("%s is now %q (%v), want %q", name, raw, err, content)
		}
	}
}

func TestGarbageIsAnsweredWithAnErrorAndExitsZero(t *testing.T) {
	for _, tl := range tools.All() {
		tool := tl.Spec().Name
		for _, in := range []string{"", "garbage", "[]", `"text"`, "{", `{"path":1,"path":2}`, strings.Repeat("[", 100_000), "\x00\xff", "null"} {
			cmd := exec.Command(program, tool)
			cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(in)
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%s < %.20q: %v", tool, in, err)
			}
			if !json.Valid(out) || !bytes.HasSuffix(out, []byte("}\n")) {
				t.Errorf("%s < %.20q: %q", tool, in, out)
			}
		}
	}
}

func TestClosedStandardInputIsAnswered(t *testing.T) {
	for _, tl := range tools.All() {
		cmd := exec.Command("sh", "-c", `exec "$0" "$1" <&-`, program, tl.Spec().Name)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil || !json.Valid(out) {
			t.Errorf("%s: %v %q", tl.Spec().Name, err, out)
		}
	}
}

func TestAFullOutputIsReported(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	cmd := exec.Command(program, "get_current_time")
	cmd.Stdin, cmd.Stdout = strings.NewReader("{}"), full
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("an answer that could not be written: %v", err)
	}
}

// The form of the seed: a flat map of parameters, and what is returned.
func TestSchemaHasTheFormOfTheSeed(t *testing.T) {
	for _, tl := range tools.All() {
		out, err := exec.Command(program, tl.Spec().Name, "--schema").Output()
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Name        string                                `json:"name"`
			Description string                                `json:"description"`
			Parameters  map[string]map[string]json.RawMessage `json:"parameters"`
			Returns     struct {
				Type       string                     `json:"type"`
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"returns"`
		}
		if err := json.Unmarshal(out, &s); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if s.Name != tl.Spec().Name || s.Description == "" || s.Returns.Type != "object" || len(s.Returns.Properties) == 0 {
			t.Errorf("%s", out)
		}
		for _, p := range tl.Spec().Parameters.Properties() {
			if got := string(s.Parameters[p.Name]["required"]); (got == "true") != p.Required {
				t.Errorf("%s: parameter %s is required: %q", s.Name, p.Name, got)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{nil, 2, "usage"},
		{[]string{"no_such_tool"}, 2, "no_such_tool"},
		{[]string{"bash", "--help"}, 2, "--schema"},
		{[]string{"--list"}, 0, ""},
	} {
		cmd := exec.Command(program, c.args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(stderr.String(), c.said) {
			t.Errorf("%v: %v, %s", c.args, err, &stderr)
		}
	}
}

func TestListNamesWhatIsInstalled(t *testing.T) {
	out, err := exec.Command(program, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	for _, n := range []string{"bash", "file_read", "file_write", "file_edit", "glob", "grep", "ls", "web_search", "update_task"} {
		if !slices.Contains(names, n) {
			t.Errorf("%s is not listed: %v", n, names)
		}
	}
	for _, n := range []string{"web_fetch", "job_output", "job_kill", "recall"} {
		if slices.Contains(names, n) {
			t.Errorf("%s is listed, though it is off or needs a session", n)
		}
	}
}

// The promise that lets a scan of many tools be quick: nothing is worked out
// before it is asked for. Processor time of the best of a few starts, since what
// else runs on the machine is not ours.
func TestSchemaCostsUnderTenMilliseconds(t *testing.T) {
	best := time.Hour
	for range 20 {
		cmd := exec.Command(program, "bash", "--schema")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	t.Logf("--schema takes %v of processor time", best)
	if best > 10*time.Millisecond {
		t.Errorf("--schema takes %v of processor time; 10 ms are allowed", best)
	}
}

func TestTaskListIsKeptFromProgramToProgram(t *testing.T) {
	session := t.TempDir()
	call := func(name, args string) string {
		cmd := exec.Command(program, name)
		cmd.Stdin, cmd.Dir = strings.NewReader(args), t.TempDir()
		cmd.Env = append(os.Environ(), "IKIGAI_SESSION_DIR="+session)
		out, err := cmd.Output()
		must(t, err)
		return string(out)
	}
	done := make(chan string)
	for i := range 8 {
		go func() { done <- call("add_task", fmt.Sprintf(`{"content":"step %d"}`, i)) }()
	}
	var ids []string
	for range 8 {
		ids = append(ids, <-done)
	}
	slices.SortFunc(ids, cmp.Compare[string])
	if len(slices.Compact(ids)) != 8 {
		t.Errorf("two tasks have one id: %v", ids)
	}
	call("update_task", `{"task_id":"task_3","status":"completed"}`)
	if list := call("list_tasks", "{}"); !strings.Contains(list, `\"task_3\",\"status\":\"completed\"`) || !strings.Contains(list, `"count":8`) {
		t.Errorf("the list is %s", list)
	}
}
