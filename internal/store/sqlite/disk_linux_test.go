package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

// insideVariable tells a test that it is the child which may break its world.
const insideVariable = "IKIGAI_SQLITE_TEST_INSIDE"

// inside runs the test again in a child with attributes of its own and gives
// true there. In the parent it gives false when the child has done the work.
func inside(t *testing.T, how *syscall.SysProcAttr, dir string) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"="+dir)
	cmd.SysProcAttr = how
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "--- SKIP") {
		t.Skipf("no namespaces here: %v\n%s", err, out)
	}
	t.Logf("the child says\n%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// ownMounts lets a child mount without anybody seeing it.
func ownMounts() *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	}
	ids := func(host int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: host, Size: 1}}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
		UidMappings: ids(os.Getuid()), GidMappings: ids(os.Getgid()),
	}
}

func TestFullDiskIsToldAndCaughtUpWith(t *testing.T) {
	if !inside(t, ownMounts(), t.TempDir()) {
		return
	}
	dir := smallDisk(t)
	path := filepath.Join(dir, "a.db")
	ballast := filepath.Join(dir, "ballast")
	check(t, os.WriteFile(ballast, make([]byte, 400<<10), 0o600))
	s := open(t, path, sqlite.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))

	kept, pushed := fillDisk(t, s)
	if got := int64(len(storetest.Collect(t, s.Events(t.Context(), "a", 0)))); got < kept || got >= pushed {
		t.Errorf("%d of %d events can be read, %d were told as kept", got, pushed, kept)
	}
	for range 20 { // the turn goes on in memory
		pushed++
		err := s.Append(t.Context(), "a", long(pushed))
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), "full") {
			t.Fatalf("Append on a full disk says %v", err)
		}
	}
	if err := s.Begin(t.Context(), storetest.NewSession("b")); err != nil && !errors.As(err, new(*store.Unsaved)) {
		t.Errorf("a session that begins on a full disk: %v", err)
	}
	s.Append(t.Context(), "b", storetest.Event(1))

	check(t, os.Remove(ballast))
	check(t, s.Sync(t.Context()))
	check(t, s.Append(t.Context(), "a", long(pushed+1)), s.Flush(t.Context()))
	for id, want := range map[string]int64{"a": pushed + 1, "b": 1} {
		if got := int64(len(storetest.Collect(t, s.Events(t.Context(), id, 0)))); got != want {
			t.Errorf("session %s has %d events after there was room again, want %d", id, got, want)
		}
		check(t, storetest.Verify(t, s, id))
	}
	quickCheck(t, path)
	t.Logf("%d events kept, then %d in memory, all there in the end", kept, pushed-kept)
}

// fillDisk appends until the disk is full. It gives the last event that Flush
// told as kept and the last that was appended.
func fillDisk(t *testing.T, s store.Store) (kept, pushed int64) {
	t.Helper()
	for pushed = 1; pushed < 1000; pushed++ {
		check(t, s.Append(t.Context(), "a", long(pushed)))
		err := s.Flush(t.Context())
		if err == nil {
			continue
		}
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || u.Events != 1 || !strings.Contains(err.Error(), "the disk is full") {
			t.Fatalf("the disk is full, and Flush says %v", err)
		}
		return pushed - 1, pushed
	}
	t.Fatal("the disk was never full")
	return 0, 0
}

func long(n int64) convo.Event {
	e := storetest.Event(n)
	e.Text = strings.Repeat("x", 8<<10)
	return e
}

func TestFolderThatCannotBeWrittenIsSaid(t *testing.T) {
	dir := os.Getenv(insideVariable)
	if dir == "" {
		var err error
		dir, err = os.MkdirTemp("", "store") // t.TempDir is in a folder that others may not enter
		check(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	if !inside(t, nil, dir) {
		return
	}
	path := filepath.Join(dir, "a.db")
	before, err := os.ReadFile(golden)
	check(t, err, os.WriteFile(path, before, 0o600))
	check(t, os.Chmod(path, 0o444), os.Chmod(dir, 0o555))
	if os.Getuid() == 0 {
		const nobody = 65534
		check(t, syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
	}
	for _, where := range []string{path, filepath.Join(dir, "new.db"), filepath.Join(dir, "sub", "new.db")} {
		_, err := sqlite.Open(t.Context(), where, sqlite.Options{})
		if err == nil || errors.As(err, new(*store.Unusable)) || !strings.Contains(err.Error(), "permission") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", where, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the store was changed: %v", err)
	}
}

func smallDisk(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(insideVariable)
	check(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	return dir
}
