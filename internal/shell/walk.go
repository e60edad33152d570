package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A judge walks one line. It follows the current folder, the variables and the functions of the line as far as
// the text gives them.
type judge struct {
	place Place
	out   Assessment
	src   string // the script being walked, to quote commands from
	depth int    // scripts within scripts
	nest  int    // blocks within blocks
	inner int    // above zero while looking through a wrapper or into a script

	vars    map[string]variable
	funcs   map[string]*syntax.Stmt
	calling []string // functions being judged, innermost last

	replay  int // which known value variables take in a second look at a command, 0 in the first
	replays int // how many known values the words of this command refer to
}

// quiet tells that a command is looked at again with known values: its substitutions were judged before.
func (j *judge) quiet() bool { return j.replay > 0 }

// A scope is what a command inherits from those before it.
type scope struct {
	dirs []string // the folders it may run in: a cd may fail
	lost bool     // it may also run in a folder that the text does not give
	feed feed     // what its standard input is
}

func (s scope) pwd() string {
	if len(s.dirs) == 1 && !s.lost {
		return s.dirs[0]
	}
	return hole
}

// either is the state after one of two ways.
func (s scope) either(t scope) scope {
	s.lost = s.lost || t.lost
	for _, d := range t.dirs {
		if !slices.Contains(s.dirs, d) {
			s.dirs = append(slices.Clip(s.dirs), d)
		}
	}
	return s
}

func (s scope) sameDirs(t scope) bool { return s.lost == t.lost && slices.Equal(s.dirs, t.dirs) }

// A feed is the standard input of a command as far as the text says it.
type feed struct {
	kind  feedKind
	text  string // of a here-document or a here-string
	net   bool   // comes from another host
	names bool   // is a list of files of the workspace
}

type feedKind uint8

const (
	feedNone feedKind = iota
	feedPipe
	feedFile
	feedText
)

// unruly notes why no rule may let the line pass.
func (j *judge) unruly(why string) {
	if j.out.unruly == "" {
		j.out.unruly = why
	}
}

// net tells whether a part since start contacts another host.
func (j *judge) net(start int) bool {
	if j.quiet() {
		return false
	}
	return slices.ContainsFunc(j.out.Parts[start:], func(p Part) bool { return p.Verdict == Network })
}

// listing tells whether the parts since start only print names of files of the workspace.
func (j *judge) listing(start int) bool {
	parts := j.out.Parts[min(start, len(j.out.Parts)):]
	if len(parts) == 0 || !parts[0].lists {
		return false
	}
	return !slices.ContainsFunc(parts, func(p Part) bool { return p.Verdict > ReadOnly })
}

// script parses and walks one text and gives the state after it. Several scripts nest when a shell is handed one.
func (j *judge) script(text string, at scope) scope {
	if j.depth++; j.depth > maxDepth {
		j.depth--
		j.floor(Dangerous, "scripts are nested too deep")
		return at
	}
	outer := j.src
	defer func() { j.src, j.depth = outer, j.depth-1 }()
	j.src = text
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		j.floor(MustAsk, "the line does not parse: "+cutPosition(err.Error()))
		j.unruly("does not parse")
		return at
	}
	if j.depth == 1 && len(file.Stmts) == 0 {
		j.unruly("nothing to run")
	}
	return j.stmts(file.Stmts, at)
}

// cutPosition drops the line and column that the parser puts in front.
func cutPosition(msg string) string {
	_, rest, ok := strings.Cut(msg, ": ")
	if !ok {
		return msg
	}
	return rest
}

func (j *judge) stmts(list []*syntax.Stmt, at scope) scope {
	for _, s := range list {
		good, bad := j.stmt(s, at)
		next := good.either(bad)
		next.feed = at.feed
		at = next
	}
	return at
}

// subshell walks statements whose changes of folder and variables end with them.
func (j *judge) subshell(list []*syntax.Stmt, at scope) {
	if j.quiet() {
		return
	}
	at.feed = feed{}
	j.stmts(list, at)
}

// stmt walks one statement and gives the state after success and after failure.
func (j *judge) stmt(s *syntax.Stmt, at scope) (good, bad scope) {
	if j.nest++; j.nest > maxNest || len(j.out.Parts) > maxParts {
		j.nest--
		j.floor(Dangerous, "the line is too deep or too large to be judged")
		return at, at
	}
	defer func() { j.nest-- }()
	if s.Background || s.Coprocess || s.Disown {
		j.unruly("a background job")
	}
	in := j.redirects(s.Redirs, at)
	good, bad = j.command(s, in)
	good.feed, bad.feed = at.feed, at.feed
	switch {
	case s.Background:
		return at, at
	case s.Negated:
		return bad, good
	}
	return good, bad
}

func (j *judge) command(s *syntax.Stmt, at scope) (good, bad scope) {
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return j.call(c, at)
	case *syntax.BinaryCmd:
		return j.binary(c, at)
	case *syntax.Block:
		out := j.stmts(c.Stmts, at)
		return out, out
	case *syntax.Subshell:
		j.stmts(c.Stmts, at)
	case *syntax.IfClause:
		out := j.ifClause(c, at)
		return out, out
	case *syntax.WhileClause:
		out := j.loop(append(slices.Clip(c.Cond), c.Do...), at)
		return out, out
	case *syntax.ForClause:
		j.loopHead(c.Loop, c.Select, at)
		out := j.loop(c.Do, at)
		return out, out
	case *syntax.CaseClause:
		out := j.caseClause(c, at)
		return out, out
	case *syntax.FuncDecl:
		j.function(c, at)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			j.inner++
			j.unruly("a wrapper")
			good, bad = j.stmt(c.Stmt, at)
			j.inner--
			return good, bad
		}
	case *syntax.CoprocClause:
		j.coproc(c, at)
	case *syntax.TestClause:
		j.test(c.X, at)
	case *syntax.ArithmCmd:
		j.arithmetic(c.X, at)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			j.arithmetic(x, at)
		}
	case *syntax.DeclClause:
		j.declare(c, at)
	default:
		j.floor(MustAsk, "a form that is not understood")
		j.unruly("a form that is not understood")
	}
	return at, at
}

// coproc walks a background job. The parser takes the first word for a name where bash takes it for the program,
// so both readings are judged.
func (j *judge) coproc(c *syntax.CoprocClause, at scope) {
	j.unruly("a background job")
	j.stmt(c.Stmt, at)
	if c.Name == nil {
		return
	}
	from, to := int(c.Name.Pos().Offset()), int(c.End().Offset())
	j.inner++
	j.script(j.src[min(from, len(j.src)):min(to, len(j.src))], at)
	j.inner--
}

// binary walks the two sides of && || and |. Each side of a pipe runs in a shell of its own.
func (j *judge) binary(c *syntax.BinaryCmd, at scope) (good, bad scope) {
	switch c.Op {
	case syntax.AndStmt:
		good, bad = j.stmt(c.X, at)
		g, b := j.stmt(c.Y, good)
		return g, bad.either(b)
	case syntax.OrStmt:
		good, bad = j.stmt(c.X, at)
		g, b := j.stmt(c.Y, bad)
		return good.either(g), b
	}
	start := len(j.out.Parts)
	j.stmt(c.X, at)
	right := at
	right.feed = feed{kind: feedPipe, net: j.net(start), names: j.listing(start)}
	j.stmt(c.Y, right)
	return at, at
}

func (j *judge) ifClause(c *syntax.IfClause, at scope) scope {
	in := j.stmts(c.Cond, at)
	out := j.stmts(c.Then, in)
	if c.Else == nil {
		return out.either(in)
	}
	return out.either(j.ifClause(c.Else, in))
}

// loop walks a body. When the body changes the folder, the second round starts elsewhere, and so on: then the
// folder is unknown and the body is judged once more.
func (j *judge) loop(body []*syntax.Stmt, at scope) scope {
	out := j.stmts(body, at).either(at)
	if out.sameDirs(at) {
		return out
	}
	out.lost = true
	return j.stmts(body, out).either(out)
}

func (j *judge) loopHead(l syntax.Loop, chosen bool, at scope) {
	switch l := l.(type) {
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			j.arithmetic(x, at)
		}
	case *syntax.WordIter:
		for _, a := range j.words(l.Items, at) {
			j.assign(l.Name.Value, a)
		}
		if chosen || !l.InPos.IsValid() {
			j.assign(l.Name.Value, arg{text: hole})
		}
	}
}

func (j *judge) caseClause(c *syntax.CaseClause, at scope) scope {
	j.single(c.Word, at)
	out := at
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			if _, ext := findExtGlob(p); !ext {
				j.single(p, at)
			}
		}
		out = out.either(j.stmts(item.Stmts, at))
	}
	return out
}

// findExtGlob finds a pattern like @(a|b); inside case and [[ the shell and the parser agree on it.
func findExtGlob(w *syntax.Word) (*syntax.ExtGlob, bool) {
	for _, p := range w.Parts {
		if g, ok := p.(*syntax.ExtGlob); ok {
			return g, true
		}
	}
	return nil, false
}

// function notes a declaration and judges its body as if it ran at once: what is declared can be called by means
// that the text does not show.
func (j *judge) function(c *syntax.FuncDecl, at scope) {
	j.unruly("a function")
	if j.funcs == nil {
		j.funcs = map[string]*syntax.Stmt{}
	}
	if c.Name == nil || c.Body == nil {
		j.floor(MustAsk, "a form that is not understood")
		return
	}
	j.funcs[c.Name.Value] = c.Body
	j.callFunction(c.Name.Value, nil, at)
}

func (j *judge) callFunction(name string, params []arg, at scope) scope {
	if slices.Contains(j.calling, name) {
		j.floor(Dangerous, "a function that calls itself can fill the machine")
		return at
	}
	j.calling = append(j.calling, name)
	j.params(params)
	good, bad := j.stmt(j.funcs[name], at)
	j.calling = j.calling[:len(j.calling)-1]
	return good.either(bad)
}

// params sets $1, $2, … and $@ for a function or a script.
func (j *judge) params(list []arg) {
	var all []string
	for i, a := range list {
		if i < 9 {
			j.assign(string(rune('1'+i)), a)
		}
		all = append(all, a.text)
	}
	if len(all) > 0 {
		j.assign("@", arg{text: strings.Join(all, " ")})
		j.assign("*", arg{text: strings.Join(all, " ")})
	}
}

// test judges [[ … ]]. Its arithmetic comparisons and -v evaluate subscripts in their operands.
func (j *judge) test(x syntax.TestExpr, at scope) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		j.test(x.X, at)
		j.test(x.Y, at)
	case *syntax.UnaryTest:
		j.test(x.X, at)
	case *syntax.ParenTest:
		j.test(x.X, at)
	case *syntax.Word:
		if _, ext := findExtGlob(x); !ext {
			j.evaluated(j.single(x, at))
		}
	}
}

// evaluated refuses a word that a builtin would evaluate as a subscript with a command in it.
func (j *judge) evaluated(a arg) {
	if runsInSubscript(a.text) {
		j.floor(Dangerous, "a subscript that the shell evaluates again")
	}
}

// runsInSubscript finds a command in what may be a subscript, as in a[$(x)].
func runsInSubscript(text string) bool {
	_, behind, ok := strings.Cut(text, "[")
	return ok && (strings.Contains(behind, "$(") || strings.Contains(behind, "`") || strings.Contains(behind, "${"))
}

// declare judges export, declare, readonly, local and typeset.
func (j *judge) declare(c *syntax.DeclClause, at scope) {
	j.unruly("a declaration")
	for _, a := range c.Args {
		if a.Name == nil { // a flag, or a name that is only known at run time
			j.declareFlag(c.Variant.Value, j.single(a.Value, at))
			continue
		}
		j.assignment(a, at)
	}
}

func (j *judge) declareFlag(variant string, a arg) {
	j.evaluated(a)
	flag := a.text
	name, value, assigns := strings.Cut(flag, "=")
	switch {
	case assigns && isName(strings.TrimSuffix(name, "+")):
		j.assign(strings.TrimSuffix(name, "+"), arg{text: value})
	case a.dynamic():
		j.floor(MustAsk, "a name that is only known at run time")
	case variant == "export" && strings.Contains(flag, "f"), strings.ContainsAny(flag, "niIcul") && strings.HasPrefix(flag, "-"):
		j.floor(MustAsk, "a declaration that changes how values are read")
	}
}

// assignment judges name=value in any position.
func (j *judge) assignment(a *syntax.Assign, at scope) {
	if a.Index != nil {
		j.subscript(a.Index, at)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				j.subscript(e.Index, at)
			}
			j.assign(a.Name.Value, j.single(e.Value, at))
		}
		return
	}
	if a.Naked {
		return
	}
	value := j.single(a.Value, at)
	if a.Append {
		value = arg{text: hole}
	}
	j.assign(a.Name.Value, value)
}

// assign notes a value of a variable, and refuses names that programs take as code, as a path or as options.
func (j *judge) assign(name string, a arg) {
	if powerful(name) {
		j.floor(Dangerous, "setting "+name+" changes what programs do")
	}
	if i := strings.IndexByte(a.text, '['); i > 0 && isName(a.text[:i]) && runsInSubscript(a.text) {
		j.floor(Dangerous, "a value that the shell runs wherever it takes it for a number")
	}
	v := j.vars[name]
	if a.dynamic() {
		v.unknown = v.unknown || !a.known
	} else if len(v.values) < 16 {
		v.values = append(slices.Clip(v.values), a.text)
	} else {
		v.unknown = true
	}
	j.vars[name] = v
}

// redirects judges the redirections of a statement and gives the scope its command runs in.
func (j *judge) redirects(list []*syntax.Redirect, at scope) scope {
	for _, r := range list {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			j.unruly("a here-document")
			at.feed = j.heredoc(r, at)
		case syntax.WordHdoc:
			j.unruly("a here-string")
			a := j.single(r.Word, at)
			at.feed = feed{kind: feedText, text: a.text, net: a.net}
		default:
			at = j.redirect(r, at)
		}
	}
	return at
}

func (j *judge) heredoc(r *syntax.Redirect, at scope) feed {
	if r.Hdoc == nil {
		return feed{kind: feedText}
	}
	start := len(j.out.Parts)
	f := &field{j: j, at: at}
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			f.text.WriteString(unescapeDouble(lit.Value))
			continue
		}
		f.part(p, false)
	}
	return feed{kind: feedText, text: f.text.String(), net: j.net(start)}
}

func (j *judge) redirect(r *syntax.Redirect, at scope) scope {
	j.replays = 0
	a := j.single(r.Word, at)
	j.withValues(j.replays, func() { j.redirectTo(r.Op, j.single(r.Word, at), at) })
	return j.redirectTo(r.Op, a, at)
}

func (j *judge) redirectTo(op syntax.RedirOperator, a arg, at scope) scope {
	dup := op == syntax.DplIn || op == syntax.DplOut
	if dup && (strings.Trim(a.text, "0123456789-") == "" && a.text != "") {
		return at
	}
	if a.text != "/dev/null" || op == syntax.RdrIn || op == syntax.RdrInOut {
		j.unruly("a redirect to a file")
	}
	c := &call{j: j, at: at}
	switch op {
	case syntax.RdrIn, syntax.DplIn:
		c.read(a)
		at.feed = feed{kind: feedFile, net: a.net, names: a.known && a.dynamic()}
	case syntax.RdrInOut:
		c.read(a)
		c.write(a)
	default:
		c.write(a)
	}
	j.floor(c.verdict, c.reason)
	return at
}

// call walks a simple command: its assignments, its words, and what its program does with them. Known values of
// variables are tried in a second look, so that hiding a name in a variable gains nothing.
func (j *judge) call(c *syntax.CallExpr, at scope) (good, bad scope) {
	for _, a := range c.Assigns {
		j.unruly("an assignment")
		if a.Name.Value == "IFS" && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			j.single(a.Value, at) // only this read splits by it
			continue
		}
		j.assignment(a, at)
	}
	if len(c.Args) == 0 {
		j.words(nil, at)
		return at, at
	}
	j.replays = 0
	args := j.words(c.Args, at)
	times := j.replays
	text := j.src[min(int(c.Args[0].Pos().Offset()), len(j.src)):min(int(c.End().Offset()), len(j.src))]
	good, bad = j.simple(text, args, at)
	j.withValues(times, func() {
		again := j.words(c.Args, at)
		replay := j.replay
		j.replay, j.inner = 0, j.inner+1
		g, b := j.simple("", again, at)
		good, bad = good.either(g), bad.either(b)
		j.replay, j.inner = replay, j.inner-1
	})
	return good, bad
}

// withValues runs look once for each value that the line gives to the variables in hand.
func (j *judge) withValues(times int, look func()) {
	for j.replay = 1; j.replay <= times; j.replay++ {
		look()
	}
	j.replay = 0
}
