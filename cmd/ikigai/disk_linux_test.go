package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // to hold a lock

	"ikigai/internal/fake"
)

// insideVariable tells a test that it is the child which has mounts of its own.
const insideVariable = "IKIGAI_TEST_INSIDE"

// ownMounts runs the test again in a child that may mount without anybody seeing
// it, and gives true there.
func ownMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Skipf("no mounts here: %v", err)
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		one := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUSER, UidMappings: one(os.Getuid()), GidMappings: one(os.Getgid())}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "--- SKIP") {
		t.Skipf("no namespaces here: %v\n%s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// smallDisk is a desk whose sessions are on a disk of 1 MiB.
func smallDisk(t *testing.T) (d *desk, data string) {
	t.Helper()
	d = newDesk(t)
	d.plant()
	data = filepath.Join(d.home, ".local", "share")
	d.must(os.MkdirAll(data, 0o700))
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(data, unix.MNT_DETACH) })
	return d, data
}

// talk runs one prompt to its end and gives all that was said.
func (d *desk) talk(script []fake.Reply) string {
	d.Helper()
	m := fake.NewModel(script)
	defer m.Close()
	return d.want(0, "run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--mode", "yolo", "--sandbox", "off", "go on")
}

// saved counts the results in the newest session; -1 when there is none.
func (d *desk) saved() int {
	d.Helper()
	list := d.want(0, "session", "list", "--json")
	_, rest, ok := strings.Cut(list, `"id":"`)
	if !ok {
		return -1
	}
	id, _, _ := strings.Cut(rest, `"`)
	d.want(0, "audit", "verify")
	return strings.Count(d.want(0, "session", "show", "--jsonl", id), `"kind":"tool_result"`)
}

func (d *desk) says(out string, all ...string) {
	d.Helper()
	for _, want := range all {
		if !strings.Contains(out, want) {
			d.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

// one is a reply with one call.
func one(line string) fake.Reply { return fake.Reply{Calls: bash(line)} }

func TestAFullDiskIsToldAndCaughtUpWith(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	d, data := smallDisk(t)
	ballast := filepath.Join(data, "ballast")
	fill := fmt.Sprintf("head -c 2m /dev/zero > %s || true", ballast)
	free := "rm " + ballast

	out := d.talk([]fake.Reply{one(fill), one("seq 1 3000"), one(free), one("echo x > made"), {Text: "the answer"}})
	d.says(out, "the answer", "not saved to disk: ", "goes on in memory", "saved again")
	if n := d.saved(); n != 4 {
		t.Errorf("full in the midst: %d of 4 results are saved\n%s", n, out)
	}

	d.shell(fill)
	out = d.talk([]fake.Reply{one("echo a >> a.txt"), one(free), one("echo y > made"), {Text: "the answer"}})
	d.says(out, "the answer", "not saved to disk: ", "goes on in memory", "saved again")
	if n := d.saved(); n != 3 {
		t.Errorf("full from the start: %d of 3 results are saved\n%s", n, out)
	}

	before := d.want(0, "session", "list", "--json")
	d.shell(fill)
	out = d.talk([]fake.Reply{one("echo b >> a.txt"), {Text: "the answer"}})
	d.says(out, "the answer", "not saved to disk: ", "in the end ", "lost with this process")
	d.shell(free)
	if after := d.want(0, "session", "list", "--json"); strings.Count(after, `"id"`) > strings.Count(before, `"id"`)+1 {
		t.Errorf("there are sessions that nobody began:\n%s", after)
	}
	if got := d.state()["/a.txt"]; !strings.HasSuffix(got, "one\ntwo\na\nb\n") {
		t.Errorf("the work was not done: %q", got)
	}
}

func TestAFolderThatCannotBeWrittenIsTold(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	d, data := smallDisk(t)
	d.talk([]fake.Reply{one("echo a >> a.txt"), {Text: "the answer"}})
	remount := func(flags uintptr) { d.must(unix.Mount("", data, "", unix.MS_REMOUNT|flags, "size=1m")) }
	remount(unix.MS_RDONLY)
	out := d.talk([]fake.Reply{one("echo b >> a.txt"), {Text: "the answer"}})
	d.says(out, "the answer", "not saved to disk: ", "permissions", "in the end ", "lost with this process")
	remount(0)
	if list := d.want(0, "session", "list", "--json"); strings.Count(list, `"id"`) != 1 {
		t.Errorf("what was told as lost is there, or what was there is lost:\n%s", list)
	}
	d.talk([]fake.Reply{one("echo c >> a.txt"), {Text: "the answer"}})
	if n := d.saved(); n != 1 {
		t.Errorf("%d results are saved", n)
	}
}

func TestALockedStoreIsToldAndCaughtUpWith(t *testing.T) {
	if testing.Short() {
		t.Skip("a lock is waited for ten seconds")
	}
	t.Parallel()
	d := newDesk(t)
	d.plant()
	d.talk([]fake.Reply{{Text: "the answer"}})
	db, err := sql.Open("sqlite", filepath.Join(d.home, ".local/share/ikigai/sessions.db"))
	d.must(err)
	defer db.Close()
	lock, err := db.Conn(t.Context())
	d.must(err)
	_, err = lock.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	d.must(err)
	m := fake.NewModel([]fake.Reply{one("echo a >> a.txt"), one("echo b >> a.txt"), {Text: "the answer"}})
	defer m.Close()
	cmd := d.command("run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--mode", "yolo", "--sandbox", "off", "go on")
	p := &collected{}
	cmd.Stdout, cmd.Stderr = p, p
	d.must(cmd.Start())
	p.waitFor(d, "not saved to disk: ")
	_, err = lock.ExecContext(t.Context(), "ROLLBACK")
	d.must(err)
	d.must(cmd.Wait())
	d.says(p.text(), "the answer", "another process has it locked")
	if n := d.saved(); n != 2 {
		t.Errorf("%d of 2 results are saved\n%s", n, p.text())
	}
}

// collected is what a program has said until now.
type collected struct {
	mu  sync.Mutex // guards out
	out strings.Builder
}

func (c *collected) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(b)
}

func (c *collected) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *collected) waitFor(d *desk, text string) {
	d.Helper()
	for range 6000 {
		if strings.Contains(c.text(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.Fatalf("it never said %q:\n%s", text, c.text())
}
