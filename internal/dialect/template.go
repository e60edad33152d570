package dialect

import (
	"bytes"
	"unicode/utf8"
)

// A template is a message of a stream with a blank in it. Most messages differ
// from the one before in a few words and in numbers that mean nothing to us: such
// a one is not read again, only held against the template, and not even cut out of
// the stream when what stood round the last one stands round it too. Everything
// that the dialect looked at must be the same byte by byte, but for the blank;
// strings and numbers that it skipped may differ.
type template struct {
	bytes []byte // the message as it was
	gaps  []gap  // the places where another may differ, in order
	blank int    // which of them is the blank

	framed        bool // before and after are known
	before, after []byte
}

// gap is a string without its quotes, or a number.
type gap struct {
	from, to int
	number   bool
}

// mostGaps is where holding against a template is no cheaper than reading.
const mostGaps = 24

// learn makes data the template. part is the blank, a slice of data between quotes.
func (t *template) learn(data, part []byte, skipped []gap) {
	t.forget()
	blank := gap{from: cap(data) - cap(part)}
	blank.to = blank.from + len(part)
	data, ok := tight(data)
	if !ok || len(part) == 0 || len(skipped) >= mostGaps {
		return
	}
	t.bytes = append(t.bytes, data...)
	for _, g := range skipped {
		if g.from < blank.from {
			t.blank++
		}
	}
	t.gaps = append(t.gaps, skipped[:t.blank]...)
	t.gaps = append(t.gaps, blank)
	t.gaps = append(t.gaps, skipped[t.blank:]...)
}

// forget makes the template fit nothing.
func (t *template) forget() { t.bytes, t.gaps, t.blank, t.framed = t.bytes[:0], t.gaps[:0], 0, false }

// within says that data, which fits the template, is a part of frame: all that
// the stream had for it.
func (t *template) within(frame, data []byte) {
	if data = bytes.TrimSpace(data); len(t.gaps) == 0 || len(data) == 0 {
		return
	}
	from := cap(frame) - cap(data)
	t.before = append(t.before[:0], frame[:from]...)
	t.after = append(t.after[:0], frame[from+len(data):]...)
	t.framed = true
}

// takes reports whether stream begins with a frame whose message fits, how long
// that is, and with what the blank is filled.
func (t *template) takes(stream []byte) (part []byte, n int, ok bool) {
	if !t.framed || !bytes.HasPrefix(stream, t.before) {
		return nil, 0, false
	}
	at := len(t.before)
	part, n, ok = t.begins(stream[at:])
	if at += n; !ok || !bytes.HasPrefix(stream[at:], t.after) {
		return nil, 0, false
	}
	return part, at + len(t.after), true
}

// fits reports whether data is the template with its gaps filled, and with what
// the blank is. A string with escapes needs a full reading and does not fit.
func (t *template) fits(data []byte) (part []byte, ok bool) {
	part, n, ok := t.begins(data)
	return part, ok && n == len(data)
}

// begins is fits for data with more behind it.
func (t *template) begins(data []byte) (part []byte, n int, ok bool) {
	if len(t.gaps) == 0 {
		return nil, 0, false
	}
	blank := t.gaps[t.blank]
	at := blank.from
	if at > len(data) || !bytes.Equal(data[:at], t.bytes[:at]) {
		if at, ok = match(data, t.bytes[:blank.from], 0, t.gaps[:t.blank]); !ok {
			return nil, 0, false
		}
	}
	from := at
	at += plain(data[at:])
	part = data[from:at]
	if rest := t.bytes[blank.to:]; bytes.HasPrefix(data[at:], rest) && closes(data[at+len(rest):]) > 0 {
		at += len(rest)
	} else {
		if n, ok = match(data[at:], t.bytes, blank.to, t.gaps[t.blank+1:]); !ok {
			return nil, 0, false
		}
		at += n
	}
	n = closes(data[at:])
	return part, at + n, n > 0 && utf8.Valid(part)
}

// closes is the length of the last bracket and the space before it, or 0.
func closes(data []byte) int {
	n := 0
	for n < len(data) && data[n] == ' ' {
		n++
	}
	if n == len(data) || data[n] != '}' {
		return 0
	}
	return n + 1
}

// match holds data against pattern from a place on, and gives how much of it is
// the pattern with its gaps filled.
func match(data, pattern []byte, from int, gaps []gap) (at int, ok bool) {
	for _, g := range gaps {
		fixed := pattern[from:g.from]
		if !bytes.HasPrefix(data[at:], fixed) {
			return 0, false
		}
		at, from = at+len(fixed), g.to
		n := plain(data[at:])
		if g.number {
			if n = wholeNumber(data[at:]); n == 0 {
				return 0, false
			}
		}
		at += n
	}
	fixed := pattern[from:]
	return at + len(fixed), bytes.HasPrefix(data[at:], fixed)
}

// tight is a message without its last bracket and the space before it: one
// vendor pads its messages there.
func tight(data []byte) ([]byte, bool) {
	n := len(data) - 1
	if n < 0 || data[n] != '}' {
		return data, false
	}
	return bytes.TrimRight(data[:n], " "), true
}

// wholeNumber is the length of the digits at the start of p that are a number
// by themselves, or 0.
func wholeNumber(p []byte) int {
	n := 0
	for n < len(p) && p[n]-'0' <= 9 {
		n++
	}
	if n > 1 && p[0] == '0' {
		return 0
	}
	return n
}
