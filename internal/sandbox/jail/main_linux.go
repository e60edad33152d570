package jail

import (
	"errors"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Main serves the agent at the other end of Control until it is gone.
func Main() int {
	if len(os.Args) > 1 {
		return enclose(os.Args[1:])
	}
	keepDescriptors()
	// What runs for a model dies first when memory runs out.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	// Nobody inside may look into or trace the helper.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	s := server{calls: filters{}}
	for {
		m, err := receive()
		if err != nil || deserted() {
			return 0 // the agent is gone
		}
		if m.kind != Run {
			continue // a late word about a program that has ended
		}
		kind, body := s.perform(&m)
		_, err = syscall.Write(Control, append(Header(kind, len(body)), body...))
		if err != nil {
			return 0
		}
	}
}

// deserted reports whether the agent is gone, whatever it said before.
func deserted() bool {
	fds := []unix.PollFd{{Fd: Control, Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLRDHUP) != 0
}

// keepDescriptors keeps from programs every descriptor that came with us, also
// those the agent itself was started with: one that is open is beyond any jail.
func keepDescriptors() {
	if unix.CloseRange(Control, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, _ := os.ReadDir("/proc/self/fd") // an older kernel; it has this
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= Control {
			unix.CloseOnExec(fd)
		}
	}
}

// A server is what a helper keeps from one program to the next.
type server struct {
	kept  *starter
	calls filters // used by one thread at a time
}

// perform starts what m asks for and waits until its tree is gone.
func (s *server) perform(m *message) (Kind, []byte) {
	if m.err != nil {
		return failed(m.err)
	}
	defer m.closeFiles()
	limit(&m.plan)
	held, err := hold(&m.plan)
	defer held.release()
	if err != nil {
		return failed(err)
	}
	return result(s.run(m))
}

// run starts the program and does what the agent says until its tree is gone.
func (s *server) run(m *message) (unix.WaitStatus, error) {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return 0, doing("making a bell", err)
	}
	defer unix.Close(bell)
	from := s.starterFor(&m.plan)
	defer func() { s.keep(from) }()
	ended, err := from.start(m, bell)
	if err != nil {
		return 0, err
	}
	m.closeFiles() // or the program's end would not be the end of its output
	obey(bell)
	return <-ended, nil
}

// obey does what the agent says until the bell rings. The end of the agent is
// the end of the program.
func obey(bell int) {
	fds := []unix.PollFd{{Fd: int32(bell), Events: unix.POLLIN}, {Fd: Control, Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		}
		if fds[0].Revents != 0 {
			return
		}
		m, err := receive()
		switch {
		case err != nil:
			signalAll(unix.SIGKILL)
			fds = fds[:1]
		case m.kind == Term:
			signalAll(unix.SIGTERM)
			signalAll(unix.SIGCONT) // a stopped process would never hear of it
		case m.kind == Kill:
			signalAll(unix.SIGKILL)
		}
	}
}

// reap collects children until pid ended, then kills the rest of the tree and
// collects that: as process 1 or as subreaper we inherit every orphan, so no
// child left means no descendant left.
func reap(pid int) unix.WaitStatus {
	var main, st unix.WaitStatus
	for got := 0; got != pid; main = st {
		var err error
		if got, err = wait(&st, 0); err != nil {
			return main
		}
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		got, err := 1, error(nil)
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
	return Exited, AppendNumber(nil, uint32(st))
}

func failed(err error) (Kind, []byte) {
	var errno syscall.Errno
	errors.As(err, &errno) // stays 0 where the kernel had no part in it
	return Failed, append(AppendNumber(nil, uint32(errno)), err.Error()...)
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
