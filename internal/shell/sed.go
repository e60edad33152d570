package shell

import "strings"

// checkSed judges the scripts of sed: those in flags, or the first operand.
func checkSed(c *call) {
	scripts := false
	for _, u := range c.flags {
		switch u.name {
		case "-e", "--expression":
			scripts = true
			c.sed(u.value, u.index)
		case "-f", "--file":
			scripts = true
			c.raise(MustAsk, "a script in a file")
		}
	}
	files := c.operands
	if !scripts && len(files) > 0 {
		c.sed(files[0].arg, files[0].index)
		files = files[1:]
		if c.inPlace && c.word(0) == "" && len(files) > 0 { // BSD: -i takes the empty word, the script comes next
			c.sed(files[0].arg, files[0].index)
			files = files[1:]
		}
	}
	c.readOrChange(files)
	if c.inPlace && len(files) == 0 {
		c.raise(MustAsk, "which files change is not said")
	}
}

// sed judges one script.
func (c *call) sed(script arg, index int) {
	if script.dynamic() {
		c.raise(MustAsk, "a script that is only known at run time")
	}
	s := sedScript{text: script.text, call: c, index: index}
	for s.command() {
	}
	if s.broken {
		c.raise(MustAsk, "a sed script that is not understood")
		c.risk(index)
	}
}

// A sedScript is walked command by command. It follows GNU sed, whose forms include those of the others.
type sedScript struct {
	text   string
	pos    int
	call   *call
	index  int
	broken bool
}

func (s *sedScript) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *sedScript) skip(chars string) {
	for s.pos < len(s.text) && strings.IndexByte(chars, s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// line takes the rest of the line; a backslash keeps the newline in it.
func (s *sedScript) line() string {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] != '\n' {
		if s.text[s.pos] == '\\' {
			s.pos++
		}
		s.pos++
	}
	s.pos = min(s.pos, len(s.text))
	return strings.TrimSpace(s.text[start:s.pos])
}

// command takes one command with its addresses; false at the end or when something is not understood.
func (s *sedScript) command() bool {
	s.skip(" \t\n;{}")
	if s.pos >= len(s.text) {
		return false
	}
	s.addresses()
	s.skip(" \t!")
	op := s.peek()
	s.pos++
	switch {
	case s.broken:
	case op == '{' || op == '}' || op == 0:
	case op == '#':
		s.line()
	case strings.IndexByte("=dDgGhHnNpPxzF", op) >= 0:
	case strings.IndexByte("qQlL", op) >= 0:
		s.skip(" 0123456789")
	case strings.IndexByte("aic", op) >= 0:
		s.line()
	case strings.IndexByte(":btTv", op) >= 0:
		s.label()
	case strings.IndexByte("rRwW", op) >= 0:
		s.file(op)
	case op == 'e':
		s.line()
		s.runs()
	case op == 's':
		s.substitute()
	case op == 'y':
		end := s.delimiter()
		s.plain(end)
		s.plain(end)
	default:
		s.broken = true
	}
	return !s.broken
}

func (s *sedScript) runs() {
	s.call.risk(s.index)
	s.call.raise(Dangerous, "the sed script runs a command")
}

func (s *sedScript) label() {
	for s.pos < len(s.text) && s.text[s.pos] != '\n' && s.text[s.pos] != ';' && s.text[s.pos] != '}' {
		s.pos++
	}
}

// file is r, R, w or W with a name up to the end of the line.
func (s *sedScript) file(op byte) {
	name := arg{text: s.line()}
	s.call.risk(s.index)
	if op == 'r' || op == 'R' {
		s.call.read(name)
		return
	}
	s.call.write(name)
}

// addresses takes up to two of them: a number, $, /re/, \cREc, and the GNU forms with ~ and +.
func (s *sedScript) addresses() {
	for range 2 {
		switch c := s.peek(); {
		case c >= '0' && c <= '9' || c == '$' || c == '+' || c == '~':
			s.skip("0123456789$+~")
		case c == '/':
			s.pattern()
			s.skip("IM")
		case c == '\\':
			s.pos++
			s.pattern()
			s.skip("IM")
		default:
			return
		}
		s.skip(" \t")
		if s.peek() != ',' {
			return
		}
		s.pos++
		s.skip(" \t")
	}
}

// pattern takes a regular expression that ends with the character at hand, and gives that character.
func (s *sedScript) pattern() byte {
	end := s.delimiter()
	for s.pos < len(s.text) && !s.broken {
		switch c := s.text[s.pos]; c {
		case '\\':
			s.pos += 2
		case '[':
			s.bracket()
		default:
			s.pos++
			if c == end {
				return end
			}
		}
	}
	s.broken = true
	return end
}

func (s *sedScript) delimiter() byte {
	end := s.peek()
	s.pos++
	s.broken = s.broken || end == 0 || end == '\n' || end == '\\'
	return end
}

// bracket goes behind [...], which may hold the delimiter. A backslash before its end is read in two ways by
// different programs and is therefore not understood.
func (s *sedScript) bracket() {
	start := s.pos
	s.pos++
	if s.peek() == '^' {
		s.pos++
	}
	if s.peek() == ']' {
		s.pos++
	}
	for s.pos < len(s.text) && s.text[s.pos] != ']' {
		if strings.HasPrefix(s.text[s.pos:], "[:") {
			s.pos += max(0, strings.Index(s.text[s.pos:], ":]"))
			s.pos++
		}
		s.pos++
	}
	s.pos++
	s.broken = s.broken || s.pos > len(s.text) || strings.HasSuffix(s.text[start:min(s.pos, len(s.text))], "\\]")
}

// plain takes text that ends with end, where a bracket means nothing.
func (s *sedScript) plain(end byte) {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch c {
		case '\\':
			s.pos++
		case end:
			return
		}
	}
	s.broken = true
}

// substitute takes s/…/…/flags; the flag e runs the result, w writes it.
func (s *sedScript) substitute() {
	s.plain(s.pattern())
	for s.pos < len(s.text) && !s.broken {
		switch c := s.text[s.pos]; {
		case strings.IndexByte("gpiIMm0123456789", c) >= 0:
			s.pos++
		case c == 'e':
			s.pos++
			s.runs()
		case c == 'w':
			s.pos++
			s.file('w')
			return
		case strings.IndexByte(" \t\n;}#", c) >= 0:
			return
		default:
			s.broken = true
			return
		}
	}
}
