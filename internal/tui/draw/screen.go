package draw

import (
	"bytes"
	"fmt"
	"strings"
)

// Sequences that begin and end a frame. Between them a terminal that can shows
// nothing, so that a frame appears at once.
const (
	begin = "\x1b[?2026h\x1b[?25l"
	end   = "\x1b[?2026l"
	show  = "\x1b[?25h"
)

// Pos is a place in the live region.
type Pos struct{ Row, Col int }

// A Frame is what is to be seen from now on: more finished text, and all of the
// live region.
type Frame struct {
	Done []string // painted lines, of any width
	Live []string // painted rows; none may be wider than the terminal

	// Cursor is where the terminal's own cursor stands. Without one it waits,
	// hidden, at the top of the live region: there a terminal that breaks lines
	// anew when it is resized takes it along, and what is finished stays safe.
	Cursor *Pos
}

// A Screen remembers where the cursor was left. The zero Screen is for a
// terminal whose cursor stands at the beginning of an empty line.
type Screen struct {
	at    int    // row of the live region that the cursor is in
	drawn string // the live region as it was written
	stale bool
}

// Resized says that the terminal has another size: the next frame is written
// even when nothing in it is new.
func (s *Screen) Resized() { s.stale = true }

// Draw gives the bytes that bring a frame onto the terminal; none when nothing
// is new. They are meant for one write.
func (s *Screen) Draw(f Frame) []byte {
	live := live(f)
	if len(f.Done) == 0 && live == s.drawn && !s.stale {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(begin)
	s.home(&b)
	b.WriteString("\x1b[J")
	for _, l := range f.Done {
		b.WriteString(l)
		b.WriteString("\r\n")
	}
	b.WriteString(live)
	b.WriteString(end)
	s.drawn, s.stale, s.at = live, false, 0
	if f.Cursor != nil {
		s.at = f.Cursor.Row
	}
	return b.Bytes()
}

// home goes to the top of the live region.
func (s *Screen) home(b *bytes.Buffer) {
	if s.at > 0 {
		fmt.Fprintf(b, "\x1b[%dA", s.at)
	}
	b.WriteByte('\r')
}

// Leave gives the bytes that take the live region away, so that the terminal can
// be given to somebody else, and forgets it.
func (s *Screen) Leave() []byte {
	var b bytes.Buffer
	b.WriteString(begin)
	s.home(&b)
	b.WriteString("\x1b[J" + show + end)
	*s = Screen{}
	return b.Bytes()
}

// live is the region and the way of the cursor to where it stays. Lines do not
// break there: a character that is wider than we think does no harm.
func live(f Frame) string {
	var b strings.Builder
	b.WriteString("\x1b[?7l" + strings.Join(f.Live, "\r\n") + "\x1b[?7h")
	row := 0
	if f.Cursor != nil {
		row = f.Cursor.Row
	}
	if up := len(f.Live) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if f.Cursor != nil {
		if f.Cursor.Col > 0 {
			fmt.Fprintf(&b, "\x1b[%dC", f.Cursor.Col)
		}
		b.WriteString(show)
	}
	return b.String()
}
