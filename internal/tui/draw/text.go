// Package draw puts lines on a terminal: it measures and breaks them, gives
// their roles colours, and keeps a live region below the finished text.
//
// Finished text is written once, into the terminal's own scrollback, and never
// touched again. All moves of the cursor are relative to the live region, so
// nothing here needs to know where on the screen that region stands.
package draw

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"ikigai/internal/view"
)

// Width is how many columns s takes.
func Width(s string) int { return displaywidth.String(s) }

// LineWidth is how many columns a line takes.
func LineWidth(l view.Line) int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Graphemes calls f with each character as a person sees it, and its width,
// until f says no.
func Graphemes(s string, f func(text string, width int) bool) {
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		if !f(g.Value(), g.Width()) {
			return
		}
	}
}

// Cut is the line in at most width columns; an ellipsis says that there was more.
func Cut(l view.Line, width int) view.Line {
	if LineWidth(l) <= width {
		return l
	}
	if width < 1 {
		return nil
	}
	out, left := view.Line{}, width-1
	for _, s := range l {
		w := Width(s.Text)
		if w > left {
			return append(out, view.Span{Role: s.Role, Text: head(s.Text, left) + "…"})
		}
		out, left = append(out, s), left-w
	}
	return out
}

// head is as much of s as fits.
func head(s string, width int) string {
	end := 0
	Graphemes(s, func(g string, w int) bool {
		if width -= w; width < 0 {
			return false
		}
		end += len(g)
		return true
	})
	return s[:end]
}

// Wrap breaks a line into rows of at most width columns, at blanks where it can.
// Rows after the first begin with hang blanks.
func Wrap(l view.Line, width, hang int) []view.Line {
	if width < 1 {
		width = 1
	}
	if LineWidth(l) <= width {
		return []view.Line{l}
	}
	if hang >= width/2 {
		hang = 0
	}
	w := wrapper{width: width, hang: hang}
	for _, s := range l {
		w.span(s)
	}
	w.word(nil, 0)
	return append(w.rows, w.row)
}

// wrapper fills rows word by word. A word may have several roles.
type wrapper struct {
	width, hang int
	rows        []view.Line
	row         view.Line
	used        int

	letters view.Line // of the word at hand
	long    int
}

func (w *wrapper) span(s view.Span) {
	Graphemes(s.Text, func(g string, n int) bool {
		if g == " " {
			w.word(&view.Span{Role: s.Role, Text: g}, 1)
			return true
		}
		if w.long+n > w.width-w.hang { // longer than a row: broken anywhere
			w.word(nil, 0)
			w.next()
		}
		w.letters, w.long = add(w.letters, view.Span{Role: s.Role, Text: g}), w.long+n
		return true
	})
}

// word puts the word at hand into a row, and the blank behind it.
func (w *wrapper) word(blank *view.Span, n int) {
	if w.used+w.long > w.width {
		w.next()
	}
	for _, s := range w.letters {
		w.row = add(w.row, s)
	}
	w.used += w.long
	w.letters, w.long = nil, 0
	if blank != nil && w.used+n <= w.width {
		w.row, w.used = add(w.row, *blank), w.used+n
	}
}

func (w *wrapper) next() {
	if w.used == 0 || len(w.rows) > 0 && w.used == w.hang {
		return // nothing stands there yet
	}
	w.rows = append(w.rows, trimmed(w.row))
	w.row, w.used = nil, w.hang
	if w.hang > 0 {
		w.row = view.Line{{Text: strings.Repeat(" ", w.hang)}}
	}
}

func trimmed(l view.Line) view.Line {
	if n := len(l); n > 0 {
		l[n-1].Text = strings.TrimRight(l[n-1].Text, " ")
	}
	return l
}

// add joins neighbours of one role.
func add(l view.Line, s view.Span) view.Line {
	if n := len(l); n > 0 && l[n-1].Role == s.Role {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
}

// Tabs puts blanks in the place of tabs, so that the width is known.
func Tabs(s string) string {
	if !strings.ContainsRune(s, '\t') {
		return s
	}
	var b strings.Builder
	at := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := 4 - at%4
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(part)
		at += Width(part)
	}
	return b.String()
}

// Beside puts the lines of a diff side by side, the old ones left and the new
// ones right, in width columns.
func Beside(diff []view.Line, width int) []view.Line {
	half := max((width-3)/2, 1)
	var rows, old, fresh []view.Line
	flush := func() {
		for i := range max(len(old), len(fresh)) {
			rows = append(rows, pair(at(old, i), at(fresh, i), half))
		}
		old, fresh = nil, nil
	}
	for _, l := range diff {
		switch {
		case len(l) > 0 && l[0].Role == view.Removed:
			old = append(old, l)
		case len(l) > 0 && l[0].Role == view.Added:
			fresh = append(fresh, l)
		default:
			flush()
			rows = append(rows, pair(l, l, half))
		}
	}
	flush()
	return rows
}

func at(lines []view.Line, i int) view.Line {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

func pair(left, right view.Line, half int) view.Line {
	left, right = Cut(untabbed(left), half), Cut(untabbed(right), half)
	gap := view.Span{Text: strings.Repeat(" ", half-LineWidth(left)) + " "}
	return append(append(left[:len(left):len(left)], gap, view.Span{Role: view.Faint, Text: "│ "}), right...)
}

func untabbed(l view.Line) view.Line {
	out := make(view.Line, len(l))
	for i, s := range l {
		out[i] = view.Span{Role: s.Role, Text: Tabs(s.Text)}
	}
	return out
}
