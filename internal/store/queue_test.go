package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is a Write that can be full, and remembers.
type disk struct {
	mu      sync.Mutex
	full    error
	kept    []int64
	batches int
	safe    int // how many of kept are durable
	gate    chan struct{}
}

func (d *disk) write(batch []*store.Entry, durable bool) error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full != nil {
		return d.full
	}
	d.batches++
	for _, e := range batch {
		d.kept = append(d.kept, e.Row.Seq)
	}
	if durable {
		d.safe = len(d.kept)
	}
	return nil
}

func (d *disk) set(full error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *disk) inOrder(t *testing.T, n int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, seq := range d.kept {
		if seq != int64(i+1) {
			t.Fatalf("place %d has event %d", i, seq)
		}
	}
	if len(d.kept) != n {
		t.Errorf("%d events are kept, want %d", len(d.kept), n)
	}
}

func push(t *testing.T, q *store.Queue, from, to int64) {
	t.Helper()
	for n := from; n <= to; n++ {
		if err := q.Push("a", storetest.Event(n)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatGathersIsWrittenTogether(t *testing.T) {
	d := &disk{gate: make(chan struct{})}
	q := store.NewQueue(d.write)
	push(t, q, 1, 1000)
	close(d.gate)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	d.inOrder(t, 1000)
	if d.batches > 10 {
		t.Errorf("%d batches for 1000 events", d.batches)
	}
	if d.safe != 1000 {
		t.Errorf("%d events are durable after Close", d.safe)
	}
}

func TestFullDiskKeepsEventsInOrderUntilThereIsRoom(t *testing.T) {
	d, full := &disk{}, errors.New("disk full")
	q := store.NewQueue(d.write)
	push(t, q, 1, 3)
	if err := q.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.set(full)
	for n := int64(4); n <= 700; n++ {
		q.Push("a", storetest.Event(n)) // the error comes when the writer has tried
	}
	for _, wait := range []func(context.Context) error{q.Flush, q.Sync} {
		err := wait(t.Context())
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || u.Events != 697 || !errors.Is(err, full) {
			t.Errorf("got %v, want 697 events unsaved", err)
		}
	}
	if err := q.Push("a", storetest.Event(701)); !errors.Is(err, full) {
		t.Errorf("Push says %v", err)
	}
	if n := q.Unwritten("a"); n != 698 {
		t.Errorf("%d events wait, want 698", n)
	}
	d.inOrder(t, 3)
	d.set(nil)
	if err := q.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := q.Push("a", storetest.Event(702)); err != nil {
		t.Errorf("after all was saved Push says %v", err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	d.inOrder(t, 702)
}

func TestCloseSaysWhatIsUnsaved(t *testing.T) {
	full := errors.New("disk full")
	d := &disk{full: full}
	q := store.NewQueue(d.write)
	q.Push("a", storetest.Event(1))
	if err := q.Close(); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{q.Close(), q.Push("a", storetest.Event(2)), q.Flush(t.Context()), q.Sync(t.Context())} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("a closed queue says %v", err)
		}
	}
}

func TestSyncMakesDurableWhatFlushWrote(t *testing.T) {
	d := &disk{}
	q := store.NewQueue(d.write)
	defer q.Close()
	push(t, q, 1, 5)
	for _, step := range []struct {
		wait func(context.Context) error
		safe int
	}{{q.Flush, 0}, {q.Sync, 5}, {q.Sync, 5}} {
		if err := step.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.safe != step.safe {
			t.Errorf("%d events are durable, want %d", d.safe, step.safe)
		}
	}
	batches := d.batches
	if err := q.Sync(t.Context()); err != nil || d.batches != batches {
		t.Errorf("a Sync with nothing to do went to the disk: %v", err)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	d := &disk{gate: make(chan struct{})}
	q := store.NewQueue(d.write)
	push(t, q, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(d.gate)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	d.inOrder(t, 1)
}

func TestDoComesAfterWhatWasPushed(t *testing.T) {
	d := &disk{}
	q := store.NewQueue(d.write)
	defer q.Close()
	push(t, q, 1, 600)
	boom := errors.New("boom")
	err := q.Do(t.Context(), func() error {
		d.inOrder(t, 600)
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	d.set(errors.New("disk full"))
	q.Push("a", storetest.Event(601))
	ran := false
	if err := q.Do(t.Context(), func() error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("with a full disk: ran %v, %v", ran, err)
	}
}

func TestLostEventsAreToldOnceAndBlockNothing(t *testing.T) {
	first := true
	q := store.NewQueue(func([]*store.Entry, bool) error {
		if first {
			first = false
			return &store.Lost{Session: "a", Events: 1}
		}
		return nil
	})
	push(t, q, 1, 1)
	err := q.Flush(t.Context())
	if l := (*store.Lost)(nil); !errors.As(err, &l) {
		t.Errorf("got %v", err)
	}
	push(t, q, 2, 2)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

func TestDataThatIsNoJSONIsToldOnce(t *testing.T) {
	d := &disk{}
	q := store.NewQueue(d.write)
	q.Push("a", convo.Event{Seq: 1, Kind: convo.KindThinking, Keep: &convo.Opaque{Data: json.RawMessage("{")}})
	err := q.Flush(t.Context())
	if u := (*store.Unsaved)(nil); !errors.As(err, &u) {
		t.Errorf("got %v", err)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	d.inOrder(t, 1)
}
