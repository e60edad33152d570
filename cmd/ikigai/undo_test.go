package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/fake"
)

// A desk is a workspace, a home, and the real program to work in them.
type desk struct {
	testing.TB
	bin, ws, home string
	env           []string // further variables
}

// newDesk lays out a desk. This test binary is ikigai when it is called by that
// name.
func newDesk(t testing.TB) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, bin: filepath.Join(top, "bin", "ikigai"), ws: filepath.Join(top, "ws"), home: filepath.Join(top, "home")}
	for _, dir := range []string{filepath.Dir(d.bin), d.ws, d.home} {
		d.must(os.MkdirAll(dir, 0o755))
	}
	d.must(os.Symlink(os.Args[0], d.bin))
	return d
}

func (d *desk) must(err error) {
	if err != nil {
		d.Helper()
		d.Fatal(err)
	}
}

func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command(d.bin, args...)
	cmd.Dir = d.ws
	cmd.Env = append(os.Environ(), "HOME="+d.home, "OPENAI_API_KEY=sk-test-0123456789", "NO_PROXY=*",
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	cmd.Env = append(cmd.Env, d.env...)
	return cmd
}

// ikigai runs the program to its end and gives all it printed and its exit code.
func (d *desk) ikigai(args ...string) (string, int) {
	d.Helper()
	cmd := d.command(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// want is ikigai with the exit code that must come out.
func (d *desk) want(code int, args ...string) string {
	d.Helper()
	out, got := d.ikigai(args...)
	if got != code {
		d.Fatalf("ikigai %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// turn is one prompt whose model makes the calls and says that it is done.
func (d *desk) turn(calls []fake.Call, args ...string) {
	d.Helper()
	m := fake.NewModel([]fake.Reply{{Calls: calls}, {Text: "done"}})
	defer m.Close()
	d.want(0, append([]string{"run", "--model", "openai/scripted", "--base-url", m.URL + "/v1", "--mode", "yolo", "--quiet"}, append(args, "go on")...)...)
}

func (d *desk) shell(line string) {
	d.Helper()
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir = d.ws
	cmd.Env = append(os.Environ(), "HOME="+d.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// state is all that a person could see in the workspace, but for times, git's
// own folder, and ours: a jail that is killed leaves a place holder there, which
// the next one takes away.
func (d *desk) state() map[string]string {
	d.Helper()
	all := map[string]string{}
	d.must(filepath.WalkDir(d.ws, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == ".git" || p == filepath.Join(d.ws, ".ikigai") {
			return passOver(err)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := []byte{}
		switch info.Mode().Type() {
		case 0:
			text, err = os.ReadFile(p)
		case fs.ModeSymlink:
			var to string
			to, err = os.Readlink(p)
			text = []byte(to)
		}
		all[strings.TrimPrefix(p, d.ws)] = info.Mode().String() + " " + string(text)
		return err
	}))
	return all
}

func passOver(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

func (d *desk) same(what string, got, want map[string]string) {
	d.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// plant fills the workspace with one of everything.
func (d *desk) plant() {
	d.Helper()
	d.shell(`printf 'one\ntwo\n' > a.txt; printf '\000\001\377' > blob; : > empty; mkdir -p src/deep hollow/inner bin
		echo 'package main' > src/main.go; echo x > src/deep/x; printf '#!/bin/sh\n' > bin/run; chmod 755 bin/run; chmod 600 src/deep/x
		ln -s a.txt link; ln -s src dirlink; ln -s nowhere dangling; echo ignored.log > .gitignore; echo kept > ignored.log`)
}

// python is a tool that a person wrote: it changes, adds and removes files.
const python = `#!/usr/bin/env python3
import json, os, sys
if "--schema" in sys.argv:
    print(json.dumps({"name": "meddle", "description": "changes files", "parameters": {"type": "object", "properties": {}}}))
    sys.exit()
sys.stdin.read()
open("a.txt", "a").write("by python\n")
open("made by python", "w").write("\u00e9\n")
os.remove("empty")
os.chmod("bin/run", 0o700)
os.rename("src/main.go", "src/moved.go")
os.remove("link")
os.symlink("blob", "link")
print(json.dumps({"ok": True}))
`

func calling(name, args string) fake.Call {
	return fake.Call{Name: name, Args: json.RawMessage(args)}
}

func bash(line string) []fake.Call {
	args, _ := json.Marshal(map[string]string{"command": line}) // a map of strings always encodes
	return []fake.Call{calling("bash", string(args))}
}

// ways are the ways in which a turn may change files.
var ways = []struct {
	name  string
	calls []fake.Call
	git   bool // only where there is a repository
}{
	{"file tools", []fake.Call{
		calling("file_write", `{"path":"new/file.txt","content":"new\n"}`),
		calling("file_read", `{"path":"a.txt"}`),
		calling("file_edit", `{"path":"a.txt","edits":[{"old_text":"two","new_text":"2"}]}`),
		calling("file_write", `{"path":"src/deep/x","content":"longer than it was\n"}`),
	}, false},
	{"sed -i", bash(`sed -i s/one/1/ a.txt && sed -i s/main/other/ src/main.go`), false},
	{"rm -r", bash(`rm -r src hollow`), false},
	{"renames", bash(`mv a.txt b.txt && mv src lib && mv blob a.txt`), false},
	{"modes", bash(`chmod 600 a.txt && chmod 755 blob && chmod 700 src && chmod 644 bin/run`), false},
	{"links", bash(`ln -sfn blob link && rm dangling && rm a.txt && ln -s blob a.txt && rm dirlink && mkdir dirlink && echo x > dirlink/y`), false},
	{"a Python tool", []fake.Call{calling("meddle", `{}`)}, false},
	{"git checkout", bash(`git checkout -q other`), true},
	{"git stash and reset", bash(`echo x >> a.txt; git stash -q; git reset -q --hard other; git clean -fdq`), true},
}

// TestUndoIsExactWithTheRealProgram takes back, does again and takes back what
// turns did to files, in a repository and outside of one.
func TestUndoIsExactWithTheRealProgram(t *testing.T) {
	for name, git := range map[string]bool{"in a repository": true, "outside of one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undoEveryWay(t, git)
		})
	}
}

func undoEveryWay(t *testing.T, git bool) {
	d := newDesk(t)
	d.plant()
	if git {
		d.shell(`git init -q -b main; git add .; git commit -qm one; git checkout -qb other; rm -r src/deep; echo other > a.txt; echo o > only-other; ln -sfn blob link; git add -A; git commit -qm two; git checkout -q main`)
	}
	tools := filepath.Join(d.home, "tools")
	d.must(os.MkdirAll(tools, 0o755))
	d.must(os.WriteFile(filepath.Join(tools, "meddle"), []byte(python), 0o755))
	_, lookErr := exec.LookPath("python3")
	first := true
	for _, w := range ways {
		if w.git && !git || lookErr != nil && strings.Contains(w.name, "Python") {
			t.Logf("left out: %s", w.name)
			continue
		}
		before := d.state()
		var args []string
		if !first {
			args = []string{"--continue"}
		}
		first = false
		d.turn(w.calls, append(args, "--tool-dir", tools)...)
		after := d.state()
		if maps.Equal(before, after) {
			t.Errorf("%s changed nothing", w.name)
		}
		changed := len(differing(before, after))
		d.want(0, "undo")
		d.same(w.name+", undone", d.state(), before)
		d.want(0, "undo", "--redo")
		d.same(w.name+", redone", d.state(), after)
		d.want(0, "undo")
		d.same(w.name+", undone again", d.state(), before)
		t.Logf("%-20s %d paths changed, undone, redone and undone byte for byte", w.name, changed)
	}
	d.want(0, "audit", "verify")
}

func differing(a, b map[string]string) []string {
	var all []string
	for p := range a {
		if a[p] != b[p] {
			all = append(all, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// TestLaterEditsAreLeftAloneUntilForced follows a person who edits after turns:
// nothing of theirs is lost without a word, and --force means what its hint says.
func TestLaterEditsAreLeftAloneUntilForced(t *testing.T) {
	d := newDesk(t)
	d.plant()
	start := d.state()
	d.turn(bash(`echo first > first; sed -i s/one/1/ a.txt`))
	one := d.state()
	d.turn(bash(`echo second > second; echo more >> a.txt; rm -r hollow`), "--continue")
	d.shell(`echo mine >> a.txt; echo own > own`)
	mine := d.state()

	out := d.want(1, "undo")
	for _, say := range []string{"a.txt: it was changed after the turn", "1 files were left alone, because you changed them since", "--force"} {
		if !strings.Contains(out, say) {
			t.Errorf("it does not say %q:\n%s", say, out)
		}
	}
	partly := maps.Clone(mine)
	delete(partly, "/second")
	partly["/hollow"], partly["/hollow/inner"] = one["/hollow"], one["/hollow/inner"]
	d.same("after undo", d.state(), partly)

	d.want(0, "undo", "--force")
	forced := maps.Clone(one)
	forced["/own"] = mine["/own"]
	d.same("after undo --force", d.state(), forced)
	d.want(0, "undo", "--redo")
	d.same("after redo of both", d.state(), mine)

	d.want(0, "undo", "--force", "1")
	forced = maps.Clone(start)
	forced["/own"] = mine["/own"]
	d.same("all turns undone", d.state(), forced)
	d.want(2, "undo")
}

// TestAnUndoThatFailsSaysSo forbids large files: what failed is named, what was
// not done is not claimed, and the same undo works when the cause is gone.
func TestAnUndoThatFailsSaysSo(t *testing.T) {
	d := newDesk(t)
	d.plant()
	d.must(os.WriteFile(filepath.Join(d.ws, "thick"), []byte(strings.Repeat("thick ", 1<<20)), 0o644))
	before := d.state()
	d.turn(bash(`echo thin > thick; echo changed > a.txt`))
	after := d.state()

	cmd := d.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 4096; exec "$0" undo`, d.bin}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the undo failed: restoring thick: ") || !strings.Contains(string(out), "restored a.txt") {
		t.Errorf("%v\n%s", err, out)
	}
	partly := maps.Clone(before)
	partly["/thick"] = after["/thick"]
	d.same("after the undo that failed", d.state(), partly)
	d.want(0, "undo")
	d.same("after one that did not", d.state(), before)
	d.want(0, "undo", "--redo")
	d.same("after redo", d.state(), after)

	d.must(os.RemoveAll(filepath.Join(d.home, ".local/share/ikigai/snapshots/content")))
	d.must(os.Mkdir(filepath.Join(d.home, ".local/share/ikigai/snapshots/content"), 0o700))
	if out := d.want(1, "undo"); !strings.Contains(out, "nothing was restored") {
		t.Errorf("without its content it says\n%s", out)
	}
	d.same("nothing was changed", d.state(), after)
}

// TestATurnThatWasCutOffIsSaid undoes a turn whose end nobody saw.
func TestATurnThatWasCutOffIsSaid(t *testing.T) {
	d := newDesk(t)
	d.plant()
	before := d.state()
	m := fake.NewModel([]fake.Reply{{Calls: bash(`echo changed > a.txt`)}, {Text: "slowly", Pieces: 2, Stall: -1, After: 1}})
	defer m.Close()
	cmd := d.command("run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--mode", "auto", "--quiet", "go on")
	d.must(cmd.Start())
	for len(m.Requests()) < 2 {
		time.Sleep(5 * time.Millisecond)
	}
	d.must(cmd.Process.Kill())
	cmd.Wait() // it was killed
	d.shell(`echo mine > mine`)
	out := d.want(0, "undo")
	if !strings.Contains(out, "a turn was cut off, so what you changed after it cannot be told") {
		t.Errorf("it does not say so:\n%s", out)
	}
	d.same("after undo", d.state(), before)
	d.want(0, "undo", "--redo")
	if got := fmt.Sprint(d.state()["/mine"], d.state()["/a.txt"]); !strings.Contains(got, "mine") || !strings.Contains(got, "changed") {
		t.Errorf("after redo: %s", got)
	}
}

// TestACutOffUndoIsFinishedFirst leaves an undo of the second turn as one that
// was killed as it began, and asks for something else.
func TestACutOffUndoIsFinishedFirst(t *testing.T) {
	d := newDesk(t)
	d.plant()
	start := d.state()
	d.turn(bash(`echo first > a.txt`))
	first := d.state()
	d.turn(bash(`echo second > a.txt; rm -r src`), "--continue")
	second := d.state()
	session := d.newest()
	d.cutOff(session, 2)
	if out := d.want(0, "undo", "1"); !strings.Contains(out, "first an earlier undo that was cut off is finished") {
		t.Errorf("it does not say so:\n%s", out)
	}
	d.same("both undone", d.state(), start)
	d.want(0, "undo", "--redo")
	d.same("the first redone", d.state(), first)
	d.want(0, "undo", "--redo")
	d.same("both redone", d.state(), second)

	d.cutOff(session, 2)
	d.turn(bash(`true`))
	if out := d.want(1, "undo"); !strings.Contains(out, "ikigai undo --session "+session+" finishes it") {
		t.Errorf("it does not say whose it is:\n%s", out)
	}
	d.want(0, "session", "rm", session)
	d.want(2, "undo")
	d.same("nothing was touched", d.state(), second)
}

// newest is the id of the session that was used last.
func (d *desk) newest() string {
	d.Helper()
	_, rest, _ := strings.Cut(d.want(0, "session", "list", "--json"), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// cutOff leaves what an undo of the last turn leaves that is killed before it
// has changed anything.
func (d *desk) cutOff(session string, turn int) {
	d.Helper()
	kept := filepath.Join(d.home, ".local/share/ikigai/snapshots")
	before, after, id := fmt.Sprintf("%s.%d.before", session, turn), fmt.Sprintf("%s.%d.after", session, turn), session+".undo-killed"
	raw, err := os.ReadFile(filepath.Join(kept, "snapshots", after+".json"))
	d.must(err)
	d.must(os.WriteFile(filepath.Join(kept, "snapshots", id+"-before.json"), []byte(strings.Replace(string(raw), after, id+"-before", 1)), 0o600))
	note, err := json.Marshal(fmt.Sprintf(`{"session":%q,"turns":[%d]}`, session, turn))
	d.must(err)
	key := sha256.Sum256([]byte(d.ws))
	d.must(os.WriteFile(filepath.Join(kept, fmt.Sprintf("restoring-%x.json", key[:12])), fmt.Appendf(nil, `{"id":%q,"turns":[{"Before":%q,"After":%q}],"note":%s}`, id, before, after, note), 0o600))
}
