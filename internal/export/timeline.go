package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/view"
)

// A bar is one row of a turn's timeline.
type bar struct {
	who        who
	name       string
	call       int64 // the event of the call, 0 when it is none
	start, end time.Time
	note       string
}

// who was at work.
type who string

const (
	byModel  who = "model"
	byTool   who = "tool"
	byFailed who = "failed"
	byPerson who = "you"
)

// timeline is what a turn spent its time with, in the order in which it began.
func timeline(t turn) []bar {
	var bars []bar
	var answered time.Time // a person's last answer: what is asked together is answered one by one
	for _, en := range t.entries {
		if u, ok := en.event.Body.(convo.Usage); ok {
			bars = append(bars, bar{who: byModel, name: "model", start: back(en.event.At, time.Duration(u.ModelMS)*time.Millisecond), end: en.event.At, note: tokens(u)})
		}
		s := en.step
		if s == nil {
			continue
		}
		if d := s.decision; d != nil && d.By == convo.ByPerson {
			start := s.at
			if answered.After(start) {
				start = answered
			}
			answered = s.decided
			bars = append(bars, bar{who: byPerson, name: "(you)", call: s.seq, start: start, end: s.decided, note: strings.TrimSpace(d.Word() + " " + d.Scope)})
		}
		if r := s.result; r != nil {
			b := bar{who: byTool, name: s.call.Name, call: s.seq, start: back(s.answered, r.Took), end: s.answered, note: r.Summary}
			if code := r.Code(); code != "" {
				b.who, b.note = byFailed, string(code.Type())
			}
			bars = append(bars, b)
		}
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return a.start.Compare(b.start) })
	return bars
}

func back(at time.Time, d time.Duration) time.Time { return at.Add(-d) }

func tokens(u convo.Usage) string {
	if u.Input == nil || u.Output == nil {
		return ""
	}
	return fmt.Sprintf("in %d out %d", *u.Input, *u.Output)
}

// span is from when to when the bars reach.
func span(bars []bar) (first, last time.Time) {
	for i, b := range bars {
		if i == 0 || b.start.Before(first) {
			first = b.start
		}
		if i == 0 || b.end.After(last) {
			last = b.end
		}
	}
	return first, last
}

// place is where a bar begins and how long it is, in parts of a whole. A bar is
// always wide enough to be seen.
func (b bar) place(first, last time.Time) (at, wide float64) {
	const least = 0.012
	whole := last.Sub(first).Seconds()
	if whole <= 0 {
		return 0, 1
	}
	wide = min(1, max(least, b.end.Sub(b.start).Seconds()/whole))
	at = min(1-wide, max(0, b.start.Sub(first).Seconds()/whole))
	return at, wide
}

func (b bar) took() string { return view.Duration(max(0, b.end.Sub(b.start))) }
