package provider

import (
	"fmt"

	"ikigai/internal/llm"
)

// A sink hands deltas on. It keeps the end signal back until the stream is
// over, because an error may still follow it and a call may still be found in
// the text before it.
type sink struct {
	yield   func(llm.Delta, error) bool
	left    bool // the reader went away
	content bool // something of the reply was handed on: no attempt may follow
	seen    int  // deltas of any kind
	done    bool
	last    llm.Delta // the end signal
	max     int
	calls   map[int]struct{}
	fault   *llm.Error
}

func newSink(p *Provider, _ llm.Request, yield func(llm.Delta, error) bool) *sink {
	return &sink{yield: yield, max: p.o.Limits.Calls}
}

// again forgets an attempt of which nothing was handed on.
func (s *sink) again() { s.done, s.fault, s.calls = false, nil, nil }

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
	case llm.UsageDelta: // a later attempt reports anew
	case llm.CallPart:
		s.count(d.Block)
		fallthrough
	default:
		s.content = true
	}
	if s.fault == nil {
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

// finish ends a whole reply.
func (s *sink) finish() {
	if !s.left {
		s.hand(s.last)
	}
}
