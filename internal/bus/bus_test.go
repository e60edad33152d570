package bus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"ikigai/internal/convo"
)

func delta(reply, text string) convo.Event {
	e := convo.Of(text, convo.Delta{})
	e.Reply = reply
	return e
}

// drain is a reader that sleeps while publish runs and then takes what waits.
func drain(b *Bus, publish func()) []convo.Event {
	r, _, _ := b.join()
	defer b.leave(r)
	publish()
	return r.take()
}

func TestSlowReaderGetsDeltasMerged(t *testing.T) {
	b := New(nil)
	got := drain(b, func() {
		for i := range 1000 {
			b.Publish(delta("r1", fmt.Sprint(i, " ")))
		}
		b.Publish(delta("r2", "other"))
		b.Publish(convo.Event{Kind: convo.KindAssistant, Seq: 1, Text: "whole"})
	})
	if len(got) != 3 {
		t.Fatalf("got %d events, want the deltas of two replies and one text", len(got))
	}
	if n := len(strings.Fields(got[0].Text)); n != 1000 {
		t.Errorf("%d of 1000 pieces arrived", n)
	}
}

func TestDurableEventsAreNeverMerged(t *testing.T) {
	b := New(nil)
	got := drain(b, func() {
		for i := range 50 {
			b.Publish(convo.Event{Kind: convo.KindUser, Seq: int64(i + 1), Text: "same"})
		}
	})
	if len(got) != 50 {
		t.Errorf("%d of 50 events arrived", len(got))
	}
}

func TestOutputOfOneCallKeepsItsTail(t *testing.T) {
	b := New(nil)
	got := drain(b, func() {
		for range 1000 {
			b.Publish(convo.Of(strings.Repeat("x", 1000), convo.ToolOutput{CallID: "a"}))
		}
		b.Publish(convo.Of("end", convo.ToolOutput{CallID: "a"}))
		b.Publish(convo.Of("other", convo.ToolOutput{CallID: "b"}))
	})
	if len(got) != 2 {
		t.Fatalf("got %d events, want one per call", len(got))
	}
	if n := len(got[0].Text); n != maxOutput {
		t.Errorf("%d bytes wait for the reader, want %d", n, maxOutput)
	}
	if !strings.HasSuffix(got[0].Text, "end") {
		t.Error("the newest output was dropped")
	}
}

func TestReaderSeesStoredThenLiveWithoutGap(t *testing.T) {
	var stored []convo.Event
	for i := range 10 {
		stored = append(stored, convo.Event{Kind: convo.KindUser, Seq: int64(i + 1)})
	}
	b := New(stored)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			want := int64(4)
			for e := range b.Events(ctx, 3) {
				if e.Seq != want {
					t.Errorf("event %d, want %d", e.Seq, want)
					return
				}
				if want == 500 {
					return
				}
				want++
			}
		})
	}
	for i := int64(11); i <= 500; i++ {
		b.Publish(convo.Event{Kind: convo.KindUser, Seq: i})
	}
	wg.Wait()
}

func TestEventsEndWithTheirContext(t *testing.T) {
	b := New(nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.Publish(convo.Event{Kind: convo.KindUser, Seq: 1})
	n := 0
	for range b.Events(ctx, 0) {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.readers) != 0 {
		t.Error("the reader was not let go")
	}
}

func BenchmarkPublishDelta(b *testing.B) {
	bus := New(nil)
	e := delta("r", "token ")
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(e)
	}
}

func TestForgottenEventsAreReadFromWhereTheyAreKept(t *testing.T) {
	var kept []convo.Event
	b := New(nil)
	publish := func(n int) {
		for range n {
			e := convo.Event{Kind: convo.KindUser, Seq: int64(len(kept) + 1)}
			kept = append(kept, e)
			b.Publish(e)
		}
	}
	broken := false
	older := func(after int64) iter.Seq2[convo.Event, error] {
		return func(yield func(convo.Event, error) bool) {
			if broken {
				yield(convo.Event{}, errors.New("the disk is gone"))
				return
			}
			for _, e := range kept[after:] {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	read := func(after int64) (seqs []int64) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for e := range b.Events(ctx, after) {
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	publish(10)
	b.Forget(8, older)
	publish(2)
	for after := range int64(13) {
		got := read(after)
		if len(got) != 12-int(after) || len(got) > 0 && (got[0] != after+1 || got[len(got)-1] != 12) {
			t.Errorf("after %d: %v", after, got)
		}
	}
	broken = true
	if got := read(0); len(got) != 6 || got[0] != 0 || got[1] != 8 {
		t.Errorf("without the older events: %v, want a notice and what is there", got)
	}
	if got := read(7); len(got) != 5 {
		t.Errorf("what is in memory needs nothing else: %v", got)
	}
}
