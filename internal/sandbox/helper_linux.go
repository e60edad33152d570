package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ikigai/internal/sandbox/jail"
)

const (
	lastWord = time.Second            // how long a helper may take to obey before it is killed itself
	linger   = 250 * time.Millisecond // how long more than one helper of a kind waits for the next program
)

// helperPath finds the program ikigai-init: the one asked for, one beside us,
// one in libexec, or ourselves, if we can do its work too. Empty means none.
func helperPath(asked string) string {
	if asked != "" {
		return asked
	}
	self, err := os.Executable()
	if err != nil {
		self = "/proc/self/exe"
	}
	dir := filepath.Dir(self)
	for _, path := range []string{filepath.Join(dir, jail.Name), filepath.Join(dir, "..", "libexec", jail.Name)} {
		if executable(path) == nil {
			return path
		}
	}
	if servesItself.Load() {
		return self
	}
	return ""
}

// A helper is a running ikigai-init.
type helper struct {
	process *os.Process
	control *os.File
	urgent  *os.File
	turn    uint64           // the number of its program
	gone    chan struct{}    // closed at its end, collected as soon as it happens
	state   *os.ProcessState // set before that; nil says that there is none
}

// startHelper starts the program at path, with the arguments of its kind.
func startHelper(path string, args ...string) (*helper, error) {
	control, itsControl, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer itsControl.Close()
	h := &helper{control: control, gone: make(chan struct{})}
	urgent, itsUrgent, err := socketPair()
	if err != nil {
		h.hangUp()
		return nil, err
	}
	defer itsUrgent.Close()
	h.urgent = urgent
	h.process, err = os.StartProcess(path, append([]string{jail.Name}, args...), &os.ProcAttr{
		Dir: "/", Env: jail.Environ(), Files: []*os.File{nil, nil, nil, itsControl, itsUrgent}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		h.hangUp()
		return nil, err
	}
	go func() {
		h.state, _ = h.process.Wait() // no state says as much as the error
		close(h.gone)
	}()
	return h, nil
}

// socketPair gives our end, for which the runtime waits and not a thread, and
// the helper's.
func socketPair() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	_ = unix.SetNonblock(pair[0], true)
	return os.NewFile(uintptr(pair[0]), "helper"), os.NewFile(uintptr(pair[1]), "agent"), nil
}

// hangUp closes our ends, which ends the helper and what it runs.
func (h *helper) hangUp() {
	_ = h.control.Close()
	_ = h.urgent.Close() // nil is no file, and says so
}

// run sends the plan with the program's files, in one piece if it fits: the
// helper then wakes once.
func (h *helper) run(p *jail.Plan, files [3]*os.File) error {
	h.turn++
	p.Turn = h.turn
	body := p.Encode()
	message := append(jail.Header(jail.Run, len(body)), body...)
	rights := unix.UnixRights(int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd()))
	raw, err := h.control.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		n, sent = unix.SendmsgN(int(fd), message, rights, nil, unix.MSG_NOSIGNAL)
		return sent != unix.EAGAIN
	})
	runtime.KeepAlive(files)
	if err = errors.Join(err, sent); err != nil {
		return fmt.Errorf("speaking to %s: %w", jail.Name, err)
	}
	if n == len(message) {
		return nil
	}
	_, err = h.control.Write(message[n:])
	return err
}

// say passes on a word about the program. If it cannot be said the helper is
// gone, and with it what it was to be about.
func (h *helper) say(k jail.Kind) {
	_, _ = h.urgent.Write(jail.AppendNumber(jail.Header(k, 4), uint32(h.turn)))
}

// end asks the tree to end, or kills it. A helper that does not obey in time
// is killed itself.
func (h *helper) end(hard bool) {
	if !hard {
		h.say(jail.Term)
		return
	}
	h.say(jail.Kill)
	_ = h.control.SetReadDeadline(time.Now().Add(lastWord))
}

// answer reads how the program ended, and reports whether the helper can serve
// another. One that cannot, or does not answer, is made gone.
func (h *helper) answer() (st status, well bool) {
	kind, body, err := jail.Read(h.control)
	if err != nil || len(body) < 4 {
		_ = h.process.Kill()
		return status{}, false
	}
	number := jail.Number(body)
	if kind == jail.Exited {
		return unixStatus(syscall.WaitStatus(number)), true
	}
	return status{err: helperError{text: string(body[4:]), errno: syscall.Errno(number)}}, kind != jail.Broken
}

// helperError is what went wrong in the helper, with the kernel's number.
type helperError struct {
	text  string
	errno syscall.Errno
}

func (e helperError) Error() string { return e.text }

func (e helperError) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}

// helperKind says what a helper was started in.
type helperKind uint8

const (
	bare       helperKind = iota // in nothing: it keeps a plain tree or a light jail
	apart                        // in namespaces of its own
	apartOnNet                   // the same, but on the machine's network
)

// A keptTree is a program under a helper.
type keptTree struct {
	*helper
	kind  jailKind
	lost  bool          // the helper is gone too
	spare func(*helper) // takes the helper when the program has ended
}

func (t *keptTree) jail() jailKind { return t.kind }

func (t *keptTree) wait() status {
	st, well := t.answer()
	if well {
		return st
	}
	t.lost = true
	<-t.gone
	sweep(t.process.Pid)
	if st.err == nil {
		st = died(t.state)
	}
	return st
}

// keeperMark is a variable that tells a keeper's programs from all others, in
// case somebody kills the keeper: they have nothing else in common then.
func keeperMark(pid int) string { return "IKIGAI_KEEPER=" + strconv.Itoa(pid) }

// sweep kills what a keeper left when it was killed. In a namespace the kernel
// did so already, and nothing is found.
func sweep(keeper int) {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		left := marked(keeperMark(keeper))
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL) // gone already is as good
		}
	}
}

// marked lists the processes that were started with the variable.
func marked(variable string) []int {
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
	for _, path := range dirs {
		text, err := os.ReadFile(path)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), variable) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			list = append(list, pid)
		}
	}
	return list
}

func (t *keptTree) free() {
	if t.lost {
		t.hangUp()
		return
	}
	t.spare(t.helper)
}

// died is the status of a program whose helper was killed with it.
func died(state *os.ProcessState) status {
	if state != nil {
		if st := stateOf(state); st.signal != "" {
			return st
		}
	}
	return status{err: errors.New(jail.Name + " ended before the program did")}
}

// pool holds helpers without a program, by kind. A helper serves one program
// at a time, so that every orphan it inherits is known to be of that program's
// tree. To start one costs more than to start a program, so the first of each
// kind stays as long as the sandbox: asleep, it costs a little memory and no
// time. Others stay for a moment, as commands come in bursts.
type pool struct {
	mu     sync.Mutex // guards what follows
	idle   map[helperKind][]*helper
	timer  *time.Timer
	closed bool
}

// take gives an idle helper, or starts one with args.
func (p *pool) take(kind helperKind, path string, args ...string) (*helper, error) {
	for h := p.pop(kind); h != nil; h = p.pop(kind) {
		select {
		case <-h.gone: // somebody killed it in its sleep
			h.hangUp()
		default:
			return h, nil
		}
	}
	return startHelper(path, args...)
}

// pop takes the helper that was idle last, if there is one.
func (p *pool) pop(kind helperKind) *helper {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[kind]
	if len(list) == 0 {
		return nil
	}
	h := list[len(list)-1]
	p.idle[kind] = list[:len(list)-1]
	return h
}

func (p *pool) give(h *helper, kind helperKind) {
	_ = h.control.SetReadDeadline(time.Time{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go h.dismiss()
		return
	}
	if p.idle == nil {
		p.idle = map[helperKind][]*helper{}
	}
	p.idle[kind] = append(p.idle[kind], h)
	switch {
	case len(p.idle[kind]) == 1:
	case p.timer == nil:
		p.timer = time.AfterFunc(linger, func() { p.dismiss(1) })
	default:
		p.timer.Reset(linger)
	}
}

// dismiss ends idle helpers, all but keep of each kind.
func (p *pool) dismiss(keep int) {
	var surplus []*helper
	p.mu.Lock()
	for kind, list := range p.idle {
		n := min(keep, len(list))
		surplus = append(surplus, list[n:]...)
		p.idle[kind] = slices.Clone(list[:n])
	}
	p.mu.Unlock()
	for _, h := range surplus {
		h.dismiss()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.dismiss(0)
}

// dismiss ends an idle helper and waits for it.
func (h *helper) dismiss() {
	h.hangUp()
	<-h.gone
}
