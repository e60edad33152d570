package window

import (
	"cmp"
	"slices"

	"ikigai/internal/convo"
)

// A Share is one part of what fills the window.
type Share struct {
	What   string
	Events int
	Bytes  int
	Tokens int
}

// shareOf names the parts of a conversation.
var shareOf = map[convo.Kind]string{
	convo.KindSystem:    "instructions",
	convo.KindUser:      "your words",
	convo.KindAssistant: "answers",
	convo.KindThinking:  "thinking",
	convo.KindOpaque:    "thinking",
	convo.KindToolCall:  "tool calls",
	convo.KindSummary:   "summary",
}

// Breakdown is what fills the window, largest first: the system prompt and the
// tools, of so many bytes each, and the events that the model sees. Results are
// listed by tool.
func (w *Window) Breakdown(system, tools int) []Share {
	all := []Share{{What: "system prompt", Bytes: system}, {What: "tools", Bytes: tools}}
	for _, e := range w.view {
		if e.Kind == convo.KindCommand {
			continue
		}
		what := shareOf[e.Kind]
		if r, ok := e.Body.(convo.ToolResult); ok {
			what = "results of " + r.Name
		}
		i := slices.IndexFunc(all, func(s Share) bool { return s.What == what })
		if i < 0 {
			i, all = len(all), append(all, Share{What: what})
		}
		all[i].Events++
		all[i].Bytes += size(e)
	}
	for i := range all {
		all[i].Tokens = w.meter.Tokens(all[i].Bytes)
	}
	all = slices.DeleteFunc(all, func(s Share) bool { return s.Bytes == 0 })
	slices.SortStableFunc(all, func(a, b Share) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

// Breakdown is that of a whole history.
func Breakdown(events []convo.Event, system, tools int) []Share {
	w := New()
	w.follow(events)
	return w.Breakdown(system, tools)
}
