// Package bus carries the events of one session from one writer to any number
// of readers. Publishing never blocks: a reader that lags gets neighbouring
// pieces of one reply, or of one call's output, merged into one event, and
// every other event in order. Merge, never drop.
package bus

import (
	"cmp"
	"context"
	"iter"
	"slices"
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
	older   Older // where the events before past are; nil when there are none
	readers map[*reader]bool
}

// Older gives the durable events with a Seq above after from where they are
// kept. Any goroutine may call it.
type Older func(after int64) iter.Seq2[convo.Event, error]

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

// Forget lets the durable events before a Seq go from memory. A reader that wants
// them gets them from older, which must have them all by now.
func (b *Bus) Forget(before int64, older Older) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, _ := slices.BinarySearchFunc(b.past, before, func(e convo.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	if i > 0 {
		b.past, b.older = slices.Clone(b.past[i:]), older
	}
}

// Events gives the durable events with a Seq above after, then everything that
// happens from the moment of this call, until ctx ends or the reader stops. The
// sequence can be read once; it must be, or ctx must end.
func (b *Bus) Events(ctx context.Context, after int64) iter.Seq[convo.Event] {
	r, past, older := b.join()
	forget := context.AfterFunc(ctx, func() { b.leave(r) })
	return func(yield func(convo.Event) bool) {
		defer b.leave(r)
		defer forget()
		if !before(past, older, after, yield) {
			return
		}
		past = nil // a reader may stay for days
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

// before gives the durable events that were there when the reader came; false
// when it wants no more.
func before(past []convo.Event, older Older, after int64, yield func(convo.Event) bool) bool {
	if older != nil && len(past) > 0 && after+1 < past[0].Seq {
		for e, err := range older(after) {
			if err != nil {
				e = convo.Of("earlier events cannot be shown: "+err.Error(), convo.Notice{})
			} else if e.Seq >= past[0].Seq {
				break
			}
			if !yield(e) {
				return false
			}
		}
	}
	for _, e := range past {
		if e.Seq > after && !yield(e) {
			return false
		}
	}
	return true
}

func (b *Bus) join() (*reader, []convo.Event, Older) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &reader{wake: make(chan struct{}, 1)}
	b.readers[r] = true
	return r, b.past[:len(b.past):len(b.past)], b.older
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
