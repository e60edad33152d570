//go:build unix

package postgres_test

import (
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/postgres"
	"ikigai/internal/store/storetest"
)

func BenchmarkAppend(b *testing.B) { storetest.BenchmarkAppend(b, benchStore(b)) }
func BenchmarkFlush(b *testing.B)  { storetest.BenchmarkFlush(b, benchStore(b)) }
func BenchmarkLoad(b *testing.B)   { storetest.BenchmarkLoad(b, benchStore(b), 10_000) }
func BenchmarkSearch(b *testing.B) { storetest.BenchmarkSearch(b, benchStore(b), 50_000) }

func benchStore(b *testing.B) store.Store { return open(b, address(b), postgres.Options{}) }
