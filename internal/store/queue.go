package store

import (
	"context"
	"errors"
	"sync"

	"ikigai/internal/convo"
)

// A Queue is the one writer of a store. Whoever pushes never waits for the
// disk; one goroutine writes what has gathered, in order, many entries in one
// transaction. What cannot be written stays at the head of the queue and is
// tried again with each later Push, Flush, Sync and Do.
type Queue struct {
	write Write
	wake  chan struct{} // one token: there is something new to do
	ended chan struct{} // closed when the goroutine has returned

	mu      sync.Mutex // guards the rest
	waiting []*Entry
	asks    []ask
	pushed  int64 // entries ever pushed
	written int64 // entries ever written
	unsure  bool  // something written would not outlive a loss of power
	failed  error // of the last try
	warning error // to be told once
	closed  bool
}

// An Entry is one thing to write: a session that begins, or a row of one.
type Entry struct {
	Session string
	Begin   *Session
	Row     Row // not linked yet

	event   convo.Event
	encoded bool
}

// Write keeps a batch in one transaction, wholly or not at all; durable asks
// that it and all before it outlive a loss of power. Only the queue's goroutine
// calls it, with an empty batch when there is nothing but durability to give.
// After *Lost the batch is done with: trying again would not help.
type Write func(batch []*Entry, durable bool) error

// ask is somebody waiting: for the entries up to a number, and then for do.
type ask struct {
	upto    int64
	durable bool
	do      func() error
	answer  chan error
}

// A batch is bounded so that a full disk which has a little room again takes
// at least a part, and so that other processes get their turn.
const (
	batchEntries = 256
	batchBytes   = 4 << 20
)

// ErrClosed is the answer of a store that was closed.
var ErrClosed = errors.New("the store is closed")

// NewQueue starts the writer.
func NewQueue(w Write) *Queue {
	q := &Queue{write: w, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go q.run()
	return q
}

// Push adds an event. The error is what keeps earlier entries from being
// written; this one is queued all the same, unless the queue is closed.
func (q *Queue) Push(session string, e convo.Event) error {
	return q.push(&Entry{Session: session, event: e})
}

// Begin adds a session that begins.
func (q *Queue) Begin(s Session) error {
	return q.push(&Entry{Session: s.ID, Begin: &s, encoded: true})
}

func (q *Queue) push(e *Entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.waiting = append(q.waiting, e)
	q.pushed++
	q.nudge()
	return q.trouble(false)
}

// Flush returns when all that was pushed before it is written.
func (q *Queue) Flush(ctx context.Context) error { return q.wait(ctx, false, nil) }

// Sync returns when all that was pushed before it outlives a loss of power.
func (q *Queue) Sync(ctx context.Context) error { return q.wait(ctx, true, nil) }

// Drain waits like Flush, for those who read. It tells no trouble, which is for
// those who write.
func (q *Queue) Drain(ctx context.Context) error {
	q.mu.Lock()
	idle := !q.closed && q.written == q.pushed
	q.mu.Unlock()
	if idle {
		return nil
	}
	return q.wait(ctx, false, func() error { return nil })
}

// Do runs f in the writer's goroutine, behind all that was pushed before it. f
// runs also when that could not be written: it may have nothing to do with it.
// Once queued it is not called off, so that its caller knows what came of it.
func (q *Queue) Do(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.wait(context.WithoutCancel(ctx), false, f)
}

// Close tries a last time to write what waits, and stops the writer. The second
// time it is ErrClosed.
func (q *Queue) Close() error {
	err := q.Sync(context.Background())
	q.mu.Lock()
	q.closed = true
	q.nudge()
	q.mu.Unlock()
	<-q.ended
	return err
}

// Unwritten is how many events of a session still wait.
func (q *Queue) Unwritten(session string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, e := range q.waiting {
		if e.Session == session && e.Begin == nil {
			n++
		}
	}
	return n
}

func (q *Queue) wait(ctx context.Context, durable bool, do func() error) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	if do == nil && q.written == q.pushed && !(durable && q.unsure) {
		defer q.mu.Unlock()
		return q.trouble(durable)
	}
	a := ask{q.pushed, durable, do, make(chan error, 1)}
	q.asks = append(q.asks, a)
	q.nudge()
	q.mu.Unlock()
	select {
	case err := <-a.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nudge lets the writer look again. Call it with mu held.
func (q *Queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// trouble is what whoever pushes or waits must know. That only durability could
// not be given is for those who ask for it. Call it with mu held.
func (q *Queue) trouble(durable bool) error {
	if q.failed != nil && (durable || len(q.waiting) > 0) {
		return q.unsaved()
	}
	if w := q.warning; w != nil {
		q.warning = nil
		return &Unsaved{Events: 1, Err: w}
	}
	return nil
}

func (q *Queue) unsaved() error {
	n := 0
	for _, e := range q.waiting {
		if e.Begin == nil {
			n++
		}
	}
	return &Unsaved{Events: n, Err: q.failed}
}

func (q *Queue) run() {
	defer close(q.ended)
	for range q.wake {
		for q.round() {
		}
		q.mu.Lock()
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return
		}
	}
}

// round writes one batch and answers who waited for it. It reports whether it
// should be called again at once.
func (q *Queue) round() bool {
	batch, warning := q.take()
	durable, work := q.wanted(len(batch))
	if !work {
		return false
	}
	var err error
	if len(batch) > 0 || durable {
		err = q.write(batch, durable)
	}
	for _, a := range q.settle(len(batch), durable, err, warning) {
		a.answer <- q.reply(a)
	}
	return err == nil
}

// take gives the next batch, its events encoded. It stays in waiting until it
// is written; until then only the writer looks into its entries.
func (q *Queue) take() (batch []*Entry, warning error) {
	q.mu.Lock()
	batch = q.waiting[:min(len(q.waiting), batchEntries)]
	q.mu.Unlock()
	bytes := 0
	for i, e := range batch {
		if bytes > batchBytes {
			return batch[:i], warning
		}
		warning = errors.Join(warning, e.encode())
		bytes += len(e.Row.Content) + len(e.Row.Data)
	}
	return batch, warning
}

func (e *Entry) encode() (err error) {
	if !e.encoded {
		e.Row, err = NewRow(e.event)
		e.event, e.encoded = convo.Event{}, true
	}
	return err
}

// wanted says whether there is anything to do, and whether someone who needs no
// more than the next n entries wants them durable.
func (q *Queue) wanted(n int) (durable, work bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range q.asks {
		if a.durable && a.upto <= q.written+int64(n) {
			durable = n > 0 || q.unsure
		}
	}
	return durable, n > 0 || len(q.asks) > 0
}

// settle takes note of what became of a batch of n and gives those whose turn
// it is. When it failed all are answered: nobody waits for a disk to be emptied.
func (q *Queue) settle(n int, durable bool, err, warning error) (ready []ask) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if lost := (*Lost)(nil); errors.As(err, &lost) {
		warning, err = errors.Join(warning, err), nil
	}
	q.failed = err
	q.warning = errors.Join(q.warning, warning)
	if err != nil {
		ready, q.asks = q.asks, nil
		return ready
	}
	clear(q.waiting[:n]) // the array outlives the slice: let the written ones go
	q.waiting = q.waiting[n:]
	q.written += int64(n)
	q.unsure = (q.unsure || n > 0) && !durable
	var later []ask
	for _, a := range q.asks {
		if a.upto > q.written || a.durable && q.unsure {
			later = append(later, a)
		} else {
			ready = append(ready, a)
		}
	}
	q.asks = later
	return ready
}

func (q *Queue) reply(a ask) error {
	if a.do != nil {
		return a.do()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.trouble(a.durable)
}
