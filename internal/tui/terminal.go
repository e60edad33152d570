package tui

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"ikigai/internal/tui/keys"
)

// What a terminal is told when we begin and when we leave it: pastes in
// brackets, keys that can be told apart, news about focus and about colours.
const (
	modesOn  = "\x1b[?2004h\x1b[>1u\x1b[?1004h\x1b[?2031h"
	modesOff = "\x1b[?2026l\x1b[?2031l\x1b[?1004l\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m"
)

// whichBackground asks for the colour behind the text.
const whichBackground = "\x1b]11;?\x07"

// A terminal is the pair of files a person sits at. It is raw between enter and
// leave. One goroutine reads it and one writes to it, so that a terminal that
// takes nothing for a while stops nobody.
type terminal struct {
	in, out *os.File
	keys    chan []keys.Key
	gone    chan struct{} // closed when the terminal hung up

	writes chan []byte
	wrote  chan error

	before *term.State // while we have it
	pause  func()      // ends the reading goroutine
	hang   sync.Once
}

func newTerminal(in, out *os.File) *terminal {
	t := &terminal{
		in: in, out: out, keys: make(chan []keys.Key), gone: make(chan struct{}),
		writes: make(chan []byte), wrote: make(chan error, 1),
	}
	go t.write()
	return t
}

// enter makes the terminal raw and begins to read keys.
func (t *terminal) enter() error {
	before, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	t.before = before
	t.read()
	return nil
}

// leave gives the terminal back as it was. It may be called twice.
func (t *terminal) leave() {
	if t.before == nil {
		return
	}
	t.pause()
	// The terminal may be gone; then there is nothing to give back.
	_ = term.Restore(int(t.in.Fd()), t.before)
	t.before = nil
}

// size is the size of the terminal; one that does not know is of the usual size.
func (t *terminal) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return cols, rows
}

// write serves the writes of the terminal until there are no more.
func (t *terminal) write() {
	for b := range t.writes {
		_, err := t.out.Write(b)
		t.wrote <- err
	}
}

// close ends the writer.
func (t *terminal) close() { close(t.writes) }

func (t *terminal) hangUp() { t.hang.Do(func() { close(t.gone) }) }

// escapeWait is how long an escape byte waits for more before it is the key.
const escapeWait = 40 * time.Millisecond

// deliver hands keys to the loop, unless reading was stopped.
func (t *terminal) deliver(all []keys.Key, stop <-chan struct{}) bool {
	if len(all) == 0 {
		return true
	}
	select {
	case t.keys <- all:
		return true
	case <-stop:
		return false
	}
}
