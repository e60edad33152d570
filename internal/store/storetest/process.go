package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ikigai/internal/store"
)

// Opener opens the store at an address, in this process or in a child.
type Opener func(ctx context.Context, where string) (store.Store, error)

// childVariable makes a test binary do what a child does: "role where".
const childVariable = "IKIGAI_STORETEST_CHILD"

// roles are what a child can do. It talks to its parent in lines.
var roles = map[string]func(ctx context.Context, s store.Store, out io.Writer) error{
	"append": appendForever,
	"hold":   holdOne,
	"load":   manySessions,
}

// Main is the TestMain of a store that RunProcesses tries.
func Main(m *testing.M, open Opener) int {
	role, where, child := strings.Cut(os.Getenv(childVariable), " ")
	if !child {
		return m.Run()
	}
	if err := runChild(role, where, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runChild(role, where string, open Opener) error {
	ctx := context.Background()
	s, err := open(ctx, where)
	if err != nil {
		return err
	}
	return errors.Join(roles[role](ctx, s, os.Stdout), s.Close())
}

// appendForever goes on with the session "a", and prints the number of each
// event that it may show as kept.
func appendForever(ctx context.Context, s store.Store, out io.Writer) error {
	if err := s.Begin(ctx, NewSession("a")); err != nil {
		return err
	}
	it, err := s.Session(ctx, "a")
	if err != nil {
		return err
	}
	for n := it.Events + 1; ; n++ {
		if err := s.Append(ctx, "a", Event(n)); err != nil {
			return err
		}
		if rand.IntN(3) > 0 {
			continue // several are written together
		}
		wait := s.Flush
		if rand.IntN(8) == 0 {
			wait = s.Sync
		}
		if err := wait(ctx); err != nil {
			return err
		}
		fmt.Fprintln(out, n)
	}
}

func holdOne(ctx context.Context, s store.Store, out io.Writer) error {
	if err := s.Begin(ctx, NewSession("a")); err != nil {
		return err
	}
	fmt.Fprintln(out, "held")
	time.Sleep(time.Hour) // until it is killed; an empty select is a deadlock where nothing else waits
	return errors.New("nobody killed this process")
}

// manySessions writes many sessions at once, named after the process.
func manySessions(ctx context.Context, s store.Store, out io.Writer) error {
	n, events := loadSize()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			id := fmt.Sprintf("p%d-%d", os.Getpid(), i)
			if errs[i] = write(ctx, s, id, events); errs[i] == nil {
				errs[i] = s.Sync(ctx)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Fprintln(out, "done")
	return nil
}

// loadSize is how many sessions one process writes, and how many events each.
func loadSize() (sessions int, events int64) {
	switch {
	case os.Getenv("IKIGAI_STORETEST_SHORT") != "":
		return 4, 16
	case os.Getenv("IKIGAI_SOAK") != "":
		return 50, 200
	}
	return 13, 60
}

// RunProcesses tries a store with processes that die and processes that crowd.
// fresh gives the address of an empty store; check may look at it after a kill.
func RunProcesses(t *testing.T, fresh func(t *testing.T) string, open Opener, check func(t *testing.T, where string)) {
	for _, c := range []struct {
		name string
		test func(*testing.T, string, Opener, func(*testing.T, string))
	}{
		{"KilledProcessLosesNothingItShowed", killedProcessLosesNothingItShowed},
		{"SessionOfALivingProcessIsBusyAndOfADeadOneIsNot", sessionOfADeadProcessIsFree},
		{"FourProcessesCrowdOneStore", fourProcessesCrowdOneStore},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t), open, check) })
	}
}

func killedProcessLosesNothingItShowed(t *testing.T, where string, open Opener, check func(*testing.T, string)) {
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	if os.Getenv("IKIGAI_SOAK") != "" {
		rounds = 120
	}
	shown := int64(0)
	for range rounds {
		last := appendUntilKilled(t, where)
		if last == 0 {
			t.Fatal("the child showed nothing")
		}
		shown = max(shown, last)
		check(t, where)
		s := opened(t, where, open)
		beginWhenFree(t, s) // first: a server may still be writing what the dead one had sent
		got := int64(len(Collect(t, s.Events(t.Context(), "a", 0))))
		if got < shown {
			t.Fatalf("%d events were shown, %d are kept", shown, got)
		}
		wantEvents(t, s, "a", got)
		fill(t, s, "a", got+1, got+1) // it can be gone on with
		must(t, s.Close())
		shown = got + 1
	}
	t.Logf("%d events after %d kills, none lost", shown, rounds)
}

// appendUntilKilled gives the last number that the child has shown.
func appendUntilKilled(t *testing.T, where string) (last int64) {
	cmd, lines := child(t, "append", where)
	var kill *time.Timer
	for lines.Scan() {
		if kill == nil { // it has begun
			kill = time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { cmd.Process.Kill() })
		}
		n, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err == nil { // the last line may be cut
			last = n
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return last
}

func sessionOfADeadProcessIsFree(t *testing.T, where string, open Opener, _ func(*testing.T, string)) {
	cmd, lines := child(t, "hold", where)
	if !lines.Scan() {
		t.Fatalf("the child did not begin: %v", cmd.Wait())
	}
	s := opened(t, where, open)
	err := s.Begin(t.Context(), NewSession("a"))
	if b := (*store.Busy)(nil); !errors.As(err, &b) || b.PID != cmd.Process.Pid {
		t.Errorf("got %v, want *Busy with pid %d", err, cmd.Process.Pid)
	}
	must(t, cmd.Process.Kill())
	cmd.Wait() // it was killed: that is its error
	beginWhenFree(t, s)
	fill(t, s, "a", 1, 2)
	must(t, s.Close())
}

// beginWhenFree opens the session "a" of a process that has just died: a server
// needs a moment to notice.
func beginWhenFree(t *testing.T, s store.Store) {
	t.Helper()
	var err error
	for range 500 {
		if err = s.Begin(t.Context(), NewSession("a")); !errors.As(err, new(*store.Busy)) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(t, err)
}

func fourProcessesCrowdOneStore(t *testing.T, where string, open Opener, check func(*testing.T, string)) {
	if testing.Short() {
		t.Setenv("IKIGAI_STORETEST_SHORT", "1")
	}
	var children []*exec.Cmd
	for range 4 {
		cmd, lines := child(t, "load", where)
		children = append(children, cmd)
		go func() {
			for lines.Scan() { // so that it never waits for us
			}
		}()
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a child: %v", err)
		}
	}
	check(t, where)
	s := opened(t, where, open)
	n, events := loadSize()
	for _, cmd := range children {
		for i := range n {
			wantEvents(t, s, fmt.Sprintf("p%d-%d", cmd.Process.Pid, i), events)
		}
	}
	must(t, s.Close())
	t.Logf("4 processes, %d sessions, %d events: none lost, no lock in the way", 4*n, 4*int64(n)*events)
}

// child starts this test binary in a role. What it complains of is in the log.
func child(t *testing.T, role, where string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+role+" "+where)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() }) // it may have ended long ago
	return cmd, bufio.NewScanner(out)
}

func opened(t *testing.T, where string, open Opener) store.Store {
	t.Helper()
	s, err := open(t.Context(), where)
	must(t, err)
	return s
}
