package tui

import (
	"fmt"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/prompt"
	"ikigai/internal/view"
)

// box is what the person types into and what waits to be sent.
type box struct {
	prompt.Prompt
	history *prompt.History
	queue   []string // for after the turn
	steers  []string // sent, and not yet taken by the model
	outputs []string // of commands of the person, for the next prompt
	search  *search
	pop     popup
}

// search looks for earlier words.
type search struct {
	text  string
	nth   int
	draft string
}

// take empties the box and gives what stood in it, with what goes along.
func (b *box) take() string {
	text := strings.TrimSpace(b.Text())
	b.Set("")
	return text
}

// putBack puts words in front of what stands in the box.
func (b *box) putBack(words ...string) {
	all := words
	if now := b.Text(); strings.TrimSpace(now) != "" {
		all = append(all, now)
	}
	if len(words) > 0 {
		b.Set(strings.Join(all, "\n"))
	}
}

// dropSteer forgets a steering word that the model has got.
func (b *box) dropSteer(text string) {
	for i, s := range b.steers {
		if s == text {
			b.steers = append(b.steers[:i:i], b.steers[i+1:]...)
			return
		}
	}
}

// waiting draws what was said and not yet heard.
func (b *box) waiting() []view.Line {
	var rows []view.Line
	add := func(head, text, hint string) {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  " + head + " ↳ "}, {Text: clean.Line(firstLine(text))}, {Role: view.Faint, Text: hint}})
	}
	for _, s := range b.steers {
		add("steering", s, "")
	}
	for i, q := range b.queue {
		hint := ""
		if i == len(b.queue)-1 {
			hint = "   ↑ edit"
		}
		add("queued", q, hint)
	}
	switch n := len(b.outputs); n {
	case 0:
	case 1:
		add("with the next prompt", "the output of your command", "   esc drops it")
	default:
		add("with the next prompt", fmt.Sprintf("the output of %d commands", n), "   esc drops it")
	}
	return rows
}

// rows draws the box and says where its cursor is.
func (b *box) rows(width, height int) ([]view.Line, draw.Pos) {
	if b.search != nil {
		return b.searchRows(width)
	}
	body, at := b.Rows(max(width-2, 1))
	first := 0
	if over := len(body) - max(height, 1); over > 0 { // the cursor's part of a long text
		first = min(max(0, at.Row-height+1), over)
		body = body[first : first+max(height, 1)]
	}
	rows := make([]view.Line, len(body))
	for i, l := range body {
		mark := "  "
		if i == 0 && first == 0 {
			mark = "› "
		}
		rows[i] = append(view.Line{{Role: view.Person, Text: mark}}, l...)
	}
	return rows, draw.Pos{Row: at.Row - first, Col: at.Col + 2}
}

func (b *box) searchRows(width int) ([]view.Line, draw.Pos) {
	head := "search: " + b.search.text
	hit, _ := b.history.Find(b.search.text, b.search.nth)
	rows := []view.Line{{{Role: view.Warning, Text: "search: "}, {Text: clean.Line(b.search.text)}}, {{Role: view.Faint, Text: "  " + clean.Line(firstLine(hit))}}}
	return rows, draw.Pos{Col: min(draw.Width(head), width-1)}
}

// searchKey does what a key means while searching; it reports whether the
// search is over and the key still has to be heard by others.
func (b *box) searchKey(name, text string) (heard bool) {
	s := b.search
	switch {
	case name == "ctrl+r":
		s.nth++
		if _, ok := b.history.Find(s.text, s.nth); !ok {
			s.nth = 0
		}
	case name == "backspace":
		if r := []rune(s.text); len(r) > 0 {
			s.text, s.nth = string(r[:len(r)-1]), 0
		}
	case text != "" && name != "paste":
		s.text, s.nth = s.text+text, 0
	case name == "esc", name == "ctrl+c", name == "ctrl+g":
		b.search = nil
		b.Set(s.draft)
	default:
		hit, ok := b.history.Find(s.text, s.nth)
		b.search = nil
		if ok {
			b.Set(hit)
		}
		return name == "enter" || name == "tab"
	}
	return true
}
