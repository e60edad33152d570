package tui

import (
	"fmt"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tui/draw"
	"ikigai/internal/view"
)

// status is the line at the bottom: who answers, who decides, and what it cost
// in tokens, money and time. Three clocks run: of the model, of the tools, and
// of the person who is asked.
type status struct {
	o     *Options
	state string
	since time.Time
	spent [3]time.Duration
	turn  int  // replies in this turn
	used  bool // there was a turn

	model, mode   string
	input, output int
	cached, last  int
	cost          float64
}

// clocks by the state of the turn.
var clocks = map[string]int{"awaiting_model": 0, "executing": 1, "stopping": 1, "evaluating_policy": 1, "awaiting_permission": 2}

var clockNames = [...]string{"model", "tools", "waiting for you"}

func (s *status) event(e convo.Event) {
	switch b := e.Body.(type) {
	case convo.State:
		s.enter(b.Name, e.At)
	case convo.End:
		s.enter("idle", e.At)
	case convo.Usage:
		s.count(b)
	}
	if e.Kind == convo.KindUser && s.state != "executing" {
		s.turn = 0
	}
}

func (s *status) enter(state string, at time.Time) {
	if i, ok := clocks[s.state]; ok {
		s.spent[i] += at.Sub(s.since)
	}
	s.state, s.since = state, at
	s.used = s.used || s.busy()
}

// busy reports whether a turn is under way.
func (s *status) busy() bool { _, ok := clocks[s.state]; return ok }

func (s *status) count(u convo.Usage) {
	s.turn++
	add := func(to *int, n *int) {
		if n != nil {
			*to += *n
		}
	}
	add(&s.input, u.Input)
	add(&s.output, u.Output)
	add(&s.cached, u.CacheRead)
	if u.Input != nil {
		s.last = *u.Input
	}
	if u.CostUSD != nil {
		s.cost += *u.CostUSD
	}
}

// line draws the status, with a hint at its end where there is room.
func (s *status) line(width int, hint string) view.Line {
	var parts []string
	add := func(show bool, format string, args ...any) {
		if show {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	model := s.model
	if model == "" {
		model = "no model"
	}
	add(true, "%s", clean.Line(model))
	place := clean.Line(s.o.Dir)
	if s.o.Branch != "" {
		place += " " + clean.Line(s.o.Branch)
	}
	add(place != "", "%s", place)
	add(s.mode != "", "%s", s.mode)
	add(s.busy() && s.o.Turns > 0, "turn %d/%d", s.reply(), s.o.Turns)
	add(s.window() > 0 && s.last > 0, "ctx %d%%", s.last*100/max(s.window(), 1))
	add(s.input+s.output > 0, "↑%s ↓%s", thousands(s.input), thousands(s.output))
	add(s.cached > 0, "⟳%d%%", s.cached*100/max(s.input, 1))
	add(s.cost > 0, "$%.2f", s.cost)
	add(s.times() != "", "%s", s.times())
	room := width
	if n := draw.Width(hint) + 3; hint != "" && n < width/2 { // what can be pressed matters more than numbers
		room -= n
	}
	text := " "
	for i, p := range parts {
		if i > 0 {
			p = " · " + p
		}
		if i > 0 && draw.Width(text)+draw.Width(p) > room {
			break
		}
		text += p
	}
	l := view.Line{{Role: view.Faint, Text: text}}
	if gap := width - draw.Width(text) - draw.Width(hint); hint != "" && gap >= 3 {
		l = append(l, view.Span{Role: view.Faint, Text: strings.Repeat(" ", gap) + hint})
	}
	return l
}

// reply is which reply of the turn is coming, or its calls are run.
func (s *status) reply() int {
	if s.state == "awaiting_model" {
		return s.turn + 1
	}
	return max(s.turn, 1)
}

func (s *status) window() int {
	if s.o.Window == nil {
		return 0
	}
	return s.o.Window(s.model)
}

// times are the three clocks, those that ran at all.
func (s *status) times() string {
	spent := s.spent
	if i, ok := clocks[s.state]; ok {
		spent[i] += s.o.Now().Sub(s.since)
	}
	text := ""
	for i, name := range clockNames {
		if d := spent[i]; d >= time.Second {
			if text != "" {
				text += " "
			}
			text += fmt.Sprintf("%s %s", lastWord(name), d.Truncate(time.Second))
		}
	}
	return text
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// summary is all of it in a line, for the end.
func (s *status) summary() string {
	var parts []string
	for i, name := range clockNames {
		if s.spent[i] > 0 {
			parts = append(parts, name+" "+view.Duration(s.spent[i]))
		}
	}
	text := strings.Join(parts, " + ")
	if s.input+s.output > 0 {
		text += fmt.Sprintf("   tokens in %s out %s", thousands(s.input), thousands(s.output))
	}
	if s.cost > 0 {
		text += fmt.Sprintf("   $%.2f", s.cost)
	}
	return text
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
