package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// required says that a kernel without namespaces is a failure, not a reason to
// skip.
const required = "IKIGAI_REQUIRE_SANDBOX"

// A box is a sandbox with a workspace, and a folder outside of it that holds a
// victim. Everything is on a real disk, outside /tmp, which jails replace.
type box struct {
	*Sandbox
	t                                       *testing.T
	base, root, outside, temp, home, hidden string
}

var kindNames = map[jailKind]string{plain: "off", light: "light", whole: "whole"}

// newBox makes a box whose programs run in a jail of that kind, or skips.
func newBox(t *testing.T, kind jailKind) *box {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "ikigai-box-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	b := &box{t: t, base: base}
	for name, p := range map[string]*string{"root": &b.root, "outside": &b.outside, "temp": &b.temp, "home": &b.home, "home/secrets": &b.hidden} {
		*p = filepath.Join(base, name)
		if err := os.MkdirAll(*p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.write(filepath.Join(b.outside, "victim"), "old")
	b.write(filepath.Join(b.hidden, "key"), "hush")
	b.write(filepath.Join(b.home, "notes"), "plain")
	b.git("init", "-q", b.root)
	b.Sandbox = b.open(kind)
	return b
}

// options of the box; tests change them before they open a sandbox.
func (b *box) options(kind jailKind) Options {
	o := Options{
		Roots: []string{b.root}, Temp: b.temp, Cache: filepath.Join(b.base, "cache"), Home: b.home,
		Protect: []string{filepath.Join(b.root, "conf", "policies.json"), filepath.Join(b.root, "etc", "rules.json")},
		Hide:    []string{b.hidden, "/proc/*/environ", "/etc/passwd", "/etc/shadow"}, Environ: append(os.Environ(), "IKIGAI_TEST_KEY=hush"), light: kind == light,
	}
	if kind == plain {
		o.Mode = Off
	}
	return o
}

func (b *box) open(kind jailKind) *Sandbox {
	b.t.Helper()
	s, err := New(b.options(kind))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Close() })
	if got := s.hosts.kind(tool.Grant{}); got != kind {
		msg := fmt.Sprintf("no %s jail here: %+v", kindNames[kind], s.Layers())
		if os.Getenv(required) != "" {
			b.t.Fatal(msg)
		}
		b.t.Skip(msg)
	}
	return s
}

func (b *box) write(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) git(args ...string) {
	b.t.Helper()
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// sh runs a script of the shell in the jail. $O is the folder outside.
func (b *box) sh(script string, g tool.Grant, env ...string) tool.Exit {
	b.t.Helper()
	return b.start(tool.Command{Argv: []string{"sh", "-c", script}}, g, env...)
}

// python runs a script in the jail.
func (b *box) python(script string, g tool.Grant, env ...string) tool.Exit {
	b.t.Helper()
	return b.start(tool.Command{Argv: []string{"/usr/bin/python3", "-c", script}}, g, env...)
}

func (b *box) start(c tool.Command, g tool.Grant, env ...string) tool.Exit {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 4*time.Minute)
	defer cancel()
	c.Env.Inherit = true
	c.Env.Set = append([]string{"O=" + b.outside, "H=" + b.hidden}, env...)
	e, err := b.Start(ctx, c, g)
	if err != nil {
		b.t.Fatalf("%q: %v", c.Argv, err)
	}
	if e.How == tool.TimedOut {
		b.t.Fatalf("%q: timed out\n%s\n%s", c.Argv, e.Stdout, e.Stderr)
	}
	return e
}

// untouched fails unless the folder outside is as it was made.
func (b *box) untouched() {
	b.t.Helper()
	entries, _ := os.ReadDir(b.outside)
	info, err := os.Stat(filepath.Join(b.outside, "victim"))
	if err != nil || len(entries) != 1 {
		b.t.Fatalf("outside: %v, %v", entries, err)
	}
	text, _ := os.ReadFile(filepath.Join(b.outside, "victim"))
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if string(text) != "old" || info.Mode().Perm() != 0o644 || time.Since(info.ModTime()) > time.Hour || owner != os.Getuid() {
		b.t.Fatalf("the victim: %q %v %v owner %d", text, info.Mode(), info.ModTime(), owner)
	}
}

// mark is a text that occurs nowhere else: it tells our processes from others.
func mark() string { return "1" + strconv.FormatInt(rand.Int64N(1e9)+1e9, 10) }

// alive lists the processes whose arguments or environment hold mark.
func alive(mark string) []string {
	var list []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if dir == "/proc/"+strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(filepath.Join(dir, file)); err == nil && strings.Contains(string(text), mark) {
				list = append(list, dir+" "+strings.ReplaceAll(string(text), "\x00", " ")[:min(80, len(text))])
				break
			}
		}
	}
	return list
}

// goneWithin fails unless no process with mark is alive after at most d.
func goneWithin(t *testing.T, mark string, d time.Duration) {
	t.Helper()
	var left []string
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		if left = alive(mark); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still alive after %v: %q", d, left)
		}
	}
}

// zombies lists our dead children that nobody collected.
func zombies() []string {
	var list []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(rest) > 1 && rest[0] == "Z" && rest[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, string(text))
		}
	}
	return list
}

// noZombies fails if a dead child is not collected soon.
func noZombies(t *testing.T, after string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); len(zombies()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: zombies: %q", after, zombies())
		}
	}
}

// TestSuiteAsPlainUser runs this package's jail tests again without the rights
// of root.
func TestSuiteAsPlainUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: the suite runs as a plain user anyway")
	}
	if testing.Short() {
		t.Skip("short")
	}
	const uid = 64123
	dir, err := os.MkdirTemp("/var/tmp", "ikigai-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "sandbox.test")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, filepath.Join(dir, "tmp")} {
		_ = os.Mkdir(p, 0o755)
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(p, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-test.v", "-test.run", plainSuite(), "-test.timeout", "8m")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir + "/tmp", "LANG=C.UTF-8",
		required + "=" + os.Getenv(required), "IKIGAI_STARTS=" + cmp.Or(os.Getenv("IKIGAI_STARTS"), "60"),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as user %d: %v\n%s", uid, err, out)
	}
	t.Logf("as user %d: %d passed, %d skipped", uid, strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP"))
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// plainSuite is what of the tests is run again.
func plainSuite() string {
	if only := os.Getenv("IKIGAI_SUITE"); only != "" {
		return only
	}
	return "Jail|RandomStarts|ManyStarts|Deadline|Cancel|Grandchild|Agent|Helper|Layers|Unconfined|ForkBomb"
}
