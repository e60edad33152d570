package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// sh is a command of the shell that inherits nothing.
func sh(line string) tool.Command { return tool.Command{Argv: []string{"sh", "-c", line}} }

// newPlain gives a sandbox that confines nothing.
func newPlain(t *testing.T) *Sandbox {
	t.Helper()
	s, err := New(Options{Mode: Off, Roots: []string{t.TempDir()}, Temp: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func run(t *testing.T, s *Sandbox, c tool.Command, g tool.Grant) tool.Exit {
	t.Helper()
	e, err := s.Start(t.Context(), c, g)
	if err != nil {
		t.Fatalf("%q: %v", c.Argv, err)
	}
	return e
}

func TestExitStatusIsReported(t *testing.T) {
	s := newPlain(t)
	cases := []struct {
		line, signal string
		how          tool.Ended
		code         int
	}{
		{"exit 0", "", tool.Exited, 0},
		{"exit 7", "", tool.Exited, 7},
		{"no-such-program-anywhere", "", tool.Exited, 127},
		{"kill -KILL $$", "killed", tool.Signalled, 137},
		{"kill -SEGV $$", "segmentation fault", tool.Signalled, 139},
	}
	for _, c := range cases {
		e := run(t, s, sh(c.line), tool.Grant{})
		if e.How != c.how || e.Code != c.code || e.Signal != c.signal {
			t.Errorf("%s: how %d code %d signal %q", c.line, e.How, e.Code, e.Signal)
		}
	}
}

func TestProgramThatCannotStartIsAnError(t *testing.T) {
	s := newPlain(t)
	for _, argv := range [][]string{nil, {""}, {"no-such-program-anywhere"}, {"/nonexistent/x"}, {"/"}, {"/etc/hostname"}, {"sh", "a\x00b"}} {
		if e, err := s.Start(t.Context(), tool.Command{Argv: argv}, tool.Grant{}); err == nil {
			t.Errorf("%q started: %+v", argv, e)
		}
	}
	_, err := s.Start(t.Context(), tool.Command{Argv: []string{"/nonexistent/x"}}, tool.Grant{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing program is %v", err)
	}
	_, err = s.Start(t.Context(), tool.Command{Argv: []string{"true"}, Dir: "/nonexistent"}, tool.Grant{})
	if err == nil {
		t.Error("started in a folder that does not exist")
	}
}

func TestBothStreamsAreKeptApart(t *testing.T) {
	e := run(t, newPlain(t), sh("echo out; echo err >&2"), tool.Grant{})
	if string(e.Stdout) != "out\n" || string(e.Stderr) != "err\n" || e.StdoutTotal != 4 || e.StderrTotal != 4 {
		t.Errorf("%+v", e)
	}
}

func TestMergedStreamsKeepTheirOrder(t *testing.T) {
	c := sh("for i in 1 2 3; do echo o$i; echo e$i >&2; done")
	c.Merge = true
	e := run(t, newPlain(t), c, tool.Grant{})
	if string(e.Stdout) != "o1\ne1\no2\ne2\no3\ne3\n" || len(e.Stderr) != 0 {
		t.Errorf("%q %q", e.Stdout, e.Stderr)
	}
}

func TestStdinArrivesWholeOrUnread(t *testing.T) {
	s := newPlain(t)
	c := sh("wc -c")
	c.Stdin = make([]byte, 3<<20)
	if e := run(t, s, c, tool.Grant{}); strings.TrimSpace(string(e.Stdout)) != "3145728" {
		t.Errorf("%q", e.Stdout)
	}
	c.Argv = []string{"true"}
	if e := run(t, s, c, tool.Grant{}); e.Code != 0 {
		t.Errorf("a program that does not read: %+v", e)
	}
	if e := run(t, s, sh("cat"), tool.Grant{}); e.Code != 0 || len(e.Stdout) != 0 {
		t.Errorf("without input: %+v", e)
	}
}

func TestDeadlineEndsTheTreeAndKeepsItsOutput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	e, err := newPlain(t).Start(ctx, sh("echo partial; sleep 60"), tool.Grant{})
	if err != nil || e.How != tool.TimedOut || string(e.Stdout) != "partial\n" {
		t.Errorf("%+v %v", e, err)
	}
}

func TestCancelEndsTheTreeAndKeepsItsOutput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := sh("trap '' TERM; echo partial; sleep 60; sleep 60")
	c.Output = func([]byte, bool) { cancel() }
	e, err := newPlain(t).Start(ctx, c, tool.Grant{})
	if err != nil || e.How != tool.Cancelled || string(e.Stdout) != "partial\n" {
		t.Errorf("%+v %v", e, err)
	}
}

func TestAStartAfterTheEndOfItsContextDoesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := newPlain(t).Start(ctx, sh("echo no"), tool.Grant{})
	if err != nil || e.How != tool.Cancelled || len(e.Stdout) != 0 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestAGrandchildThatHoldsThePipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := newPlain(t).Start(ctx, sh("sleep 60 & echo hi"), tool.Grant{})
	if err != nil || e.How != tool.Exited || string(e.Stdout) != "hi\n" {
		t.Errorf("%+v %v", e, err)
	}
}

func TestLiveOutputIsWholeAndNeverComesTwiceAtOnce(t *testing.T) {
	var inside, calls, bytes atomic.Int64
	c := sh("i=0; while [ $i -lt 2000 ]; do echo line $i; echo err $i >&2; i=$((i+1)); done")
	c.Output = func(p []byte, _ bool) {
		if inside.Add(1) != 1 {
			t.Error("called twice at once")
		}
		bytes.Add(int64(len(p)))
		calls.Add(1)
		inside.Add(-1)
	}
	e := run(t, newPlain(t), c, tool.Grant{})
	if bytes.Load() != e.StdoutTotal+e.StderrTotal {
		t.Errorf("%d bytes live, %d in all", bytes.Load(), e.StdoutTotal+e.StderrTotal)
	}
	if most := int64(e.Took/liveEvery)*2 + 4; calls.Load() > most {
		t.Errorf("%d calls in %v", calls.Load(), e.Took)
	}
	before := calls.Load()
	time.Sleep(2 * liveEvery)
	if calls.Load() != before {
		t.Error("called after the end")
	}
}

func TestProgramsHaveNoTerminal(t *testing.T) {
	if e := run(t, newPlain(t), sh("(exec </dev/tty) 2>/dev/null"), tool.Grant{}); e.Code == 0 {
		t.Error("a terminal could be opened")
	}
}
