package files

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ikigai/internal/tool"
)

// The suite runs a second time as a user whom permissions bind.
func TestEverythingAgainAsAPlainUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is a plain user already; only root can become another")
	}
	const nobody = 65534
	out, err := again(t, "^Test[^E]", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}, nobody)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no right to become another user here")
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "exact") || strings.Contains(line, "FAIL") || strings.Contains(line, "_test.go") && err != nil {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Fatalf("as a plain user: %v", err)
	}
}

const fullDisk = "IKIGAI_TEST_FULL_DISK"

// A full disk needs a small one: a tmpfs in a namespace of its own.
func TestExhaustedDiskKeepsTheOldFile(t *testing.T) {
	if os.Getenv(fullDisk) == "" {
		t.Setenv(fullDisk, "1")
		out, err := again(t, "^TestExhaustedDisk", &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}, os.Getuid())
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, fs.ErrPermission) {
			t.Skipf("no namespaces here: %v", err)
		}
		if err != nil || !strings.Contains(out, "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s := newStage(t)
	if err := syscall.Mount("tmpfs", s.ws(), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no tmpfs here: %v", err)
	}
	defer syscall.Unmount(s.ws(), syscall.MNT_DETACH)
	s.file("a.txt", "old")
	r := s.open()
	for _, name := range []string{"a.txt", "new.txt"} {
		if err := r.WriteFile(name, bytes.Repeat([]byte("x"), 1<<20), tool.Stamp{}); tool.CodeOf(err, "") != tool.NoSpace {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(s.path("a.txt")); err != nil || string(data) != "old" {
		t.Errorf("the old file has %q, %v", data, err)
	}
	s.nothingBeside("a.txt")
	if err := r.WriteFile("a.txt", []byte("it fits"), tool.Stamp{}); err != nil {
		t.Errorf("writing after the disk was full: %v", err)
	}
}

func TestALockedFolderIsReportedNotWaitedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	s := newStage(t)
	dir, err := os.Open(s.ws())
	s.must(err)
	defer dir.Close()
	s.must(syscall.Flock(int(dir.Fd()), syscall.LOCK_EX))
	if err := s.open().WriteFile("a", nil, tool.Stamp{}); tool.CodeOf(err, "") != tool.WriteFailed {
		t.Errorf("got %v", err)
	}
	s.nothingBeside()
}

func TestNamesThroughAProcessLeadNowhere(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "x")
	s.link("l", "/proc/self/cwd/a.txt")
	t.Chdir(s.ws())
	r := s.open()
	for _, name := range []string{"/proc/self/cwd/a.txt", "/proc/self/root" + s.path("a.txt"), "/proc/thread-self/cwd/a.txt", "l", "/dev/fd/0", "/dev/stdin"} {
		if _, _, err := r.ReadFile(name); Outcome(err) != "denied" {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := r.With(tool.Grant{Unconfined: true}).ReadFile(name); err == nil {
			t.Errorf("%s was read with everything granted", name)
		}
	}
	if _, _, err := r.With(tool.Grant{Unconfined: true}).ReadFile("/proc/self/status"); err != nil {
		t.Error(err)
	}
}

func TestTheOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can write the file of another and keep its owner")
	}
	s := newStage(t)
	s.file("a.txt", "old")
	s.must(os.Chown(s.path("a.txt"), 12345, 54321))
	s.must(s.open().WriteFile("a.txt", []byte("new"), tool.Stamp{}))
	info, err := os.Stat(s.path("a.txt"))
	s.must(err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("the owner is now %d:%d", st.Uid, st.Gid)
	}
}

func TestAFolderWithoutReadPermissionCanBePassed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permission does not bind root; runs again as a plain user")
	}
	s := newStage(t)
	s.file("d/a.txt", "a")
	s.must(os.Chmod(s.path("d"), 0o111))
	t.Cleanup(func() { os.Chmod(s.path("d"), 0o755) })
	r := s.open()
	if _, _, err := r.ReadFile("d/a.txt"); err != nil {
		t.Error(err)
	}
	if _, err := r.ReadDir("d"); Outcome(err) != "denied" {
		t.Errorf("listing gives %v", err)
	}
}

// again runs tests of this binary in another process that has a temp folder of its own.
func again(t *testing.T, run string, attr *syscall.SysProcAttr, uid int) (string, error) {
	t.Helper()
	home, err := os.MkdirTemp("", "again") // not t.TempDir, whose parent others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	exe := filepath.Join(home, "files.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(exe, data, 0o755)
	}
	if err == nil {
		err = os.Chown(home, uid, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", run, "-test.v", "-test.short")
	cmd.Dir, cmd.SysProcAttr = home, attr
	cmd.Env = append(os.Environ(), "TMPDIR="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
