// Package export writes a session for others to read: as one page of HTML that
// asks for nothing outside itself, as Markdown, or as the stored events one per
// line.
//
// Whatever a session holds was written by models, tools and files, so it is
// hostile until shown harmless: it goes through clean, and then through the one
// function of its format that writes text. Mask takes out what should not leave
// the house.
package export

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Session is what is told of a session besides its events.
type Session struct {
	ID, Title, Dir, Branch, Model string

	Created time.Time
	Facts   []string // numbers, one short line each
}

// Events are the stored events of a session, in order.
type Events = iter.Seq2[convo.Event, error]

// JSONL writes the events as they are stored, one per line.
func JSONL(w io.Writer, events Events) error {
	out := bufio.NewWriter(w)
	for e, err := range events {
		if err != nil {
			return err
		}
		raw, err := tool.Encode(e)
		if err != nil {
			return fmt.Errorf("writing event %d: %w", e.Seq, err)
		}
		out.Write(append(raw, '\n')) // a bufio.Writer keeps its error for Flush
	}
	return out.Flush()
}

// A turn is a prompt and all that came of it.
type turn struct {
	number  int
	entries []entry
}

// An entry is an event of a turn, or a call with all that belongs to it.
type entry struct {
	event convo.Event
	step  *step
}

// A step is one call on its way: asked, decided, answered.
type step struct {
	seq      int64
	at       time.Time
	call     tool.Call
	decision *convo.Decision
	decided  time.Time
	result   *tool.Result
	answered time.Time
}

// turns groups events. One turn at a time is in memory.
func turns(events Events) iter.Seq2[turn, error] {
	return func(yield func(turn, error) bool) {
		g := &group{open: map[string]*step{}}
		for e, err := range events {
			if err != nil {
				yield(turn{}, err)
				return
			}
			if e.Turn != g.turn.number && len(g.turn.entries) > 0 {
				if !yield(g.turn, nil) {
					return
				}
				g.turn = turn{}
			}
			g.add(e)
		}
		if len(g.turn.entries) > 0 {
			yield(g.turn, nil)
		}
	}
}

type group struct {
	turn turn
	open map[string]*step // calls without a result
}

func (g *group) add(e convo.Event) {
	g.turn.number = e.Turn
	switch b := e.Body.(type) {
	case convo.ToolCall:
		g.step(e, b.Call)
	case convo.Decision:
		if s := g.open[b.CallID]; s != nil {
			s.decision, s.decided = &b, e.At
		}
	case convo.ToolResult:
		s := g.open[b.CallID]
		if s == nil {
			s = g.step(e, tool.Call{ID: b.CallID, Name: b.Name}) // its call is of another turn
		}
		s.answer(e, b.Result)
		delete(g.open, b.CallID)
	default:
		g.turn.entries = append(g.turn.entries, entry{event: e})
	}
}

func (g *group) step(e convo.Event, c tool.Call) *step {
	s := &step{seq: e.Seq, at: e.At, call: c}
	g.open[c.ID] = s
	g.turn.entries = append(g.turn.entries, entry{event: e, step: s})
	return s
}

// answer sets the result. Its one line is stored as the text of the event.
func (s *step) answer(e convo.Event, r tool.Result) {
	if r.Summary == "" {
		r.Summary = e.Text
	}
	s.result, s.answered = &r, e.At
	if !r.At.IsZero() {
		s.answered = r.At
	}
}
