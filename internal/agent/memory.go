package agent

import (
	"context"
	"fmt"
	"iter"

	"ikigai/internal/convo"
	"ikigai/internal/window"
)

// How much of the past stays in memory beside what the model sees: what the guard
// against circles looks at, and no more than so many bytes.
const (
	keptEvents = 256
	keptBytes  = 4 << 20
)

// forget lets events go that the store has, so that a session of any length takes
// the same room. It is called when the window has read them. Whoever wants them
// again gets them from the store.
func (a *Agent) forget() {
	events := a.history.Events()
	bytes := 0
	for _, e := range events {
		bytes += window.Size(e)
	}
	if len(events) < 2*keptEvents && bytes < 2*keptBytes {
		return
	}
	if err := a.parts.Store.Flush(context.Background()); err != nil {
		a.save(err)
		return // what is not saved stays
	}
	from := 0
	for len(events)-from > keptEvents || bytes > keptBytes && from < len(events)-1 {
		bytes -= window.Size(events[from])
		from++
	}
	before := events[from].Seq
	a.history.Forget(before)
	a.bus.Forget(before, a.older)
}

// older gives stored events to readers. It does not end with their context: one
// that wants what is there and no more has ended before.
func (a *Agent) older(after int64) iter.Seq2[convo.Event, error] {
	return a.parts.Store.Events(context.Background(), a.opts.Session, after)
}

// whole is the whole history, from the store where it was let go.
func (a *Agent) whole() ([]convo.Event, error) {
	if events := a.history.Events(); len(events) == int(a.history.Last()) {
		return events, nil
	}
	var all []convo.Event
	for e, err := range a.older(0) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if len(all) != int(a.history.Last()) {
		return nil, fmt.Errorf("the store has %d of %d events", len(all), a.history.Last())
	}
	return all, nil
}
