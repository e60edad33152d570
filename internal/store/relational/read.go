package relational

import (
	"context"
	"database/sql"
	"iter"
	"math"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/store"
)

const sessionColumns = `id, title, dir, branch, model, created, updated, parent, parent_seq, events, calls, last_words`

// scanner is a row of a query, or the only one.
type scanner interface{ Scan(into ...any) error }

func readSession(from scanner, more ...any) (s store.Session, err error) {
	var created, updated int64
	into := []any{
		&s.ID, &s.Title, &s.Dir, &s.Branch, &s.Model, &created, &updated, &s.Parent, &s.ParentSeq,
		&s.Events, &s.Calls, &s.LastWords,
	}
	err = from.Scan(append(into, more...)...)
	s.Created, s.Updated = store.Moment(created), store.Moment(updated)
	return s, err
}

func readTail(ctx context.Context, c *sql.Conn, id string) (t tail, err error) {
	var head []byte
	t.session, err = readSession(c.QueryRowContext(ctx, `SELECT `+sessionColumns+`, head FROM sessions WHERE id = $1`, id), &head)
	copy(t.head[:], head)
	return t, err
}

// Session finds one by its id or a unique prefix.
func (s *Store) Session(ctx context.Context, id string) (store.Session, error) {
	if id == "" {
		return store.Session{}, &store.NoSession{}
	}
	var found []store.Session
	for it, err := range s.sessions(ctx, `WHERE id = $1 OR substr(id, 1, length($1)) = $1 ORDER BY id LIMIT 20`, id) {
		if err != nil || it.ID == id {
			return it, err
		}
		found = append(found, it)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	no := &store.NoSession{ID: id}
	for _, it := range found {
		no.Several = append(no.Several, it.ID)
	}
	return store.Session{}, no
}

// Sessions lists them, the last used first.
func (s *Store) Sessions(ctx context.Context, f store.Filter) iter.Seq2[store.Session, error] {
	limit := int64(f.Limit)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	return s.sessions(ctx, `WHERE $1 = '' OR dir = $1 ORDER BY updated DESC, id DESC LIMIT $2`, f.Dir, limit)
}

// sessions gives what it finds when it has all: whoever goes through a list of
// sessions reads their events too, and must not hold one connection while
// waiting for another.
func (s *Store) sessions(ctx context.Context, which string, args ...any) iter.Seq2[store.Session, error] {
	return func(yield func(store.Session, error) bool) {
		var all []store.Session
		read := func(rows *sql.Rows) (store.Session, error) { return readSession(rows) }
		for it, err := range query(ctx, s, `SELECT `+sessionColumns+` FROM sessions `+which, args, read) {
			if err != nil {
				yield(store.Session{}, err)
				return
			}
			all = append(all, it)
		}
		for _, it := range all {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// query gives what a statement finds. It waits for what this process has
// appended; when that cannot be written it gives what there is.
func query[V any](ctx context.Context, s *Store, statement string, args []any, read func(*sql.Rows) (V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var none V
		if err := s.queue.Drain(ctx); err != nil {
			yield(none, err)
			return
		}
		rows, err := s.engine.Readers.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(none, s.engine.Explain(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := read(rows)
			if err != nil {
				yield(none, s.engine.Explain(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, s.engine.Explain(err))
		}
	}
}

// Events gives the events above after.
func (s *Store) Events(ctx context.Context, id string, after int64) iter.Seq2[convo.Event, error] {
	return func(yield func(convo.Event, error) bool) {
		read := eventReader()
		found(ctx, s, id, query(ctx, s, eventStatement(shownColumns), []any{id, after}, read))(yield)
	}
}

// Rows gives them as they are stored.
func (s *Store) Rows(ctx context.Context, id string, after int64) iter.Seq2[store.Row, error] {
	return found(ctx, s, id, query(ctx, s, eventStatement(shownColumns+`, prev, hash`), []any{id, after}, readRow))
}

func eventStatement(columns string) string {
	return `SELECT ` + columns + ` FROM events WHERE session = $1 AND seq > $2 ORDER BY seq`
}

// found says so when there is nothing because there is no such session.
func found[V any](ctx context.Context, s *Store, id string, all iter.Seq2[V, error]) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		any := false
		for v, err := range all {
			any = true
			if !yield(v, err) {
				return
			}
		}
		if any {
			return
		}
		if _, err := s.Head(ctx, id); err != nil {
			var none V
			yield(none, err)
		}
	}
}

// Head is the hash of the last event.
func (s *Store) Head(ctx context.Context, id string) (string, error) {
	for h, err := range query(ctx, s, `SELECT head FROM sessions WHERE id = $1`, []any{id}, readHash) {
		return h.String(), err
	}
	return "", &store.NoSession{ID: id}
}

func readHash(rows *sql.Rows) (h store.Hash, err error) {
	var b []byte
	err = rows.Scan(&b)
	copy(h[:], b)
	return h, err
}

// Search finds the events that hold all the words. The database picks those
// with the longest word that is plain ASCII, which it can compare as we do.
func (s *Store) Search(ctx context.Context, words string, limit int) iter.Seq2[store.Hit, error] {
	w := store.Words(words)
	statement := `SELECT seq, at, kind, content FROM events WHERE session = $1 AND content ` + s.engine.Like + ` $2 ESCAPE '\' ORDER BY seq DESC`
	return func(yield func(store.Hit, error) bool) {
		if len(w) == 0 {
			return
		}
		left := limit
		for it, err := range s.Sessions(ctx, store.Filter{}) {
			if err != nil {
				yield(store.Hit{}, err)
				return
			}
			for r, err := range query(ctx, s, statement, []any{it.ID, pattern(w)}, readText) {
				if err == nil && !store.Holds(r.Content, w) {
					continue
				}
				if !yield(store.NewHit(it, r, w), err) || err != nil {
					return
				}
				if left--; left == 0 {
					return
				}
			}
		}
	}
}

func readText(rows *sql.Rows) (r store.Row, err error) {
	return r, rows.Scan(&r.Seq, &r.At, &r.Kind, &r.Content)
}

func pattern(words []string) string {
	longest := ""
	for _, w := range words {
		if len(w) > len(longest) && strings.IndexFunc(w, func(r rune) bool { return r > 126 }) < 0 {
			longest = w
		}
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(longest) + "%"
}
