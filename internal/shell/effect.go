package shell

import "strings"

// An effect is what a flag does beyond changing the output of its program.
type effect func(c *call, flag string, value arg, index int)

// effects are the words that may stand behind a colon in the flags of a row.
func effects() map[string]effect {
	return map[string]effect{
		"read":    func(c *call, _ string, v arg, _ int) { c.read(v) },
		"deep":    func(c *call, _ string, _ arg, _ int) { c.deep = true },
		"pattern": func(c *call, _ string, _ arg, _ int) { c.pattern = true },
		"patterns": func(c *call, _ string, v arg, _ int) {
			c.pattern = true
			c.read(v)
		},
		"write": func(c *call, _ string, v arg, i int) {
			c.risk(i)
			c.write(v)
		},
		"target": func(c *call, _ string, v arg, i int) {
			c.target = true
			c.risk(i)
			c.write(v)
		},
		"inplace": func(c *call, _ string, _ arg, i int) {
			c.inPlace = true
			c.risk(i)
			c.raise(Writes, "changes files in place")
		},
		"mod": func(c *call, f string, _ arg, i int) {
			c.risk(i)
			c.raise(Writes, f+" changes files")
		},
		"net": func(c *call, f string, _ arg, i int) {
			c.risk(i)
			c.raise(Network, f+" contacts another host")
		},
		"ask": func(c *call, f string, _ arg, i int) {
			c.risk(i)
			c.raise(MustAsk, f+" cannot be judged from the text")
		},
		"run": func(c *call, f string, _ arg, i int) {
			c.risk(i)
			c.raise(Dangerous, f+" runs a program")
		},
		"danger": func(c *call, f string, _ arg, i int) {
			c.risk(i)
			c.raise(Dangerous, f+" destroys work or reaches outside")
		},
		"script": func(c *call, f string, v arg, i int) {
			c.risk(i)
			c.raise(Dangerous, f+" runs a command")
			c.nested(v, nil)
		},
		"config": func(c *call, f string, v arg, i int) {
			c.risk(i)
			c.read(v)
			c.raise(MustAsk, f+" takes settings that may run a program")
			c.outsideIs(v, Dangerous)
		},
		"upload": func(c *call, f string, v arg, i int) {
			if before, file, ok := strings.Cut(v.text, "@"); ok && (before == "" || strings.HasSuffix(before, "=")) {
				c.risk(i)
				c.raise(Dangerous, f+" sends a file away")
				v.text = file
				c.read(v)
			}
		},
		"send": func(c *call, f string, v arg, i int) {
			c.risk(i)
			c.raise(Dangerous, f+" sends a file away")
			c.read(v)
		},
		"goldflags": func(c *call, f string, v arg, i int) {
			if strings.Contains(v.text, "ext") || strings.Contains(v.text, "-o") || v.dynamic() {
				c.risk(i)
				c.raise(Dangerous, f+" may start another linker")
			}
		},
		"gitconfig": gitConfigFlag,
		"gitdir":    gitDirFlag,
		"dir":       func(c *call, _ string, v arg, _ int) { c.chdir(v) },
	}
}

var effectTable lazy[map[string]effect]

// A role is what a program does with its operands.
type role uint8

const (
	data       role = iota // words that are no files
	itself                 // the check reads flags and operands by itself; without one they are all data
	noArgs                 // takes none: one that stands there is not understood
	list                   // files whose names or attributes are shown
	read                   // files that are read
	matching               // a pattern, then files to read
	create                 // files that are made or changed
	remove                 // files that are deleted
	copying                // files to read, then where to write
	moving                 // files that move, then where to
	convert                // one file to read, one to write
	host                   // addresses of other hosts
	code                   // a program in another language
	command                // another command
	subcommand             // the name of a row, and its words
)

// roles applies the role of a row to the operands.
func (c *call) roles(r role) {
	ops := c.operands
	switch r {
	case noArgs:
		if len(ops) > 0 {
			c.raise(MustAsk, "unexpected word "+ops[0].shown())
		}
	case list:
		c.each(ops, c.list)
	case matching:
		if !c.pattern && len(ops) > 0 {
			ops = ops[1:]
		}
		c.readOrChange(ops)
	case read:
		c.readOrChange(ops)
	case create:
		c.each(ops, c.write)
	case remove:
		c.each(ops, c.remove)
	case copying:
		c.transfer(ops, c.read)
	case moving:
		c.transfer(ops, c.moveAway)
	case convert:
		c.convert(ops)
	case host:
		c.hosts(ops)
	case code:
		c.code(ops)
	}
}

func (c *call) each(ops []operand, f func(arg)) {
	for _, o := range ops {
		f(o.arg)
	}
}

func (c *call) readOrChange(ops []operand) {
	if c.inPlace {
		c.each(ops, c.write)
		return
	}
	c.each(ops, c.read)
}

// transfer is cp and its kin: the last operand is written unless a flag named the target.
func (c *call) transfer(ops []operand, source func(arg)) {
	if c.target {
		c.each(ops, source)
		return
	}
	if len(ops) < 2 {
		c.raise(MustAsk, "where it writes is not said")
		c.each(ops, source)
		return
	}
	last := len(ops) - 1
	c.each(ops[:last], source)
	if c.row.args == moving && strings.HasPrefix(ops[last].text, "/dev/") {
		c.raise(Dangerous, "throws files away")
	}
	c.write(ops[last].arg)
}

func (c *call) convert(ops []operand) {
	for i, o := range ops {
		switch i {
		case 0:
			c.read(o.arg)
		case 1:
			c.risk(o.index)
			c.write(o.arg)
		default:
			c.raise(MustAsk, "unexpected word "+o.shown())
		}
	}
}

func (c *call) hosts(ops []operand) {
	c.raise(Network, "contacts another host")
	for _, o := range ops {
		if h := hostOf(o.text); h != "" {
			c.j.out.Hosts = append(c.j.out.Hosts, h)
		}
	}
}

// hostOf takes the host out of a URL, an scp-like address, or a bare name.
func hostOf(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s, _, _ = strings.Cut(rest, "/")
		s, _, _ = strings.Cut(s, "?")
	}
	if _, rest, ok := strings.Cut(s, "@"); ok {
		s = rest
	}
	s, _, _ = strings.Cut(s, ":")
	if strings.ContainsAny(s, hole+"/ *@+") || !strings.Contains(s, ".") {
		return ""
	}
	return s
}

// code is a program in another language: what it does cannot be read from the text.
func (c *call) code(ops []operand) {
	c.opaque, c.runs = true, true
	c.raise(MustAsk, "code in another language")
	for _, o := range ops {
		if o.net {
			c.raise(Dangerous, "downloads and runs")
		}
	}
}
