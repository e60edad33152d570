package provider

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// A watch ends a request when nothing happens for too long. The reader only
// says when it next expects something: the timer looks at that when it fires,
// so an event costs no change of the timer.
type watch struct {
	end context.CancelCauseFunc

	mu    sync.Mutex // guards what follows: the transport's goroutines report here too
	begun bool       // an event came
	due   time.Time
	why   error
	fires time.Time
	timer *time.Timer
}

func newWatch(end context.CancelCauseFunc, d time.Duration, why error) *watch {
	w := &watch{end: end, why: why, due: time.Now().Add(d)}
	w.fires = w.due
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(d, w.fire)
	return w
}

// await says that the first event is due within d, and what it means if not. It
// comes from the writing side, which may notice its end after the first event.
func (w *watch) await(d time.Duration, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		w.set(d, why)
	}
}

// expect says, after an event, when the next is due.
func (w *watch) expect(d time.Duration, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = true
	w.set(d, why)
}

// set needs the lock.
func (w *watch) set(d time.Duration, why error) {
	w.due, w.why = time.Now().Add(d), why
	if w.due.Before(w.fires) {
		w.fires = w.due
		w.timer.Reset(d)
	}
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if left := time.Until(w.due); left > 0 {
		w.fires = w.due
		w.timer.Reset(left)
		return
	}
	w.end(w.why)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

// A pulse tells events from what only keeps a connection open: empty lines,
// comments, pings. It looks at the start of each line and knows no format.
type pulse struct {
	line [96]byte
	n    int
	ping bool // the event under way is called a ping
}

// beat takes the next bytes and reports whether a line with an event ended in them.
func (p *pulse) beat(b []byte) bool {
	seen := false
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.n += copy(p.line[p.n:], b)
			break
		}
		p.n += copy(p.line[p.n:], b[:i])
		seen = p.event(bytes.TrimSpace(p.line[:p.n])) || seen
		p.n, b = 0, b[i+1:]
	}
	return seen
}

// event judges one line, of which only the start is known.
func (p *pulse) event(line []byte) bool {
	field, value, _ := bytes.Cut(line, []byte(":"))
	switch string(field) {
	case "": // a comment, or the empty line after an event
		p.ping = p.ping && len(line) > 0
		return false
	case "event":
		p.ping = idle(value)
		return false
	case "id", "retry":
		return false
	case "data":
		return !p.ping && (len(line) > 80 || !idle(value)) // keep-alives are short
	}
	return true // a line of JSON
}

// idle reports whether a name or the start of an object says that nothing happened.
func idle(b []byte) bool {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return true
	}
	for _, word := range [...]string{"ping", "keepalive", "keep-alive", "heartbeat"} {
		if string(b) == word || bytes.Contains(b, []byte(`"`+word+`"`)) {
			return true
		}
	}
	return false
}
