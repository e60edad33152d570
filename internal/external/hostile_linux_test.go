package external

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"

	"ikigai/internal/clean"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

// hostileTools is the corpus; moreHostile are rows of our own in the same form.
var (
	//go:embed testdata/hostile_tools.jsonl
	hostileTools []byte
	//go:embed testdata/more_hostile.jsonl
	moreHostile []byte
)

// A hostileRow is one tool of the corpus, see its README.
type hostileRow struct {
	ID        string
	Name      string
	Phase     string
	SchemaMS  int `json:"schema_timeout_ms"`
	Script    string
	Args      string
	TimeoutMS int      `json:"timeout_ms"`
	MaxMS     int64    `json:"max_ms"`
	AlsoOK    []string `json:"also_ok"`
	Checks    []string
	Setup     []string
	Expect    struct {
		Success    *bool           `json:"tool_success"`
		Result     json.RawMessage `json:"result"`
		Code       string          `json:"error_code"`
		ExitCode   any             `json:"exit_code"`
		Stdout     string          `json:"stdout_contains"`
		Stderr     string          `json:"stderr_contains"`
		Signal     string
		MaxMemory  int64  `json:"max_memory_mb"`
		Registered *bool  `json:"registered"`
		SkipReason string `json:"skip_reason"`
	}
}

func hostileRows(t testing.TB) []hostileRow {
	t.Helper()
	var rows []hostileRow
	for line := range bytes.Lines(slices.Concat(hostileTools, moreHostile)) {
		var r hostileRow
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestHostileToolsDoNoHarm runs the corpus in a process of its own, whose
// environment holds a secret from its first moment: once as whoever runs the
// tests, and once as a plain user when that is root.
func TestHostileToolsDoNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Run("same user", func(t *testing.T) { runCorpus(t, nil) })
	t.Run("plain user", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can become another user")
		}
		runCorpus(t, &syscall.Credential{Uid: 12345, Gid: 12345})
	})
}

func runCorpus(t *testing.T, as *syscall.Credential) {
	t.Parallel()
	base := copyOfTest(t, as)
	cmd := exec.CommandContext(t.Context(), filepath.Join(base, "external.test"), "-test.v", "-test.run=^TestHostileCorpus$", "-test.parallel=8") // most of them wait
	cmd.Dir = base
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + base, "HOME=" + base,
		"IKIGAI_TEST_CORPUS=1", "OPENAI_API_KEY=sk-test-000",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setsid: true}
	out, err := cmd.CombinedOutput()
	for errors.Is(err, syscall.ETXTBSY) { // a process that was forked beside us still holds the copy open for a moment
		again := *cmd
		cmd = &exec.Cmd{Path: again.Path, Args: again.Args, Dir: again.Dir, Env: again.Env, SysProcAttr: again.SysProcAttr}
		time.Sleep(20 * time.Millisecond)
		out, err = cmd.CombinedOutput()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", grepLines(out, "corpus:"))
}

// copyOfTest puts the test binary where the other user may run it.
func copyOfTest(t *testing.T, as *syscall.Credential) string {
	t.Helper()
	base, err := os.MkdirTemp("", "hostile-*") // below t.TempDir other users may not look
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeProgram(filepath.Join(base, "external.test"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	if as != nil {
		if err := os.Chown(base, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func grepLines(out []byte, word string) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, word) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestHostileCorpus is the part that runs in the process of its own.
func TestHostileCorpus(t *testing.T) {
	if os.Getenv("IKIGAI_TEST_CORPUS") == "" {
		t.Skip("run by TestHostileToolsDoNoHarm")
	}
	for name, mode := range map[string]sandbox.Mode{"auto": sandbox.Auto, "off": sandbox.Off} {
		var late atomic.Int32
		rows := hostileRows(t)
		t.Run(name, func(t *testing.T) {
			for _, row := range rows {
				t.Run(row.ID+" "+row.Name, func(t *testing.T) { row.hurry(t, mode, &late) })
			}
		})
		t.Logf("corpus: user %d, sandbox %s: %d rows, %d took longer than they should", os.Getuid(), name, len(rows), late.Load())
	}
}

// hurry runs the row beside others, unless it is about the memory of this
// process, and counts it when it was late.
func (r hostileRow) hurry(t *testing.T, mode sandbox.Mode, late *atomic.Int32) {
	if r.Expect.MaxMemory == 0 {
		t.Parallel()
	}
	began := time.Now()
	r.run(t, newBench(t, mode), mode)
	if took := time.Since(began).Milliseconds(); took > r.MaxMS {
		late.Add(1)
		t.Logf("took %d ms, more than %d", took, r.MaxMS)
	}
}

func (r hostileRow) run(t *testing.T, b *bench, mode sandbox.Mode) {
	cwd, _ := os.Getwd()
	if r.Phase == "discover" {
		r.discover(t, b, mode)
	} else {
		r.exec(t, b, mode)
	}
	if slices.Contains(r.Checks, "agent_cwd_same") {
		if now, _ := os.Getwd(); now != cwd {
			t.Errorf("the agent is in %s now", now)
		}
	}
	if slices.Contains(r.Checks, "no_process_left") {
		expectGone(t, b)
	}
	if slices.Contains(r.Checks, "no_zombies") {
		expectNoZombies(t)
	}
}

// exec finds the tool and calls it once.
func (r hostileRow) exec(t *testing.T, b *bench, mode sandbox.Mode) {
	b.put(r.Name, r.Script)
	found := b.only(b.options())
	if n, big := strings.CutPrefix(r.Args, "BIG:"); big {
		size, _ := strconv.Atoi(n)
		r.Args = "{" + strings.Repeat(" ", size-2) + "}"
	}
	b.place.Limits.Timeout = time.Minute
	if r.Expect.Code == string(tool.ToolTimeout) {
		b.place.Limits.Timeout = time.Duration(r.TimeoutMS) * time.Millisecond
	}
	resetPeak()
	before := memory("VmRSS:")
	began := time.Now()
	var live strings.Builder
	p, err := found.Prepare(t.Context(), b.place, []byte(r.Args))
	if err != nil {
		t.Fatal(err)
	}
	got := p.Run(t.Context(), tool.Grant{}, func(s string) {
		if live.Len() < 1<<20 {
			live.WriteString(s)
		}
	})
	if slices.Contains(r.Checks, "returns_within_1000ms") && time.Since(began) > time.Second {
		t.Logf("returned after %v", time.Since(began))
	}
	if grown := (memory("VmHWM:") - before) >> 20; r.Expect.MaxMemory > 0 && grown > r.Expect.MaxMemory {
		t.Errorf("took %d MiB, more than %d", grown, r.Expect.MaxMemory)
	}
	r.judge(t, got)
	r.look(t, b, got, live.String())
}

// judge compares the envelope with what is expected, or else accepted.
func (r hostileRow) judge(t *testing.T, got tool.Result) {
	t.Helper()
	want := r.Expect
	if got.Failure == nil {
		if *want.Success || slices.Contains(r.AlsoOK, "success") {
			if *want.Success && want.Result != nil && !sameJSON(got.Data, want.Result) {
				t.Errorf("result %s, want %s", got.Data, want.Result)
			}
			return
		}
		t.Errorf("success with %.200s, want %s", got.Data, want.Code)
		return
	}
	f := got.Failure
	if *want.Success || string(f.Code) != want.Code {
		if !slices.Contains(r.AlsoOK, string(f.Code)) {
			t.Errorf("%s: %s, want %s success %v; stderr %.300q", f.Code, f.Message, want.Code, *want.Success, f.Stderr)
		}
		return
	}
	if want.ExitCode != "any" && fmt.Sprint(exitOf(f)) != fmt.Sprint(want.ExitCode) {
		t.Errorf("exit code %v, want %v", exitOf(f), want.ExitCode)
	}
	if !strings.Contains(f.Stdout, want.Stdout) || !strings.Contains(f.Stderr, want.Stderr) || !strings.Contains(f.Message, want.Signal) {
		t.Errorf("lost what was printed or how it ended: %+v", f)
	}
}

func exitOf(f *tool.Failure) any {
	if f.ExitCode == nil {
		return nil
	}
	return *f.ExitCode
}

// look verifies what can be seen from outside after a call.
func (r hostileRow) look(t *testing.T, b *bench, got tool.Result, live string) {
	t.Helper()
	shown := clean.Line(got.Summary) + clean.Block(string(got.Envelope())) + clean.Block(live)
	for _, check := range r.Checks {
		switch check {
		case "display_has_no_control_bytes":
			if i := strings.IndexFunc(shown, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 {
				t.Errorf("a control byte is left at %d of %q", i, shown)
			}
		case "invisible_chars_marked":
			if strings.ContainsAny(shown, "\u202e\u200b\U000e0068") || strings.ContainsRune(clean.Model(string(got.Envelope())), '\U000e0068') {
				t.Errorf("something hidden is left in %q", shown)
			}
		case "no_tty_access":
			if strings.Contains(string(got.Data), "typed") {
				t.Error("it read from a terminal")
			}
		case "secret_absent":
			if strings.Contains(string(got.Envelope()), "sk-test-000") {
				t.Error("the agent's secret came out")
			}
		case "log_redacted": // nothing is written here at all; what is stored goes through package secret
			if found := filesWith(t, filepath.Dir(b.tools), "sk-ant-api03", b.tools); found != nil {
				t.Errorf("the secret lies in %v", found)
			}
		}
	}
}

// filesWith are the files below dir, those below except left out, that contain text.
func filesWith(t *testing.T, dir, text, except string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, except) {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// discover makes the file as the row says and scans the folder.
func (r hostileRow) discover(t *testing.T, b *bench, mode sandbox.Mode) {
	path := r.build(t, b)
	o := b.options()
	if r.Expect.SkipReason == SchemaTimeout {
		o.Timeout = time.Duration(r.SchemaMS) * time.Millisecond
	}
	set := b.scan(o)
	r.judgeScan(t, set, path)
	for _, check := range r.Checks {
		switch check {
		case "no_file_written_when_sandboxed":
			if _, err := os.Lstat(filepath.Join(b.tools, "side-effect")); err == nil && mode != sandbox.Off {
				t.Error("asking for the schema wrote a file")
			}
		case "approval_reset_on_change":
			expectApprovalReset(t, b, set, r.Name)
		}
	}
}

// build makes the candidate; what must stay open is closed with the test.
func (r hostileRow) build(t *testing.T, b *bench) string {
	t.Helper()
	path, mode, made := filepath.Join(b.tools, r.Name), os.FileMode(0o755), false
	for _, step := range r.Setup {
		verb, value, _ := strings.Cut(step, ":")
		var err error
		switch verb {
		case "mode":
			bits, _ := strconv.ParseUint(value, 8, 32)
			mode = os.FileMode(bits)
		case "mkdir":
			made, err = true, os.Mkdir(path, 0o755)
		case "mkfifo":
			made, err = true, syscall.Mkfifo(path, 0o755)
		case "symlink":
			made, err = true, os.Symlink(value, path)
		case "rename":
			path = filepath.Join(b.tools, value)
		case "copies":
			n, _ := strconv.Atoi(value)
			for i := range n {
				b.put(fmt.Sprintf("%s_%d", r.Name, i), r.Script)
			}
		case "open_for_write", "scan_twice":
		default:
			t.Fatalf("unknown setup %q", step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !made {
		if err := writeProgram(path, []byte(r.Script), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(r.Setup, "open_for_write") {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
	}
	return path
}

func (r hostileRow) judgeScan(t *testing.T, set *tool.Set, path string) {
	t.Helper()
	_, registered := set.Lookup(r.Name)
	reason := ""
	for _, p := range set.Problems {
		if p.Path == path {
			reason = p.Reason
		}
	}
	accepted := r.AlsoOK
	if registered != *r.Expect.Registered && !slices.Contains(accepted, "registered") {
		t.Errorf("registered %v, problems %+v", registered, set.Problems)
	}
	if !registered && reason != r.Expect.SkipReason && !slices.Contains(accepted, reason) {
		t.Errorf("reason %q, want %s: %+v", reason, r.Expect.SkipReason, set.Problems)
	}
}

// expectApprovalReset approves the tool as it is and looks again.
func expectApprovalReset(t *testing.T, b *bench, set *tool.Set, name string) {
	t.Helper()
	found, ok := set.Lookup(name)
	if !ok {
		return // told already
	}
	was := found.(*Tool).Identity()
	o := b.options()
	o.Fresh = true
	o.Approved = func(path string, sum [32]byte) bool { return path == was.Path && sum == was.Sum() }
	again, _ := b.scan(o).Lookup(name)
	now := again.(*Tool)
	if same := bytes.Equal(now.Identity().Schema, was.Schema); now.Approved() != same {
		t.Errorf("schema %s, was %s, approved %v", now.Identity().Schema, was.Schema, now.Approved())
	}
}

// expectGone waits half a second for every process of a tool of this bench to
// be gone: one that lies in its folders or that has its session in its environment.
func expectGone(t *testing.T, b *bench) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	for {
		left := processes(func(pid string) bool {
			cwd, _ := os.Readlink("/proc/" + pid + "/cwd")
			env, _ := os.ReadFile("/proc/" + pid + "/environ")
			return strings.HasPrefix(cwd, filepath.Dir(b.tools)) || bytes.Contains(env, []byte("IKIGAI_SESSION="+b.place.Session+"\x00"))
		})
		if len(left) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Errorf("processes are left: %v", left)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// expectNoZombies waits for all descendants that are dead now to be reaped;
// there may be others by then.
func expectNoZombies(t *testing.T) {
	t.Helper()
	me := strconv.Itoa(os.Getpid())
	dead := zombies(me)
	for range 100 {
		now := zombies(me)
		dead = slices.DeleteFunc(dead, func(z string) bool { return !slices.Contains(now, z) })
		if len(dead) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("zombies are left: %v", dead)
}

func zombies(ancestor string) []string {
	return processes(func(pid string) bool {
		state, _ := stateOf(pid)
		for p := pid; state == "Z" && p != "" && p != "0" && p != "1"; _, p = stateOf(p) {
			if p == ancestor {
				return true
			}
		}
		return false
	})
}

// stateOf is the state and the parent of a process.
func stateOf(pid string) (state, parent string) {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return "", ""
	}
	return fields[0], fields[1]
}

// processes are the numbers and names of the processes that keep says yes to.
func processes(keep func(pid string) bool) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid := filepath.Base(dir)
		if pid != strconv.Itoa(os.Getpid()) && keep(pid) {
			comm, _ := os.ReadFile(dir + "/comm")
			found = append(found, pid+" "+strings.TrimSpace(string(comm)))
		}
	}
	return found
}

// resetPeak makes the kernel forget the peak of our memory.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

// memory is a line of our own status, in bytes.
func memory(name string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
