package search

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"ikigai/internal/walk"
)

const (
	small   = 256 << 10 // read in one call; nearly all files of a project are
	whole   = 4 << 20   // read in one piece; what is larger is searched in windows
	longest = 16 << 20  // a line longer than this is taken for several
	head    = 64 << 10  // where a zero byte tells a binary file
)

// A reader searches files one after another with buffers of its own.
type reader struct {
	q    *Query
	l    Limits
	root *walk.Root
	memo []int
	buf  []byte // of small bytes at least; grows to whole
}

func newReader(q *Query, l Limits, root *walk.Root) *reader {
	return &reader{q: q, l: l, root: root, memo: make([]int, q.find.slots()), buf: make([]byte, small)}
}

// outcome is what came of one file.
type outcome struct {
	lines   []Line
	matches int
	full    bool // there are more matches than Limits.Max
	binary  bool
	err     error
}

// file searches one file. Three calls of the system do for a small one: when
// less came than fits, that was all.
func (r *reader) file(path string) outcome {
	n, err := r.root.Read(path, r.buf[:small])
	if err != nil {
		return outcome{err: err}
	}
	data := r.buf[:n]
	text, ok := decode(data)
	switch {
	case !ok || isBinary(text[:min(len(text), head)]):
		return outcome{binary: true}
	case n < small:
		return r.text(path, text)
	}
	return r.large(path)
}

func (r *reader) page(path string) *page {
	return &page{q: r.q, l: r.l, path: path, memo: r.memo, tailNo: 1}
}

// text searches a file that is in memory. Only where something was found need
// the rest be looked at for zero bytes.
func (r *reader) text(path string, text []byte) outcome {
	p := r.page(path)
	p.search(text, 0, 1)
	if p.matches > 0 && isBinary(text[min(len(text), head):]) {
		return outcome{binary: true}
	}
	return p.outcome()
}

func (p *page) outcome() outcome {
	return outcome{lines: p.lines, matches: p.matches, full: p.full}
}

func (r *reader) large(path string) outcome {
	f, err := r.root.Open(path)
	if err != nil {
		return outcome{err: err}
	}
	defer f.Close()
	if len(r.buf) < whole {
		r.buf = make([]byte, whole)
	}
	n, err := io.ReadFull(f, r.buf)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		text, ok := decode(r.buf[:n])
		if !ok || isBinary(text[:min(len(text), head)]) {
			return outcome{binary: true}
		}
		return r.text(path, text)
	case nil:
		return r.windows(path, f, n)
	}
	return outcome{err: err}
}

// windows searches a file that is too large for the memory, of which the first
// n bytes are in the buffer. A window ends with a whole line; the lines that
// may be shown as context of the next are kept in front of it.
func (r *reader) windows(path string, f io.Reader, n int) outcome {
	p := r.page(path)
	w, last := r.buf, false
	from, number := bomLength(w[:n]), 1
	p.tail = from
	for !p.full || p.owed > 0 {
		end := windowEnd(w[:n], from, last)
		if end == from && !last && len(w) < longest { // a line fills the window: make it larger
			w = append(w, make([]byte, len(w))...)
			n, last = fillUp(f, w, n)
			continue
		} else if end == from {
			end = n
		}
		p.search(w[:end], from, number)
		if p.matches > 0 && isBinary(w[:n]) {
			return outcome{binary: true}
		}
		if last {
			break
		}
		number += bytes.Count(w[from:end], newline)
		keep := contextStart(w[:end], r.l.Before)
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
	return from + bytes.LastIndexByte(w[from:], '\n') + 1
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
		at = bytes.LastIndexByte(data[:at-1], '\n') + 1
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
// where one says so. UTF-16 of more than one buffer is not read.
func decode(data []byte) (text []byte, ok bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data[bomLength(data):], true
	}
	if len(data) >= whole {
		return nil, false
	}
	units := make([]uint16, (len(data)-2)/2)
	for i := range units {
		units[i] = order.Uint16(data[2+2*i:])
	}
	for _, c := range utf16.Decode(units) {
		text = utf8.AppendRune(text, c)
	}
	return text, true
}
