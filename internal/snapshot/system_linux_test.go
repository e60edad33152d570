package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPipesAndSocketsDoNotStopUs(t *testing.T) {
	s := newStage(t)
	s.write("a", "1")
	if err := syscall.Mkfifo(s.path("pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	turn := s.turn(func() { s.write("a", "2"); s.remove("pipe") })
	r := s.undo(turn)
	if s.read("a") != "1" || len(r.Left) != 1 || r.Left[0].Path != "pipe" {
		t.Errorf("%s", r)
	}
}

// The suite runs a second time as a user whom permissions bind.
func TestEverythingAgainAsAPlainUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is a plain user already; only root can become another")
	}
	const nobody = 65534
	out, err := again(t, "^Test[^EK]", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}, nobody)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no right to become another user here")
	}
	if err != nil || !strings.Contains(out, "PASS") {
		t.Fatalf("as a plain user: %v\n%s", err, out)
	}
}

// again runs tests of this binary in another process.
func again(t *testing.T, tests string, attr *syscall.SysProcAttr, owner int) (string, error) {
	t.Helper()
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "again")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "again.test")
	if err := errors.Join(os.WriteFile(binary, raw, 0o755), os.Chmod(dir, 0o755), os.Chown(dir, owner, owner)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run", tests, "-test.v", "-rapid.checks=30", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const fullDisk = "IKIGAI_TEST_FULL_DISK"

// A full disk needs a small one: a tmpfs in a namespace of its own.
func TestExhaustedDiskHurtsNothing(t *testing.T) {
	if os.Getenv(fullDisk) != "" {
		onASmallDisk(t)
		return
	}
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
}

func onASmallDisk(t *testing.T) {
	s := newStage(t)
	mount := func(dir, size string) {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Skipf("no tmpfs here: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	mount(s.o.Folder, "600k")
	mount(s.ws, "300k")
	s.reopen()
	play(s)
	before := s.state(s.ws)
	turn := s.turn(func() { s.write("a.txt", "changed\n"); s.remove("src") })

	t.Log("the store is full")
	s.write("big", strings.Repeat("x", 250<<10))
	s.must(os.WriteFile(filepath.Join(s.o.Folder, "ballast"), make([]byte, 400<<10), 0o600))
	now := s.state(s.ws)
	for i := range 3 {
		if _, err := s.Take(context.Background(), fmt.Sprintf("full%d", i)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("taking a snapshot: %v", err)
		}
	}
	_, err := s.Restore(context.Background(), []Turn{turn}, RestoreOptions{})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("restoring: %v", err)
	}
	s.same("the workspace", s.state(s.ws), now)
	files, err := os.ReadDir(filepath.Join(s.o.Folder, "content"))
	s.must(err)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), tempPrefix) {
			t.Errorf("%s is left behind", f.Name())
		}
	}
	s.must(os.Remove(filepath.Join(s.o.Folder, "ballast")))
	s.remove("big")
	s.undo(turn)
	s.same("after undo", s.state(s.ws), before)

	t.Log("the workspace is full")
	s.write("thick", strings.Repeat("y", 100<<10))
	thick := s.turn(func() { s.write("thick", "thin\n") })
	f, err := os.Create(s.path("ballast"))
	s.must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	now = s.state(s.ws)
	r, err := s.Restore(context.Background(), []Turn{thick}, RestoreOptions{})
	if !errors.Is(err, syscall.ENOSPC) || len(r.Failed) == 0 || r.Failed[0].Path != "thick" || len(r.Done) > 0 {
		t.Fatalf("restoring: %v\n%s", err, r)
	}
	s.same("the workspace", s.state(s.ws), now)
	s.remove("ballast")
	s.undo(thick)
	if got := s.read("thick"); len(got) != 100<<10 {
		t.Errorf("thick has %d bytes", len(got))
	}
}

func TestOwnersComeBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	s := newStage(t)
	s.write("a", "1")
	s.must(os.Chown(s.path("a"), 1234, 1234))
	turn := s.turn(func() { s.remove("a"); s.write("a", "2") })
	s.undo(turn)
	st, err := newLooker(s.ws)
	s.must(err)
	defer st.close()
	if got, err := st.look("a"); err != nil || got.uid != 1234 || got.gid != 1234 || s.read("a") != "1" {
		t.Errorf("%+v, %v", got, err)
	}
}

// rounds is how often, in short a third of that.
func rounds(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}

const victim = "IKIGAI_TEST_VICTIM"

// A process that is killed at any moment leaves whole snapshots behind, and the
// workspace with whole files.
func TestKilledAtAnyMoment(t *testing.T) {
	if dir := os.Getenv(victim); dir != "" {
		store, err := Open(Options{Folder: filepath.Join(dir, "data"), Roots: []string{filepath.Join(dir, "ws")}})
		if err != nil {
			t.Fatal(err)
		}
		if cut, err := store.CutOff(); err == nil && cut != nil {
			store.Restore(context.Background(), cut.Turns, RestoreOptions{})
		}
		for i := range 1000 {
			os.WriteFile(filepath.Join(dir, "ws", "f"), []byte(strings.Repeat(fmt.Sprint(i), 30_000)), 0o644)
			id := fmt.Sprintf("k%d-%d", os.Getpid(), i)
			store.Take(context.Background(), id)
			store.Restore(context.Background(), []Turn{{Before: id}}, RestoreOptions{})
			if i%10 == 9 {
				store.Prune(context.Background(), func(s Snapshot) bool { return s.ID[len(s.ID)-1] != '3' })
			}
		}
		return
	}
	s := newStage(t)
	s.write("f", "0")
	for i := range rounds(15) {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledAtAnyMoment$")
		cmd.Env = append(os.Environ(), victim+"="+filepath.Dir(s.ws))
		s.must(cmd.Start())
		shell(t, s.ws, fmt.Sprintf("sleep 0.%02d", 5+3*i))
		s.must(cmd.Process.Kill())
		cmd.Wait()
	}
	if cut, err := s.CutOff(); err != nil {
		t.Fatal(err)
	} else if cut != nil {
		s.undo(cut.Turns...)
	}
	all, err := s.List()
	s.must(err)
	t.Logf("%d snapshots", len(all))
	for _, snap := range all[max(0, len(all)-40):] {
		s.undoTo(snap.ID)
		if got := s.read("f"); len(got) > 1 && len(got)%30_000 != 0 {
			t.Errorf("%s has a torn file of %d bytes", snap.ID, len(got))
		}
	}
}

const killedUndo = "IKIGAI_TEST_KILLED_UNDO"

// An undo that is killed at any moment is gone on with by the next one, and
// what comes out is exact; so is what comes out when that is taken back.
func TestAnUndoThatWasKilledIsGoneOnWith(t *testing.T) {
	if dir := os.Getenv(killedUndo); dir != "" {
		store, err := Open(Options{Folder: filepath.Join(dir, "data"), Roots: []string{filepath.Join(dir, "ws")}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("ready")
		_, err = store.Restore(context.Background(), []Turn{{os.Getenv("BEFORE"), os.Getenv("AFTER")}}, RestoreOptions{ID: os.Getenv("ID")})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	s := newStage(t)
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+rwx", s.ws).Run() })
	play(s)
	for i := range 300 {
		s.write(fmt.Sprintf("many/d%d/f%d", i%20, i), strings.Repeat("before ", i))
	}
	was := s.state(s.ws)
	turn := s.turn(func() {
		shell(t, s.ws, "rm -r many/d1 many/d2; sed -i s/before/after/ many/d3/*; chmod 555 many/d4; chmod 600 many/d5/*; mv many/d6 many/d60; rm -r many/d7; ln -s d8 many/d7; rm many/d9/f9; mkdir many/d9/f9; echo x > many/d9/f9/x; mkdir -m 500 -p many/n/o")
	})
	is := s.state(s.ws)
	rnd, cuts := rand.New(rand.NewPCG(1, 2)), 0
	for i := range rounds(12) {
		id := fmt.Sprint("killed", i)
		back := Turn{id + "-before", id + "-after"}
		cut := s.killUndo(rnd, turn, id)
		if cut {
			cuts++
		}
		if _, err := s.Find(back.After); cut || err != nil { // it was not finished
			back = s.undo(turn).Undone
		}
		s.same("after undo", s.state(s.ws), was)
		s.undo(back)
		s.same("after redo", s.state(s.ws), is)
	}
	t.Logf("%d were cut off on the way", cuts)
}

// killUndo starts an undo in another process, kills it, and reports whether it
// was on its way.
func (s *stage) killUndo(rnd *rand.Rand, turn Turn, id string) bool {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAnUndoThatWasKilledIsGoneOnWith$")
	cmd.Env = append(os.Environ(), killedUndo+"="+filepath.Dir(s.ws), "BEFORE="+turn.Before, "AFTER="+turn.After, "ID="+id)
	out, err := cmd.StdoutPipe()
	s.must(err)
	s.must(cmd.Start())
	_, err = out.Read(make([]byte, 6))
	s.must(err)
	time.Sleep(time.Duration(rnd.IntN(40_000)) * time.Microsecond)
	s.must(cmd.Process.Kill())
	cmd.Wait() // it was killed
	cut, err := s.CutOff()
	s.must(err)
	return cut != nil
}
