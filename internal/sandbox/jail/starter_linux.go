package jail

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// A starter is a thread from which programs are started: its view of the files
// and its confinement are its own and inherited by what it starts. It also
// waits for the program, since its end would be the program's. When it is of no
// more use it is thrown away, for there is no way back.
type starter struct {
	work   chan func()
	tree   *tree
	calls  filters
	key    string   // of the plans it serves; empty when it can serve only one
	listed []string // the folders whose content decided how it is confined
	stamp  string   // of those, and of what may be written
	ready  bool     // it is confined
	broken bool     // it is confined by half
}

func (s *server) newStarter(key string) *starter {
	t := &starter{work: make(chan func()), tree: &s.tree, calls: s.calls, key: key}
	go t.live()
	return t
}

// live does the work on a thread of its own, which ends with it. That is never
// the first of the process: whoever is confined as that one is could signal the
// process.
func (t *starter) live() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		defer runtime.UnlockOSThread() // until then nobody else gets it
		other := make(chan struct{})
		go func() {
			defer close(other)
			t.live()
		}()
		<-other
		return
	}
	for f := range t.work {
		f()
	}
}

// do has f done on the thread.
func (t *starter) do(f func()) {
	done := make(chan struct{})
	t.work <- func() {
		f()
		close(done)
	}
	<-done
}

// starterFor gives the kept thread if it suits p, or a new one. A thread that
// has mounts of its own is never kept: they show the machine as it was.
func (s *server) starterFor(p *Plan) *starter {
	if p.Whole {
		return s.newStarter("")
	}
	key := p.confinement()
	if s.kept != nil && s.kept.suits(p, key) {
		return s.kept
	}
	return s.newStarter(key)
}

// suits reports whether the thread is confined as p wants.
func (t *starter) suits(p *Plan, key string) bool {
	return t.ready && !t.broken && t.key == key && t.stamp == stampOf(p, t.listed)
}

// keep holds t for the next program, if it can serve one.
func (s *server) keep(t *starter) {
	if t.broken || t.key == "" {
		close(t.work)
		if t == s.kept {
			s.kept = nil
		}
		return
	}
	if s.kept != nil && s.kept != t {
		close(s.kept.work)
	}
	s.kept = t
}

// once runs the program of m.
func (t *starter) once(m *message) (kind Kind, body []byte) {
	t.do(func() { kind, body = result(t.run(m)) })
	return kind, body
}

// serve runs the program of m and of the messages after it, as long as they
// suit, and gives the first that does not. All that is done by one thread: to
// wake another costs as much as to start a program.
func (t *starter) serve(m *message) *message {
	t.do(func() {
		for {
			answer(result(t.run(m)))
			m = receive()
			if m == nil || m.err != nil || !m.plan.repeatable() || !t.suits(&m.plan, m.plan.confinement()) {
				return
			}
		}
	})
	return m
}

// run starts the program of m and waits until its tree is gone.
func (t *starter) run(m *message) (unix.WaitStatus, error) {
	limit(&m.plan)
	pid, err := t.launch(&m.plan, m.files)
	m.closeFiles() // or the program's end would not be the end of its output
	if err != nil {
		return 0, err
	}
	t.tree.begin(uint32(m.plan.Turn))
	defer t.tree.end()
	return reap(pid), nil
}

// launch changes the thread, unless that is done, into what the program may
// be, and starts the program from it.
func (t *starter) launch(p *Plan, files []int) (int, error) {
	if !t.ready {
		if err := t.prepare(p); err != nil {
			t.broken = true
			return 0, err
		}
	}
	return fork(p, files)
}

func (t *starter) prepare(p *Plan) (err error) {
	if p.Whole {
		if err := mountAll(p); err != nil {
			return err
		}
	}
	if p.Confine {
		if t.listed, err = confine(p, t.calls); err != nil {
			return err
		}
	}
	t.stamp, t.ready = stampOf(p, t.listed), true
	return nil
}

// repeatable reports whether p needs nothing that has to be made before and
// removed afterwards, which a confined thread cannot do.
func (p *Plan) repeatable() bool {
	return !p.Whole && len(p.Folders)+len(p.Files)+len(p.NewFile)+len(p.NewDir)+len(p.Unwanted) == 0
}

// confinement is what of a plan decides how a thread is confined.
func (p *Plan) confinement() string {
	part := Plan{
		Confine: p.Confine, Net: p.Net, Caps: p.Caps, Nice: p.Nice,
		Write: p.Write, Hide: p.Hide, NewFile: p.NewFile, NewDir: p.NewDir,
	}
	return string(part.Encode())
}

// stampOf changes when a writable folder is replaced by another, when something
// appears or goes away in a folder that was listed, and when a hidden path
// begins or ceases to need hiding.
func stampOf(p *Plan, listed []string) string {
	var b []byte
	for _, list := range [][]string{p.Write, p.NewDir, p.NewFile, listed} {
		for _, path := range list {
			var st unix.Stat_t
			_ = unix.Stat(path, &st) // absent is a stamp too
			b = strconv.AppendUint(append(b, ' '), st.Ino, 36)
			b = strconv.AppendUint(append(b, '.'), st.Dev, 36)
		}
	}
	for _, path := range listed {
		var st unix.Stat_t
		_ = unix.Stat(path, &st)
		b = strconv.AppendInt(append(b, ' '), st.Mtim.Nano(), 36)
	}
	for _, path := range p.Hide {
		b = strconv.AppendBool(append(b, ' '), unreadable(path))
	}
	return string(b)
}
