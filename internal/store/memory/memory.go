// Package memory keeps sessions as long as the process lives: for tests, and
// for a run that shall leave nothing behind.
package memory

import (
	"cmp"
	"context"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/convo"
	"ikigai/internal/store"
)

// Store is a store.Store and a store.Searcher.
type Store struct {
	most     int          // bytes of one session that are kept; no bound when zero
	mu       sync.RWMutex // guards sessions and all that is in them
	sessions map[string]*session
}

type session struct {
	store.Session
	rows  []store.Row // appended to or replaced: a reader may go on with an older slice
	gone  int64       // how many rows were before them
	bytes int         // of the rows
	head  store.Hash
	open  bool
}

// New makes an empty one.
func New() *Store { return &Store{sessions: map[string]*session{}} }

// Bounded makes one that keeps the last events of a session, about so many bytes
// of them: a run that leaves nothing behind may go on for days.
func Bounded(bytes int) *Store { return &Store{most: bytes, sessions: map[string]*session{}} }

// Begin makes or opens a session.
func (m *Store) Begin(_ context.Context, s store.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.sessions[s.ID]
	if !ok {
		s.Events, s.Calls, s.LastWords = 0, 0, ""
		it = &session{Session: s, head: store.Genesis(s.ID)}
		m.sessions[s.ID] = it
	}
	if it.open {
		return busy(s.ID)
	}
	it.open = true
	return nil
}

func busy(id string) error {
	host, _ := os.Hostname() // a name to show; without one the pid says enough
	return &store.Busy{Session: id, PID: os.Getpid(), Host: host}
}

// End lets a session go.
func (m *Store) End(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if it, ok := m.sessions[id]; ok {
		it.open = false
	}
	return nil
}

// Session finds one by its id or a unique prefix.
func (m *Store) Session(_ context.Context, id string) (store.Session, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if it, ok := m.sessions[id]; ok {
		return it.Session, nil
	}
	var found []string
	for other := range m.sessions {
		if id != "" && strings.HasPrefix(other, id) {
			found = append(found, other)
		}
	}
	if len(found) == 1 {
		return m.sessions[found[0]].Session, nil
	}
	slices.Sort(found)
	return store.Session{}, &store.NoSession{ID: id, Several: found}
}

// Sessions lists them, the last used first.
func (m *Store) Sessions(_ context.Context, f store.Filter) iter.Seq2[store.Session, error] {
	return func(yield func(store.Session, error) bool) {
		for i, s := range m.list(f.Dir) {
			if f.Limit > 0 && i >= f.Limit || !yield(s, nil) {
				return
			}
		}
	}
}

func (m *Store) list(dir string) []store.Session {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []store.Session
	for _, it := range m.sessions {
		if dir == "" || it.Dir == dir {
			all = append(all, it.Session)
		}
	}
	slices.SortFunc(all, func(a, b store.Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	return all
}

// Update changes title, branch and model.
func (m *Store) Update(_ context.Context, s store.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.sessions[s.ID]
	if !ok {
		return &store.NoSession{ID: s.ID}
	}
	it.Title, it.Branch, it.Model = s.Title, s.Branch, s.Model
	return nil
}

// Remove deletes a session.
func (m *Store) Remove(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sessions[id]; !ok {
		return &store.NoSession{ID: id}
	}
	delete(m.sessions, id)
	return nil
}

// Append keeps an event.
func (m *Store) Append(_ context.Context, id string, e convo.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.sessions[id]
	if !ok || !it.open {
		return &store.NoSession{ID: id}
	}
	if err := it.Next(e.Seq); err != nil {
		return err
	}
	row, err := store.NewRow(e)
	row = row.After(it.head)
	it.rows = append(it.rows, row)
	it.bytes += weight(row)
	it.head = row.Hash
	if m.most > 0 && it.bytes > 2*m.most {
		it.shrink(m.most)
	}
	it.Count(row)
	if err != nil {
		return &store.Unsaved{Events: 1, Err: err}
	}
	return nil
}

// shrink lets the oldest rows go, so that it is rarely done.
func (s *session) shrink(most int) {
	n := 0
	for ; s.bytes > most && n < len(s.rows)-1; n++ {
		s.bytes -= weight(s.rows[n])
	}
	s.rows, s.gone = slices.Clone(s.rows[n:]), s.gone+int64(n)
}

func weight(r store.Row) int { return 256 + len(r.Content) + len(r.Data) + len(r.Keep) }

// Flush has nothing to wait for.
func (m *Store) Flush(context.Context) error { return nil }

// Sync has nothing to wait for.
func (m *Store) Sync(context.Context) error { return nil }

// Events gives the events above after.
func (m *Store) Events(ctx context.Context, id string, after int64) iter.Seq2[convo.Event, error] {
	return store.Decode(m.Rows(ctx, id, after))
}

// Rows gives them as they are stored.
func (m *Store) Rows(_ context.Context, id string, after int64) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		rows, gone, err := m.rows(id)
		if err != nil {
			yield(store.Row{}, err)
			return
		}
		for _, r := range rows[min(max(after-gone, 0), int64(len(rows))):] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// rows are those of a session that are kept, and how many were before them.
func (m *Store) rows(id string) ([]store.Row, int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	it, ok := m.sessions[id]
	if !ok {
		return nil, 0, &store.NoSession{ID: id}
	}
	return it.rows, it.gone, nil
}

// Head is the hash of the last event.
func (m *Store) Head(_ context.Context, id string) (string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	it, ok := m.sessions[id]
	if !ok {
		return "", &store.NoSession{ID: id}
	}
	return it.head.String(), nil
}

// Search finds the events that hold all the words.
func (m *Store) Search(_ context.Context, query string, limit int) iter.Seq2[store.Hit, error] {
	return func(yield func(store.Hit, error) bool) {
		words, left := store.Words(query), limit
		for _, s := range m.list("") {
			rows, _, err := m.rows(s.ID)
			if err != nil {
				continue // it was removed since the list was made
			}
			for _, r := range slices.Backward(rows) {
				if !store.Holds(r.Content, words) {
					continue
				}
				if !yield(store.NewHit(s, r, words), nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
		}
	}
}

// Close forgets nothing: whoever holds the Store may still read it.
func (m *Store) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, it := range m.sessions {
		it.open = false
	}
	return nil
}
