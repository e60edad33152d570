package convo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quick reads the JSON that this package writes, about eight times faster than
// encoding/json: nearly all the work of opening a long session is here. It knows
// that one form only: no blanks between tokens, no field that the reader did not
// name, no half of a surrogate pair. Whatever else it meets makes it bad, and then
// encoding/json reads the text from its start, so that a text means the same by
// either way; a fuzz test holds the two side by side.
type quick struct {
	rest []byte
	bad  bool
}

// quickly reads an object whole, its fields by field, or reports false.
func quickly(raw []byte, field func(q *quick, key []byte)) bool {
	q := &quick{rest: raw}
	q.object(field)
	return !q.bad && len(q.rest) == 0
}

func (q *quick) object(field func(q *quick, key []byte)) {
	if q.want('{'); q.accept('}') {
		return
	}
	for !q.bad {
		key, _ := q.quoted()
		q.want(':')
		field(q, key)
		if !q.accept(',') {
			q.want('}')
			return
		}
	}
}

// unknown is the answer to a field that a reader does not name.
func (q *quick) unknown() { q.bad = true }

func (q *quick) accept(c byte) bool {
	if len(q.rest) == 0 || q.rest[0] != c {
		return false
	}
	q.rest = q.rest[1:]
	return true
}

func (q *quick) want(c byte) {
	if !q.accept(c) {
		q.bad = true
	}
}

func (q *quick) word(w string) bool {
	if len(q.rest) < len(w) || string(q.rest[:len(w)]) != w {
		return false
	}
	q.rest = q.rest[len(w):]
	return true
}

func (q *quick) truth() bool {
	if q.word("true") {
		return true
	}
	q.bad = q.bad || !q.word("false")
	return false
}

func (q *quick) text() string {
	read, _ := q.quoted()
	return string(read)
}

// bytes is text as bytes that nothing else holds.
func (q *quick) bytes() []byte {
	read, own := q.quoted()
	if own && len(read) > cap(read)/2 {
		return read
	}
	return append(make([]byte, 0, len(read)), read...)
}

func (q *quick) texts() []string {
	list := []string{}
	if q.want('['); q.accept(']') {
		return list
	}
	for !q.bad {
		list = append(list, q.text())
		if !q.accept(',') {
			q.want(']')
			break
		}
	}
	return list
}

func (q *quick) number() string {
	n := 0
	for n < len(q.rest) && bytes.IndexByte([]byte("-+.eE0123456789"), q.rest[n]) >= 0 {
		n++
	}
	token := q.rest[:n]
	q.rest = q.rest[n:]
	q.bad = q.bad || !json.Valid(token)
	return string(token)
}

func (q *quick) int64() int64 { return q.whole(64) }
func (q *quick) int() int     { return int(q.whole(strconv.IntSize)) }

func (q *quick) whole(bits int) int64 {
	n, err := strconv.ParseInt(q.number(), 10, bits)
	q.bad = q.bad || err != nil
	return n
}

func (q *quick) count() *int {
	if q.word("null") {
		return nil
	}
	n := q.int()
	return &n
}

func (q *quick) float() *float64 {
	if q.word("null") {
		return nil
	}
	f, err := strconv.ParseFloat(q.number(), 64)
	q.bad = q.bad || err != nil
	return &f
}

// last is any value, where it is the last one of the outermost object.
func (q *quick) last() json.RawMessage {
	end := len(q.rest) - 1
	if end < 1 || blank(q.rest[0]) || blank(q.rest[end-1]) || !json.Valid(q.rest[:end]) {
		q.bad = true
		return nil
	}
	raw := slices.Clone(q.rest[:end])
	q.rest = q.rest[end:]
	return raw
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// quoted is a string as it is meant. Where no escape is in it, it is a part of
// the text that is read; otherwise it is its own.
func (q *quick) quoted() (read []byte, own bool) {
	q.want('"')
	text := q.rest
	n := ordinary(text)
	if n == len(text) || text[n] == '\\' {
		return q.escaped(n), true
	}
	q.bad = q.bad || text[n] != '"' || !utf8.Valid(text[:n])
	q.rest = text[n+1:]
	return text[:n], false
}

// escaped is quoted for a string whose first escape is at n.
func (q *quick) escaped(n int) []byte {
	text := q.rest
	read := make([]byte, 0, len(text))
	for {
		read = append(read, text[:n]...)
		if text = text[n:]; len(text) < 2 || text[0] != '\\' {
			break
		}
		if c := meanings[text[1]]; c != 0 {
			read, text = append(read, c), text[2:]
		} else if r := codePoint(text); r >= 0 {
			read, text = utf8.AppendRune(read, r), text[6:]
		} else {
			break
		}
		n = ordinary(text)
	}
	q.rest = text
	q.want('"')
	q.bad = q.bad || !utf8.Valid(read)
	return read
}

// ordinary counts the bytes at the start of text that mean themselves in a string.
func ordinary(text []byte) int {
	for i, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}

// meanings are the bytes that a backslash and another one stand for.
var meanings = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// codePoint is the character of \uXXXX at the start of text, or -1 where
// encoding/json must judge.
func codePoint(text []byte) rune {
	if len(text) < 6 || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if r := rune(n); err == nil && !utf16.IsSurrogate(r) {
		return r
	}
	return -1
}
