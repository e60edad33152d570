package shell

import (
	"slices"
	"strings"
)

// nested judges a text that another shell will run. Holes become a variable, so that what is around them is
// still judged.
func (c *call) nested(a arg, params []arg) scope {
	c.j.unruly("a script within the line")
	text := a.text
	if a.dynamic() {
		c.exact = true
		c.raise(MustAsk, "runs text that is only known at run time")
		text = strings.ReplaceAll(text, hole, "$__unknown")
	}
	if a.net {
		c.raise(Dangerous, "downloads and runs")
	}
	c.j.inner++
	c.j.params(params)
	defer func() { c.j.inner-- }()
	return c.j.script(text, c.at)
}

// wrapped judges the command that a wrapper starts.
func (c *call) wrapped(args []arg) scope {
	c.j.unruly("a wrapper")
	c.j.depth++
	c.j.inner++
	defer func() { c.j.depth, c.j.inner = c.j.depth-1, c.j.inner-1 }()
	if c.j.depth > maxDepth {
		c.raise(Dangerous, "wrappers are nested too deep")
		return c.at
	}
	good, bad := c.j.simple("", args, c.at)
	return good.either(bad)
}

// checkWrapper is for programs that only start another one: skip operands, then a command.
func checkWrapper(c *call) {
	c.wrapped(c.commandFrom(c.row.skip))
}

// commandFrom gives the words from the n-th operand on.
func (c *call) commandFrom(n int) []arg {
	if n >= len(c.operands) {
		return nil
	}
	return c.args[c.operands[n].index:]
}

// checkEnv is env: assignments in front, and a flag that splits a string into a command.
func checkEnv(c *call) {
	if u, ok := c.flag("-S", "--split-string"); ok {
		rest := u.value
		for _, o := range c.operands {
			rest.text += " " + o.text
		}
		c.nested(rest, nil)
		return
	}
	for _, u := range c.flags {
		if (u.name == "-u" || u.name == "--unset") && powerful(u.value.text) {
			c.raise(Dangerous, "unsetting "+u.value.shown()+" changes what programs do")
		}
	}
	n := 0
	for ; n < len(c.operands); n++ {
		name, value, ok := strings.Cut(c.operands[n].text, "=")
		if n == 0 && name == "-" { // an old spelling of -i
			continue
		}
		if !ok {
			break
		}
		if c.operands[n].dynamic() && !isName(name) {
			c.raise(MustAsk, "a name that is only known at run time")
		}
		c.setenv(name, value)
	}
	c.wrapped(c.commandFrom(n))
}

func (c *call) setenv(name, value string) {
	if powerful(name) {
		c.raise(Dangerous, "setting "+name+" changes what programs do")
	}
	c.j.assign(name, arg{text: value})
}

// checkDeclare is export and its kin when they are reached as plain words.
func checkDeclare(c *call) {
	c.j.unruly("a declaration")
	for _, o := range c.operands {
		name, value, ok := strings.Cut(o.text, "=")
		c.j.evaluated(o.arg)
		switch {
		case strings.Contains(name, hole):
			c.raise(MustAsk, "a name that is only known at run time")
		case ok:
			c.setenv(strings.TrimSuffix(name, "+"), value)
		}
	}
}

// checkJoined is for programs that hand their words to a shell in one piece.
func checkJoined(c *call) {
	var all arg
	for _, a := range c.commandFrom(0) {
		if a.text == ":::" {
			break
		}
		all.text += a.text + " "
	}
	c.nested(all, nil)
}

// checkXargs judges the command once, with a word that stands for what comes from the input.
func checkXargs(c *call) {
	from := arg{text: hole, split: true, known: c.at.feed.names, net: c.at.feed.net}
	args := slices.Clone(c.commandFrom(0))
	if len(args) == 0 {
		return
	}
	if f := c.at.feed; f.kind == feedText && !strings.Contains(f.text, hole) {
		from = arg{text: strings.TrimSpace(f.text)}
	}
	mark := "{}"
	u, replaces := c.flag("-I", "-i", "--replace")
	if u.has && u.value.text != "" {
		mark = u.value.text
	}
	if !replaces {
		for word := range strings.FieldsSeq(from.text) {
			each := from
			each.text = word
			args = append(args, each)
		}
		c.wrapped(args)
		return
	}
	for i := range args {
		if strings.Contains(args[i].text, mark) {
			args[i].text = strings.ReplaceAll(args[i].text, mark, from.text)
			args[i].known, args[i].net = from.known, from.net
		}
	}
	c.wrapped(args)
}

// checkShell is sh and its kin: a script as a word, as a file, or on the standard input.
func checkShell(c *call) {
	s := shellWords{c: c, i: 1}
	s.options()
	args := c.args[min(s.i, len(c.args)):]
	switch {
	case s.asks:
	case s.script && len(args) > 0:
		c.raise(ReadOnly, "runs the script in its words")
		if len(args) > 1 {
			c.j.assign("0", args[1])
		}
		c.nested(args[0], args[min(2, len(args)):])
	case s.noExec && len(args) > 0:
		c.read(args[0])
	case len(args) > 0 && !s.stdin && args[0].text != "-" && args[0].text != "/dev/stdin":
		c.runFile(args[0])
	default:
		c.runInput()
	}
}

// shellWords reads the options of a shell.
type shellWords struct {
	c                           *call
	i                           int
	script, stdin, noExec, asks bool
}

func (s *shellWords) options() {
	for ; s.i < len(s.c.args); s.i++ {
		text := s.c.args[s.i].text
		switch {
		case text == "--" || text == "-":
			s.i++
			return
		case len(text) < 2 || text[0] != '-' && text[0] != '+':
			return
		case strings.HasPrefix(text, "--"):
			s.long(text)
		default:
			s.cluster(text)
		}
	}
}

func (s *shellWords) long(text string) {
	switch text {
	case "--login", "--posix", "--norc", "--noprofile", "--noediting", "--verbose", "--restricted":
	case "--rcfile", "--init-file":
		s.i++
		s.c.raise(Dangerous, text+" runs a file first")
	default:
		s.asks = true
		s.c.raise(MustAsk, "unknown flag "+text)
	}
}

func (s *shellWords) cluster(text string) {
	s.script = s.script || strings.Contains(text, "c")
	s.stdin = s.stdin || strings.Contains(text, "s")
	s.noExec = s.noExec || strings.Contains(text, "n") && text[0] == '-'
	if strings.ContainsAny(text, "oO") {
		s.i++
	}
}

// runFile is a script in a file: its text is not in the line.
func (c *call) runFile(a arg) {
	c.opaque, c.runs = true, true
	c.raise(MustAsk, "runs the file "+a.shown())
	for _, p := range resolve(c.at, a.text) {
		if slices.Contains(c.j.out.Writes, p) {
			c.raise(Dangerous, "runs a file that this line wrote")
		}
	}
	if a.net {
		c.raise(Dangerous, "downloads and runs")
	}
}

// runInput is a script on the standard input.
func (c *call) runInput() {
	f := c.at.feed
	c.exact = true
	switch f.kind {
	case feedText:
		c.nested(arg{text: f.text, net: f.net}, nil)
	case feedPipe:
		c.raise(Dangerous, "runs what another command prints")
	case feedFile:
		c.runs = true
		c.raise(MustAsk, "runs a file")
	default:
		c.raise(MustAsk, "an interactive shell")
	}
}

func checkEval(c *call) {
	var all arg
	all.known = true
	for i, a := range c.args[1:] {
		if i == 0 && a.text == "--" {
			continue
		}
		all.text += a.text + " "
		all.net = all.net || a.net
	}
	c.exact = true
	c.leads(c.nested(all, nil))
}

func checkSource(c *call) {
	if len(c.operands) == 0 {
		c.raise(MustAsk, "runs a file")
		return
	}
	file := c.operands[0].arg
	if file.text == "/dev/stdin" {
		c.runInput()
		return
	}
	c.runFile(file)
	c.exact = true
	c.leads(scope{dirs: c.at.dirs, lost: true, feed: c.at.feed})
	for _, p := range resolve(c.at, file.text) {
		if !c.j.inside(p) {
			c.raise(Dangerous, "runs a file from outside the workspace in this shell")
		}
	}
}

func checkTrap(c *call) {
	if len(c.operands) > 1 && c.word(0) != "-" && c.word(0) != "" {
		c.nested(c.operands[0].arg, nil)
	}
}

// checkAlias: a definition changes what later commands mean.
func checkAlias(c *call) {
	for _, o := range c.operands {
		if strings.Contains(o.text, "=") || o.dynamic() {
			c.raise(Dangerous, "changes what a later command means")
		}
	}
}

// checkCommand is command and builtin: -v only looks up.
func checkCommand(c *call) {
	if c.has("-v", "-V") {
		return
	}
	c.leads(c.wrapped(c.commandFrom(0)))
}

// checkCd moves the rest of the line.
func checkCd(c *call) {
	moved := c.at
	switch {
	case len(c.operands) == 0 && c.row.names == "cd":
		moved.dirs, moved.lost = []string{c.j.place.Home}, false
	case len(c.operands) == 0 || c.word(0) == "-" || strings.HasPrefix(c.word(0), "+"):
		moved.lost = true
	case c.operands[0].dynamic() || c.operands[0].glob:
		c.raise(MustAsk, "goes to a folder that is only known at run time")
		moved.lost = true
	default:
		moved.dirs = resolve(c.at, c.word(0))
		moved.lost = c.at.lost && !strings.HasPrefix(c.word(0), "/")
	}
	if len(c.operands) > 1 {
		c.raise(MustAsk, "unexpected word "+c.operands[1].shown())
	}
	c.moved = &moved
}

// checkEvaluated is for builtins that take names of variables or arithmetic: a subscript in them is evaluated.
func checkEvaluated(c *call) {
	for _, a := range c.args[1:] {
		if runsInSubscript(a.text) {
			c.raise(Dangerous, "a subscript that the shell evaluates again")
		}
	}
}

// checkAssigns is for builtins whose operands become variables with values that the line does not give.
func checkAssigns(c *call) {
	checkEvaluated(c)
	for _, o := range c.operands {
		if name, _, _ := strings.Cut(o.text, "["); isName(name) {
			c.setenv(name, hole)
			if c.at.feed.names {
				c.j.vars[name] = variable{}
			}
			if c.at.feed.kind == feedText {
				c.setenv(name, strings.TrimSpace(c.at.feed.text))
			}
		}
	}
}

// checkSet: the words after -- become $1, $2 and so on.
func checkSet(c *call) {
	for i, a := range c.args[1:] {
		if a.text == "--" || i == 0 && !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") {
			from := i + 1
			if a.text == "--" {
				from++
			}
			c.j.params(c.args[from:])
			return
		}
	}
}

// checkPrintf: -v assigns.
func checkPrintf(c *call) {
	if c.word(0) == "-v" || len(c.args) > 1 && c.args[1].text == "-v" {
		checkEvaluated(c)
		if len(c.args) > 2 {
			c.setenv(c.args[2].text, hole)
		}
		if len(c.args) > 3 && !strings.Contains(c.args[3].text, "%") {
			c.setenv(c.args[2].text, c.args[3].text)
		}
	}
}

func checkShopt(c *call) {
	for _, o := range c.operands {
		switch o.text {
		case "nullglob", "globstar", "failglob", "dotglob", "nocaseglob", "nocasematch", "lastpipe", "inherit_errexit", "pipefail":
		default:
			c.raise(MustAsk, "a shell option that changes how commands are read")
		}
	}
}

// checkUnset: taking a powerful variable away is as good as setting it.
func checkUnset(c *call) {
	checkEvaluated(c)
	for _, o := range c.operands {
		if powerful(o.text) || o.dynamic() {
			c.raise(Dangerous, "unsetting "+o.shown()+" changes what programs do")
		}
		delete(c.j.vars, o.text)
	}
}
