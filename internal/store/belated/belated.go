// Package belated stands in for a store that cannot be opened now, because its
// disk is full or its folder cannot be written. Sessions are kept in memory and
// never claimed as saved; whenever somebody asks for safety the real store is
// tried again, and once it opens it is given everything and takes over.
package belated

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
)

// Store is a store.Store.
type Store struct {
	open func(context.Context) (store.Store, error)

	mu    sync.Mutex  // guards the rest
	now   store.Store // memory, and then the real one
	why   error       // why it is still memory; nil afterwards
	begun []string    // the sessions that are to be moved
	count int         // of the events that are to be moved
}

// New makes one for a store that could not be opened, and why it could not.
// Sync and Close try to open it again.
func New(open func(context.Context) (store.Store, error), why error) *Store {
	return &Store{open: open, now: memory.New(), why: why}
}

// Begin makes a session, with *store.Unsaved as long as it is in memory only.
func (s *Store) Begin(ctx context.Context, session store.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.now.Begin(ctx, session); err != nil {
		return err
	}
	if s.why != nil {
		s.begun = append(s.begun, session.ID)
	}
	return s.unsaved()
}

// Append keeps an event, with *store.Unsaved as long as it is in memory only.
func (s *Store) Append(ctx context.Context, session string, e convo.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.now.Append(ctx, session, e); err != nil {
		return err
	}
	if s.why != nil {
		s.count++
	}
	return s.unsaved()
}

// unsaved says that it is still memory.
func (s *Store) unsaved() error {
	if s.why == nil {
		return nil
	}
	return &store.Unsaved{Events: s.count, Err: s.why}
}

// Flush does not try the real store again: it is called for every event that is
// shown.
func (s *Store) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		return s.unsaved()
	}
	return s.now.Flush(ctx)
}

// Sync tries the real store again and moves everything there.
func (s *Store) Sync(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(ctx)
	if s.why != nil {
		return s.unsaved()
	}
	return s.now.Sync(ctx)
}

// Close tries it a last time. What could not be moved is lost, and that is the
// error.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(context.Background())
	return errors.Join(s.unsaved(), s.now.Close())
}

// move gives the real store everything, if it can be opened.
func (s *Store) move(ctx context.Context) {
	if s.why == nil {
		return
	}
	to, err := s.open(ctx)
	if err != nil {
		s.why = err
		return
	}
	for _, id := range s.begun {
		if err := s.copy(ctx, to, id); err != nil {
			s.why = fmt.Errorf("saving session %s: %w", id, errors.Join(err, to.Close()))
			return
		}
	}
	s.now, s.why, s.begun = to, nil, nil
}

// copy moves one session. What an earlier try has moved of it is there already.
func (s *Store) copy(ctx context.Context, to store.Store, id string) error {
	session, err := s.now.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := to.Begin(ctx, session); err != nil {
		return err
	}
	there, err := to.Session(ctx, id)
	if err != nil {
		return err
	}
	for e, err := range s.now.Events(ctx, id, there.Events) {
		if err == nil {
			err = to.Append(ctx, id, e)
		}
		if err != nil {
			return err
		}
	}
	return to.Sync(ctx)
}

// is the store that is asked now.
func (s *Store) is() store.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// End lets a session go. One in memory stays to be moved.
func (s *Store) End(ctx context.Context, session string) error { return s.is().End(ctx, session) }

// Session finds a session of this process, or any once the real store is there.
func (s *Store) Session(ctx context.Context, id string) (store.Session, error) {
	return s.is().Session(ctx, id)
}

// Sessions lists those that Session finds.
func (s *Store) Sessions(ctx context.Context, f store.Filter) iter.Seq2[store.Session, error] {
	return s.is().Sessions(ctx, f)
}

// Update changes title, branch and model.
func (s *Store) Update(ctx context.Context, session store.Session) error {
	return s.is().Update(ctx, session)
}

// Remove deletes a session.
func (s *Store) Remove(ctx context.Context, session string) error { return s.is().Remove(ctx, session) }

// Events gives the events of a session.
func (s *Store) Events(ctx context.Context, session string, after int64) iter.Seq2[convo.Event, error] {
	return s.is().Events(ctx, session, after)
}

// Rows gives them as they are stored.
func (s *Store) Rows(ctx context.Context, session string, after int64) iter.Seq2[store.Row, error] {
	return s.is().Rows(ctx, session, after)
}

// Head is the hash of a session's last event.
func (s *Store) Head(ctx context.Context, session string) (string, error) {
	return s.is().Head(ctx, session)
}
