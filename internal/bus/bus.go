// Package bus carries the events of one session from one writer to any number
// of readers. Publishing never blocks: a reader that lags gets neighbouring
// pieces of one reply, or of one call's output, merged into one event, and
// every other event in order. Merge, never drop.
package bus

import (
	"context"
	"iter"
	"sync"

	"ikigai/internal/convo"
)

// maxOutput is how much live output of one call waits for a reader; older
// output of that call gives way. The whole is in the call's result.
const maxOutput = 64 << 10

// Bus is ready to use with New.
type Bus struct {
	mu      sync.Mutex // guards the fields below
	past    []convo.Event
	readers map[*reader]bool
}

// New is a bus whose readers first see the stored events.
func New(stored []convo.Event) *Bus {
	return &Bus{past: stored[:len(stored):len(stored)], readers: map[*reader]bool{}}
}

// Publish hands e to every reader. It may be called by any goroutine; the order
// of durable events is that of their publishing.
func (b *Bus) Publish(e convo.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Durable() {
		b.past = append(b.past, e)
	}
	for r := range b.readers {
		r.put(e)
	}
}

// Events gives the durable events with a Seq above after, then everything that
// happens from the moment of this call, until ctx ends or the reader stops. The
// sequence can be read once; it must be, or ctx must end.
func (b *Bus) Events(ctx context.Context, after int64) iter.Seq[convo.Event] {
	r, past := b.join()
	forget := context.AfterFunc(ctx, func() { b.leave(r) })
	return func(yield func(convo.Event) bool) {
		defer b.leave(r)
		defer forget()
		for _, e := range past {
			if e.Seq > after && !yield(e) {
				return
			}
		}
		for {
			for _, e := range r.take() {
				if !yield(e) {
					return
				}
			}
			select {
			case <-r.wake:
			case <-ctx.Done():
				for _, e := range r.take() { // what was published before the end is not lost
					if !yield(e) {
						return
					}
				}
				return
			}
		}
	}
}

func (b *Bus) join() (*reader, []convo.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &reader{wake: make(chan struct{}, 1)}
	b.readers[r] = true
	return r, b.past[:len(b.past):len(b.past)]
}

func (b *Bus) leave(r *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.readers, r)
}

// reader is the queue of one reader.
type reader struct {
	mu    sync.Mutex // guards queue
	queue []convo.Event
	wake  chan struct{}
}

func (r *reader) put(e convo.Event) {
	r.mu.Lock()
	if n := len(r.queue); n == 0 || !merge(&r.queue[n-1], e) {
		r.queue = append(r.queue, e)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reader) take() []convo.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queue
	r.queue = nil
	return q
}

// merge puts e into its neighbour last when nothing is lost by it.
func merge(last *convo.Event, e convo.Event) bool {
	if last.Kind != e.Kind || last.Durable() {
		return false
	}
	switch e.Kind {
	case convo.KindDelta:
		if last.Body != e.Body || last.Reply != e.Reply {
			return false
		}
		last.Text += e.Text
	case convo.KindToolOutput:
		if last.Body != e.Body {
			return false
		}
		last.Text += e.Text
		if n := len(last.Text); n > maxOutput {
			last.Text = last.Text[n-maxOutput:]
		}
	case convo.KindState:
		*last = e
	default:
		return false
	}
	return true
}
