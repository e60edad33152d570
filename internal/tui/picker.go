package tui

import (
	"bytes"
	"context"
	"os"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

// A Choice is a row of a picker.
type Choice struct {
	ID    string
	Cells []string // what stands on its row
	More  []string // what is shown of it while it is chosen
}

// An Action is something else than opening that can be done with a row.
type Action struct {
	Key, Text string // such as ctrl+r and rename
	Ask       string // what is to be typed for it; empty when it is done at once
	Do        func(ctx context.Context, id, typed string) (said string, err error)
}

// PickOptions say what is picked from.
type PickOptions struct {
	In, Out *os.File
	Getenv  func(string) string
	Color   string
	Signals <-chan int

	Title  string
	Scopes []string                                               // such as here and all; Tab goes from one to the next
	List   func(ctx context.Context, scope int, add func(Choice)) // gives the rows one by one

	Actions []Action
}

// Pick lets the person choose a row on the alternate screen. It reports whether
// one was chosen.
func Pick(ctx context.Context, o PickOptions) (Choice, bool) {
	p := &picker{o: o, term: newTerminal(o.In, o.Out), rows: make(chan row, 64), paint: draw.Chosen(o.Getenv, o.Color, true)}
	if err := p.term.enter(); err != nil {
		return Choice{}, false
	}
	defer p.end()
	return p.run(ctx)
}

// picker is the list, what is looked for in it, and which row is chosen.
type picker struct {
	o     PickOptions
	term  *terminal
	paint draw.Paint
	all   []Choice
	rows  chan row
	stop  context.CancelFunc
	round int // rows of an older list are not wanted any more
	scope int
	text  string
	at    int
	done  bool
	taken bool

	doing *Action // what is typed for
	typed string
	said  string // what came of the last one
}

// row is a choice that was found, and by which listing.
type row struct {
	round int
	Choice
}

func (p *picker) end() {
	p.stop()
	fault := recover()
	p.term.writes <- []byte(altOff + modesOff)
	<-p.term.wrote
	p.term.leave()
	if fault != nil {
		panic(fault)
	}
	p.term.close()
}

func (p *picker) run(ctx context.Context) (Choice, bool) {
	signals, done := terminalSignals()
	defer done()
	p.list(ctx)
	p.write(modesOn + altOn)
	for !p.done {
		p.draw()
		select {
		case all := <-p.term.keys:
			for _, k := range all {
				p.key(ctx, k)
			}
		case r := <-p.rows:
			p.add(r)
		case s := <-signals:
			p.done = s == hungUpSent
		case <-p.o.Signals:
			p.done = true
		case <-p.term.gone:
			p.done = true
		}
	}
	if hits := p.hits(); p.taken && p.at < len(hits) {
		return hits[p.at], true
	}
	return Choice{}, false
}

// list begins to look for rows.
func (p *picker) list(ctx context.Context) {
	if p.stop != nil {
		p.stop()
	}
	ctx, p.stop = context.WithCancel(ctx)
	p.round++
	round := p.round
	p.all, p.at = nil, 0
	go p.o.List(ctx, p.scope, func(c Choice) {
		select {
		case p.rows <- row{round, c}:
		case <-ctx.Done():
		}
	})
}

func (p *picker) add(r row) {
	if r.round == p.round {
		p.all = append(p.all, r.Choice)
	}
}

// hits are the rows that hold what is looked for.
func (p *picker) hits() []Choice {
	var hits []Choice
	for _, c := range p.all {
		if strings.Contains(strings.ToLower(strings.Join(c.Cells, " ")), strings.ToLower(p.text)) {
			hits = append(hits, c)
		}
	}
	return hits
}

func (p *picker) key(ctx context.Context, k keys.Key) {
	p.said = ""
	if p.doing != nil {
		p.typeKey(ctx, k)
		return
	}
	for i, a := range p.o.Actions {
		if a.Key == k.Name && p.at < len(p.hits()) {
			if p.doing = &p.o.Actions[i]; a.Ask == "" {
				p.do(ctx)
			}
			return
		}
	}
	switch k.Name {
	case "esc", "ctrl+c", "ctrl+d":
		p.done = true
	case "enter":
		p.taken = len(p.hits()) > 0
		p.done = p.taken
	case "up", "ctrl+p":
		p.at = max(0, p.at-1)
	case "down", "ctrl+n":
		p.at = max(0, min(p.at+1, len(p.hits())-1))
	case "tab":
		p.scope = (p.scope + 1) % max(len(p.o.Scopes), 1)
		p.list(ctx)
	case "backspace":
		if r := []rune(p.text); len(r) > 0 {
			p.text, p.at = string(r[:len(r)-1]), 0
		}
	default:
		if k.Text != "" {
			p.text, p.at = p.text+clean.Line(k.Text), 0
		}
	}
}

// typeKey takes what an action asks for.
func (p *picker) typeKey(ctx context.Context, k keys.Key) {
	switch {
	case k.Name == "esc", k.Name == "ctrl+c":
		p.doing, p.typed = nil, ""
	case k.Name == "enter":
		p.do(ctx)
	case k.Name == "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed = string(r[:len(r)-1])
		}
	default:
		p.typed += clean.Line(k.Text)
	}
}

// do does an action, says what came of it, and lists anew.
func (p *picker) do(ctx context.Context) {
	said, err := p.doing.Do(ctx, p.hits()[p.at].ID, strings.TrimSpace(p.typed))
	if err != nil {
		said = err.Error()
	}
	p.doing, p.typed, p.said = nil, "", said
	p.list(ctx)
}

func (p *picker) write(s string) {
	p.term.writes <- []byte(s)
	<-p.term.wrote // a hang-up is seen by the reader
}

// draw writes the whole screen.
func (p *picker) draw() {
	cols, rows := p.term.size()
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\x1b[?25l\x1b[H\x1b[2J")
	for i, l := range p.lines(rows) {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(p.paint.Line(draw.Cut(l, max(cols-1, 1))))
	}
	b.WriteString("\x1b[?2026l")
	p.write(b.String())
}

// lines are at most rows lines: the search, the list, what is chosen, the keys.
func (p *picker) lines(rows int) []view.Line {
	head := view.Line{{Role: view.Heading, Text: p.o.Title}, {Text: "  / " + p.text}, {Role: view.Cursor, Text: " "}, {Text: "   "}}
	for i, s := range p.o.Scopes {
		role := view.Faint
		if i == p.scope {
			role = view.Strong
		}
		head = append(head, view.Span{Role: role, Text: " " + s})
	}
	lines := []view.Line{head}
	hits := p.hits()
	var more []view.Line
	if p.at < len(hits) {
		for _, m := range hits[p.at].More {
			more = append(more, view.Line{{Role: view.Faint, Text: "  │ " + clean.Line(m)}})
		}
	}
	room := max(rows-2-len(more), 1)
	first := max(0, p.at-room+1)
	widths := columns(hits)
	for i := first; i < min(len(hits), first+room); i++ {
		lines = append(lines, cells(hits[i], widths, i == p.at))
	}
	if len(hits) == 0 {
		lines = append(lines, view.Line{{Role: view.Faint, Text: "  nothing here"}})
	}
	lines = append(append(lines, more...), p.foot())
	return lines[:min(len(lines), max(rows, 1))]
}

// foot is what is typed, what came of it, or the keys.
func (p *picker) foot() view.Line {
	switch {
	case p.doing != nil:
		return view.Line{{Role: view.Warning, Text: " " + p.doing.Ask + " "}, {Text: p.typed}, {Role: view.Cursor, Text: " "}, {Role: view.Faint, Text: "   esc back"}}
	case p.said != "":
		return view.Line{{Role: view.Warning, Text: " " + clean.Line(p.said)}}
	}
	text := " enter open · tab " + strings.Join(p.o.Scopes, "/")
	for _, a := range p.o.Actions {
		text += " · " + strings.Replace(a.Key, "ctrl+", "^", 1) + " " + a.Text
	}
	return view.Line{{Role: view.Faint, Text: text + " · esc"}}
}

// columns are the widths of the columns.
func columns(hits []Choice) []int {
	var widths []int
	for _, c := range hits {
		for i, cell := range c.Cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = min(max(widths[i], draw.Width(clean.Line(cell))), 48)
		}
	}
	return widths
}

func cells(c Choice, widths []int, chosen bool) view.Line {
	role, mark := view.Plain, "  "
	if chosen {
		role, mark = view.Chosen, "› "
	}
	text := mark
	for i, cell := range c.Cells {
		cut := draw.Cut(view.Line{{Text: clean.Line(cell)}}, widths[i]).String()
		text += cut + strings.Repeat(" ", widths[i]-draw.Width(cut)+2)
	}
	return view.Line{{Role: role, Text: strings.TrimRight(text, " ")}}
}
