package shell

import "strings"

// checkAwk judges the program of awk: the first operand, unless a flag names a file.
func checkAwk(c *call) {
	if c.has("-f", "--file", "-E", "--exec", "-e", "--source") {
		c.raise(MustAsk, "an awk program that is not in its usual place")
		return
	}
	if len(c.operands) == 0 {
		return
	}
	program := c.operands[0]
	if program.dynamic() {
		c.raise(MustAsk, "a program that is only known at run time")
		return
	}
	a := awkProgram{text: program.text, call: c, index: program.index}
	a.judge()
	for _, o := range c.operands[1:] {
		if name, _, ok := strings.Cut(o.text, "="); !ok || !isName(name) {
			c.read(o.arg)
		}
	}
}

// An awkProgram is looked at word by word, with strings and regular expressions taken out.
type awkProgram struct {
	text     string
	pos      int
	call     *call
	index    int
	printing bool   // inside a print statement
	depth    int    // of parentheses
	last     byte   // the last character that was not blank
	word     string // the last name
}

func (a *awkProgram) judge() {
	for a.pos < len(a.text) {
		a.token()
	}
}

func (a *awkProgram) token() {
	c := a.text[a.pos]
	switch {
	case c == ' ' || c == '\t':
		a.pos++
		return
	case c == '"':
		a.quoted('"')
	case c == '/' && a.regexMayStart():
		a.quoted('/')
	case c == '#':
		a.comment()
	case isName(string(c)):
		a.name()
		return
	case c == '@':
		a.risk(Dangerous, "the awk program loads code")
		a.pos++
	default:
		a.punctuation(c)
	}
	a.last, a.word = c, ""
}

func (a *awkProgram) risk(v Verdict, why string) {
	a.call.risk(a.index)
	a.call.raise(v, why)
}

func (a *awkProgram) regexMayStart() bool {
	return a.last == 0 || strings.IndexByte("(,{;!~&|=\n?:}", a.last) >= 0 || a.word == "print" || a.word == "return"
}

// quoted goes behind a string or a regular expression and gives what is in it.
func (a *awkProgram) quoted(end byte) string {
	start := a.pos + 1
	for a.pos = start; a.pos < len(a.text) && a.text[a.pos] != end; a.pos++ {
		if a.text[a.pos] == '\\' {
			a.pos++
		}
	}
	stop := min(a.pos, len(a.text))
	a.pos = stop + 1
	return a.text[start:stop]
}

func (a *awkProgram) comment() {
	for a.pos < len(a.text) && a.text[a.pos] != '\n' {
		a.pos++
	}
}

// name takes a word and refuses those that reach out of the program.
func (a *awkProgram) name() {
	start := a.pos
	for a.pos < len(a.text) && isName("_"+a.text[a.pos:a.pos+1]) {
		a.pos++
	}
	a.word, a.last = a.text[start:a.pos], 'a'
	switch a.word {
	case "system":
		a.risk(Dangerous, "the awk program runs a command")
	case "getline":
		a.risk(MustAsk, "the awk program reads another file or command")
	case "print", "printf":
		a.printing, a.depth = true, 0
	}
}

func (a *awkProgram) punctuation(c byte) {
	a.pos++
	switch c {
	case '(':
		a.depth++
	case ')':
		a.depth--
	case ';', '{', '}', '\n':
		a.printing = false
	case '|':
		if a.pos < len(a.text) && a.text[a.pos] == '|' {
			a.pos++
			return
		}
		a.risk(Dangerous, "the awk program starts a command")
	case '>':
		if a.printing && a.depth <= 0 {
			a.redirect()
		}
	}
}

// redirect judges print > "file"; a name that is put together at run time is asked.
func (a *awkProgram) redirect() {
	for a.pos < len(a.text) && strings.IndexByte("> \t", a.text[a.pos]) >= 0 {
		a.pos++
	}
	a.call.risk(a.index)
	if a.pos >= len(a.text) || a.text[a.pos] != '"' {
		a.call.raise(MustAsk, "the awk program writes to a file that is not known")
		return
	}
	name := a.quoted('"')
	rest := strings.TrimLeft(a.text[min(a.pos, len(a.text)):], " \t")
	if strings.HasPrefix(name, "/inet") {
		a.call.raise(Dangerous, "the awk program opens a connection")
	}
	if rest != "" && strings.IndexByte(";}\n", rest[0]) < 0 || strings.Contains(name, `\`) {
		a.call.raise(MustAsk, "the awk program writes to a file that is not known")
	}
	a.call.write(arg{text: name})
}
