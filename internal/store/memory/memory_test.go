package memory_test

import (
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/store/storetest"
)

func TestMemoryIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Open {
		m := memory.New()
		return func(*testing.T) store.Store { return m }
	})
}

func TestABoundedOneKeepsTheLastEvents(t *testing.T) {
	m := memory.Bounded(10_000)
	if err := m.Begin(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for seq := range int64(200) {
		e := convo.Event{Seq: seq + 1, Kind: convo.KindUser, Text: strings.Repeat("x", 244)}
		if err := m.Append(t.Context(), "s", e); err != nil {
			t.Fatal(err)
		}
		var first, last, count int64
		for e, err := range m.Events(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if count++; first == 0 {
				first = e.Seq
			}
			last = e.Seq
		}
		if last != seq+1 || count != last-first+1 || count > 40 || seq > 40 && count < 20 {
			t.Fatalf("after %d events: %d, from %d to %d", seq+1, count, first, last)
		}
		if got := m.Events(t.Context(), "s", seq); got != nil {
			for e := range got {
				if e.Seq != seq+1 {
					t.Fatalf("after %d comes %d", seq, e.Seq)
				}
			}
		}
	}
}
