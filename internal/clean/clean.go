// Package clean makes text that we did not write harmless for a terminal: the
// words of a model, the output of tools, the names of files.
//
// Whole escape sequences vanish; control characters, broken sequences and bytes
// that are not UTF-8 become visible; characters that hide, reorder or pile up
// are marked as <U+XXXX>; lines of absurd length are cut. Ordinary text in any
// script, and emoji, stay as they are.
//
// The work is done in three steps, each a few runes of memory: bytes to runes
// without control (control.go), runes without those that hide (hidden.go), and
// lines of bounded length (here). So text may come in pieces, cut anywhere.
package clean

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLine is how many characters of a line are shown.
const maxLine = 10_000

// Block makes text of many lines harmless. Line feeds and tabs stay.
func Block(s string) string { return whole(NewBlock(), s) }

// Line makes a name or a summary harmless: the result has no line end and no tab.
func Line(s string) string { return whole(&Filter{line: true}, s) }

func whole(f *Filter, s string) string {
	head := f.Feed(s)
	if tail := f.Close(); tail != "" {
		return head + tail
	}
	return head
}

// Model is what a model gets of s: no tag characters, which a person cannot
// see, and only valid UTF-8. Nothing else is changed.
func Model(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isTag) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(byteEscape(s[i]))
		case !isTag(r):
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

// A Filter cleans text that comes in pieces. All that Feed and Close return,
// put together, is what Block makes of all pieces put together.
type Filter struct {
	line bool // one line, else a block

	held  []byte // step 1: input whose meaning depends on what follows
	begun bool   // a character was read

	ahead  []rune  // step 2: runes whose fate depends on what follows
	before [2]rune // the two runes in front of ahead, the nearer one first
	marks  int     // combining marks of the run at hand

	column int // step 3: characters shown of this line
	cut    int // and those left out
	out    []byte
}

// NewBlock gives a Filter for text of many lines.
func NewBlock() *Filter { return &Filter{} }

// Feed takes the next piece and returns what can be shown so far. Plain text
// comes back as it is, without a copy.
func (f *Filter) Feed(piece string) string {
	if len(f.held) == 0 && len(f.ahead) == 0 && f.passes(piece) {
		return piece
	}
	input := []byte(piece)
	if len(f.held) > 0 {
		input = append(f.held, piece...)
	}
	f.held = append([]byte(nil), f.read(input, false)...)
	return f.take()
}

// Close returns what was held back. The Filter is then as new.
func (f *Filter) Close() string {
	f.read(f.held, true)
	f.settle(true)
	f.endLine()
	rest := f.take()
	*f = Filter{line: f.line}
	return rest
}

func (f *Filter) take() string {
	s := string(f.out)
	f.out = f.out[:0]
	return s
}

// passes reports whether s is plain ASCII text that needs no change, and if so
// takes note of it.
func (f *Filter) passes(s string) bool {
	column := f.column
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n' && !f.line && f.cut == 0:
			column = 0
			continue
		case c >= ' ' && c < 0x7F, c == '\t' && !f.line:
		default:
			return false
		}
		if column++; column > maxLine {
			return false
		}
	}
	f.column = column
	if n := len(s); n > 0 {
		f.begun, f.marks = true, 0
		f.before[1] = f.before[0]
		if n > 1 {
			f.before[1] = rune(s[n-2])
		}
		f.before[0] = rune(s[n-1])
	}
	return true
}

// put is step 3: it shows r unless the line is full.
func (f *Filter) put(r rune) {
	switch {
	case r == '\n':
		f.endLine()
		f.out = append(f.out, '\n')
	case f.column == maxLine:
		f.cut++
	default:
		f.column++
		f.out = utf8.AppendRune(f.out, r)
	}
}

func (f *Filter) endLine() {
	if f.cut > 0 {
		f.out = append(f.out, " …[+"...)
		f.out = strconv.AppendInt(f.out, int64(f.cut), 10)
		f.out = append(f.out, ']')
	}
	f.column, f.cut = 0, 0
}

const hex = "0123456789abcdef"

func byteEscape(c byte) string { return string([]byte{'\\', 'x', hex[c>>4], hex[c&15]}) }
