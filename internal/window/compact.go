package window

import (
	"slices"

	"ikigai/internal/convo"
)

// compact finds out what to do when too much of the room is used: thin old
// output where that is worth a new prefix, else summarise, else cut the longest
// output whatever its age.
func (w *Window) compact(p *Plan, o Options) {
	recent := w.recent(o)
	worth := w.meter.Bytes(p.Room / 5)
	if record, freed := w.thin(recent, 0, o); freed >= worth {
		p.Action, p.Record = Record, record
		return
	}
	if s, freed := w.summary(recent, o); freed >= worth/2 {
		p.Action, p.Summary = Summarise, s
		return
	}
	keep := w.meter.Bytes(p.Room / 16)
	if record, freed := w.thin(len(w.view), keep, o); freed > 0 {
		p.Action, p.Record = Record, record
		return
	}
	if p.Used > p.Room {
		p.Action = Full
	}
}

// recent is where the part of the view begins that is left alone: about a fifth
// of the room, so that there is some left after a summary; whole replies with their results only, and in any case
// what the model has not answered yet.
func (w *Window) recent(o Options) int {
	left := w.meter.Bytes(o.room() / 5)
	cuts := w.cuts()
	at := len(w.view)
	for at > 0 && left >= size(w.view[at-1]) {
		at--
		left -= size(w.view[at])
	}
	i, _ := slices.BinarySearch(cuts, at)
	return min(cuts[min(i, len(cuts)-1)], w.answered())
}

// answered is where the part of the view ends that the model has answered, with
// whole replies only.
func (w *Window) answered() int {
	cuts, at := w.cuts(), unanswered(w.view)
	if at == len(w.view) {
		return at
	}
	i, _ := slices.BinarySearch(cuts, at+1)
	return cuts[i-1]
}

// cuts are the places between which whole replies stand: a cut at i parts
// view[:i] from view[i:]. The first is 0.
func (w *Window) cuts() []int {
	cuts := []int{0}
	open := map[string]bool{}
	reply := ""
	for i, e := range w.view {
		if len(open) == 0 && i > 0 && (e.Reply == "" || e.Reply != reply) && e.Kind != convo.KindToolResult {
			cuts = append(cuts, i)
		}
		switch b := e.Body.(type) {
		case convo.ToolCall:
			open[b.ID] = true
		case convo.ToolResult:
			delete(open, b.CallID)
		}
		reply = e.Reply
	}
	return cuts
}

// unanswered is where the part begins that the model has not answered yet: the
// reply whose results it has not seen, or what the person said last.
func unanswered(view []convo.Event) int {
	at := len(view)
	for at > 0 && view[at-1].Kind == convo.KindUser {
		at--
	}
	if at == 0 || view[at-1].Kind != convo.KindToolResult {
		return at
	}
	for at > 0 && view[at-1].Kind == convo.KindToolResult {
		at--
	}
	reply := ""
	if at > 0 {
		reply = view[at-1].Reply
	}
	for at > 0 && ofModel(view[at-1].Kind) && view[at-1].Reply == reply {
		at--
	}
	return at
}

func ofModel(k convo.Kind) bool {
	return k == convo.KindAssistant || k == convo.KindThinking || k == convo.KindToolCall || k == convo.KindOpaque
}

// thin is the record that thins the results before a place in the view, and how
// many bytes that frees.
func (w *Window) thin(before, keep int, o Options) (record convo.Event, freed int) {
	c := compaction{keep: keep}
	count := 0
	for _, e := range w.view[:before] {
		if e.Kind != convo.KindToolResult {
			continue
		}
		c.through = max(c.through, e.Seq)
		if w.pinned[e.Seq] {
			c.except = append(c.except, e.Seq)
		} else if n := size(e) - size(thinned(e, keep)); n > 0 {
			count, freed = count+1, freed+n
		}
	}
	return c.event(count, freed), freed
}
