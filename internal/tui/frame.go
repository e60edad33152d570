package tui

import (
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/tui/draw"
	"ikigai/internal/view"
)

// frameTime is the least time between two frames; a key is drawn sooner.
const (
	frameTime = 16 * time.Millisecond
	keyTime   = 4 * time.Millisecond
)

// tickTime is how often a clock that is shown moves on.
const tickTime = 100 * time.Millisecond

// setClock sets the timer for the next thing that happens by itself: a frame
// that waits, a clock that is shown, a word that goes away. Where nothing runs
// there is none, and nothing is done.
func (c *chat) setClock(t *time.Timer) {
	wait := time.Hour
	if c.transcript.busy() || c.status.busy() || c.working != "" {
		wait = tickTime
	}
	if c.said != "" {
		wait = min(wait, max(c.until.Sub(c.o.Now()), time.Millisecond))
	}
	if c.dirty && !c.writing {
		wait = min(wait, max(c.least()-time.Since(c.lastFrame), time.Millisecond))
	}
	t.Reset(wait)
}

// least is the least time between the last frame and the next.
func (c *chat) least() time.Duration {
	if c.typed {
		return keyTime
	}
	return frameTime
}

// draw writes a frame when there is something new, the last one is written and
// it is not too soon. It never waits: what is finished meanwhile goes out later.
func (c *chat) draw() {
	if !c.dirty && !c.lastFrame.IsZero() || c.writing || c.quit || time.Since(c.lastFrame) < c.least() {
		return
	}
	c.dirty, c.typed, c.lastFrame = false, false, time.Now()
	c.measure()
	b := c.raw
	c.raw = nil
	if c.pager != nil {
		b = append(b, c.pager.draw(c.cols, c.rows, c.paint)...)
	} else {
		b = append(b, c.screen.Draw(c.frame())...)
	}
	if len(b) > 0 {
		c.writing = true
		c.term.writes <- b
	}
}

// measure asks for the size just before it matters: the signal may be late, and
// a frame of the wrong size would leave rows in the scrollback.
func (c *chat) measure() {
	if cols, rows := c.term.size(); cols != c.cols || rows != c.rows {
		c.cols, c.rows = cols, rows
		c.screen.Resized()
	}
}

// brief is how long work of the person's own runs before it is spoken of: what is
// over at once should not flicker.
const brief = 200 * time.Millisecond

// mostLive is how many rows of running text and calls are shown: few, since a
// terminal that becomes smaller at the wrong moment keeps them.
const mostLive = 12

// frame is everything there is to see.
func (c *chat) frame() draw.Frame {
	width := max(c.cols-1, 1)
	live, cursor := c.live(width, max(c.rows-1, 1))
	f := draw.Frame{Done: c.finished()}
	switch {
	case c.question.open() && c.question.asking == "": // there is nothing to type into
	case c.status.busy() || c.working != "":
		live[cursor.Row] = withCursor(live[cursor.Row], cursor.Col)
	default:
		f.Cursor = &draw.Pos{Row: cursor.Row, Col: min(cursor.Col, width)}
	}
	for _, l := range live {
		for i := range l {
			l[i].Text = draw.Tabs(l[i].Text)
		}
		f.Live = append(f.Live, c.paint.Line(draw.Cut(l, width)))
	}
	return f
}

// finished takes what is finished and was not written yet.
func (c *chat) finished() []string {
	var lines []string
	for _, it := range c.transcript.out {
		for i, l := range it.rows(max(c.cols-1, 1)) {
			text := c.paint.Line(l)
			if i == 0 && it.prompt {
				text = "\x1b]133;A\x1b\\" + text
			}
			lines = append(lines, text)
		}
	}
	c.transcript.out = nil
	return lines
}

// live draws the region below the finished text, in at most height rows. What
// the person types into comes first when there is little room.
func (c *chat) live(width, height int) ([]view.Line, draw.Pos) {
	var foot []view.Line
	if height > 2 {
		foot = append(foot, c.foot(width))
	}
	if height > 10 {
		foot = append(c.box.pop.rows(), foot...)
	}
	var body []view.Line
	var cursor draw.Pos
	if c.question.asking != "" || !c.question.open() {
		body, cursor = c.box.rows(width, max((height-len(foot))/2, 1))
	}
	if c.question.open() {
		asked := c.question.rows(width, max(height-len(foot)-len(body), 1), c.o.Now())
		cursor.Row += len(asked)
		body = append(asked, body...)
		cursor.Row = min(cursor.Row, len(body)-1)
	}
	if over := len(body) + len(foot) - height; over > 0 {
		over = min(over, len(body)-1)
		body = body[over:]
		cursor.Row = max(0, cursor.Row-over)
	}
	head := c.head(width, height-len(body)-len(foot))
	cursor.Row += len(head)
	return append(append(head, body...), foot...), cursor
}

// head is what runs and what waits.
func (c *chat) head(width, height int) []view.Line {
	if height <= 0 {
		return nil
	}
	waiting := c.box.waiting()
	if c.working != "" && c.o.Now().Sub(c.begun) > brief {
		lines, _ := c.printed.last(3)
		waiting = append(waiting, view.Line{{Role: view.Faint, Text: "  " + clean.Line(c.working) + " runs, esc stops it"}})
		waiting = append(waiting, bars(lines, 3)...)
	}
	if c.welcome.open() {
		waiting = append(waiting, c.welcome.rows(width)...)
	}
	rows := c.transcript.live(width, min(mostLive, max(0, height-len(waiting))))
	if len(rows) == 0 && c.status.state == "awaiting_model" && height > len(waiting) {
		rows = []view.Line{{{Role: view.Faint, Text: "  … " + elapsed(c.o.Now().Sub(c.status.since))}}}
	}
	rows = append(rows, waiting...)
	if over := len(rows) - height; over > 0 {
		rows = rows[over:]
	}
	return rows
}

// foot is the status line, or a word that was just said.
func (c *chat) foot(width int) view.Line {
	if c.said != "" {
		if c.o.Now().Before(c.until) {
			return view.Line{{Role: view.Warning, Text: " " + clean.Line(c.said)}}
		}
		c.said = ""
	}
	hint := "? keys"
	switch {
	case c.question.open():
		hint = ""
	case c.status.busy():
		hint = "esc stop · tab queue"
	}
	return c.status.line(width, hint)
}

// withCursor draws a cursor into a line.
func withCursor(l view.Line, col int) view.Line {
	var out view.Line
	at, done := 0, false
	for _, s := range l {
		if done || at+draw.Width(s.Text) <= col {
			out, at = append(out, s), at+draw.Width(s.Text)
			continue
		}
		var before, under, after string
		draw.Graphemes(s.Text, func(g string, w int) bool {
			switch {
			case at < col:
				before += g
			case under == "":
				under = g
			default:
				after += g
			}
			at += w
			return true
		})
		out = append(out, view.Span{Role: s.Role, Text: before}, view.Span{Role: view.Cursor, Text: under}, view.Span{Role: s.Role, Text: after})
		done = under != ""
	}
	if !done {
		out = append(out, view.Span{Role: view.Cursor, Text: " "})
	}
	return out
}
