package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
	b.write(filepath.Join(b.hidden, "key"), "hush")
	b.write(filepath.Join(b.home, "notes"), "plain")
	b.fill()
	b.Sandbox = b.open(b.options(), kind)
	return b
}

// in gives the box as it was made, for another case.
func (b *box) in(t *testing.T) *box {
	t.Helper()
	again := *b
	again.t = t
	for _, dir := range []string{b.root, b.outside} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	again.fill()
	return &again
}

// fill puts a repository without commits into the workspace, and the victim
// outside.
func (b *box) fill() {
	b.t.Helper()
	git := filepath.Join(b.root, ".git")
	for _, dir := range []string{"hooks", "info", "objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(git, dir), 0o755); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write(filepath.Join(git, "HEAD"), "ref: refs/heads/main\n")
	b.write(filepath.Join(git, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
	b.write(filepath.Join(b.outside, "victim"), "old")
}

// options of the box; tests change them before they open a sandbox.
func (b *box) options() Options {
	return Options{
		Roots: []string{b.root}, Temp: b.temp, Cache: filepath.Join(b.base, "cache"), Home: b.home,
		Protect: []string{filepath.Join(b.root, "conf", "policies.json"), filepath.Join(b.root, "etc", "rules.json")},
		Hide:    []string{b.hidden, "/proc/*/environ", "/etc/passwd", "/etc/shadow"}, Environ: append(os.Environ(), "IKIGAI_TEST_KEY=hush"),
	}
}

// newOf makes a sandbox whose jail is of that kind, if that can be had.
func newOf(o Options, kind jailKind) (*Sandbox, error) {
	if kind == plain {
		o.Mode = Off
	}
	s, err := New(o)
	if err == nil {
		s.hosts.refused = kind == light
	}
	return s, err
}

func (b *box) open(o Options, kind jailKind) *Sandbox {
	b.t.Helper()
	s, err := newOf(o, kind)
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

// eachJail runs f as a subtest for both jails, side by side.
func eachJail(t *testing.T, f func(t *testing.T, kind jailKind)) {
	t.Helper()
	t.Parallel()
	for _, kind := range []jailKind{whole, light} {
		t.Run(kindNames[kind], func(t *testing.T) {
			t.Parallel()
			f(t, kind)
		})
	}
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

// A fairClock tells time as a thread feels it that always wants to run: on an
// idle machine it goes like any other, and on a busy one it goes slower, as all
// that we wait for does. It has to be looked at without sleeping in between.
type fairClock struct{ began time.Duration }

func newFairClock() *fairClock {
	runtime.LockOSThread()
	c := &fairClock{}
	c.began = c.now()
	return c
}

func (c *fairClock) now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err) // every thread has one
	}
	return time.Duration(ts.Nano())
}

func (c *fairClock) passed() time.Duration { return c.now() - c.began }
func (c *fairClock) stop()                 { runtime.UnlockOSThread() }

// within reports whether nothing is left after at most d of fair time.
func within(d time.Duration, left func() []string) []string {
	clock := newFairClock()
	defer clock.stop()
	for {
		rest := left()
		if len(rest) == 0 || clock.passed() > d {
			return rest
		}
	}
}

// soon is how long something that was ended may take to be gone.
const soon = 2 * time.Second

// goneSoon fails unless no process with mark is alive soon.
func goneSoon(t *testing.T, mark string) {
	t.Helper()
	if left := within(soon, func() []string { return alive(mark) }); len(left) > 0 {
		t.Fatalf("still alive after %v: %q", soon, left)
	}
}

// zombies are our dead children that nobody collected, with when they were
// born: numbers come again.
func zombies() []string {
	var list []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(rest) > 19 && rest[0] == "Z" && rest[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, filepath.Base(dir)+" of "+rest[19])
		}
	}
	return list
}

// noZombies fails if a child that is dead now is not collected soon.
func noZombies(t *testing.T, after string) {
	t.Helper()
	dead := zombies()
	left := within(soon, func() []string {
		now := zombies()
		dead = slices.DeleteFunc(dead, func(z string) bool { return !slices.Contains(now, z) })
		return dead
	})
	if len(left) > 0 {
		t.Errorf("after %s: zombies: %q", after, left)
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
	t.Parallel()
	suite := cmp.Or(os.Getenv("IKIGAI_SUITE"), "Jail|RandomStarts|ManyStarts|Deadline|Cancel|Grandchild|Agent|Helper|Layers|Unconfined|ForkBomb")
	out := asPlainUser(t, suite, "IKIGAI_STARTS="+cmp.Or(os.Getenv("IKIGAI_STARTS"), "60"), compiledMark+"="+elsewhere)
	t.Logf("as a plain user: %d passed, %d skipped", strings.Count(out, "--- PASS"), strings.Count(out, "--- SKIP"))
	for line := range strings.Lines(out) {
		if strings.Contains(line, "--- SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// plainUser is nobody who has an account.
const plainUser = 64123

// asPlainUser runs tests of this package as another user and gives what they
// said.
func asPlainUser(t *testing.T, suite string, env ...string) string {
	t.Helper()
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
	syscall.ForkLock.RLock() // a process that is forked meanwhile would hold it open, and nobody could execute it
	err = os.WriteFile(binary, self, 0o755)
	syscall.ForkLock.RUnlock()
	if err := errors.Join(err, os.Mkdir(filepath.Join(dir, "tmp"), 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	giveAway(t, dir)
	cmd := exec.Command(binary, "-test.v", "-test.run", suite, "-test.timeout", "8m")
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir + "/tmp", "LANG=C.UTF-8",
		required + "=" + os.Getenv(required),
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as user %d: %v\n%s", plainUser, err, out)
	}
	return string(out)
}

// giveAway makes all of dir the plain user's.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, plainUser, plainUser))
	})
	if err != nil {
		t.Fatal(err)
	}
}
