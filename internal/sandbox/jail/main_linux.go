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
	go s.tree.listen()
	for m := receive(); m != nil; {
		m = s.perform(m)
	}
	return 0
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

// A server runs programs, one at a time.
type server struct {
	tree  tree
	calls filters // used by one thread at a time
	kept  *starter
}

// perform runs what m asks for, and perhaps more, and gives the message that
// is to be served next; nil says that the agent is gone.
func (s *server) perform(m *message) *message {
	held, err := s.hold(m)
	if err != nil {
		m.closeFiles()
		held.release()
		answer(failed(err))
		return receive()
	}
	from := s.starterFor(&m.plan)
	defer s.keep(from)
	if m.plan.repeatable() {
		return from.serve(m)
	}
	kind, body := from.once(m)
	held.release()
	answer(kind, body)
	return receive()
}

func (s *server) hold(m *message) (*holds, error) {
	if m.err != nil {
		return &holds{}, m.err
	}
	return hold(&m.plan)
}

// answer tells the agent. If it is gone there is no next message either.
func answer(kind Kind, body []byte) {
	_, _ = syscall.Write(Control, append(Header(kind, len(body)), body...))
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
		ts := unix.NsecToTimespec(pause.Nanoseconds())
		_ = unix.Nanosleep(&ts, nil) // by this thread itself: in a full jail no other may be had
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
