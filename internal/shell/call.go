package shell

import (
	"path"
	"slices"
	"strings"
)

// A call is one simple command being judged against the row of its program.
type call struct {
	j    *judge
	at   scope
	args []arg

	row      *row
	sub      int // index of the last word that names the program or its subcommand
	flags    []used
	operands []operand

	verdict Verdict
	reason  string
	risky   []int
	opaque  bool
	exact   bool
	lists   bool
	runs    bool

	inPlace bool   // a flag makes the program write the files it reads
	pattern bool   // a flag already gave what is usually the first operand
	target  bool   // a flag already gave where to write
	deep    bool   // folders are taken with all that is in them
	moved   *scope // the folders after a cd that worked
}

// A used flag is one that stands in the command.
type used struct {
	name  string // as the row spells it, with its dashes
	value arg
	has   bool // a value was given
	index int
}

type operand struct {
	arg
	index int
}

// raise makes the verdict of the command at least v.
func (c *call) raise(v Verdict, reason string) {
	if v > c.verdict || c.reason == "" {
		c.verdict, c.reason = max(v, c.verdict), reason
	}
}

// risk notes that the word at index makes the program write a file or run a program.
func (c *call) risk(index int) { c.risky = append(c.risky, index) }

// flag finds a flag by any of its names.
func (c *call) flag(names ...string) (used, bool) {
	for _, u := range c.flags {
		if slices.Contains(names, u.name) {
			return u, true
		}
	}
	return used{}, false
}

func (c *call) has(names ...string) bool {
	_, ok := c.flag(names...)
	return ok
}

// word gives the text of the i-th operand, empty when there is none.
func (c *call) word(i int) string {
	if i < len(c.operands) {
		return c.operands[i].text
	}
	return ""
}

// simple judges one simple command whose words are known, and adds its part.
func (j *judge) simple(text string, args []arg, at scope) (good, bad scope) {
	if len(args) == 0 {
		return at, at
	}
	if len(j.out.Parts) > maxParts {
		j.floor(Dangerous, "the line is too large to be judged")
		return at, at
	}
	slot := len(j.out.Parts)
	j.out.Parts = append(j.out.Parts, Part{})
	c := &call{j: j, at: at, args: args}
	c.judge()
	if c.runs && j.net(0) {
		c.raise(Dangerous, "downloads and runs")
	}
	if c.verdict == Network && slices.ContainsFunc(args, func(a arg) bool { return a.printed }) {
		c.raise(Dangerous, "sends away what another command prints")
	}
	j.out.Parts[slot] = c.part(text)
	if c.moved != nil {
		return *c.moved, at
	}
	return at, at
}

func (c *call) part(text string) Part {
	if text == "" {
		text = joined(c.args)
	}
	p := Part{
		Command: text, Verdict: c.verdict, Reason: c.reason, args: c.args, sub: c.sub,
		risky: c.risky, opaque: c.opaque, exact: c.exact, lists: c.lists, runs: c.runs, inner: c.j.inner > 0,
	}
	if p.Reason == "" {
		p.Reason = [...]string{"nothing changes", "changes files of the workspace", "contacts another host", "not understood", "dangerous"}[p.Verdict]
	}
	if !slices.ContainsFunc(c.args, func(a arg) bool { return a.dynamic() }) {
		for _, a := range c.args {
			p.Words = append(p.Words, a.text)
		}
	}
	return p
}

// judge finds the program and applies its row.
func (c *call) judge() {
	name, ok := c.program()
	if !ok {
		return
	}
	if _, declared := c.j.funcs[name]; declared {
		c.leads(c.j.callFunction(name, c.args[1:], c.at))
		c.raise(ReadOnly, "calls a function of this line")
		return
	}
	r := lookup(name)
	if r == nil {
		c.unknown(name)
		return
	}
	for c.step(r) {
		r = c.row
	}
}

// program gives the name under which the tables know the first word.
func (c *call) program() (string, bool) {
	a := c.args[0]
	switch {
	case a.net:
		c.raise(Dangerous, "the program comes from another host")
	case a.dynamic():
		c.raise(MustAsk, "the program is only known at run time")
	case a.glob && a.text != "[":
		c.raise(MustAsk, "the program is a pattern")
	case !strings.Contains(a.text, "/"):
		return a.text, true
	default:
		return c.programFile(a.text)
	}
	c.opaque, c.exact = true, true
	c.handsOut()
	return "", false
}

// leads notes where the commands after this one may run.
func (c *call) leads(to scope) { c.moved = &to }

// handsOut is for a program that is not known: one that is given the workspace itself or a path outside it is not
// merely unknown.
func (c *call) handsOut() {
	for _, a := range c.args[1:] {
		if strings.HasPrefix(a.text, "-") || !strings.ContainsAny(a.text, "/.~") || strings.HasPrefix(a.text, hole) {
			continue
		}
		for _, p := range resolve(c.at, a.text) {
			if !c.j.inside(p) || slices.Contains(c.j.place.Roots, p) {
				c.raise(Dangerous, "an unknown program is given "+a.shown())
			}
		}
	}
}

// programFile tells a program of the system from a file of the workspace.
func (c *call) programFile(file string) (string, bool) {
	for _, p := range resolve(c.at, file) {
		if !slices.Contains(systemBins, path.Dir(p)) {
			c.runFile(c.args[0])
			return "", false
		}
	}
	return path.Base(file), true
}

// unknown is the answer for a program that no table has.
func (c *call) unknown(name string) {
	c.opaque = true
	c.raise(MustAsk, "unknown program "+name)
	for _, a := range c.args[1:] {
		if a.net {
			c.raise(Dangerous, "feeds an unknown program from another host")
		}
	}
}

// step applies one row; it answers true when the words lead on to the row of a subcommand.
func (c *call) step(r *row) bool {
	c.row = r
	if c.justHelp(r) {
		c.raise(ReadOnly, "prints help")
		return false
	}
	c.raise(r.does, r.why)
	c.operands, c.deep = nil, r.deep
	if r.prepare != nil {
		c.args = r.prepare(c.args)
	}
	if r.args != itself {
		c.parse(r)
	} else if r.does >= Writes {
		for _, a := range c.args[c.sub+1:] {
			c.notSecret(a)
		}
	}
	if r.args == subcommand {
		return c.descend(r)
	}
	c.roles(r.args)
	if r.check != nil {
		r.check(c)
	}
	if r.does == Writes && c.verdict >= Writes {
		c.worksHere()
	}
	return false
}

// worksHere is for programs that write in the folder they run in, whatever their words are.
func (c *call) worksHere() {
	for _, d := range c.at.dirs {
		if !c.j.inside(d) && !c.j.temporary(d) {
			c.raise(Dangerous, "works outside the workspace")
		}
	}
	if c.at.lost {
		c.raise(MustAsk, "the folder is only known at run time")
	}
}

// justHelp tells whether the only further word asks for help or the version.
func (c *call) justHelp(r *row) bool {
	if len(c.args) != c.sub+2 || r.does == Dangerous || r.args == command {
		return false
	}
	switch c.args[c.sub+1].text {
	case "--help", "--version":
		return true
	}
	return false
}

// descend goes to the row of the subcommand. The parser stopped at the first operand, so that it is the last.
func (c *call) descend(r *row) bool {
	if len(c.operands) == 0 {
		if r.bare == nil {
			return false
		}
		c.raise(*r.bare, r.why)
		return false
	}
	first := c.operands[0]
	if first.dynamic() || first.glob {
		c.raise(MustAsk, "the subcommand is only known at run time")
		c.exact = true
		return false
	}
	c.sub = first.index
	next := lookup(r.key + " " + first.text)
	if next == nil {
		c.opaque, c.exact = true, true
		c.raise(MustAsk, "unknown subcommand "+first.text+" of "+r.key)
		return false
	}
	c.row = next
	return true
}

// parse splits the words after the program into flags and operands as the row says.
func (c *call) parse(r *row) {
	p := flagParser{c: c, row: r, set: r.flagset(), i: c.sub + 1}
	p.all()
}

// A flagParser walks the words of a call.
type flagParser struct {
	c   *call
	row *row
	set flagset
	i   int
}

func (p *flagParser) all() {
	stop := p.row.args == subcommand || p.row.args == command
	for ; p.i < len(p.c.args); p.i++ {
		a := p.c.args[p.i]
		switch {
		case a.text == "--" && !p.row.oneDash:
			p.rest(p.i + 1)
			return
		case a.mayBeFlag() || a.split && !a.known:
			p.hidden()
			p.operand()
		case len(a.text) < 2 || a.text[0] != '-':
			p.operand()
			if stop {
				p.rest(p.i + 1)
				return
			}
		case strings.HasPrefix(a.text, "--"), p.row.oneDash:
			p.long(a)
		default:
			p.short(a)
		}
	}
}

// hidden is for a word that may turn into flags at run time: harmless only where no flag does harm.
func (p *flagParser) hidden() {
	if p.set.harmful || p.row.args == subcommand {
		p.c.raise(MustAsk, "a word may turn into a flag at run time")
	}
}

func (p *flagParser) operand() {
	p.c.operands = append(p.c.operands, operand{p.c.args[p.i], p.i})
}

func (p *flagParser) rest(from int) {
	for p.i = from; p.i < len(p.c.args); p.i++ {
		p.operand()
	}
}

// long takes --name, --name=value and, where the program allows it, a cut name.
func (p *flagParser) long(a arg) {
	name, value, glued := strings.Cut(a.text, "=")
	if p.row.oneDash {
		name = "-" + strings.TrimLeft(name, "-")
	}
	found := p.set.find(name, p.row.oneDash)
	if len(found) == 0 {
		p.unknown(name)
		return
	}
	at := p.i
	v := arg{text: value, known: a.known, net: a.net}
	if !glued && found[0].takes == required {
		v, glued = p.next()
	}
	p.c.notSecret(v)
	for _, f := range found {
		p.use(f, v, glued, at)
	}
}

// short takes a cluster like -xvf file; a flag with a value takes the rest of the cluster or the next word.
func (p *flagParser) short(a arg) {
	at := p.i
	for i := 1; i < len(a.text); i++ {
		if p.set.numbers && a.text[i] >= '0' && a.text[i] <= '9' {
			continue
		}
		f, ok := p.set.short[a.text[i]]
		if !ok {
			p.unknown("-" + a.text[i:i+1])
			return
		}
		if f.takes == none {
			p.use(f, arg{}, false, at)
			continue
		}
		v, has := arg{text: a.text[i+1:], known: a.known, net: a.net}, i+1 < len(a.text)
		if !has && f.takes == required {
			v, has = p.next()
		}
		p.c.notSecret(v)
		p.use(f, v, has, at)
		return
	}
}

func (p *flagParser) next() (arg, bool) {
	if p.i+1 >= len(p.c.args) {
		return arg{}, false
	}
	p.i++
	return p.c.args[p.i], true
}

// unknown asks: a flag that is not in the row may do anything. A parent's flags may follow its subcommand.
func (p *flagParser) unknown(name string) {
	for up := p.row.parent; up != nil; up = up.parent {
		if found := up.flagset().find(name, up.oneDash); len(found) > 0 {
			p.inherited(found[0])
			return
		}
		if len(name) == 2 {
			if f, ok := up.flagset().short[name[1]]; ok {
				p.inherited(f)
				return
			}
		}
	}
	p.c.raise(MustAsk, "unknown flag "+name+" of "+p.row.key)
	p.c.risk(p.i)
}

// inherited takes a flag of the program that stands behind its subcommand.
func (p *flagParser) inherited(f flag) {
	at := p.i
	_, glued, has := strings.Cut(p.c.args[at].text, "=")
	v := arg{text: glued, known: p.c.args[at].known}
	if !has && f.takes == required {
		v, has = p.next()
	}
	p.use(f, v, has, at)
}

// use notes a flag and applies what the row says about it.
func (p *flagParser) use(f flag, value arg, has bool, index int) {
	p.c.flags = append(p.c.flags, used{name: f.name, value: value, has: has, index: index})
	if e := effectTable.get(effects)[f.effect]; e != nil {
		e(p.c, f.name, value, index)
	}
}
