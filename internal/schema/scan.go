package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxSize and maxDepth bound what is read: the bytes of the arguments of one
// call, and how deep values may lie within values.
const (
	MaxSize  = 1 << 20
	maxDepth = 256
)

// A scanner reads JSON, and text that was meant to be JSON and can be read in
// one way only. Every departure from JSON is noted as a repair. It never closes
// what is open, never chooses between two values of one name, and never changes
// what stands inside a string.
type scanner struct {
	text    string
	pos     int
	depth   int
	repairs []string
}

// scan reads one document.
func scan(raw []byte) (value, []string, error) {
	if len(raw) > MaxSize {
		return value{}, nil, &ValidationError{[]string{fmt.Sprintf("the arguments have %d bytes, at most %d are read", len(raw), MaxSize)}}
	}
	if !utf8.Valid(raw) {
		return value{}, nil, &ParseError{"the text is not valid UTF-8"}
	}
	s := &scanner{text: string(raw)}
	v, err := s.document()
	return v, s.repairs, err
}

// scanStrict reads JSON without any repair.
func scanStrict(text string) (value, error) {
	s := &scanner{text: text}
	v, err := s.whole()
	if err == nil && len(s.repairs) > 0 {
		err = &ParseError{s.repairs[0]}
	}
	return v, err
}

func (s *scanner) note(repair string) {
	if !slices.Contains(s.repairs, repair) {
		s.repairs = append(s.repairs, repair)
	}
}

func (s *scanner) errorf(format string, args ...any) error {
	return &ParseError{fmt.Sprintf("at byte %d: ", s.pos) + fmt.Sprintf(format, args...)}
}

// document reads the value and what models write around it.
func (s *scanner) document() (value, error) {
	if rest, marked := strings.CutPrefix(s.text, "\ufeff"); marked {
		s.text = rest
		s.note("byte order mark removed")
	}
	s.text = strings.TrimRight(s.text, " \t\r\n")
	s.pos = len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
	switch {
	case s.pos == len(s.text):
		s.note("empty arguments read as {}")
		return objectOf(), nil
	case s.escaped():
		return s.unescaped()
	case s.text[s.pos] == '{':
		return s.surrounded("")
	case strings.IndexByte("[\"'", s.text[s.pos]) >= 0 || !strings.Contains(s.text, "{"):
		return s.whole()
	}
	return s.embedded()
}

// whole reads a value that must be all of the text.
func (s *scanner) whole() (value, error) {
	v, err := s.value()
	if err == nil {
		err = s.blank()
	}
	if err == nil && s.pos < len(s.text) {
		err = s.errorf("unexpected %s after the value", s.here())
	}
	return v, err
}

// escaped reports whether the text looks like an object whose quotes are
// escaped as if it stood inside a string.
func (s *scanner) escaped() bool {
	rest, isObject := strings.CutPrefix(s.text[s.pos:], "{")
	return isObject && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), `\`)
}

// unescaped reads such an object.
func (s *scanner) unescaped() (value, error) {
	inner, err := scanStrict(`"` + s.text[s.pos:] + `"`)
	if err != nil {
		return value{}, s.errorf("unexpected %s, want the name of a parameter in quotes", `\`)
	}
	v, err := scanStrict(inner.text)
	s.note("escaped quotes read as quotes")
	return v, err
}

// blank skips white space and comments.
func (s *scanner) blank() error {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			s.pos++
		case c == '#' || strings.HasPrefix(s.text[s.pos:], "//"):
			if err := s.comment(len(s.line())); err != nil {
				return err
			}
		case strings.HasPrefix(s.text[s.pos:], "/*"):
			end := strings.Index(s.text[s.pos+2:], "*/")
			if end < 0 {
				return s.errorf("comment that does not end")
			}
			if err := s.comment(end + 4); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s.text[s.pos:])
			if !unicode.IsSpace(r) {
				return nil
			}
			s.note("unusual white space read as a blank")
			s.pos += size
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) line() string {
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	return line
}

// comment skips a comment of n bytes. One with a quote in it may be the second
// half of a string with a quote that was not escaped, so it is refused.
func (s *scanner) comment(n int) error {
	if strings.ContainsAny(s.text[s.pos:s.pos+n], `"`) {
		return s.errorf("comment with a quote in it")
	}
	s.note("comment removed")
	s.pos += n
	return nil
}

// value reads one value and the blank before it.
func (s *scanner) value() (value, error) {
	if err := s.blank(); err != nil {
		return value{}, err
	}
	if s.pos == len(s.text) {
		return value{}, s.errorf("cut off where a value should come")
	}
	switch c := s.text[s.pos]; {
	case c == '{':
		return s.nested(s.object)
	case c == '[':
		return s.nested(s.array)
	case s.closingQuote() != "":
		t, err := s.string()
		return textOf(t), err
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	}
	return s.word()
}

func (s *scanner) nested(read func() (value, error)) (value, error) {
	if s.depth++; s.depth > maxDepth {
		return value{}, s.errorf("more than %d levels of nesting", maxDepth)
	}
	s.pos++
	v, err := read()
	s.depth--
	return v, err
}

func (s *scanner) object() (value, error) {
	v := value{kind: object}
	seen := names{}
	for {
		done, err := s.next('}', len(v.members) > 0)
		if done || err != nil {
			return v, err
		}
		m, err := s.member()
		if err != nil {
			return v, err
		}
		if seen.add(m.name, v.members) {
			return v, s.errorf("the name %q comes twice in one object, send it once", m.name)
		}
		if v.members == nil {
			v.members = make([]member, 0, 4)
		}
		v.members = append(v.members, m)
	}
}

// names finds a name that comes twice, also among very many.
type names map[string]bool

func (n *names) add(name string, before []member) (again bool) {
	const few = 16
	if len(before) < few {
		return slices.ContainsFunc(before, func(m member) bool { return m.name == name })
	}
	if len(before) == few {
		*n = make(names, 2*few)
		for _, m := range before {
			(*n)[m.name] = true
		}
	}
	again = (*n)[name]
	(*n)[name] = true
	return again
}

func (s *scanner) array() (value, error) {
	v := value{kind: array, items: []value{}}
	for {
		done, err := s.next(']', len(v.items) > 0)
		if done || err != nil {
			return v, err
		}
		item, err := s.value()
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
}

// next goes on to the next element of an object or array, over the comma when
// one is due, or to its end.
func (s *scanner) next(end byte, due bool) (done bool, err error) {
	before := s.pos
	if err := s.blank(); err != nil {
		return false, err
	}
	if due && s.at(',') {
		s.pos++
		if err := s.blank(); err != nil {
			return false, err
		}
		if s.at(end) {
			s.note("trailing comma removed")
		}
		due = false
	}
	switch {
	case s.pos == len(s.text):
		return false, s.errorf("cut off before the closing %q", end)
	case s.at(end):
		s.pos++
		return true, nil
	case !due:
		return false, nil
	case end == '}' && before < s.pos && s.at('"') && s.keyFollows():
		s.note("missing comma added")
		return false, nil
	}
	return false, s.errorf("unexpected %s, want a comma or the closing %q", s.here(), end)
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

// keyFollows reports whether a quoted name and its colon come next.
func (s *scanner) keyFollows() bool {
	ahead := scanner{text: s.text, pos: s.pos}
	_, err := ahead.string()
	return err == nil && ahead.blank() == nil && ahead.at(':')
}

func (s *scanner) member() (member, error) {
	name, err := s.name()
	if err != nil {
		return member{}, err
	}
	if err := s.blank(); err != nil {
		return member{}, err
	}
	if s.pos == len(s.text) {
		return member{}, s.errorf("cut off after the name %q", name)
	}
	if !s.at(':') {
		return member{}, s.errorf("unexpected %s, want a colon after the name %q", s.here(), name)
	}
	s.pos++
	v, err := s.value()
	return member{name, v}, err
}

// name reads the name of a member, in quotes or bare.
func (s *scanner) name() (string, error) {
	if s.closingQuote() != "" {
		return s.string()
	}
	bare := s.identifier()
	if bare == "" {
		return "", s.errorf("unexpected %s, want the name of a parameter in quotes", s.here())
	}
	s.note("quotes added around a name")
	s.pos += len(bare)
	return bare, nil
}

// identifier is the bare word at this place.
func (s *scanner) identifier() string {
	rest := s.text[s.pos:]
	for i := range len(rest) {
		c := rest[i]
		letter := c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return rest[:i]
		}
	}
	return rest
}

// word reads a literal, of JSON or of Python.
func (s *scanner) word() (value, error) {
	var v value
	word := s.identifier()
	switch word {
	case "true", "True":
		v = value{kind: boolean, truth: true}
	case "false", "False":
		v = value{kind: boolean}
	case "null", "None":
		v = value{kind: null}
	default:
		return v, s.errorf("unexpected %s, want a value (text must be in double quotes)", s.here())
	}
	if word[0] < 'a' {
		s.note("Python word " + word + " read as JSON")
	}
	s.pos += len(word)
	return v, nil
}

func (s *scanner) number() (value, error) {
	start := s.pos
	s.accept("-")
	if !s.accept("0") && s.digits() == 0 {
		return value{}, s.errorf("unexpected %s, want a digit", s.here())
	}
	if s.accept(".") && s.digits() == 0 {
		return value{}, s.errorf("unexpected %s, want a digit", s.here())
	}
	if s.accept("eE") {
		s.accept("+-")
		if s.digits() == 0 {
			return value{}, s.errorf("unexpected %s, want a digit", s.here())
		}
	}
	if s.pos < len(s.text) && strings.IndexByte(",]} \t\r\n/#", s.text[s.pos]) < 0 {
		return value{}, s.errorf("unexpected %s in a number", s.here())
	}
	v := value{kind: number, text: s.text[start:s.pos]}
	if _, err := strconv.ParseFloat(v.text, 64); err != nil {
		return v, &ValidationError{[]string{"the number " + v.short() + " is out of range"}}
	}
	return v, nil
}

func (s *scanner) accept(any string) bool {
	if s.pos < len(s.text) && strings.IndexByte(any, s.text[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

const openingCurly, closingCurly = "“", "”"

// closingQuote is the quote that would end the string which begins here, or
// empty when none does.
func (s *scanner) closingQuote() string {
	switch {
	case s.at('"'):
		return `"`
	case s.at('\''):
		return `'`
	case strings.HasPrefix(s.text[s.pos:], openingCurly):
		return closingCurly
	}
	return ""
}

// string reads a string that begins here.
func (s *scanner) string() (string, error) {
	end := s.closingQuote()
	s.pos++
	switch end {
	case `'`:
		s.note("single quotes read as double quotes")
	case closingCurly:
		s.note("curly quotes read as double quotes")
		s.pos += len(openingCurly) - 1
	}
	plain := s.plain(end)
	if strings.HasPrefix(s.text[s.pos:], end) {
		s.pos += len(end)
		return plain, nil
	}
	return s.escapes(plain, end)
}

// plain reads on to the first byte that may need a closer look.
func (s *scanner) plain(end string) string {
	start := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c == '\\' || c < ' ' || c == end[0] || c == '"' {
			break
		}
		s.pos++
	}
	return s.text[start:s.pos]
}

// escapes reads the rest of a string that is not all plain.
func (s *scanner) escapes(plain, end string) (string, error) {
	var b strings.Builder
	b.WriteString(plain)
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, end):
			s.pos += len(end)
			return b.String(), nil
		case c == '\\':
			if err := s.escape(&b); err != nil {
				return "", err
			}
			b.WriteString(s.plain(end))
			continue
		case c == 0:
			return "", s.errorf("raw NUL byte inside a string")
		case c < ' ':
			s.note("raw control character inside a string kept as it is")
		case end == closingCurly && (c == '"' || strings.HasPrefix(rest, openingCurly)):
			return "", s.errorf("quote of another kind inside curly quotes")
		}
		b.WriteByte(rest[0])
		s.pos++
	}
	return "", s.errorf("cut off inside a string")
}

// escape reads one escape sequence. Whether the backslash of an unknown one was
// meant is a guess, so it is refused.
func (s *scanner) escape(b *strings.Builder) error {
	if s.pos+1 == len(s.text) {
		return s.errorf("cut off inside a string")
	}
	c := s.text[s.pos+1]
	if c == 'u' {
		return s.unicode(b)
	}
	i := strings.IndexByte(`"\/bfnrt'`, c)
	if i < 0 {
		r, _ := utf8.DecodeRuneInString(s.text[s.pos+1:])
		return s.errorf(`unknown escape \%c inside a string, write \\ for a backslash`, r)
	}
	if c == '\'' {
		s.note("needless escape of an apostrophe removed")
	}
	b.WriteByte("\"\\/\b\f\n\r\t'"[i])
	s.pos += 2
	return nil
}

func (s *scanner) unicode(b *strings.Builder) error {
	r, ok := s.code()
	if !ok {
		return s.errorf(`\u without four hexadecimal digits inside a string`)
	}
	if utf16.IsSurrogate(r) {
		low, _ := s.code()
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return &ValidationError{[]string{"a string has half of a surrogate pair, which is no character"}}
		}
	}
	b.WriteRune(r)
	return nil
}

// code reads \uXXXX.
func (s *scanner) code() (rune, bool) {
	rest := s.text[s.pos:]
	if len(rest) < 6 || rest[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[2:6], 16, 32)
	if err != nil {
		return 0, false
	}
	s.pos += 6
	return rune(n), true
}

// here is the next character, for a message.
func (s *scanner) here() string {
	if s.pos == len(s.text) {
		return "end"
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	return strconv.QuoteRune(r)
}
