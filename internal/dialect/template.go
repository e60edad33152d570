package dialect

import (
	"bytes"
	"unicode/utf8"
)

// A Template is a message of a stream with one string left blank. Most messages
// differ from the one before in nothing but a few words: those are found without
// reading the rest again.
type Template struct{ before, after []byte }

// Learn makes data the template, with part, a slice of it that stands between
// quotes, left blank.
func (t *Template) Learn(data, part []byte) {
	at := cap(data) - cap(part)
	t.before = append(t.before[:0], data[:at]...)
	t.after = append(t.after[:0], data[at+len(part):]...)
}

// Forget makes the template fit nothing.
func (t *Template) Forget() { t.before = t.before[:0] }

// Fits reports whether data is the template with its blank filled, and with
// what. A filling with escapes in it does not count: that needs a full reading.
func (t *Template) Fits(data []byte) (part []byte, ok bool) {
	n := len(data) - len(t.after)
	if len(t.before) == 0 || n < len(t.before) || !bytes.HasPrefix(data, t.before) || !bytes.HasSuffix(data, t.after) {
		return nil, false
	}
	part = data[len(t.before):n]
	return part, plain(part) == len(part) && utf8.Valid(part)
}
