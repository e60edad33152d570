package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// misbehaving programs: each leaves, or tries to leave, something running. %s
// is the mark that tells its processes from others.
var misbehaving = []struct{ name, script string }{
	{"holds the pipe", "sleep 61.%[1]s & echo hi"},
	{"a session of its own", "setsid sleep 62.%[1]s & echo hi"},
	{"a daemon", "(setsid sh -c 'sleep 63.%[1]s & sleep 63.%[1]s' >/dev/null 2>&1 &) ; exit 0"},
	{"a daemon without environment", "env -i setsid nohup sleep 64.%[1]s >/dev/null 2>&1 </dev/null &"},
	{"ignores being asked", "trap '' TERM INT HUP; while :; do sleep 65.%[1]s; done"},
	{"is stopped", "sleep 66.%[1]s & kill -STOP $!; kill -STOP $$"},
	{"forks and forks", `/usr/bin/python3 -c '
import os,time
for i in range(6):
    os.fork()
os.execvp("sleep", ["sleep", "67.%[1]s"])'`},
	{"forks away", `/usr/bin/python3 -c '
import os
for i in range(200):
    if os.fork(): os._exit(0)
    os.setsid()
os.execvp("sleep", ["sleep", "68.%[1]s"])'`},
	{"makes zombies", `/usr/bin/python3 -c '
import os,time
for i in range(50):
    if os.fork()==0: os._exit(0)
time.sleep(0.05)'`},
	{"prints without end", "yes %[1]s"},
	{"kills its group", "sleep 69.%[1]s & kill -TERM 0; sleep 1"},
	{"dies by a signal", "sleep 70.%[1]s & kill -9 $$"},
	{"ends at once", "exit 3"},
	{"never ends", "exec sleep 71.%[1]s"},
	{"children of many sessions", "for i in 1 2 3 4 5; do setsid sh -c 'trap \"\" TERM; sleep 72.%[1]s' & done; wait"},
}

// starts is how many random starts are made.
func starts(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("IKIGAI_STARTS")); err == nil {
		return n
	}
	if testing.Short() {
		return 30
	}
	return 200
}

// TestNothingIsAliveAfterRandomStarts runs many at once, as most of them only
// wait to be ended.
func TestNothingIsAliveAfterRandomStarts(t *testing.T) {
	t.Parallel()
	kinds := []jailKind{whole, light, plain}
	var boxes []*box
	for _, kind := range kinds {
		boxes = append(boxes, newBox(t, kind))
	}
	var all sync.WaitGroup
	next := make(chan int)
	for range 16 {
		all.Go(func() {
			for i := range next {
				misbehave(t, boxes[i%len(boxes)], kindNames[kinds[i%len(kinds)]])
			}
		})
	}
	for i := range starts(t) {
		next <- i
	}
	close(next)
	all.Wait()
	for _, b := range boxes {
		noPlaceholders(t, b.root)
	}
}

// misbehave starts one of the misbehaving programs, and sees that nothing of
// it is alive when Start returns.
func misbehave(t *testing.T, b *box, kind string) {
	p := misbehaving[rand.IntN(len(misbehaving))]
	m := mark()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+rand.IntN(180))*time.Millisecond)
	defer cancel()
	c := sh(fmt.Sprintf(p.script+"\n#%[1]s", m))
	c.Env.Set = []string{"IKIGAI_TEST_MARK=" + m}
	if _, err := b.Start(ctx, c, tool.Grant{}); err != nil {
		t.Errorf("%s in %s: %v", p.name, kind, err)
	}
	if left := alive(m); len(left) > 0 {
		t.Errorf("%s in %s: alive when Start returned: %q", p.name, kind, left)
	}
	noZombies(t, p.name+" in "+kind)
}

// agentMark in the environment makes the test binary an agent that runs
// misbehaving programs until it is killed: kind, root and mark, by colons.
const agentMark = "IKIGAI_TEST_AGENT"

func agentMain() int {
	parts := strings.Split(os.Getenv(agentMark), ":")
	kind, _ := strconv.Atoi(parts[0])
	base, m := parts[1], parts[2]
	o := Options{Roots: []string{filepath.Join(base, "root")}, Temp: filepath.Join(base, "temp"), Home: base}
	s, err := newOf(o, jailKind(kind))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var all sync.WaitGroup
	for _, p := range misbehaving {
		all.Go(func() {
			for {
				c := sh(fmt.Sprintf(p.script+"\n#%[1]s", m))
				c.Env.Set = []string{"IKIGAI_TEST_MARK=" + m}
				_, _ = s.Start(context.Background(), c, tool.Grant{})
			}
		})
	}
	fmt.Println("ready")
	all.Wait()
	return 0
}

func TestTheTreeDiesWithTheAgent(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for _, kind := range []jailKind{whole, light, plain} {
		t.Run(kindNames[kind], func(t *testing.T) {
			b := newBox(t, kind)
			for range rounds {
				m := mark()
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s:%s", agentMark, kind, b.base, m))
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
					t.Fatalf("the agent says %q", line)
				}
				time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				goneSoon(t, m)
				left := within(soon, func() []string { return placeholders(t, b.root) }) // the helpers remove them last
				if len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			}
		})
	}
}

func TestAHelperThatIsKilledEndsItsProgram(t *testing.T) {
	for _, kind := range []jailKind{whole, light} {
		b := newBox(t, kind)
		m := mark()
		c := sh("echo started; sleep 61." + m + "; exit 0")
		c.Output = func([]byte, bool) {
			for _, pid := range helpers() {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
		e, err := b.Start(t.Context(), c, tool.Grant{})
		if err != nil || e.How != tool.Signalled || string(e.Stdout) != "started\n" {
			t.Errorf("%s: %+v %v", kindNames[kind], e, err)
		}
		goneSoon(t, m)
	}
}

// helperEnder leaves a daemon that nothing tells from others, and then tries to end
// every thread of its parent in one way; the name of the way is an argument.
const helperEnder = `
import ctypes, fcntl, os, subprocess, sys
nowhere = subprocess.DEVNULL
subprocess.Popen(["setsid", "sleep", sys.argv[2]], env={}, stdin=nowhere, stdout=nowhere, stderr=nowhere)
libc, parent, way = ctypes.CDLL(None, use_errno=True), os.getppid(), sys.argv[1]
info = (ctypes.c_int * 32)(9, 0, -1)
def pidfd(thread, flags):
    fd = libc.syscall(434, thread, flags)
    return libc.syscall(424, fd, 9, 0, 0)
def folder(thread):
    return libc.syscall(424, os.open("/proc/%d" % thread, os.O_RDONLY), 9, 0, 0)
def owner(thread):
    a, b = os.pipe()
    fcntl.fcntl(a, 10, 9)
    fcntl.fcntl(a, fcntl.F_SETOWN, thread)
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(b, b"x")
ways = {
    "kill": lambda t: libc.syscall(62, t, 9),
    "the group": lambda t: libc.syscall(62, -t, 9),
    "tkill": lambda t: libc.syscall(200, t, 9),
    "tgkill": lambda t: libc.syscall(234, parent, t, 9),
    "queue": lambda t: libc.syscall(129, t, 9, info),
    "queue to a thread": lambda t: libc.syscall(297, parent, t, 9, info),
    "a descriptor of the process": lambda t: pidfd(t, 0),
    "a descriptor of the thread": lambda t: pidfd(t, 0x80),
    "a folder of /proc": folder,
    "the owner of a pipe": owner,
}
for thread in map(int, os.listdir("/proc/%d/task" % parent)):
    try:
        ways[way](thread)
    except OSError:
        pass
print("still here")
`

// TestJailKeepsItsHelperFromTheProgram tries all ways to end the helper, which
// is what ends the tree. The numbers of the calls are those of one machine.
func TestJailKeepsItsHelperFromTheProgram(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the numbers are those of amd64")
	}
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		for _, way := range []string{
			"kill", "the group", "tkill", "tgkill", "queue", "queue to a thread",
			"a descriptor of the process", "a descriptor of the thread", "a folder of /proc", "the owner of a pipe",
		} {
			t.Run(way, func(t *testing.T) {
				m := mark()
				e, err := b.Start(t.Context(), tool.Command{Argv: []string{"/usr/bin/python3", "-c", helperEnder, way, "31." + m}}, tool.Grant{})
				if err != nil || e.How != tool.Exited || string(e.Stdout) != "still here\n" {
					t.Errorf("%+v %s%s %v", e.How, e.Stdout, e.Stderr, err)
				}
				if left := alive(m); len(left) > 0 {
					t.Errorf("alive when Start returned: %q", left)
				}
			})
		}
	})
}

// helpers finds our children that are helpers.
func helpers() []int {
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		if len(rest) > 1 && rest[1] == strconv.Itoa(os.Getpid()) && strings.HasPrefix(string(cmdline), "ikigai-init") {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			list = append(list, pid)
		}
	}
	return list
}

// TestOneIdleHelperOfAKindStays waits for the surplus to go, and sees that what
// stays serves again and goes with the sandbox.
func TestOneIdleHelperOfAKindStays(t *testing.T) {
	b := newBox(t, whole)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { b.sh("sleep 0.2", tool.Grant{}) })
	}
	all.Wait()
	for end := time.Now().Add(20 * time.Second); len(helpers()) > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still there: %v", helpers())
		}
	}
	before := helpers()
	b.sh("true", tool.Grant{})
	if after := helpers(); len(before) != 1 || !slices.Equal(before, after) {
		t.Errorf("helpers %v served, then %v", before, after)
	}
	_ = b.Close()
	if left := helpers(); len(left) > 0 {
		t.Errorf("after Close: %v", left)
	}
}

func TestAHelperThatIsKilledInItsSleepIsReplaced(t *testing.T) {
	for _, kind := range []jailKind{whole, light, plain} {
		b := newBox(t, kind)
		b.sh("true", tool.Grant{})
		h := b.hosts.helpers.pop(helperFor(kind, tool.Grant{}))
		_ = h.process.Kill()
		<-h.gone
		b.hosts.helpers.give(h, helperFor(kind, tool.Grant{}))
		if e := b.sh("echo hi", tool.Grant{}); string(e.Stdout) != "hi\n" {
			t.Errorf("%s: %+v", kindNames[kind], e)
		}
	}
}

func TestAGigabyteOfOutputCostsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	b := newBox(t, whole)
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip(err)
	}
	before, allocated := peak(t), allocatedBytes()
	c := sh("head -c 1073741824 /dev/zero")
	var live int64
	c.Output = func(p []byte, _ bool) { live += int64(len(p)) }
	e := run(t, b.Sandbox, c, tool.Grant{})
	grown := peak(t) - before
	if e.StdoutTotal != 1<<30 || live != 1<<30 || len(e.Stdout) > tool.DefaultOutput {
		t.Errorf("%d bytes printed, %d live, %d kept", e.StdoutTotal, live, len(e.Stdout))
	}
	allocated = allocatedBytes() - allocated
	if grown > 64<<20 || allocated > 64<<20 {
		t.Errorf("%d MiB of memory, %d MiB allocated", grown>>20, allocated>>20)
	}
	t.Logf("%d MiB of memory, %d MiB allocated, %v", grown>>20, allocated>>20, e.Took)
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// peak is the most memory this process had.
func peak(t *testing.T) int64 {
	t.Helper()
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

func TestManyStartsAtOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []jailKind{whole, light, plain} {
		b := newBox(t, kind)
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				e, err := b.Start(t.Context(), sh(fmt.Sprintf("echo %d; exit %d", i, i)), tool.Grant{Net: i%2 == 0})
				if err != nil || e.Code != i || string(e.Stdout) != fmt.Sprintf("%d\n", i) {
					t.Errorf("%s %d: %+v %v", kindNames[kind], i, e, err)
				}
			})
		}
		all.Wait()
		noPlaceholders(t, b.root)
	}
}

// bomb forks until the kernel refuses, says how often that went well, and ends
// as if nothing had happened.
const bomb = `
import os, sys, time
n = 0
while n < 6000:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError as err:
        print(n, err.errno)
        sys.exit(3)
    n += 1
sys.exit(4)
#`

// TestAForkBombStaysWithinItsLimit wants the kernel to refuse, for want of a
// place and of nothing else, close to the limit; the program to live on and to
// end as it wishes; and all that it left to be gone.
func TestAForkBombStaysWithinItsLimit(t *testing.T) {
	b := newBox(t, whole)
	if os.Getuid() == 0 && processGroups() == "" {
		t.Skip("root, and no control group to limit it by")
	}
	m := mark()
	e := b.python(bomb+m, tool.Grant{})
	var forks int
	var errno syscall.Errno
	if _, err := fmt.Sscan(string(e.Stdout), &forks, &errno); err != nil || e.How != tool.Exited || e.Code != 3 {
		t.Errorf("how %d, status %d %s: %s%s %v", e.How, e.Code, e.Signal, e.Stdout, e.Stderr, err)
	}
	if errno != syscall.EAGAIN || forks >= mostAtOnce || forks < mostAtOnce*9/10 {
		t.Errorf("refused after %d forks: %v", forks, errno)
	}
	goneSoon(t, m)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if dir := b.hosts.rooted.dir; dir != "" && exists(dir) {
		t.Errorf("the control group is left: %s", dir)
	}
}
