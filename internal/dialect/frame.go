package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ikigai/internal/llm"
)

// Each takes one message of a response: the name of its SSE event, if it had
// one, and its data. Both are valid until Each returns.
type Each func(event, data []byte) error

// Frames cuts the bytes of a response into messages. The framing is told by the
// first bytes: server-sent events, JSON objects one after another (NDJSON, or one
// object over many lines), or a JSON array of objects. Bytes may be cut anywhere,
// and a message that lies whole in the bytes given is not copied.
type Frames struct {
	framing framing
	head    []byte // the first bytes, for telling the framing and for an excerpt
	lines   lines
	values  values
	short   shortcut
}

// A shortcut takes messages that are like the one before from the stream itself.
type shortcut interface {
	// take gives the length of such a message at the start of stream, frame and
	// all, when there is one and it has been dealt with; otherwise 0.
	take(stream []byte) int
	// lay says that the message that Each has just had is data, a part of frame.
	lay(frame, data []byte)
}

// none is for a reader that wants to see every message.
type none struct{}

func (none) take([]byte) int    { return 0 }
func (none) lay([]byte, []byte) {}

type framing uint8

const (
	untold framing = iota
	sse
	objects
	markup // HTML of a proxy, most likely
)

// mostExcerpt is how much of a response that is no format of ours is kept, and
// mostMessage how long one message may be: far beyond what a model can say.
const (
	mostExcerpt = 2048
	mostMessage = 256 << 20
)

// Feed takes the next bytes. An error of each ends the response.
func (f *Frames) Feed(p []byte, each Each) error {
	if len(f.head) < mostExcerpt {
		f.head = append(f.head, p[:min(len(p), mostExcerpt-len(f.head))]...)
	}
	if f.framing == untold {
		if p = f.tell(p); f.framing == untold {
			return nil
		}
	}
	if f.short == nil {
		f.short = none{}
	}
	switch f.framing {
	case sse:
		return f.lines.feed(p, each, f.short)
	case objects:
		return f.values.feed(p, each, f.short)
	}
	if len(f.head) < mostExcerpt {
		return nil
	}
	return garbage(f.head)
}

// tell finds the first byte that is neither space nor byte order mark, and
// gives what is left from there on.
func (f *Frames) tell(p []byte) []byte {
	for i, c := range p {
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			continue
		case '{', '[':
			f.framing = objects
		case '<':
			f.framing = markup
		default:
			f.framing = sse
		}
		return p[i:]
	}
	return nil
}

// Close says that no more bytes come. A last message without its end is passed
// on if it is whole. An error says that the response was no format of ours.
func (f *Frames) Close(each Each) error {
	switch f.framing {
	case sse:
		if err := f.lines.close(each); err != nil {
			return err
		}
		if !f.lines.known {
			return garbage(f.head)
		}
	case markup:
		return garbage(f.head)
	}
	return nil
}

func garbage(head []byte) *llm.Error {
	return &llm.Error{
		Class:   llm.Garbage,
		Message: "the answer is not in the provider's format: " + Excerpt(head),
		Hint:    "check the address of the provider, and whether a proxy answers in its place",
	}
}

// lines reads server-sent events. Lines end in LF, CR or both.
type lines struct {
	part  []byte // the beginning of a line whose end has not come
	data  []byte // the data of the event in hand, often still in the caller's bytes
	own   []byte // where data lies when it had to be copied
	event []byte
	has   bool // there is data
	cr    bool // the last line ended in CR: an LF now belongs to it
	known bool // a line was seen that only such a stream has
}

func (l *lines) feed(p []byte, each Each, short shortcut) error {
	nextLF, nextCR := -1, -1 // each searched once, whatever the lines end in
	frame := -1              // where the event in hand begins, if it does in p
	for i := 0; ; {
		if l.cr && i < len(p) {
			if p[i] == '\n' {
				i++
			}
			l.cr = false
		}
		if l.between() {
			for n := short.take(p[i:]); n > 0; n = short.take(p[i:]) {
				i += n
			}
			frame = i
		}
		nextLF, nextCR = nextByte(p, i, nextLF, '\n'), nextByte(p, i, nextCR, '\r')
		end := min(nextLF, nextCR)
		if end == len(p) {
			l.part = append(l.part, p[i:]...)
			l.hold()
			return tooBig(len(l.part) + len(l.data))
		}
		l.cr = end == nextCR
		data, whole := l.data, end == i && frame >= 0 && l.has && len(l.own) == 0 && !l.cr
		if err := l.line(p[i:end], each); err != nil {
			return err
		}
		if i = end + 1; whole {
			short.lay(p[frame:i], data)
		}
	}
}

// nextByte is where c stands next in p from i on; known is what was found before.
func nextByte(p []byte, i, known int, c byte) int {
	if known >= i {
		return known
	}
	if n := bytes.IndexByte(p[i:], c); n >= 0 {
		return i + n
	}
	return len(p)
}

// between reports whether one event has ended and no other begun.
func (l *lines) between() bool {
	return len(l.part) == 0 && !l.has && len(l.event) == 0 && !l.cr
}

// hold copies data that lies in the caller's bytes, which are about to go.
func (l *lines) hold() {
	if l.has && (len(l.own) != len(l.data) || len(l.data) > 0 && &l.own[0] != &l.data[0]) {
		l.own = append(l.own[:0], l.data...)
		l.data = l.own
	}
}

// line takes one whole line, whose beginning may have come earlier.
func (l *lines) line(rest []byte, each Each) error {
	if len(l.part) == 0 {
		return l.field(rest, each)
	}
	l.part = append(l.part, rest...)
	err := l.field(l.part, each)
	l.hold()
	l.part = l.part[:0]
	return err
}

// field reads one line of an event; an empty one ends the event. A bare object
// in the stream is how some gateways report that they broke off: it is a message
// of its own.
func (l *lines) field(line []byte, each Each) error {
	if len(line) == 0 {
		return l.dispatch(each)
	}
	if line[0] == '{' {
		return each(nil, line)
	}
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		l.known = true
		l.add(bytes.TrimPrefix(value, []byte{' '}))
		return nil
	}
	name, value, colon := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		l.add(nil)
	case "event":
		l.event = append(l.event[:0], value...)
	case "id", "retry":
	case "":
		l.known = l.known || colon // a comment
		return nil
	default:
		return nil
	}
	l.known = true
	return nil
}

func (l *lines) add(value []byte) {
	if !l.has {
		l.data, l.has = value, true
		return
	}
	l.hold()
	l.own = append(append(l.own, '\n'), value...)
	l.data = l.own
}

func (l *lines) dispatch(each Each) error {
	data, event := l.data, l.event
	had := l.has && len(data) > 0
	l.data, l.own, l.event, l.has = nil, l.own[:0], l.event[:0], false
	if !had {
		return nil
	}
	return each(event, data)
}

// close passes on a last event that lacks its empty line, when nothing of it
// can be missing.
func (l *lines) close(each Each) error {
	if len(l.part) > 0 {
		if err := l.line(nil, each); err != nil {
			return err
		}
	}
	if l.has && (json.Valid(l.data) || IsDone(l.data)) {
		return l.dispatch(each)
	}
	return nil
}

// IsDone reports whether the data of an event is the end signal of the OpenAI formats.
func IsDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// values finds the objects in a row of them, with or without an array around
// them. It only counts brackets: whether an object is sound is seen when it is read.
type values struct {
	part    []byte // an object whose end has not come
	depth   int
	array   bool
	quoted  bool
	escaped bool
}

func (v *values) feed(p []byte, each Each, short shortcut) error {
	start := 0 // where the object in hand begins in p
	for i := 0; i < len(p); i++ {
		if v.depth == 0 {
			if n := short.take(p[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		if v.quoted && !v.escaped {
			i += plain(p[i:])
		} else if v.depth > 0 && !v.quoted {
			for i < len(p) && !bounds[p[i]] {
				i++
			}
		}
		if i == len(p) {
			break
		}
		c := p[i]
		switch {
		case v.escaped:
			v.escaped = false
		case v.quoted:
			v.escaped, v.quoted = c == '\\', c != '"'
		case v.depth == 0:
			if !v.between(c) {
				return garbage(p[i:])
			}
			start = i
		case c == '"':
			v.quoted = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			if v.depth--; v.depth == 0 {
				here := len(v.part) == 0
				if err := v.whole(p[start:i+1], each); err != nil {
					return err
				}
				if here {
					short.lay(p[start:i+1], p[start:i+1])
				}
			}
		}
	}
	if v.depth > 0 {
		v.part = append(v.part, p[start:]...)
	}
	return tooBig(len(v.part))
}

func tooBig(size int) error {
	if size <= mostMessage {
		return nil
	}
	return &llm.Error{Class: llm.Garbage, Message: fmt.Sprintf("one message of the answer is longer than %d MB", mostMessage>>20)}
}

// bounds are the bytes that matter inside an object but outside of its strings.
var bounds = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// between takes a byte outside of all objects and reports whether it may stand there.
func (v *values) between(c byte) bool {
	switch c {
	case '{':
		v.depth = 1
	case '[':
		first := !v.array
		v.array = true
		return first
	case ',', ']':
		return v.array
	case ' ', '\t', '\r', '\n':
	default:
		return false
	}
	return true
}

func (v *values) whole(end []byte, each Each) error {
	if len(v.part) == 0 {
		return each(nil, end)
	}
	v.part = append(v.part, end...)
	err := each(nil, v.part)
	v.part = v.part[:0]
	return err
}
