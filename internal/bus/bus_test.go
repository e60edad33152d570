package bus

import (
	"context"
	"fmt"
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
	r, _ := b.join()
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
