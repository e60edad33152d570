package dialect

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Scan reads one JSON text from front to back without building anything: a
// dialect asks for the fields it knows and skips the rest. It is exactly as
// strict as encoding/json (a fuzz test holds them side by side); after the first
// fault it stands still, every question is answered with nothing, and OK is false.
type Scan struct {
	Key     []byte // the name of the field that Field found, escapes read
	src     []byte
	at      int
	depth   int
	first   bool // just after an opening bracket
	escaped bool // the last string has an escape in it
	bad     bool
	skipped *[]gap // where Skip notes what it went past, if anywhere
}

// mostDepth is where encoding/json gives up too.
const mostDepth = 10000

// NewScan starts before the first value of src.
func NewScan(src []byte) Scan { return Scan{src: src} }

// OK reports whether all of the text was read and sound.
func (s *Scan) OK() bool {
	s.space()
	return !s.bad && s.at == len(s.src)
}

// Kind is the first byte of the next value: one of { [ " t f n, or 0 for a
// number and for the end.
func (s *Scan) Kind() byte {
	s.space()
	if s.bad || s.at >= len(s.src) {
		return 0
	}
	switch c := s.src[s.at]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return 0
}

// Object enters an object. Any other value is skipped, and the answer is false.
func (s *Scan) Object() bool { return s.enter('{') }

// Array enters an array. Any other value is skipped, and the answer is false.
func (s *Scan) Array() bool { return s.enter('[') }

func (s *Scan) enter(open byte) bool {
	if s.Kind() != open {
		s.past(nil)
		return false
	}
	s.at++
	s.first = true
	if s.depth++; s.depth > mostDepth {
		s.fault()
	}
	return !s.bad
}

// Field goes to the next field of the object and puts its name in Key. The
// caller then takes or skips its value. False is the end of the object.
func (s *Scan) Field() bool {
	if !s.next('}') {
		return false
	}
	s.Key = s.quoted()
	if s.escaped {
		s.Key = appendUnquoted(nil, s.Key)
	}
	if s.at < len(s.src) && s.src[s.at] == ':' && !s.bad {
		s.at++
		return true
	}
	s.space()
	if s.bad || !s.accept(':') {
		s.fault()
		return false
	}
	return true
}

// Element goes to the next element of the array. False is the end of the array.
func (s *Scan) Element() bool { return s.next(']') }

func (s *Scan) next(end byte) bool {
	first := s.first
	s.first = false
	if !first && s.at+1 < len(s.src) && s.src[s.at] == ',' && s.src[s.at+1] > ' ' && !s.bad {
		s.at++
		return true
	}
	s.space()
	if s.bad || s.at >= len(s.src) {
		s.fault()
		return false
	}
	c := s.src[s.at]
	if c == end {
		s.at++
		s.depth--
		return false
	}
	if first {
		return true
	}
	if c != ',' {
		s.fault()
		return false
	}
	s.at++
	return true
}

// Str takes a string, as it stands between its quotes; Strings.Of reads it. Any
// other value is skipped and gives nil.
func (s *Scan) Str() []byte {
	if s.at < len(s.src) && s.src[s.at] == '"' {
		return s.quoted()
	}
	if s.Kind() != '"' {
		s.past(nil)
		return nil
	}
	return s.quoted()
}

// Word takes a string that is short and rare. Any other value is skipped and
// gives an empty one.
func (s *Scan) Word() string { return Unquote(s.Str()) }

// Int takes a whole number, also one written with a fraction of zero. Any other
// value is skipped, and the answer is false.
func (s *Scan) Int() (int, bool) {
	if s.Kind() != 0 {
		s.past(nil)
		return 0, false
	}
	raw := string(s.Raw())
	if n, err := strconv.Atoi(raw); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(raw, 64)
	return int(f), err == nil
}

// True takes a value and reports whether it is true.
func (s *Scan) True() bool { return string(s.Raw()) == "true" }

// Raw takes any value as its bytes.
func (s *Scan) Raw() []byte {
	s.space()
	from := s.at
	s.past(nil)
	if s.bad {
		return nil
	}
	return s.src[from:s.at]
}

// Here is the place before the next value, for Since.
func (s *Scan) Here() int {
	s.space()
	return s.at
}

// Since is what was read since a place.
func (s *Scan) Since(here int) []byte { return s.src[here:s.at] }

// Skip goes past a value that the dialect does not care for.
func (s *Scan) Skip() { s.past(s.skipped) }

// past goes past any value and notes the strings and numbers in it.
func (s *Scan) past(note *[]gap) {
	switch s.Kind() {
	case '{':
		for ok := s.Object(); ok && s.Field(); {
			s.past(note)
		}
	case '[':
		for ok := s.Array(); ok && s.Element(); {
			s.past(note)
		}
	case '"':
		from := s.at + 1
		s.quoted()
		if note != nil {
			*note = append(*note, gap{from: from, to: s.at - 1})
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		from := s.at
		s.number()
		if note != nil {
			*note = append(*note, gap{from: from, to: s.at, number: true})
		}
	}
}

func (s *Scan) fault() { s.bad = true }

func (s *Scan) space() {
	if s.at < len(s.src) && s.src[s.at] <= ' ' {
		s.spaces()
	}
}

func (s *Scan) spaces() {
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *Scan) literal(word string) {
	if rest := s.src[s.at:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.fault()
		return
	}
	s.at += len(word)
}

func (s *Scan) number() {
	from := s.at
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		s.fault()
		return
	}
	if s.accept('.') && !s.digits() {
		s.fault()
		return
	}
	if s.accept('e') || s.accept('E') {
		_ = s.accept('+') || s.accept('-')
		if !s.digits() {
			s.fault()
			return
		}
	}
	if s.at == from {
		s.fault()
	}
}

func (s *Scan) accept(c byte) bool {
	if s.at < len(s.src) && s.src[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *Scan) digits() bool {
	from := s.at
	for s.at < len(s.src) && s.src[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > from
}

// quoted goes past a string and gives what stands between its quotes.
func (s *Scan) quoted() []byte {
	if from := s.at + 1; from < len(s.src) && s.src[from-1] == '"' && !s.bad {
		if end := from + plain(s.src[from:]); end < len(s.src) && s.src[end] == '"' {
			s.at, s.escaped = end+1, false
			return s.src[from:end]
		}
	}
	return s.quotedHard()
}

// quotedHard is quoted for strings with escapes, with space before them, or broken.
func (s *Scan) quotedHard() []byte {
	s.space()
	if s.bad || s.at >= len(s.src) || s.src[s.at] != '"' {
		s.fault()
		return nil
	}
	from := s.at + 1
	s.escaped = false
	for s.at = from; ; {
		s.at += plain(s.src[s.at:])
		if s.at >= len(s.src) {
			s.fault()
			return nil
		}
		switch c := s.src[s.at]; {
		case c == '"':
			s.at++
			return s.src[from : s.at-1]
		case c == '\\' && s.escape():
			s.escaped = true
		default:
			s.fault() // a control byte, or an escape that there is not
			return nil
		}
	}
}

// plain counts the bytes at the start of p that mean themselves in a string,
// eight at a time: neither quote nor backslash nor control. The lowest byte that
// the arithmetic marks is always a true one.
func plain(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(p); n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if marked := ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs; marked != 0 {
			return n + bits.TrailingZeros64(marked)/8
		}
	}
	for n < len(p) && p[n] >= 0x20 && p[n] != '"' && p[n] != '\\' {
		n++
	}
	return n
}

func (s *Scan) escape() bool {
	rest := s.src[s.at:]
	if len(rest) < 2 {
		return false
	}
	if rest[1] == 'u' {
		s.at += min(6, len(rest))
		return hex4(rest) >= 0
	}
	s.at += 2
	return simpleEscape(rest[1]) != 0
}

// simpleEscape is the byte that a backslash and c mean, or 0.
func simpleEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// hex4 reads the number of \uXXXX at the start of p, or gives -1.
func hex4(p []byte) rune {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range p[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func hasEscape(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// Unquote reads what stands between the quotes of a JSON string.
func Unquote(raw []byte) string {
	if !hasEscape(raw) && utf8.Valid(raw) {
		return string(raw)
	}
	return string(appendUnquoted(nil, raw))
}

// appendUnquoted appends the meaning of raw, which is sound. Bytes that are no
// UTF-8 and halves of surrogate pairs become U+FFFD, as in encoding/json.
func appendUnquoted(dst, raw []byte) []byte {
	for len(raw) > 0 {
		c := raw[0]
		switch {
		case c == '\\' && raw[1] == 'u':
			r := hex4(raw)
			raw = raw[6:]
			if utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, hex4(raw)); pair != utf8.RuneError {
					r, raw = pair, raw[6:]
				} else {
					r = utf8.RuneError
				}
			}
			dst = utf8.AppendRune(dst, r)
		case c == '\\':
			dst = append(dst, simpleEscape(raw[1]))
			raw = raw[2:]
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			raw = raw[1:]
		default:
			r, size := utf8.DecodeRune(raw)
			dst = utf8.AppendRune(dst, r)
			raw = raw[size:]
		}
	}
	return dst
}

// Strings makes many short strings with few allocations: they share blocks of
// memory that are filled once and never changed.
type Strings struct {
	block   strings.Builder
	scratch []byte
}

const blockSize = 4096

// Of is the meaning of what stands between the quotes of a JSON string.
func (m *Strings) Of(raw []byte) string {
	if hasEscape(raw) || !utf8.Valid(raw) {
		m.scratch = appendUnquoted(m.scratch[:0], raw)
		raw = m.scratch
	}
	return m.Copy(raw)
}

// Copy is p as a string.
func (m *Strings) Copy(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if m.block.Len()+len(p) > m.block.Cap() {
		m.block = strings.Builder{}
		m.block.Grow(max(blockSize, len(p)))
	}
	from := m.block.Len()
	m.block.Write(p)
	return m.block.String()[from:]
}
