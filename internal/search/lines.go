package search

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A Line is a line that matches, or one that stands near such a line.
type Line struct {
	Path   string
	Number int    // from one
	Text   string // without its end; a part of it when Cut
	Match  bool   // false: it is only shown for context
	Column int    // of the match, in bytes from one; zero for context
	Cut    bool   // the line is longer than Limits.Width
}

// Limits bound what is returned.
type Limits struct {
	Max    int // matching lines in all; no bound when zero
	Before int // lines shown before each match
	After  int // lines shown after each match
	Width  int // bytes shown of a line, a window round the match; DefaultWidth when zero
}

// DefaultWidth is more than people write in a line and less than machines do.
const DefaultWidth = 2000

// A page collects the lines of one file after another. The text of a file may
// come in several windows that overlap by the context; offsets are those of the
// window at hand.
type page struct {
	find  finder
	judge judge
	l     Limits

	path  string
	lines []Line // without their texts
	texts []byte // of all lines
	ends  []int  // where in texts each line ends

	matches int
	full    bool // one match more than Limits.Max was found
	owed    int  // lines of context still to be shown after the last match
	tail    int  // everything before this offset was shown or passed by
	tailNo  int  // the number of the line that begins there
}

func newPage(q *Query, l Limits) *page { return &page{find: q.finder(), judge: q.judge, l: l} }

// turn begins a new file.
func (p *page) turn(path string) {
	p.path, p.lines, p.texts, p.ends = path, p.lines[:0], p.texts[:0], p.ends[:0]
	p.matches, p.full, p.owed, p.tail, p.tailNo = 0, false, 0, 0, 1
}

// outcome gives what was found. The texts of a file are one string: most are
// short, and there may be many.
func (p *page) outcome() outcome {
	if p.matches == 0 {
		return outcome{}
	}
	all, from := string(p.texts), 0
	for i, end := range p.ends {
		p.lines[i].Text = all[from:end]
		from = end
	}
	return outcome{lines: slices.Clone(p.lines), matches: p.matches, full: p.full}
}

// search goes through the lines that begin at from, whose number is given.
func (p *page) search(data []byte, from, number int) {
	p.find.begin()
	counted := from
	for pos := from; pos < len(data) && !p.full; {
		hit := p.find.next(data, pos)
		if hit < 0 {
			break
		}
		start := pos + lastBreak(data[pos:hit]) + 1
		end := lineEnd(data, hit)
		pos = end + 1
		column := p.column(data[start:end], hit-start)
		if column < 0 {
			continue
		}
		number += bytes.Count(data[counted:start], newline)
		counted = start
		p.match(data, start, end, number, column)
	}
	p.payContext(data, len(data))
}

var newline = []byte{'\n'}

// lineEnd is the offset of the line break at or after i, or the end of data.
func lineEnd(data []byte, i int) int {
	if step := bytes.IndexByte(data[i:], '\n'); step >= 0 {
		return i + step
	}
	return len(data)
}

// lastBreak is the offset of the last line break in data, or -1. The standard
// library looks backwards byte by byte, which is slow in long lines.
func lastBreak(data []byte) int {
	const step = 4 << 10
	for end := len(data); end > 0; {
		from := max(0, end-step)
		if end == len(data) {
			from = max(0, end-128) // most lines are short
		}
		if bytes.IndexByte(data[from:end], '\n') >= 0 {
			return from + bytes.LastIndexByte(data[from:end], '\n')
		}
		end = from
	}
	return -1
}

// column asks the judge where in the line the match is. A line matches if it
// does so with or without the carriage return at its end.
func (p *page) column(line []byte, hit int) int {
	if p.judge == nil {
		return hit
	}
	stripped := bytes.TrimSuffix(line, []byte{'\r'})
	at := p.judge(stripped)
	if at < 0 && len(stripped) < len(line) {
		at = p.judge(line)
	}
	return at
}

func (p *page) match(data []byte, start, end, number, column int) {
	if p.l.Max > 0 && p.matches == p.l.Max {
		p.full = true
		return
	}
	p.matches++
	p.payContext(data, start)
	p.contextBefore(data, start, number)
	p.show(data, start, end, number, column)
	p.owed = p.l.After
}

// payContext shows lines that are owed after a match, up to limit.
func (p *page) payContext(data []byte, limit int) {
	for p.owed > 0 && p.tail < limit {
		p.owed--
		p.show(data, p.tail, lineEnd(data, p.tail), p.tailNo, -1)
	}
}

// contextBefore shows the lines before start that were not shown yet.
func (p *page) contextBefore(data []byte, start, number int) {
	at, n := start, number
	for range p.l.Before {
		if at <= p.tail {
			break
		}
		at = lastBreak(data[:at-1]) + 1
		n--
	}
	for ; at < start; n++ {
		end := lineEnd(data, at)
		p.show(data, at, end, n, -1)
		at = end + 1
	}
}

// show adds a line; a column of -1 means context.
func (p *page) show(data []byte, start, end, number, column int) {
	text := bytes.TrimSuffix(data[start:end], []byte{'\r'})
	part := window(text, column, p.l.width())
	p.lines = append(p.lines, Line{
		Path: p.path, Number: number,
		Match: column >= 0, Column: column + 1, Cut: len(part) < len(text),
	})
	p.texts = append(p.texts, part...)
	p.ends = append(p.ends, len(p.texts))
	p.tail, p.tailNo = min(end+1, len(data)), number+1
}

func (l Limits) width() int {
	if l.Width > 0 {
		return l.Width
	}
	return DefaultWidth
}

// window cuts a long line to width bytes, with the match in its first half, and
// never inside a character.
func window(text []byte, column, width int) []byte {
	if len(text) <= width {
		return text
	}
	from := max(0, min(column-width/4, len(text)-width))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := from + width
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return text[from:min(to, len(text))]
}
