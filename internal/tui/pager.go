package tui

import (
	"bytes"
	"fmt"

	"ikigai/internal/clean"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

const (
	altOn  = "\x1b[?1049h"
	altOff = "\x1b[?1049l"
)

// pager shows much text on the alternate screen.
type pager struct {
	lines []view.Line
	top   int
	rows  []view.Line // lines broken for cols
	cols  int
	page  int
}

func (c *chat) openPager(lines []view.Line) {
	c.pager = &pager{lines: lines}
	c.raw = append(c.raw, altOn...)
}

// showLatest shows the last call in full: every argument and the whole answer.
func (c *chat) showLatest() {
	last := c.transcript.latest
	if last == nil {
		c.tell("no call yet")
		return
	}
	head, body := view.Arguments(last.Args)
	lines := []view.Line{append(view.Line{{Role: view.Name, Text: clean.Line(last.Name)}, {Text: "  "}}, head...)}
	lines = append(append(lines, body...), nil, view.Outcome(last.Call, last.result))
	c.openPager(append(lines, view.Output(last.result)...))
}

// pagerMoves are the keys of the pager, in lines and pages.
var pagerMoves = map[string]func(*pager) int{
	"up": func(*pager) int { return -1 }, "k": func(*pager) int { return -1 },
	"down": func(*pager) int { return +1 }, "j": func(*pager) int { return +1 }, "enter": func(*pager) int { return +1 },
	"pageup": func(p *pager) int { return -p.page }, "b": func(p *pager) int { return -p.page },
	"pagedown": func(p *pager) int { return p.page }, "space": func(p *pager) int { return p.page },
	"home": func(p *pager) int { return -len(p.rows) }, "g": func(p *pager) int { return -len(p.rows) },
	"end": func(p *pager) int { return len(p.rows) }, "G": func(p *pager) int { return len(p.rows) },
}

func (c *chat) pagerKey(k keys.Key) {
	if move, ok := pagerMoves[k.Name]; ok {
		c.pager.top += move(c.pager)
		return
	}
	switch k.Name {
	case "q", "esc", "ctrl+c", "ctrl+o", "f":
		c.pager = nil
		c.raw = append(c.raw, altOff...)
		c.screen.Resized()
	}
}

func (p *pager) draw(cols, rows int, paint draw.Paint) []byte {
	if cols != p.cols {
		p.rows, p.cols = nil, cols
		for _, l := range p.lines {
			p.rows = append(p.rows, item{Para: view.Para{Line: l}}.rows(max(cols-1, 1))...)
		}
	}
	p.page = max(rows-1, 1)
	p.top = max(0, min(p.top, len(p.rows)-p.page))
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\x1b[?25l\x1b[H\x1b[2J")
	last := min(len(p.rows), p.top+p.page)
	for _, l := range p.rows[p.top:last] {
		b.WriteString(paint.Line(draw.Cut(l, max(cols-1, 1))) + "\r\n")
	}
	foot := fmt.Sprintf(" %d-%d of %d · space, b, arrows · q back", p.top+1, last, len(p.rows))
	b.WriteString(paint.Line(draw.Cut(view.Line{{Role: view.Faint, Text: foot}}, max(cols-1, 1))) + "\x1b[?2026l")
	return b.Bytes()
}
