package jail

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Main serves the agent at the other end of Control until it is gone.
func Main() int {
	runtime.LockOSThread() // the first thread must never be one that is confined
	unix.CloseOnExec(Control)
	// What runs for a model dies first when memory runs out.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	// Nobody inside may look into or trace the helper.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	return serve(listen())
}

// serve runs one plan after the other; in a PID namespace there is only one.
func serve(messages <-chan message) int {
	for m := range messages {
		if m.kind != Run {
			continue // a late word about a program that has ended
		}
		kind, body := perform(m, messages)
		if _, err := syscall.Write(Control, append(Header(kind, len(body)), body...)); err != nil {
			return 1
		}
		if m.plan.Whole {
			return 0
		}
	}
	return 0
}

// perform starts what m asks for and waits until its tree is gone.
func perform(m message, messages <-chan message) (Kind, []byte) {
	p := &m.plan
	if m.err != nil {
		return failed(m.err)
	}
	limit(p)
	held, err := hold(p)
	defer held.release()
	if err == nil && p.Whole {
		err = mountAll(p)
		defer unmountHeld(held)
	}
	if err != nil || p.Path == "" {
		m.closeFiles()
		return result(0, err)
	}
	over := make(chan struct{})
	defer close(over)
	pid, err := launch(m, over)
	m.closeFiles()
	if err != nil {
		return failed(err)
	}
	return result(attend(pid, messages))
}

// attend waits for the program, doing meanwhile what the agent says. The end
// of the agent ends the program.
func attend(pid int, messages <-chan message) (unix.WaitStatus, error) {
	gone := make(chan unix.WaitStatus, 1)
	go func() { gone <- reap(pid) }()
	for {
		select {
		case st := <-gone:
			return st, nil
		case m, ok := <-messages:
			if !ok {
				signalAll(unix.SIGKILL)
				<-gone
				return 0, errors.New("the agent is gone")
			}
			act(m.kind)
		}
	}
}

func act(k Kind) {
	switch k {
	case Term:
		signalAll(unix.SIGTERM)
		signalAll(unix.SIGCONT) // a stopped process would never hear of it
	case Kill:
		signalAll(unix.SIGKILL)
	}
}

// reap collects children until pid ended, then kills the rest of the tree and
// collects that: as process 1 or as subreaper we inherit every orphan, so no
// child left means no descendant left.
func reap(pid int) unix.WaitStatus {
	var main unix.WaitStatus
	for {
		var st unix.WaitStatus
		if got, err := wait(&st, 0); err != nil {
			return main
		} else if got == pid {
			main = st
			break
		}
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		var st unix.WaitStatus
		got, err := wait(&st, unix.WNOHANG)
		for err == nil && got > 0 {
			got, err = wait(&st, unix.WNOHANG)
		}
		if err != nil {
			return main
		}
		signalAll(unix.SIGKILL)
		time.Sleep(pause)
	}
}

// wait collects any child; the error says that there is none.
func wait(st *unix.WaitStatus, options int) (int, error) {
	for {
		pid, err := unix.Wait4(-1, st, options, nil)
		if err != unix.EINTR {
			return pid, err
		}
	}
}

func result(st unix.WaitStatus, err error) (Kind, []byte) {
	if err != nil {
		return failed(err)
	}
	return Exited, binary.LittleEndian.AppendUint32(nil, uint32(st))
}

func failed(err error) (Kind, []byte) {
	var errno syscall.Errno
	errors.As(err, &errno) // stays 0 where the kernel had no part in it
	return Failed, append(binary.LittleEndian.AppendUint32(nil, uint32(errno)), err.Error()...)
}

// A failure says what was being done when the kernel said no.
type failure struct {
	doing string
	err   error
}

func (f failure) Error() string { return f.doing + ": " + f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// doing wraps err, if there is one.
func doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return failure{what, err}
}
