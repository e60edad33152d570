package memory_test

import (
	"testing"

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
