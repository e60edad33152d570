package convo

import (
	"cmp"
	"fmt"
	"slices"

	"ikigai/internal/tool"
)

// History is the conversation: the durable events of a session, in order, as far
// back as they are wanted. One goroutine owns it. Appending never moves what was
// handed out, so a request may hold a slice of it while the session goes on.
type History struct {
	events []Event
	next   int64
}

// NewHistory goes on from stored events.
func NewHistory(stored []Event) *History {
	h := &History{events: stored, next: 1}
	if n := len(stored); n > 0 {
		h.next = stored[n-1].Seq + 1
	}
	return h
}

// Append gives e its place and keeps it.
func (h *History) Append(e Event) Event {
	e.Seq = h.next
	h.next++
	h.events = append(h.events, e)
	return e
}

// Events are the events until now that were not forgotten. The slice is never
// changed afterwards.
func (h *History) Events() []Event { return h.events[:len(h.events):len(h.events)] }

// Last is the number of the last event, 0 when there is none.
func (h *History) Last() int64 { return h.next - 1 }

// Forget lets the events before a Seq go from memory.
func (h *History) Forget(before int64) {
	i, _ := slices.BinarySearchFunc(h.events, before, func(e Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	if i > 0 {
		h.events = slices.Clone(h.events[i:])
	}
}

// Remark is something the harness says to the model. It is of the kind of the
// person's words, since that is what models take, and marked.
func Remark(text string) Event {
	return Event{Kind: KindUser, Text: text, Body: Unknown{Of: KindUser, Data: []byte(fromHarness)}}
}

const fromHarness = `{"from":"harness"}`

// Said reports whether an event is something the person said.
func (e Event) Said() bool {
	u, ok := e.Body.(Unknown)
	return e.Kind == KindUser && (!ok || string(u.Data) != fromHarness)
}

// Check reports why events could not be sent to a provider as they stand: a
// call without its result, a result without its call, two results for one call,
// or anything of the conversation between a call and its result.
func Check(events []Event) error {
	open := map[string]bool{}
	answered := map[string]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case ToolCall:
			if open[b.ID] || answered[b.ID] {
				return fmt.Errorf("event %d: call %s stands twice", e.Seq, b.ID)
			}
			open[b.ID] = true
			continue
		case ToolResult:
			if !open[b.CallID] {
				return fmt.Errorf("event %d: result of %s without an open call", e.Seq, b.CallID)
			}
			delete(open, b.CallID)
			answered[b.CallID] = true
			continue
		}
		if len(open) > 0 && (e.Kind == KindUser || e.Kind == KindSystem || e.Kind == KindSummary) {
			return fmt.Errorf("event %d: %s while %d calls are open", e.Seq, e.Kind, len(open))
		}
	}
	for id := range open {
		return fmt.Errorf("call %s has no result", id)
	}
	return nil
}

// Orphans are the calls that have no result, in order: what a crash left open.
func Orphans(events []Event) []tool.Call {
	answered := map[string]bool{}
	for _, e := range events {
		if r, ok := e.Body.(ToolResult); ok {
			answered[r.CallID] = true
		}
	}
	var open []tool.Call
	for _, e := range events {
		if c, ok := e.Body.(ToolCall); ok && !answered[c.ID] {
			open = append(open, c.Call)
		}
	}
	return open
}
