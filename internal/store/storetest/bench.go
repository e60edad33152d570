package storetest

import (
	"testing"

	"ikigai/internal/store"
)

// BenchmarkAppend measures what an event costs whoever appends it.
func BenchmarkAppend(b *testing.B, s store.Store) {
	if err := s.Begin(b.Context(), NewSession("a")); err != nil {
		b.Fatal(err)
	}
	n := int64(0)
	for b.Loop() {
		n++
		if err := s.Append(b.Context(), "a", Event(n)); err != nil {
			b.Fatal(err)
		}
	}
}
