//go:build unix

package sandbox

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// A frontTree is a program in a group of its own that has the terminal, so that
// keys which signal reach it and not the agent.
type frontTree struct {
	process *os.Process
	tty     int // -1 when there is no terminal to hand over
}

func startFront(path string, argv []string, files [3]*os.File) (*frontTree, error) {
	t := &frontTree{tty: terminalOf(files[0])}
	attr := &syscall.SysProcAttr{Setpgid: true}
	if t.tty >= 0 {
		attr = &syscall.SysProcAttr{Foreground: true, Ctty: t.tty}
	}
	var err error
	t.process, err = os.StartProcess(path, argv, &os.ProcAttr{Files: files[:], Sys: attr})
	return t, err
}

// terminalOf is the descriptor of f if that is our terminal.
func terminalOf(f *os.File) int {
	fd := int(f.Fd())
	if _, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil {
		return -1
	}
	return fd
}

func (t *frontTree) end(hard bool)  { killGroup(t.process, hard) }
func (t *frontTree) jail() jailKind { return plain }

// free takes the terminal back.
func (t *frontTree) free() {
	t.hand(unix.Getpgrp())
	_ = t.process.Release() // it was waited for already
}

// wait returns when the program has ended. When it stops we stop too: whoever
// started us has to see that, and to wake us.
func (t *frontTree) wait() status {
	for {
		var st syscall.WaitStatus
		_, err := syscall.Wait4(t.process.Pid, &st, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return status{err: err}
		case st.Stopped():
			t.pause()
		default:
			return unixStatus(st)
		}
	}
}

// pause stops our group until it is woken, and then wakes the program. Where
// nobody could wake us, the program is not let stop.
func (t *frontTree) pause() {
	if canBeWoken() {
		t.hand(unix.Getpgrp())
		woken := make(chan os.Signal, 1)
		signal.Notify(woken, unix.SIGCONT)
		_ = unix.Kill(0, unix.SIGSTOP) // to oneself it cannot fail
		<-woken
		signal.Stop(woken)
	}
	t.hand(t.process.Pid)
	_ = unix.Kill(-t.process.Pid, unix.SIGCONT) // gone already: the next wait says so
}

// canBeWoken reports whether our parent keeps jobs, as a shell does: it is in
// our session, but not in our group.
func canBeWoken() bool {
	parent := unix.Getppid()
	group, err1 := unix.Getpgid(parent)
	theirs, err2 := unix.Getsid(parent)
	ours, err3 := unix.Getsid(0)
	return err1 == nil && err2 == nil && err3 == nil && theirs == ours && group != unix.Getpgrp()
}

// hand gives the terminal to a group. We are not in front then, and would be
// stopped for asking, if we did not ignore that.
func (t *frontTree) hand(group int) {
	if t.tty < 0 {
		return
	}
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.tty, unix.TIOCSPGRP, group) // a terminal that is gone needs no owner
}
