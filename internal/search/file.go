package search

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf16"
	"unicode/utf8"

	"ikigai/internal/walk"
)

const (
	head    = 64 << 10  // read in one call, as nearly all files are; a zero byte in it tells a binary file
	small   = 256 << 10 // what a buffer holds when that is not enough
	whole   = 1 << 20   // what is read at once; larger files are searched in windows
	longest = 8 << 20   // a line longer than this is taken for several
	widest  = 16 << 20  // as much of a file in UTF-16 is read
)

// A reader searches files one after another with a buffer of its own.
type reader struct {
	root  *walk.Root
	page  *page
	buf   []byte
	visit *visit
	mark  walk.Mark // of the file at hand
	draws bool      // it is to be drawn
}

func newReader(q *Query, l Limits, root *walk.Root, v *visit) *reader {
	return &reader{root: root, page: newPage(q, l), buf: make([]byte, head), visit: v}
}

// outcome is what came of one file.
type outcome struct {
	lines   []Line
	matches int
	full    bool // there are more matches than Limits.Max
	binary  bool
	err     error
}

// file searches a file, the i-th of the batch. Three calls of the system do for a
// small one: when less came than fits, that was all.
func (r *reader) file(i int, path string) outcome {
	var pass bool
	if pass, r.draws = r.visit.pass(i, path); pass {
		return outcome{}
	}
	f, err := r.root.Handle(path)
	if err != nil {
		return outcome{err: err}
	}
	defer f.Close()
	if r.draws {
		r.mark, r.draws = aMark(f)
	}
	n, err := f.Read(r.buf[:head])
	switch {
	case err != nil && err != io.EOF:
		return outcome{err: fmt.Errorf("reading %s: %w", path, err)}
	case n < head:
		return r.text(path, r.buf[:n])
	}
	return r.large(path, f)
}

// text searches a file that is in memory. Only where something was found need
// it be looked at for zero bytes.
func (r *reader) text(path string, data []byte) outcome {
	text := decode(data)
	if r.draws && !r.visit.learn(path, r.mark, r.visit.sets(text)) {
		return outcome{}
	}
	r.page.turn(path)
	r.page.search(text, 0, 1)
	if r.page.matches > 0 && isBinary(text) {
		return outcome{binary: true}
	}
	return r.page.outcome()
}

// large goes on with a file whose head is in the buffer.
func (r *reader) large(path string, f walk.Handle) outcome {
	size, regular := f.Size()
	switch {
	case !regular:
		return outcome{err: fmt.Errorf("reading %s: %w", path, fs.ErrInvalid)}
	case byteOrder(r.buf) != nil:
		rest, _ := io.ReadAll(io.LimitReader(f, widest)) // what cannot be read ends there
		return r.text(path, append(r.buf[:head:head], rest...))
	case isBinary(r.buf[:head]):
		return outcome{binary: true}
	}
	n, last := fillUp(f, r.room(roomFor(size, whole)), head)
	if last {
		return r.text(path, r.buf[:n])
	}
	return r.windows(path, f, n, roomFor(size, longest))
}

// roomFor is how much room a file of a size is given, but for more than most.
func roomFor(size int64, most int) int {
	room := small
	for int64(room) <= size && room < most {
		room *= 2
	}
	return room
}

// room gives a buffer of so many bytes with what is in it already.
func (r *reader) room(size int) []byte {
	if size > len(r.buf) {
		r.buf = append(r.buf, make([]byte, size-len(r.buf))...)
	}
	return r.buf[:size]
}

// windows searches a file that is too large to be read at once, of which the
// first n bytes are in the buffer and fill their room. A line that needs it gets
// room for all of the file. A window ends with a whole line; the lines that may be
// shown as context of the next are kept in front of it.
func (r *reader) windows(path string, f io.Reader, n, all int) outcome {
	p := r.page
	p.turn(path)
	w, last := r.buf[:n], false
	from, number := bomLength(w[:n]), 1
	p.tail = from
	if r.draws {
		r.visit.blank(fours, whole)
	}
	for !p.full || p.owed > 0 {
		end := windowEnd(w[:n], from, last)
		if end == from && !last && len(w) < longest { // a line fills the window: make it larger
			w = r.room(min(max(all, 2*len(w)), longest)) // twice as much if it has grown meanwhile
			n, last = fillUp(f, w, n)
			continue
		} else if end == from {
			end = n
		}
		if isBinary(w[:n]) {
			return outcome{binary: true}
		}
		p.search(w[:end], from, number)
		if r.draws {
			r.visit.add(w[from:end])
		}
		if last && r.draws {
			r.visit.learn(path, r.mark, runSets{r.visit.set()})
		}
		if last {
			break
		}
		number += bytes.Count(w[from:end], newline)
		keep := contextStart(w[:end], p.l.Before)
		p.tail = max(0, p.tail-keep)
		from = end - keep
		n, last = fillUp(f, w, copy(w, w[keep:n]))
	}
	return p.outcome()
}

// windowEnd is where the last whole line that begins at or after from ends.
// Behind the last window of a file there is nothing to wait for.
func windowEnd(w []byte, from int, last bool) int {
	if last {
		return len(w)
	}
	return from + lastBreak(w[from:]) + 1
}

// fillUp reads behind the first n bytes of w. A file that cannot be read any
// further ends there, as it would for any other reader.
func fillUp(f io.Reader, w []byte, n int) (filled int, last bool) {
	more, err := io.ReadFull(f, w[n:])
	return n + more, err != nil
}

// contextStart is where the last lines of data begin.
func contextStart(data []byte, lines int) int {
	at := len(data)
	for ; lines > 0 && at > 0; lines-- {
		at = lastBreak(data[:at-1]) + 1
	}
	return at
}

func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

var utf8BOM = []byte("\xef\xbb\xbf")

func bomLength(data []byte) int {
	if bytes.HasPrefix(data, utf8BOM) {
		return len(utf8BOM)
	}
	return 0
}

// decode gives the text of a file: without a byte order mark, and from UTF-16
// where one says so.
func decode(data []byte) []byte {
	order := byteOrder(data)
	if order == nil {
		return data[bomLength(data):]
	}
	units := make([]uint16, (len(data)-2)/2)
	for i := range units {
		units[i] = order.Uint16(data[2+2*i:])
	}
	var text []byte
	for _, c := range utf16.Decode(units) {
		text = utf8.AppendRune(text, c)
	}
	return text
}

// byteOrder is that of a file in UTF-16, and nil for all others.
func byteOrder(data []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	return nil
}
