package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, plainly)) }

func plainly(ctx context.Context, where string) (store.Store, error) {
	return sqlite.Open(ctx, where, sqlite.Options{})
}

func TestSQLiteIsAStore(t *testing.T) {
	storetest.Run(t, fresh)
	storetest.RunShared(t, fresh)
}

func TestSQLiteAmongProcesses(t *testing.T) {
	storetest.RunProcesses(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") }, plainly, quickCheck)
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

// quickCheck has SQLite itself look at the file.
func quickCheck(t *testing.T, path string) {
	t.Helper()
	var verdict string
	if err := raw(t, path).QueryRow(`PRAGMA quick_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("quick_check says %q, %v", verdict, err)
	}
}

// raw is the database without us.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
