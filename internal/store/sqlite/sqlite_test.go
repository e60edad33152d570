package sqlite_test

import (
	"path/filepath"
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

func TestSQLiteIsAStore(t *testing.T) {
	storetest.Run(t, fresh)
	storetest.RunShared(t, fresh)
}

func fresh(t *testing.T) storetest.Open {
	path := filepath.Join(t.TempDir(), "sub folder", "a?b#c%20.db")
	return func(t *testing.T) store.Store { return open(t, path, sqlite.Options{}) }
}

func open(t testing.TB, path string, o sqlite.Options) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), "sqlite:"+path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
