// Package relational keeps sessions in an SQL database. All that SQLite and
// PostgreSQL do alike is here, once; what each does its own way is an Engine.
//
// One goroutine with one connection writes; a few other connections read. A
// read sees what this process appended before it, as far as that could be
// written.
package relational

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/store"
)

// An Engine is one database and its ways. SQL is written with $1, $2, ... .
type Engine struct {
	Where   string  // for messages; no password
	Writer  *sql.DB // one connection of it is used to write
	Readers *sql.DB

	Begin      string // starts a transaction that outlives kill -9
	Quick      string // said between transactions: that is enough for those that follow
	Safe       string // so too: they, with all before them, outlive a loss of power; empty where all do
	BeginSetup string // starts one that no other process runs beside
	Like       string // the operator that matches a pattern whatever the case of ASCII letters

	// Schema holds the migrations: 0001.sql, 0002.sql, ... .
	Schema fs.FS

	// Setup readies a new writing connection.
	Setup func(ctx context.Context, c *sql.Conn) error

	// Made reports whether the database has been used by us before. One that
	// belongs to somebody else is an error.
	Made func(ctx context.Context, c *sql.Conn) (bool, error)

	// Migrated is called when the schema has changed, outside of a transaction.
	Migrated func(ctx context.Context, c *sql.Conn) error

	// Lock makes this process the only one that writes a session, and reports
	// false when another one is. What it locks with the connection is lost with it.
	Lock   func(ctx context.Context, c *sql.Conn, session string) (bool, error)
	Unlock func(ctx context.Context, c *sql.Conn, session string) error

	// Explain gives an error of the driver in the words of store, with the next step.
	Explain func(error) error

	// Patience bounds one transaction; 0 where the driver has a bound of its own.
	Patience time.Duration
}

// Store is a store.Store and a store.Searcher.
type Store struct {
	engine Engine
	queue  *store.Queue
	writer *writer // of the queue's goroutine alone

	mu   sync.Mutex       // guards last
	last map[string]int64 // the last Seq that was taken, for each session begun here
}

// Open readies the database: it is made when it is new, brought up to date when
// it is older, and refused with *store.Unusable, untouched, when it is newer.
// When it fails it has closed the engine.
func Open(ctx context.Context, e Engine) (*Store, error) {
	s := &Store{engine: e, writer: &writer{engine: e, open: map[string]*tail{}}, last: map[string]int64{}}
	if err := s.writer.connect(ctx); err != nil {
		return nil, errors.Join(e.Explain(err), s.free())
	}
	if err := migrate(ctx, e, s.writer.conn); err != nil {
		return nil, errors.Join(e.Explain(err), s.free())
	}
	s.queue = store.NewQueue(s.write)
	return s, nil
}

func (s *Store) write(batch []*store.Entry, durable bool) error {
	ctx, done := s.engine.bounded()
	defer done()
	return s.engine.Explain(s.writer.write(ctx, batch, durable))
}

func (e Engine) bounded() (context.Context, context.CancelFunc) {
	if e.Patience == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), e.Patience)
}

// do runs f with the writer's connection, behind all that was appended.
func (s *Store) do(ctx context.Context, f func(context.Context, *writer) error) error {
	return s.queue.Do(ctx, func() error {
		ctx, done := s.engine.bounded()
		defer done()
		if err := s.writer.connect(ctx); err != nil {
			return s.engine.Explain(err)
		}
		err := f(ctx, s.writer)
		if err != nil && s.writer.conn != nil {
			s.writer.dropIfDead(ctx)
		}
		return s.engine.Explain(err)
	})
}

// Begin makes or opens a session.
func (s *Store) Begin(ctx context.Context, it store.Session) error {
	it.Events, it.Calls, it.LastWords = 0, 0, ""
	var last int64
	err := s.do(ctx, func(ctx context.Context, w *writer) (err error) {
		last, err = w.begin(ctx, it)
		return err
	})
	if err != nil {
		return s.named(ctx, err)
	}
	s.mu.Lock()
	s.last[it.ID] = last
	s.mu.Unlock()
	if err := s.queue.Begin(it); err != nil {
		return err
	}
	return s.queue.Flush(ctx)
}

// named puts into a *Busy who it is.
func (s *Store) named(ctx context.Context, err error) error {
	busy := (*store.Busy)(nil)
	if !errors.As(err, &busy) || busy.PID != 0 {
		return err
	}
	row := s.engine.Readers.QueryRowContext(ctx, `SELECT pid, host FROM sessions WHERE id = $1`, busy.Session)
	if e := row.Scan(&busy.PID, &busy.Host); e != nil && !errors.Is(e, sql.ErrNoRows) {
		return errors.Join(err, s.engine.Explain(e))
	}
	return err
}

// End lets a session go. While events of it are unsaved it is kept: another
// process would go on from a wrong place.
func (s *Store) End(ctx context.Context, id string) error {
	if !s.begun(id) {
		return nil
	}
	if err := s.queue.Flush(ctx); err != nil && s.queue.Unwritten(id) > 0 {
		return err
	}
	s.forget(id)
	return s.do(ctx, func(ctx context.Context, w *writer) error { return w.end(ctx, id) })
}

func (s *Store) begun(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.last[id]
	return ok
}

func (s *Store) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, id)
}

// Update changes title, branch and model.
func (s *Store) Update(ctx context.Context, it store.Session) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		return w.transact(ctx, w.quickly, func() error {
			n, err := affected(w.conn.ExecContext(ctx, `UPDATE sessions SET title = $2, branch = $3, model = $4 WHERE id = $1`,
				it.ID, clean(it.Title), clean(it.Branch), clean(it.Model)))
			if err == nil && n == 0 {
				err = &store.NoSession{ID: it.ID}
			}
			return err
		})
	})
}

// Remove deletes a session and its events.
func (s *Store) Remove(ctx context.Context, id string) error {
	s.forget(id)
	err := s.do(ctx, func(ctx context.Context, w *writer) error { return w.remove(ctx, id) })
	return s.named(ctx, err)
}

// Append keeps an event.
func (s *Store) Append(_ context.Context, id string, e convo.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[id]
	if !ok {
		return &store.NoSession{ID: id}
	}
	if err := (&store.Session{ID: id, Events: last}).Next(e.Seq); err != nil {
		return err
	}
	s.last[id] = e.Seq
	return s.queue.Push(id, e)
}

// Flush returns when what was appended outlives this process.
func (s *Store) Flush(ctx context.Context) error { return s.queue.Flush(ctx) }

// Sync returns when what was appended outlives a loss of power.
func (s *Store) Sync(ctx context.Context) error { return s.queue.Sync(ctx) }

// Close writes what waits, lets all sessions go and frees the database.
func (s *Store) Close() error {
	err := s.queue.Close()
	if errors.Is(err, store.ErrClosed) {
		return nil
	}
	return errors.Join(err, s.free())
}

// free is called when no goroutine writes any more.
func (s *Store) free() error {
	ctx, done := s.engine.bounded()
	defer done()
	return errors.Join(s.writer.close(ctx), s.engine.Readers.Close(), s.engine.Writer.Close())
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// owner is who has a session open, for the message to others.
func owner() (pid int, host string) {
	host, _ = os.Hostname() // without a name the pid says enough
	return os.Getpid(), clean(host)
}
