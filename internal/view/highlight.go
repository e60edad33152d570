package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A language is as much of a language as colours need.
type language struct {
	names    string // how it is called behind a fence
	comment  string // begins a comment to the end of the line
	open     string // begins a comment of several lines
	close    string
	quotes   string
	keywords string
}

// languages is the table; a language that is not in it is drawn in one colour.
var languages = []language{
	{"go golang", "//", "/*", "*/", "\"'`", "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false"},
	{"python py", "#", `"""`, `"""`, "\"'", "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False match"},
	{"javascript js jsx typescript ts tsx", "//", "/*", "*/", "\"'`", "async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof interface let new null of return static super switch this throw true false try type typeof undefined var void while yield"},
	{"rust rs", "//", "/*", "*/", "\"", "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"},
	{"c h cpp c++ cc java csharp cs kotlin swift", "//", "/*", "*/", "\"'", "auto bool break case catch char class const continue default delete do double else enum extends extern false final float for func fun if import int interface let long namespace new null nullptr override private protected public return short signed sizeof static struct super switch template this throw true try typedef union unsigned using val var virtual void volatile while"},
	{"sh bash shell zsh console", "#", "", "", "\"'", "if then else elif fi for while until do done case esac in function return local export set unset"},
	{"json jsonc", "//", "", "", "\"", "true false null"},
	{"yaml yml toml ini", "#", "", "", "\"'", "true false null"},
	{"sql", "--", "/*", "*/", "'", "select from where and or not in is null insert into values update set delete create table drop alter join left right inner outer on group by order limit as distinct having union primary key SELECT FROM WHERE AND OR NOT IN IS NULL INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE DROP ALTER JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER LIMIT AS DISTINCT HAVING UNION PRIMARY KEY"},
	{"ruby rb", "#", "", "", "\"'", "begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true unless until when while yield"},
	{"make makefile dockerfile docker", "#", "", "", "\"'", "FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE USER ifeq endif else include define endef"},
}

// A Highlighter colours code line by line. It knows comments, strings and
// keywords, no more: enough to read by.
type Highlighter struct {
	lang   *language
	diff   bool
	inside bool // a comment of several lines
}

// NewHighlighter is for the language named behind a fence.
func NewHighlighter(name string) *Highlighter {
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	if name == "diff" || name == "patch" {
		return &Highlighter{diff: true}
	}
	for i := range languages {
		if name != "" && hasWord(languages[i].names, name) {
			return &Highlighter{lang: &languages[i]}
		}
	}
	return &Highlighter{}
}

func hasWord(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }

// Line colours the next line.
func (h *Highlighter) Line(line string) Line {
	switch {
	case h.diff:
		return Line{{diffRole(line), line}}
	case h.lang == nil:
		return Line{{Code, line}}
	}
	var l Line
	for line != "" {
		role, n := h.token(line)
		if k := len(l); k > 0 && l[k-1].Role == role {
			l[k-1].Text += line[:n]
		} else {
			l = append(l, Span{role, line[:n]})
		}
		line = line[n:]
	}
	return l
}

// token says what the line begins with and how long it is.
func (h *Highlighter) token(s string) (Role, int) {
	g := h.lang
	switch {
	case h.inside:
		return Comment, h.untilClose(s)
	case g.open != "" && strings.HasPrefix(s, g.open):
		h.inside = true
		return Comment, len(g.open) + h.untilClose(s[len(g.open):])
	case strings.HasPrefix(s, g.comment):
		return Comment, len(s)
	case strings.IndexByte(g.quotes, s[0]) >= 0:
		return Quoted, stringEnd(s)
	}
	n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
		return Plain, n
	}
	if hasWord(g.keywords, s[:n]) {
		return Keyword, n
	}
	return Plain, n
}

func (h *Highlighter) untilClose(s string) int {
	i := strings.Index(s, h.lang.close)
	if i < 0 {
		return len(s)
	}
	h.inside = false
	return i + len(h.lang.close)
}

// stringEnd is the length of the string that s begins with.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

func diffRole(line string) Role {
	if line == "" {
		return Plain
	}
	return map[byte]Role{'+': Added, '-': Removed, '@': Faint}[line[0]]
}
