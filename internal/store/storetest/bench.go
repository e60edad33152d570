package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/tool"
)

// BenchmarkAppend measures what an event costs whoever appends it. The events
// come in turns of 64, as they would with a model that thinks in between.
func BenchmarkAppend(b *testing.B, s store.Store) {
	begun(b, s)
	n, events := int64(0), make([]convo.Event, 64)
	for i := range events {
		events[i] = BigEvent(int64(i))
	}
	for b.Loop() {
		n++
		e := events[n%64]
		e.Seq = n
		if err := s.Append(b.Context(), "a", e); err != nil {
			b.Fatal(err)
		}
		if n%64 == 0 {
			b.StopTimer()
			if err := s.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}

// BenchmarkFlush measures how long it takes until an event outlives the process.
func BenchmarkFlush(b *testing.B, s store.Store) { each(b, s, store.Store.Flush) }

// BenchmarkSync measures how long it takes until an event outlives a loss of power.
func BenchmarkSync(b *testing.B, s store.Store) { each(b, s, store.Store.Sync) }

func each(b *testing.B, s store.Store, wait func(store.Store, context.Context) error) {
	begun(b, s)
	n := int64(0)
	for b.Loop() {
		n++
		if err := s.Append(b.Context(), "a", BigEvent(n)); err != nil {
			b.Fatal(err)
		}
		if err := wait(s, b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func begun(b testing.TB, s store.Store) {
	if err := s.Begin(b.Context(), NewSession("a")); err != nil {
		b.Fatal(err)
	}
}

// Fill begins a session of n events.
func Fill(b testing.TB, s store.Store, n int64) {
	begun(b, s)
	for i := int64(1); i <= n; i++ {
		if err := s.Append(b.Context(), "a", BigEvent(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLoad measures how long it takes to read a session of n events.
func BenchmarkLoad(b *testing.B, s store.Store, n int64) {
	Fill(b, s, n)
	for b.Loop() {
		Load(b, s, n)
	}
}

// Load reads a session of n events.
func Load(t testing.TB, s store.Store, n int64) {
	found := int64(0)
	for _, err := range s.Events(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		found++
	}
	if found != n {
		t.Fatalf("%d events, want %d", found, n)
	}
}

// BenchmarkSearch measures a search that goes through all of a session of n
// events and finds nothing.
func BenchmarkSearch(b *testing.B, s store.Store, n int64) {
	Fill(b, s, n)
	for b.Loop() {
		for h, err := range s.(store.Searcher).Search(b.Context(), "nowhere to be found", 20) {
			b.Fatal(h, err)
		}
	}
}

// BigEvent is like Event, with a tool result as long as most are: rows have
// about 700 bytes on average.
func BigEvent(n int64) convo.Event {
	if n%4 != 3 {
		return Event(n)
	}
	e := convo.Of("40 lines", convo.ToolResult{Result: tool.Result{CallID: "call", Name: "grep", Data: longOutput(), Took: time.Millisecond}})
	e.Seq, e.At = n, start
	return e
}

func longOutput() json.RawMessage {
	return json.RawMessage(`{"output":"` + strings.Repeat(`internal/store/row.go:40:\tfunc \"quoted\"\n`, 40) + `"}`)
}
