package relational

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"ikigai/internal/store"
)

// writer writes. Only the queue's goroutine uses it.
type writer struct {
	engine Engine
	conn   *sql.Conn            // nil when it was lost
	ready  map[string]*sql.Stmt // what was prepared for conn, by what it says
	mood   string               // the one of Quick and Safe that was said to conn last
	used   time.Time            // when conn last worked
	open   map[string]*tail     // the sessions begun here
}

// tail is the end of a session as it was last written here.
type tail struct {
	session store.Session
	head    store.Hash
	doubt   bool       // a try failed since: the database must be asked
	found   store.Hash // then: the head that it has
	upto    int64      // and the Seq of it; events up to there are not written again
	skipped int        // how many these were
	taken   bool       // another process went on with the session
	lost    int        // events that can never be kept for that reason
}

const insertEvent = `INSERT INTO events (session, seq, turn, at, kind, content, data_json, reply, keep, exact, prev, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// idle is after how long a connection is tried before it is relied on.
const idle = time.Second

// connect gives the writer a connection when it has none that lives. What was
// locked or written with the old one is in doubt.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && time.Since(w.used) > idle {
		w.dropIfDead(ctx)
	}
	if w.conn != nil {
		return nil
	}
	c, err := w.engine.Writer.Conn(ctx)
	if err != nil {
		return err
	}
	if err := w.engine.Setup(ctx, c); err != nil {
		return errors.Join(err, c.Close())
	}
	w.conn, w.used, w.mood = c, time.Now(), ""
	w.doubtAll()
	if err := w.relock(ctx); err != nil {
		return errors.Join(err, w.drop())
	}
	return nil
}

func (w *writer) doubtAll() {
	for _, t := range w.open {
		t.doubt = true
	}
}

// errHeld is for a server that has not noticed yet that our connection is gone.
var errHeld = errors.New("the lock of the lost connection is not free yet")

// relock takes the locks of all sessions anew. One that is locked is taken by
// another process if that has signed it, and by our own lost connection if not.
func (w *writer) relock(ctx context.Context) error {
	pid, host := owner()
	for id, t := range w.open {
		got, err := w.engine.Lock(ctx, w.conn, id)
		if err != nil {
			return err
		}
		if got || t.taken {
			continue
		}
		var by store.Busy
		err = w.conn.QueryRowContext(ctx, `SELECT pid, host FROM sessions WHERE id = $1`, id).Scan(&by.PID, &by.Host)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if by.PID == pid && by.Host == host {
			return errHeld
		}
		t.taken = true
	}
	return nil
}

// drop gives the connection up for good; it may be in the midst of anything.
func (w *writer) drop() error {
	c := w.conn
	w.unready() // the connection is bad: so may this be
	w.conn = nil
	c.Raw(func(any) error { return driver.ErrBadConn }) // that it comes back is the point
	if err := c.Close(); !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

func (w *writer) dropIfDead(ctx context.Context) {
	if w.conn.PingContext(ctx) != nil {
		w.drop() // a new one is made when it is needed
	}
}

// transact runs f in a transaction that start starts. After a failure nothing of it
// has happened, or the connection broke and nobody knows.
func (w *writer) transact(ctx context.Context, start func(context.Context) error, f func() error) error {
	if err := start(ctx); err != nil {
		return w.abandon(ctx, err)
	}
	if err := f(); err != nil {
		return w.abandon(ctx, err)
	}
	if _, err := w.exec(ctx, `COMMIT`); err != nil {
		return w.abandon(ctx, err)
	}
	return nil
}

// quickly starts a transaction that outlives kill -9.
func (w *writer) quickly(ctx context.Context) error { return w.start(ctx, w.engine.Quick) }

// safely starts one that, with all before it, outlives a loss of power.
func (w *writer) safely(ctx context.Context) error { return w.start(ctx, w.engine.Safe) }

func (w *writer) start(ctx context.Context, mood string) error {
	if mood != w.mood {
		if _, err := w.conn.ExecContext(ctx, mood); err != nil {
			return err
		}
		w.mood = mood
	}
	_, err := w.exec(ctx, w.engine.Begin)
	return err
}

// exec runs what is run again and again: it is prepared once for a connection.
func (w *writer) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s := w.ready[query]
	if s == nil {
		var err error
		if s, err = w.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		if w.ready == nil {
			w.ready = map[string]*sql.Stmt{}
		}
		w.ready[query] = s
	}
	return s.ExecContext(ctx, args...)
}

func (w *writer) abandon(ctx context.Context, err error) error {
	// The database may have ended the transaction itself, so that an error of
	// this one says nothing.
	w.conn.ExecContext(ctx, `ROLLBACK`)
	w.dropIfDead(ctx)
	w.doubtAll()
	return err
}

// write keeps a batch, wholly or not at all.
func (w *writer) write(ctx context.Context, batch []*store.Entry, durable bool) error {
	start := w.quickly
	if durable {
		start = w.safely
	}
	if len(batch) == 0 && (!durable || w.engine.Safe == "") {
		return nil // there is nothing to write, or every transaction is durable here
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	var after map[string]tail
	err := w.transact(ctx, start, func() (err error) {
		after, err = w.rows(ctx, batch)
		return err
	})
	if err != nil {
		return err
	}
	w.used = time.Now()
	return w.adopt(after)
}

// rows writes the batch within a transaction and gives how its sessions end then.
func (w *writer) rows(ctx context.Context, batch []*store.Entry) (map[string]tail, error) {
	if len(batch) == 0 {
		_, err := w.conn.ExecContext(ctx, `UPDATE synced SET times = times + 1`) // so that there is something to make durable
		return nil, err
	}
	after := map[string]tail{}
	for _, e := range batch {
		if err := w.entry(ctx, after, e); err != nil {
			return nil, err
		}
	}
	for id, t := range after {
		after[id] = t.settled()
		if err := w.count(ctx, id, after[id]); err != nil {
			return nil, err
		}
	}
	return after, nil
}

func (w *writer) entry(ctx context.Context, after map[string]tail, e *store.Entry) error {
	if e.Begin != nil {
		return w.enter(ctx, *e.Begin)
	}
	t, ok := after[e.Session]
	if !ok {
		var err error
		if t, err = w.tail(ctx, e.Session); err != nil {
			return err
		}
	}
	err := w.event(ctx, &t, e.Session, e.Row)
	after[e.Session] = t
	return err
}

func (w *writer) event(ctx context.Context, t *tail, session string, r store.Row) error {
	row := r.After(t.head)
	if row.Seq == t.upto && row.Hash != t.found {
		t.taken = true
	}
	switch {
	case t.taken:
		t.lost++
		return nil
	case row.Seq <= t.upto:
		t.skipped++
	default:
		if _, err := w.exec(ctx, insertEvent, columns(session, row)...); err != nil {
			return err
		}
	}
	t.head = row.Hash
	t.session.Count(row)
	return nil
}

// settled is t when all of a batch is in it. When the database had more than
// that, or something else, what was skipped was not ours.
func (t tail) settled() tail {
	if t.taken || t.session.Events < t.upto {
		t.taken = true
		t.lost += t.skipped
	}
	return t
}

// tail is where a session ends. After a failure the database is asked: a
// transaction whose answer was lost may have been kept, and then its events are
// there already. Events that are not ours mean that the session was taken.
func (w *writer) tail(ctx context.Context, id string) (tail, error) {
	t, ok := w.open[id]
	if !ok {
		return tail{taken: true}, nil // removed, with events in the queue
	}
	if !t.doubt || t.taken {
		return *t, nil
	}
	now, err := readTail(ctx, w.conn, id)
	if errors.Is(err, sql.ErrNoRows) {
		return tail{taken: true}, nil // its beginning comes before its events, so it was removed
	}
	asked := *t
	asked.upto, asked.found = now.session.Events, now.head
	asked.taken = asked.upto < t.session.Events || asked.upto == t.session.Events && asked.found != t.head
	return asked, err
}

func (w *writer) enter(ctx context.Context, s store.Session) error {
	pid, host := owner()
	_, err := w.conn.ExecContext(ctx, `INSERT INTO sessions
(id, title, dir, branch, model, created, updated, parent, parent_seq, events, calls, last_words, head, pid, host)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, '', $10, $11, $12)
ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, host = excluded.host`,
		s.ID, clean(s.Title), clean(s.Dir), clean(s.Branch), clean(s.Model), store.Nanos(s.Created), store.Nanos(s.Updated),
		s.Parent, s.ParentSeq, bytesOf(store.Genesis(s.ID)), pid, host)
	return err
}

func (w *writer) count(ctx context.Context, id string, t tail) error {
	if t.taken {
		return nil
	}
	s := t.session
	n, err := affected(w.exec(ctx, `UPDATE sessions SET events = $2, calls = $3, last_words = $4, updated = $5, head = $6
WHERE id = $1`, id, s.Events, s.Calls, clean(s.LastWords), store.Nanos(s.Updated), bytesOf(t.head)))
	if err == nil && n != 1 {
		err = &store.NoSession{ID: id}
	}
	return err
}

// adopt takes over how the sessions end now.
func (w *writer) adopt(after map[string]tail) error {
	var lost error
	for id, t := range after {
		if t.lost > 0 {
			lost = errors.Join(lost, &store.Lost{Session: id, Events: t.lost})
		}
		if mine, ok := w.open[id]; ok {
			*mine = tail{session: t.session, head: t.head, taken: t.taken}
		}
	}
	return lost
}

// begin locks a session and finds where it ends; 0 when it is new.
func (w *writer) begin(ctx context.Context, s store.Session) (last int64, err error) {
	if _, ok := w.open[s.ID]; ok {
		pid, host := owner()
		return 0, &store.Busy{Session: s.ID, PID: pid, Host: host}
	}
	if err := w.lock(ctx, s.ID); err != nil {
		return 0, err
	}
	t, err := readTail(ctx, w.conn, s.ID)
	if errors.Is(err, sql.ErrNoRows) {
		t, err = tail{session: s, head: store.Genesis(s.ID)}, nil
	}
	if err != nil {
		return 0, errors.Join(err, w.engine.Unlock(ctx, w.conn, s.ID))
	}
	w.open[s.ID] = &t
	return t.session.Events, nil
}

func (w *writer) lock(ctx context.Context, id string) error {
	got, err := w.engine.Lock(ctx, w.conn, id)
	if err == nil && !got {
		err = &store.Busy{Session: id}
	}
	return err
}

func (w *writer) end(ctx context.Context, id string) error {
	if _, ok := w.open[id]; !ok {
		return nil
	}
	delete(w.open, id)
	return w.engine.Unlock(ctx, w.conn, id)
}

// remove deletes a session, which must be open here or nowhere.
func (w *writer) remove(ctx context.Context, id string) error {
	if _, ok := w.open[id]; !ok {
		if err := w.lock(ctx, id); err != nil {
			return err
		}
	}
	delete(w.open, id)
	err := w.transact(ctx, w.quickly, func() error {
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM events WHERE session = $1`, id); err != nil {
			return err
		}
		n, err := affected(w.conn.ExecContext(ctx, `DELETE FROM sessions WHERE id = $1`, id))
		if err == nil && n == 0 {
			err = &store.NoSession{ID: id}
		}
		return err
	})
	if w.conn == nil {
		return err // the lock went with the connection
	}
	return errors.Join(err, w.engine.Unlock(ctx, w.conn, id))
}

// close lets all sessions go.
func (w *writer) close(ctx context.Context) error {
	if w.conn == nil {
		return nil
	}
	var all error
	for id := range w.open {
		all = errors.Join(all, w.end(ctx, id))
	}
	return errors.Join(all, w.unready(), w.conn.Close())
}

// unready must come before the connection is closed: SQLite keeps one open that has
// a statement, and then nobody tidies the WAL away.
func (w *writer) unready() (err error) {
	for _, s := range w.ready {
		err = errors.Join(err, s.Close())
	}
	w.ready = nil
	return err
}
