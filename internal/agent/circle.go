package agent

import (
	"context"
	"slices"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
	"ikigai/internal/window"
)

// A circle is what is known of whether anything changes while a model repeats itself.
type circle struct {
	acted int64  // the last result of a call that may have changed something
	marks []mark // of the workspace, since such a call was repeated
}

type mark struct {
	at   int64 // the last event before it was taken
	text string
}

// circling looks for a model that makes the same calls again and again with the
// same results. First it is told; when it goes on all the same, the turn ends,
// where there is a limit. While anything changes, or something runs in the
// background, nobody is stopped.
func (a *Agent) circling(ctx context.Context) *convo.Limit {
	v := window.Loop(a.history.Events(), func(since int64, steps int) bool { return a.changes(ctx, since, steps) })
	switch v.Do {
	case window.Tell:
		a.emit(window.Remark(v.Text))
		a.notice("the model repeats itself and was told so", "")
	case window.Ask:
		if most := a.opts.MaxLoop; most > 0 && v.Repeats >= most && !a.waits() {
			return &convo.Limit{Which: "loop", Value: float64(v.Repeats), Max: float64(most)}
		}
	}
	return nil
}

// changes reports whether anything may have changed since an event, over so many
// steps of a circle. Calls that only read change nothing; after others the
// workspace is looked at, and only marks that stay the same all the way round are
// a proof.
func (a *Agent) changes(ctx context.Context, since int64, steps int) bool {
	c := &a.circle
	if c.acted < since {
		return false
	}
	if a.parts.Mark == nil {
		return true
	}
	text, err := a.parts.Mark(ctx)
	if err != nil {
		return true // who cannot look cannot say that nothing changed
	}
	c.marks = slices.DeleteFunc(c.marks, func(m mark) bool { return m.at < since })
	c.marks = append(c.marks, mark{a.history.Last(), text})
	if len(c.marks) <= steps {
		return true
	}
	return slices.ContainsFunc(c.marks[len(c.marks)-1-steps:], func(m mark) bool { return m.text != text })
}

// waits reports whether something runs in the background, which a model may well
// ask for again and again.
func (a *Agent) waits() bool {
	jobs := a.opts.Place.Jobs
	return jobs != nil && slices.ContainsFunc(jobs.List(), func(j tool.Job) bool { return j.Running })
}
