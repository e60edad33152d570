package shell

import (
	"path"
	"slices"
	"strings"
)

// checkFind judges the expression of find: its starting points are operands, its actions may delete, write or run.
func checkFind(c *call) {
	f := finder{call: c, set: c.row.flagset(), i: 1}
	f.roots()
	f.names()
	for ; f.i < len(c.args); f.i++ {
		f.primary(c.args[f.i])
	}
	c.lists = c.verdict == ReadOnly && !secretName(strings.TrimLeft(f.name, "*")) && !slices.ContainsFunc(f.start, func(a arg) bool { return !c.insideOnly(a) })
}

// insideOnly tells whether a path is known to be in the workspace.
func (c *call) insideOnly(a arg) bool {
	return !a.dynamic() && !c.at.lost && !slices.ContainsFunc(resolve(c.at, a.text), func(p string) bool { return !c.j.inside(p) })
}

// A finder walks the words of find.
type finder struct {
	call  *call
	set   flagset
	i     int
	start []arg
	name  string // the pattern that names are held against, empty without one
}

// roots takes the options and starting points in front of the expression.
func (f *finder) roots() {
	c := f.call
	for ; f.i < len(c.args); f.i++ {
		switch text := c.args[f.i].text; {
		case text == "-H" || text == "-L" || text == "-P" || strings.HasPrefix(text, "-O"):
		case text == "-D":
			f.i++
		case strings.HasPrefix(text, "-"), text == "(", text == "!", text == ")", text == ",":
			if len(f.start) == 0 {
				f.start = []arg{{text: "."}}
			}
			return
		default:
			if c.args[f.i].mayBeFlag() {
				c.raise(MustAsk, "a word may turn into an action at run time")
			}
			f.start = append(f.start, c.args[f.i])
			c.list(c.args[f.i])
		}
	}
	if len(f.start) == 0 {
		f.start = []arg{{text: "."}}
	}
}

// names finds the test by name, which limits what an action touches.
func (f *finder) names() {
	args := f.call.args
	for i := f.i; i+1 < len(args); i++ {
		switch args[i].text {
		case "-name", "-iname":
			if f.name == "" && !args[i+1].dynamic() {
				f.name = args[i+1].text
			}
		case "-o", "-or", "!", "-not", ",":
			f.name = "*"
		}
	}
}

// primary takes one test or action.
func (f *finder) primary(a arg) {
	c := f.call
	switch a.text {
	case "(", ")", "!", ",":
		return
	case "-exec", "-execdir", "-ok", "-okdir":
		f.exec()
		return
	case "-delete":
		c.risk(f.i)
		for _, found := range f.found() {
			c.remove(found)
		}
		return
	case "-fprintf":
		c.risk(f.i)
		if f.i+1 < len(c.args) {
			c.write(c.args[f.i+1])
		}
		f.i += 2
		return
	}
	found, ok := f.set.long[a.text]
	if !ok {
		c.raise(MustAsk, "unknown test "+a.shown()+" of find")
		c.risk(f.i)
		return
	}
	p := flagParser{c: c, row: c.row, set: f.set, i: f.i}
	at := f.i
	var v arg
	has := false
	if found.takes == required {
		v, has = p.next()
		f.i = p.i
	}
	p.use(found, v, has, at)
}

// found gives words that stand for what the tests let through.
func (f *finder) found() []arg {
	name := f.name
	if name == "" {
		name = "*"
	}
	var all []arg
	for _, s := range f.start {
		s.text = path.Join(s.text, name)
		s.glob = true
		all = append(all, s)
	}
	return all
}

// exec judges the command of an action once for each starting point.
func (f *finder) exec() {
	c := f.call
	c.risk(f.i)
	from := f.i + 1
	end := from
	for end < len(c.args) && c.args[end].text != ";" && (c.args[end].text != "+" || c.args[end-1].text != "{}") {
		end++
	}
	f.i = end
	if from >= end {
		c.raise(MustAsk, "an action without a command")
		return
	}
	for _, found := range f.found() {
		c.wrapped(fill(c.args[from:end], found))
	}
}

// fill puts a found name in the place of {}.
func fill(args []arg, found arg) []arg {
	out := slices.Clone(args)
	for i := range out {
		if out[i].text == "{}" {
			out[i] = found
		} else if strings.Contains(out[i].text, "{}") {
			out[i].text = strings.ReplaceAll(out[i].text, "{}", hole)
		}
	}
	return out
}

// checkFd judges the command behind -x and -X of fd.
func checkFd(c *call) {
	for i, a := range c.args {
		switch a.text {
		case "-x", "-X", "--exec", "--exec-batch":
			c.risk(i)
			c.wrapped(fill(append(slices.Clone(c.args[i+1:]), arg{text: "{}"}), arg{text: "./*", glob: true}))
			return
		}
		if strings.HasPrefix(a.text, "-x") || strings.HasPrefix(a.text, "-X") || strings.HasPrefix(a.text, "--exec") {
			c.risk(i)
			c.raise(Dangerous, "runs a program for each file")
		}
	}
	c.lists = c.verdict == ReadOnly
}
