package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// hole stands in the text of a word for whatever is only known at run time. No line contains it by itself: NUL is
// refused before.
const hole = "\x00"

// An arg is one word of a command after quote removal.
type arg struct {
	text    string // with holes
	glob    bool   // has an unquoted pattern
	split   bool   // a hole outside quotes: it may become several words or none
	known   bool   // all holes come from values that the line itself gives, judged apart, or from a list of workspace files
	net     bool   // a hole is filled from another host
	quoted  bool
	printed bool // a hole is filled by the output of a command
	braced  bool // made by a brace expansion
}

func (a arg) dynamic() bool { return strings.Contains(a.text, hole) }

// mayBeFlag tells whether the word could turn out to be an option at run time.
func (a arg) mayBeFlag() bool { return strings.HasPrefix(a.text, hole) && !a.known }

func (a arg) shown() string {
	text := strings.ReplaceAll(a.text, hole, "…")
	if a.dynamic() || a.glob {
		return text
	}
	if q, err := syntax.Quote(text, syntax.LangBash); err == nil {
		return q
	}
	return text
}

// A variable is what the line says about a shell variable.
type variable struct {
	values  []string
	unknown bool // also takes values that the line does not give
}

func (v variable) numeric() bool {
	for _, s := range v.values {
		if strings.Trim(s, "0123456789") != "" {
			return false
		}
	}
	return !v.unknown && len(v.values) > 0
}

// words expands the words of a command as far as the text goes, and judges the substitutions in them.
func (j *judge) words(list []*syntax.Word, at scope) []arg {
	var out []arg
	for _, w := range list {
		out = append(out, j.word(w, at)...)
	}
	return out
}

// word expands one word; braces may make several of it.
func (j *judge) word(w *syntax.Word, at scope) []arg {
	if a, plain := plainWord(w); plain {
		return []arg{a}
	}
	if !hasBrace(w) || !syntax.SplitBraces(w) {
		return j.fields(w, at)
	}
	var out []arg
	for each, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(out) > 1000 {
			j.floor(MustAsk, "a brace expansion is too large")
			return append(out, arg{text: hole, split: true})
		}
		for _, a := range j.fields(each, at) {
			a.braced = true
			out = append(out, a)
		}
	}
	return out
}

// plainWord is the short cut for the most common word: letters without any meaning to the shell.
func plainWord(w *syntax.Word) (arg, bool) {
	if len(w.Parts) != 1 {
		return arg{}, false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~") {
		return arg{}, false
	}
	return arg{text: lit.Value}, true
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			return true
		}
	}
	return false
}

// single expands a word where the shell makes exactly one of it (a redirect target, an assigned value).
func (j *judge) single(w *syntax.Word, at scope) arg {
	if w == nil {
		return arg{}
	}
	all := j.word(w, at)
	if len(all) == 1 {
		return all[0]
	}
	return arg{text: hole, split: true}
}

// A field gathers the words that one word becomes.
type field struct {
	j    *judge
	at   scope
	cur  arg
	text strings.Builder
	out  []arg
}

func (j *judge) fields(w *syntax.Word, at scope) []arg {
	f := &field{j: j, at: at, cur: arg{known: true}}
	for i, p := range w.Parts {
		f.part(p, i == 0)
	}
	f.end()
	return f.out
}

func (f *field) end() {
	f.cur.text = f.text.String()
	f.out = append(f.out, f.cur)
	f.text.Reset()
	f.cur = arg{known: true}
}

func (f *field) part(p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		f.literal(p.Value, first)
	case *syntax.SglQuoted:
		f.cur.quoted = true
		f.text.WriteString(singleQuoted(p))
	case *syntax.DblQuoted:
		f.cur.quoted = true
		f.double(p)
	case *syntax.ParamExp:
		f.param(p, false)
	case *syntax.CmdSubst:
		f.subst(p, false)
	case *syntax.ArithmExp:
		f.j.unruly("arithmetic")
		f.j.arithmetic(p.X, f.at)
		f.text.WriteString("0")
	case *syntax.ProcSubst:
		f.j.unruly("a process substitution")
		start := len(f.j.out.Parts)
		in := f.at
		in.feed = feed{kind: feedPipe}
		if !f.j.quiet() {
			f.j.stmts(p.Stmts, in)
		}
		f.text.WriteString("/dev/fd/" + hole)
		f.cur.known = f.cur.known && f.j.listing(start)
		f.cur.net = f.cur.net || f.j.net(start)
	default: // extended globs mean different things to the parser and to the shell that runs the line
		f.j.floor(MustAsk, "a pattern that depends on shell options")
		f.text.WriteString(hole)
		f.cur.glob, f.cur.known = true, false
	}
}

// literal takes unquoted text: a backslash quotes the next character, a tilde in front is the home folder.
func (f *field) literal(s string, first bool) {
	if name, rest, ok := strings.Cut(s, "="); first && ok && isName(name) && strings.HasPrefix(rest, "~") {
		f.text.WriteString(name + "=") // bash expands of=~/x as it does an assignment
		s = rest
	}
	if first && strings.HasPrefix(s, "~") {
		s = f.tilde(s)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			f.cur.quoted = true
			if i < len(s) && s[i] != '\n' {
				f.text.WriteByte(s[i])
			}
		case '*', '?', '[':
			f.cur.glob = true
			f.text.WriteByte(c)
		default:
			f.text.WriteByte(c)
		}
	}
}

// tilde writes what the prefix of s stands for and returns the rest.
func (f *field) tilde(s string) string {
	name, rest := s, ""
	if i := strings.IndexByte(s, '/'); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	switch name {
	case "~":
		f.text.WriteString(f.j.place.Home)
	case "~+":
		f.text.WriteString(f.at.pwd())
	case "~-":
		f.hole(false)
	default:
		f.text.WriteString("/home/" + name[1:])
	}
	return rest
}

func (f *field) double(q *syntax.DblQuoted) {
	if q.Dollar { // a translation may replace the text
		f.j.floor(MustAsk, "a translated string")
	}
	for _, p := range q.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			f.text.WriteString(unescapeDouble(p.Value))
		case *syntax.ParamExp:
			f.param(p, true)
		case *syntax.CmdSubst:
			f.subst(p, true)
		default:
			f.part(p, false)
		}
	}
}

func unescapeDouble(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// singleQuoted gives the text of '…' and of $'…'; an escape for NUL cuts it, as in bash, which is as good as unknown.
func singleQuoted(q *syntax.SglQuoted) string {
	if !q.Dollar {
		return q.Value
	}
	s, _, err := expand.Format(nil, q.Value, nil)
	if err != nil {
		return hole
	}
	return s
}

func (f *field) hole(quoted bool) {
	f.text.WriteString(hole)
	f.cur.split = f.cur.split || !quoted
	f.cur.known = false
}

// subst judges a command substitution. Its output is unknown, but names that a lister of the workspace prints
// are as good as a pattern.
func (f *field) subst(s *syntax.CmdSubst, quoted bool) {
	f.j.unruly("a command substitution")
	known := f.cur.known
	start := len(f.j.out.Parts)
	f.j.subshell(s.Stmts, f.at)
	f.hole(quoted)
	f.cur.known = known && f.j.listing(start)
	f.cur.net = f.cur.net || f.j.net(start)
	f.cur.printed = true
}

// param takes a parameter expansion. Only a plain one is data; those that assign, look behind another name or
// evaluate their value are more than they seem.
func (f *field) param(p *syntax.ParamExp, quoted bool) {
	f.j.expansion(p, f.at)
	if p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil || p.Excl {
		f.j.unruly("an expansion that is more than a variable")
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.Length || name != "" && strings.Contains("?$#!", name) {
		f.text.WriteString("0")
		return
	}
	if plain := p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl; !plain {
		f.hole(quoted)
		return
	}
	if holdsSecret(name) {
		f.j.floor(Dangerous, "shows the secret in $"+name)
	}
	v, assigned := f.j.vars[name]
	switch {
	case !assigned && name == "HOME":
		f.text.WriteString(f.j.place.Home)
	case !assigned && name == "PWD":
		f.text.WriteString(f.at.pwd())
	case assigned && f.j.replay > 0 && len(v.values) > 0 && allElements(p):
		f.value(strings.Join(v.values, " "), false)
	case assigned && f.j.replay > 0 && len(v.values) > 0:
		f.value(v.values[min(f.j.replay, len(v.values))-1], quoted && name != "@")
	default:
		known := f.cur.known && assigned && !v.unknown
		f.hole(quoted)
		f.cur.known = known
		if assigned {
			f.j.replays = max(f.j.replays, len(v.values))
		}
	}
}

// allElements tells whether an expansion is of a whole array.
func allElements(p *syntax.ParamExp) bool {
	w, ok := p.Index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// value puts a known value in; outside quotes the shell splits it.
func (f *field) value(s string, quoted bool) {
	if quoted || !strings.ContainsAny(s, " \t\n") {
		f.text.WriteString(s)
		f.cur.glob = f.cur.glob || !quoted && strings.ContainsAny(s, "*?[")
		return
	}
	for i, piece := range strings.Fields(s) {
		if i > 0 {
			f.end()
		}
		f.text.WriteString(piece)
	}
}

// expansion judges the working parts of ${…}: what it assigns, what it evaluates, and the words inside it.
func (j *judge) expansion(p *syntax.ParamExp, at scope) {
	switch {
	case p.Excl && p.Names == 0:
		j.floor(Dangerous, "an indirect expansion evaluates its value")
	case p.Excl, p.NestedParam != nil, p.Flags != nil:
		j.floor(MustAsk, "an expansion that is not plain data")
	}
	if p.Index != nil {
		j.subscript(p.Index, at)
	}
	if p.Slice != nil {
		j.arithmetic(p.Slice.Offset, at)
		j.arithmetic(p.Slice.Length, at)
	}
	if p.Repl != nil {
		j.single(p.Repl.Orig, at)
		j.single(p.Repl.With, at)
	}
	if p.Exp != nil {
		j.operator(p, at)
	}
}

func (j *judge) operator(p *syntax.ParamExp, at scope) {
	value := j.single(p.Exp.Word, at)
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		switch value.text {
		case "Q", "U", "u", "L":
		case "P":
			j.floor(Dangerous, "a prompt expansion runs what the value holds")
		default:
			j.floor(MustAsk, "an expansion that is not plain data")
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		j.floor(MustAsk, "an expansion that assigns")
		if p.Param != nil {
			j.assign(p.Param.Value, value)
		}
	}
	if !j.quiet() && p.Exp.Op <= syntax.AssignUnsetOrNull && strings.ContainsAny(value.text, "$`") {
		j.floor(MustAsk, "an expansion whose default looks like code")
	}
}

// subscript judges the index of an array: a plain number, @ or * is data, all else is evaluated by the shell.
func (j *judge) subscript(x syntax.ArithmExpr, at scope) {
	if w, ok := x.(*syntax.Word); ok {
		if s := w.Lit(); s == "@" || s == "*" {
			return
		}
	}
	j.arithmetic(x, at)
}

// arithmetic judges an expression. The shell evaluates the value of every name in it again, so a value that is
// not a number may run a command.
func (j *judge) arithmetic(x syntax.ArithmExpr, at scope) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		j.arithmeticAssign(x)
		j.arithmetic(x.X, at)
		j.arithmetic(x.Y, at)
	case *syntax.UnaryArithm:
		j.arithmetic(x.X, at)
	case *syntax.ParenArithm:
		j.arithmetic(x.X, at)
	case *syntax.Word:
		j.operand(x, at)
	default:
		j.floor(MustAsk, "an arithmetic form that is not understood")
	}
}

// arithmeticAssign notes i=0, so that a loop over numbers stays a loop over numbers.
func (j *judge) arithmeticAssign(x *syntax.BinaryArithm) {
	name, ok := x.X.(*syntax.Word)
	value, ok2 := x.Y.(*syntax.Word)
	if x.Op == syntax.Assgn && ok && ok2 && name.Lit() != "" && value.Lit() != "" {
		j.assign(name.Lit(), arg{text: value.Lit()})
	}
}

func (j *judge) operand(w *syntax.Word, at scope) {
	for _, a := range j.word(w, at) {
		name := strings.TrimPrefix(a.text, "$")
		v, assigned := j.vars[name]
		switch {
		case strings.ContainsAny(a.text, "$`[") && !a.dynamic():
			j.floor(Dangerous, "a subscript that the shell evaluates again")
		case isNumber(a.text), isName(a.text) && !assigned, assigned && v.numeric():
		case a.dynamic() && j.numericHoles(w):
		default:
			j.floor(MustAsk, "arithmetic on a value that is not known to be a number")
		}
	}
}

// numericHoles tells whether every expansion in w is of a variable that holds a number or is not set by the line.
func (j *judge) numericHoles(w *syntax.Word) bool {
	for _, p := range w.Parts {
		e, ok := p.(*syntax.ParamExp)
		if !ok || e.Param == nil {
			return false
		}
		if v, assigned := j.vars[e.Param.Value]; assigned && !v.numeric() {
			return false
		}
	}
	return true
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "-")
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF#") == "" && s[0] >= '0' && s[0] <= '9'
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
