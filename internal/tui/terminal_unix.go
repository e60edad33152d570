//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"ikigai/internal/tui/keys"
)

// read begins to read keys. A pipe wakes the reader when it shall end: another
// program may get the terminal then, and no key may be taken from it. No program
// that is started meanwhile inherits the pipe: it would keep it open.
func (t *terminal) read() {
	wake, waker, err := os.Pipe()
	if err != nil {
		t.hangUp()
		t.pause = func() {}
		return
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t.readUntil(int(wake.Fd()), stop)
	}()
	t.pause = func() {
		close(stop)
		waker.Close() // the other end becomes readable
		<-done
		wake.Close()
		t.pause = func() {}
	}
}

func (t *terminal) readUntil(wake int, stop <-chan struct{}) {
	var p keys.Parser
	buf := make([]byte, 64<<10)
	fd := int(t.in.Fd())
	for {
		ready, err := readable(fd, wake, p.Waiting())
		switch {
		case err != nil || ready == hungUp:
			t.hangUp()
			return
		case ready == woken:
			return
		case ready == timedOut:
			if !t.deliver(p.Flush(), stop) {
				return
			}
			continue
		}
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			t.hangUp()
			return
		}
		if !t.deliver(p.Feed(buf[:n]), stop) {
			return
		}
	}
}

type readiness uint8

const (
	hasKeys readiness = iota
	woken
	timedOut
	hungUp
)

// readable waits for keys or for the wake-up; briefly only when an escape is
// open. Select, since poll knows no terminals on macOS.
func readable(fd, wake int, brief bool) (readiness, error) {
	for {
		var set unix.FdSet
		set.Set(fd)
		set.Set(wake)
		var limit *unix.Timeval
		if brief {
			tv := unix.NsecToTimeval(escapeWait.Nanoseconds())
			limit = &tv
		}
		n, err := unix.Select(max(fd, wake)+1, &set, nil, nil, limit)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return hungUp, err
		case n == 0:
			return timedOut, nil
		case set.IsSet(wake):
			return woken, nil
		}
		return hasKeys, nil
	}
}

// signals are those that concern a terminal.
func terminalSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

var (
	sizeChanged = os.Signal(syscall.SIGWINCH)
	continued   = os.Signal(syscall.SIGCONT)
	stopAsked   = os.Signal(syscall.SIGTSTP)
	hungUpSent  = os.Signal(syscall.SIGHUP)
)

// suspend stops us as the shell expects, and returns when we go on. Where no
// shell could continue us it does nothing. The stop that cannot be caught is
// used: the runtime keeps hold of the other once it was asked to.
func suspend() {
	if !controlled() {
		return
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-again
	}
}

// controlled reports whether our parent is a shell that can continue us: of the
// same session, in another process group.
func controlled() bool {
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	mine, err2 := unix.Getsid(0)
	group, err3 := unix.Getpgid(parent)
	return err == nil && err2 == nil && err3 == nil && session == mine && group != unix.Getpgrp()
}
