package belated_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/belated"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

var errFull = errors.New("the disk is full")

// A shut is a store that cannot be opened until it is told so.
type shut struct {
	path string
	free bool
}

func (s *shut) open(ctx context.Context) (store.Store, error) {
	if !s.free {
		return nil, errFull
	}
	return sqlite.Open(ctx, s.path, sqlite.Options{})
}

func begin(t *testing.T, s store.Store) {
	t.Helper()
	for n := int64(0); n <= 20; n++ {
		err := s.Begin(t.Context(), storetest.NewSession("a"))
		if n > 0 {
			err = s.Append(t.Context(), "a", storetest.Event(n))
		}
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || int64(u.Events) != n || !errors.Is(err, errFull) {
			t.Fatalf("after %d events: %v", n, err)
		}
	}
}

func kept(t *testing.T, path string) int {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := len(storetest.Collect(t, s.Events(t.Context(), "a", 0)))
	if err := storetest.Verify(t, s, "a"); err != nil {
		t.Error(err)
	}
	return n
}

func TestEverythingMovesOnceTheStoreOpens(t *testing.T) {
	real := &shut{path: filepath.Join(t.TempDir(), "a.db")}
	s := belated.New(real.open, errFull)
	begin(t, s)
	for _, safe := range []func(context.Context) error{s.Flush, s.Sync} {
		if err := safe(t.Context()); !errors.As(err, new(*store.Unsaved)) {
			t.Errorf("nothing is safe, and it says %v", err)
		}
	}
	real.free = true
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Append(t.Context(), "a", storetest.Event(21)), s.Flush(t.Context()), s.End(t.Context(), "a"), s.Close()); err != nil {
		t.Fatal(err)
	}
	if n := kept(t, real.path); n != 21 {
		t.Errorf("%d events are kept", n)
	}
}

func TestASessionThatEndedIsMovedAtTheEnd(t *testing.T) {
	real := &shut{path: filepath.Join(t.TempDir(), "a.db")}
	s := belated.New(real.open, errFull)
	begin(t, s)
	if err := s.End(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	real.free = true
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := kept(t, real.path); n != 20 {
		t.Errorf("%d events are kept", n)
	}
}

func TestWhatIsNeverSavedIsSaidInTheEnd(t *testing.T) {
	s := belated.New((&shut{}).open, errFull)
	begin(t, s)
	if n := len(storetest.Collect(t, s.Events(t.Context(), "a", 0))); n != 20 {
		t.Errorf("%d events can be read meanwhile", n)
	}
	if err := s.Close(); !errors.As(err, new(*store.Unsaved)) || !errors.Is(err, errFull) {
		t.Errorf("Close says %v", err)
	}
}
