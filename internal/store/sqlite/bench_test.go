//go:build unix

package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

func BenchmarkAppend(b *testing.B) { storetest.BenchmarkAppend(b, benchStore(b)) }
func BenchmarkFlush(b *testing.B)  { storetest.BenchmarkFlush(b, benchStore(b)) }
func BenchmarkSync(b *testing.B)   { storetest.BenchmarkSync(b, benchStore(b)) }
func BenchmarkSearch(b *testing.B) { storetest.BenchmarkSearch(b, benchStore(b), 50_000) }

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int64{10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { storetest.BenchmarkLoad(b, benchStore(b), n) })
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchStore(b *testing.B) store.Store {
	return open(b, filepath.Join(b.TempDir(), "a.db"), sqlite.Options{})
}
