package jail

import (
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
	calls  filters
	key    string   // of the plans it serves; empty when it can serve only one
	listed []string // the folders whose content decided how it is confined
	stamp  string   // of those, and of what may be written
	ready  bool     // it is confined
	broken bool     // it is confined by half
}

func (s *server) newStarter(key string) *starter {
	t := &starter{work: make(chan func()), calls: s.calls, key: key}
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with this function
		for f := range t.work {
			f()
		}
	}()
	return t
}

// starterFor gives the kept thread if it is confined as p wants, or a new one.
// A thread that has mounts of its own is never kept: they show the machine as
// it was.
func (s *server) starterFor(p *Plan) *starter {
	if p.Whole {
		return s.newStarter("")
	}
	key := p.confinement()
	if k := s.kept; k != nil && k.key == key && k.stamp == stampOf(p, k.listed) {
		return k
	}
	return s.newStarter(key)
}

// keep holds t for the next program, if it can serve one.
func (s *server) keep(t *starter) {
	if t == s.kept && !t.broken {
		return
	}
	if t.broken || t.key == "" {
		close(t.work)
		return
	}
	if s.kept != nil {
		close(s.kept.work)
	}
	s.kept = t
}

// start starts the program of m. How it ended comes when its tree is gone, and
// then the bell rings.
func (t *starter) start(m *message, bell int) (<-chan unix.WaitStatus, error) {
	started, ended := make(chan error, 1), make(chan unix.WaitStatus, 1)
	t.work <- func() {
		pid, err := t.launch(&m.plan, m.files)
		started <- err
		if err == nil {
			ended <- reap(pid)
			_, _ = unix.Write(bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // cannot fail: it is far from full
		}
	}
	return ended, <-started
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
