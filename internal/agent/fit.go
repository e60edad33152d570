package agent

import (
	"ikigai/internal/convo"
	"ikigai/internal/window"
)

// fitted are the events of the next request. Where they no longer fit, old tool
// output is thinned first and older events are then replaced by a digest; both
// are events, so that the view is the same after a restart and can be undone.
func (a *Agent) fitted() []convo.Event {
	a.squeeze()
	for {
		p := a.window.Fit(a.history.Events(), a.room())
		switch p.Action {
		case window.Record:
			a.emit(p.Record)
			a.notice(p.Record.Text, "")
		case window.Summarise:
			a.emit(p.Summary.Event(p.Summary.Offline))
			a.notice("the older part of the conversation was replaced by a digest for the model; the session keeps all of it", "")
		case window.Full:
			a.notice("the conversation is larger than the model's window and nothing more can be left out", "begin a new session, or choose a model with a larger window")
			return p.Events
		default:
			return p.Events
		}
	}
}

// compact makes room because the person wants it: at once, or where a turn runs
// before its next request, since only there every call has its result.
func (a *Agent) compact(op Compact) {
	a.compacting = &op
	if !a.machine.State().Busy() {
		a.squeeze()
	}
}

// squeeze does what Compact asked for.
func (a *Agent) squeeze() {
	op := a.compacting
	if op == nil {
		return
	}
	a.compacting = nil
	o := a.room()
	o.About = op.About
	p := a.window.Squeeze(a.history.Events(), o)
	if p.Action != window.Summarise {
		a.notice("there is nothing to compact yet", "")
		return
	}
	a.emit(p.Summary.Event(p.Summary.Offline))
	a.notice("the older part of the conversation was replaced by a digest for the model; the session keeps all of it", "")
}

// uncompact gives the model back what the last compaction took from it.
func (a *Agent) uncompact() {
	last := window.Last(a.history.Events())
	if last == 0 {
		a.notice("no compaction is in force", "")
		return
	}
	a.emit(window.Undo(last))
	a.notice("the model sees again what the last compaction left out", "")
}

// room is how much a request may hold.
func (a *Agent) room() window.Options {
	o := window.Options{Overhead: len(a.opts.System)}
	if a.opts.Window != nil {
		o.Window = a.opts.Window(a.opts.Model)
	}
	for _, s := range a.offered() {
		o.Overhead += len(s.Name) + len(s.Description) + len(s.Parameters.JSON())
	}
	return o
}

// circling looks for a model that makes the same calls again and again with the
// same results. First it is told; when it goes on all the same, the turn ends,
// where there is a limit. While anything changes nobody is stopped.
func (a *Agent) circling() *convo.Limit {
	v := window.Loop(a.history.Events(), func(since int64) bool { return a.changed >= since })
	switch v.Do {
	case window.Tell:
		a.emit(window.Remark(v.Text))
		a.notice("the model repeats itself and was told so", "")
	case window.Ask:
		if most := a.opts.MaxLoop; most > 0 && v.Repeats >= most {
			return &convo.Limit{Which: "loop", Value: float64(v.Repeats), Max: float64(most)}
		}
	}
	return nil
}
