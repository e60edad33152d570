package provider

import (
	"fmt"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
)

// A sink hands deltas on. It keeps the end signal back until the stream is
// over, because an error may still follow it and a call may still be found in
// the text before it.
type sink struct {
	yield   func(llm.Delta, error) bool
	left    bool // the reader went away
	content bool // something of the reply came: no attempt may follow
	seen    int  // deltas of any kind
	done    bool
	last    llm.Delta // the end signal
	max     int
	calls   map[int]struct{}
	fault   *llm.Error
	rescue  *rescue // nil where printed calls stay text
	usage   convo.Usage
	info    Info
}

func newSink(c *conn, r llm.Request, yield func(llm.Delta, error) bool) *sink {
	s := &sink{yield: yield, max: c.p.o.Limits.Calls, info: c.info}
	if c.p.rescues() && r.Choice != llm.NoTools && len(r.Tools) > 0 {
		s.rescue = newRescue(r.Tools)
	}
	return s
}

// again forgets an attempt of which nothing was handed on.
func (s *sink) again() { s.done, s.fault, s.calls, s.usage = false, nil, nil, convo.Usage{} }

// take is what a decoder emits to.
func (s *sink) take(d llm.Delta) {
	s.seen++
	if s.left || s.fault != nil {
		return
	}
	switch d.Kind {
	case llm.Done:
		s.done, s.last = true, d
		return
	case llm.UsageDelta: // no content: a later attempt reports anew
		s.note(d.Usage)
	case llm.CallPart:
		s.release()
		s.rescue = nil // it knows how to call
		s.count(d.Block)
		s.content = true
	case llm.Text:
		s.content = true
		if s.rescue != nil {
			var now bool
			if d, now = s.rescue.take(d); !now {
				return
			}
		}
	default:
		s.content = true
	}
	if s.fault == nil && !s.left {
		s.hand(d)
	}
}

func (s *sink) hand(d llm.Delta) { s.left = !s.yield(d, nil) }

// count refuses a reply that only asks and asks.
func (s *sink) count(block int) {
	if _, ok := s.calls[block]; ok {
		return
	}
	if s.calls == nil {
		s.calls = map[int]struct{}{}
	}
	s.calls[block] = struct{}{}
	if len(s.calls) > s.max {
		s.fault = garbage(fmt.Sprintf("the reply holds more than %d tool calls and was cut off", s.max), "try again; the limit is a setting")
	}
}

// release hands on what the rescue held back.
func (s *sink) release() {
	if s.rescue == nil {
		return
	}
	if d, ok := s.rescue.release(); ok && !s.left {
		s.hand(d)
	}
}

// finish ends a whole reply, with the calls that were found in its text.
func (s *sink) finish() {
	if s.rescue != nil {
		found := s.rescue.calls()
		s.release()
		for _, d := range found {
			if !s.left {
				s.hand(d)
			}
		}
		if len(found) > 0 && s.last.Stop == llm.EndTurn {
			s.last.Stop = llm.ToolUse
		}
	}
	s.bill()
	if !s.left {
		s.hand(s.last)
	}
}

// fail ends a reply that is not whole: what was held back comes out, then the error.
func (s *sink) fail(err error) {
	s.release()
	s.bill()
	if !s.left {
		s.yield(llm.Delta{}, err)
	}
}

// note keeps the newest numbers, field by field.
func (s *sink) note(u *convo.Usage) {
	if u == nil {
		return
	}
	s.usage = convo.Usage{
		Input: newest(s.usage.Input, u.Input), Output: newest(s.usage.Output, u.Output),
		CacheRead: newest(s.usage.CacheRead, u.CacheRead), CacheWrite: newest(s.usage.CacheWrite, u.CacheWrite),
		CostUSD: newest(s.usage.CostUSD, u.CostUSD),
	}
}

func newest[T any](old, now *T) *T {
	if now != nil {
		return now
	}
	return old
}

// bill adds the cost of the tokens where the provider did not name it.
func (s *sink) bill() {
	if cost := Cost(s.usage, s.info); cost != nil && s.usage.CostUSD == nil && !s.left {
		s.hand(llm.Delta{Kind: llm.UsageDelta, Usage: &convo.Usage{CostUSD: cost}})
	}
}
