// Package prompt is the box a person types into: text of several lines, a
// cursor that moves by characters as a person sees them, big pastes folded to a
// word, and the history of what was said before.
package prompt

import (
	"fmt"
	"strings"
	"unicode"

	"ikigai/internal/clean"
	"ikigai/internal/tui/draw"
	"ikigai/internal/view"
)

// A cell is one character, or a paste that is folded.
type cell struct {
	text  string
	shown string // what stands for it, when it is folded
}

// A Prompt is the box; the zero Prompt is empty.
type Prompt struct {
	cells  []cell
	at     int // the cursor stands before this cell
	goal   int // column that up and down try to keep; 0 when none
	killed []cell
}

// foldLines and foldBytes are the smallest paste that is folded.
const (
	foldLines = 8
	foldBytes = 1000
)

// Text is all that was typed and pasted.
func (p *Prompt) Text() string {
	var b strings.Builder
	for _, c := range p.cells {
		b.WriteString(c.text)
	}
	return b.String()
}

// Empty reports whether nothing stands in the box.
func (p *Prompt) Empty() bool { return len(p.cells) == 0 }

// Set puts text into the box, the cursor behind it.
func (p *Prompt) Set(text string) {
	p.cells, p.at = nil, 0
	p.Insert(text)
}

// Before is the text in front of the cursor.
func (p *Prompt) Before() string {
	var b strings.Builder
	for _, c := range p.cells[:p.at] {
		b.WriteString(c.text)
	}
	return b.String()
}

// Replace puts text in the place of the last n bytes in front of the cursor.
func (p *Prompt) Replace(n int, text string) {
	for n > 0 && p.at > 0 {
		n -= len(p.cells[p.at-1].text)
		p.remove(p.at-1, p.at)
	}
	p.Insert(text)
}

// Insert types text. A character that belongs to the one before joins it.
func (p *Prompt) Insert(text string) {
	p.goal = 0
	if p.at > 0 && p.cells[p.at-1].shown == "" && p.cells[p.at-1].text != "\n" {
		text = p.cells[p.at-1].text + text
		p.remove(p.at-1, p.at)
	}
	p.put(split(text))
}

func split(text string) []cell {
	text = strings.ReplaceAll(text, "\r", "")
	var cells []cell
	draw.Graphemes(text, func(g string, _ int) bool {
		cells = append(cells, cell{text: g})
		return true
	})
	return cells
}

func (p *Prompt) put(cells []cell) {
	tail := append(cells[:len(cells):len(cells)], p.cells[p.at:]...)
	p.cells = append(p.cells[:p.at:p.at], tail...)
	p.at += len(cells)
}

// Paste inserts what was pasted; much of it is folded to one word.
func (p *Prompt) Paste(text string) {
	lines := strings.Count(text, "\n") + 1
	if lines < foldLines && len(text) < foldBytes {
		p.Insert(text)
		return
	}
	p.goal = 0
	p.put([]cell{{text: text, shown: fmt.Sprintf("[pasted %d lines, %s]", lines, bytesOf(len(text)))}})
}

func bytesOf(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func (p *Prompt) remove(from, to int) {
	p.cells = append(p.cells[:from:from], p.cells[to:]...)
	p.at = from
}

// kill removes and remembers.
func (p *Prompt) kill(from, to int) {
	if from < to {
		p.killed = append([]cell(nil), p.cells[from:to]...)
		p.remove(from, to)
	}
}

// edits are the keys that change the box or move the cursor.
var edits = map[string]func(*Prompt){
	"backspace": func(p *Prompt) {
		if p.at > 0 {
			p.remove(p.at-1, p.at)
		}
	},
	"delete": func(p *Prompt) {
		if p.at < len(p.cells) {
			p.remove(p.at, p.at+1)
		}
	},
	"left":       func(p *Prompt) { p.at = max(0, p.at-1) },
	"right":      func(p *Prompt) { p.at = min(len(p.cells), p.at+1) },
	"home":       func(p *Prompt) { p.at = p.lineStart() },
	"end":        func(p *Prompt) { p.at = p.lineEnd() },
	"ctrl+left":  func(p *Prompt) { p.at = p.wordLeft() },
	"ctrl+right": func(p *Prompt) { p.at = p.wordRight() },
	"ctrl+k":     func(p *Prompt) { p.kill(p.at, max(p.lineEnd(), min(p.at+1, len(p.cells)))) },
	"ctrl+u":     func(p *Prompt) { p.kill(p.lineStart(), p.at) },
	"ctrl+w":     func(p *Prompt) { p.kill(p.wordLeft(), p.at) },
	"alt+d":      func(p *Prompt) { p.kill(p.at, p.wordRight()) },
	"ctrl+y":     func(p *Prompt) { p.put(p.killed) },
	"ctrl+j":     func(p *Prompt) { p.Insert("\n") },
}

// same are other names of the keys above.
var same = map[string]string{
	"alt+backspace": "ctrl+w", "ctrl+backspace": "ctrl+w", "ctrl+d": "delete", "ctrl+b": "left", "ctrl+f": "right",
	"ctrl+a": "home", "ctrl+e": "end", "alt+b": "ctrl+left", "alt+f": "ctrl+right", "alt+left": "ctrl+left",
	"alt+right": "ctrl+right", "alt+enter": "ctrl+j", "shift+enter": "ctrl+j", "ctrl+enter": "ctrl+j", "ctrl+h": "backspace",
}

// Key does what a key means in the box, and reports whether it means anything.
func (p *Prompt) Key(name string) bool {
	if other, ok := same[name]; ok {
		name = other
	}
	do, ok := edits[name]
	if ok {
		p.goal = 0
		do(p)
	}
	return ok
}

func (p *Prompt) lineStart() int {
	i := p.at
	for i > 0 && p.cells[i-1].text != "\n" {
		i--
	}
	return i
}

func (p *Prompt) lineEnd() int {
	i := p.at
	for i < len(p.cells) && p.cells[i].text != "\n" {
		i++
	}
	return i
}

func (p *Prompt) wordLeft() int {
	i := p.at
	for i > 0 && !p.cells[i-1].isWord() {
		i--
	}
	for i > 0 && p.cells[i-1].isWord() {
		i--
	}
	return i
}

func (p *Prompt) wordRight() int {
	i := p.at
	for i < len(p.cells) && !p.cells[i].isWord() {
		i++
	}
	for i < len(p.cells) && p.cells[i].isWord() {
		i++
	}
	return i
}

func (c cell) isWord() bool {
	return c.shown != "" || strings.IndexFunc(c.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }) >= 0
}

// drawn is how the cell looks.
func (c cell) drawn() (string, int) {
	if c.shown != "" {
		return c.shown, draw.Width(c.shown)
	}
	text := c.text
	if text == "\t" {
		text = "    "
	} else if safe := clean.Line(text); safe != text {
		text = safe
	}
	return text, draw.Width(text)
}

// place is a cell on its row.
type place struct{ row, col int }

// lay breaks the cells into rows of at most width columns, and gives the place
// of each cell and of the end.
func (p *Prompt) lay(width int) (rows []view.Line, places []place) {
	row, col := view.Line{}, 0
	next := func() {
		rows = append(rows, row)
		row, col = view.Line{}, 0
	}
	for _, c := range p.cells {
		if c.text == "\n" {
			places = append(places, place{len(rows), col})
			next()
			continue
		}
		text, w := c.drawn()
		if col+w > width && col > 0 {
			next()
		}
		places = append(places, place{len(rows), col})
		role := view.Plain
		if c.shown != "" {
			role = view.Faint
		}
		row, col = append(row, view.Span{Role: role, Text: text}), col+w
	}
	if col >= width && width > 0 {
		next() // the cursor needs a place
	}
	places = append(places, place{len(rows), col})
	return append(rows, row), places
}

// Rows draws the box in rows of at most width columns and says where the cursor is.
func (p *Prompt) Rows(width int) ([]view.Line, draw.Pos) {
	rows, places := p.lay(max(width, 1))
	at := places[p.at]
	return rows, draw.Pos{Row: at.row, Col: at.col}
}

// Vertical moves the cursor by rows; it reports whether there was a row to go to.
func (p *Prompt) Vertical(by, width int) bool {
	_, places := p.lay(max(width, 1))
	now := places[p.at]
	if p.goal == 0 {
		p.goal = now.col + 1
	}
	best := -1
	for i, at := range places {
		if at.row == now.row+by && at.col < p.goal {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	p.at = best
	return true
}
