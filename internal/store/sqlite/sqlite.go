// Package sqlite keeps sessions in one file beside nothing else: no server, and
// several processes may use it at once.
//
// The file is in WAL mode. A commit outlives kill -9 at once; Sync commits with
// synchronous FULL, so that it outlives a loss of power too.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"ikigai/internal/store"
	"ikigai/internal/store/relational"
)

//go:embed schema/*.sql
var schema embed.FS

// schemaVersion is the number of migrations.
const schemaVersion = 1

// Options are what may be set.
type Options struct {
	Busy    time.Duration // how long to wait for another process that writes; zero: 10 s
	Readers int           // how many may read at once; zero: 4
}

// Open opens the store at a path, with or without "sqlite:" before it. Missing
// folders and a missing file are made, for this user only.
func Open(ctx context.Context, where string, o Options) (store.Store, error) {
	path, err := filepath.Abs(strings.TrimPrefix(where, "sqlite:"))
	if err != nil {
		return nil, fmt.Errorf("opening the store %s: %w", where, err)
	}
	if err := ready(ctx, path); err != nil {
		return nil, err
	}
	engine, err := newEngine(path, o)
	if err != nil {
		return nil, err
	}
	return relational.Open(ctx, engine)
}

// ready makes the file when there is none, and refuses what must not be touched
// before anything could touch it.
func ready(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the store: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, fs.ErrExist) {
		return peek(ctx, path)
	}
	return fmt.Errorf("making the store: %w", err)
}

// peek looks whether the file is one of ours and no newer than we are. Another
// process may be writing its first page at this very moment, so what looks
// damaged is looked at again. A file with a log beside it may be whole only together
// with that, when a process was killed that moved one into the other: then opening
// it, which looks at both, has the last word.
func peek(ctx context.Context, path string) error {
	const tries, pause = 10, 50 * time.Millisecond
	for i := 1; ; i++ {
		v, err := version(ctx, path)
		switch {
		case err == nil && v > schemaVersion:
			return relational.Newer(path, v, schemaVersion)
		case err == nil, logged(path):
			return nil
		case i == tries || ctx.Err() != nil:
			return explain(path, err)
		}
		time.Sleep(pause)
	}
}

// logged reports whether there is a log with something in it.
func logged(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// version reads the version in the header of the file. An immutable database is
// opened without a lock and without another file. It must be SQLite that does
// it: if we closed the file ourselves, the system would drop the locks that
// this process has on it.
func version(ctx context.Context, path string) (v int, err error) {
	db, err := sql.Open("sqlite", address(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&v)
	return v, err
}

func newEngine(path string, o Options) (relational.Engine, error) {
	if o.Busy == 0 {
		o.Busy = 10 * time.Second
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	migrations, err := fs.Sub(schema, "schema")
	if err != nil {
		return relational.Engine{}, err
	}
	busy := "busy_timeout(" + strconv.FormatInt(o.Busy.Milliseconds(), 10) + ")"
	writer, err := sql.Open("sqlite", address(path, url.Values{"mode": {"rw"}, "_pragma": {busy}}))
	if err != nil {
		return relational.Engine{}, err
	}
	readers, err := sql.Open("sqlite", address(path, url.Values{"mode": {"rw"}, "_pragma": {busy, "query_only(1)"}}))
	if err != nil {
		return relational.Engine{}, errors.Join(err, writer.Close())
	}
	writer.SetMaxOpenConns(1)
	readers.SetMaxOpenConns(o.Readers)
	locks := newLocks(path + "-open")
	return relational.Engine{
		Where: path, Writer: writer, Readers: readers, Schema: migrations,
		Begin:      `BEGIN IMMEDIATE`,
		Quick:      `PRAGMA synchronous = NORMAL`,
		Safe:       `PRAGMA synchronous = FULL`,
		BeginSetup: `PRAGMA synchronous = FULL; BEGIN IMMEDIATE`,
		Like:       `LIKE`,
		Setup:      func(ctx context.Context, c *sql.Conn) error { return setup(ctx, c, path, o.Busy) },
		Made:       func(ctx context.Context, c *sql.Conn) (bool, error) { return made(ctx, c, path) },
		Migrated:   checkpoint,
		Lock:       func(_ context.Context, _ *sql.Conn, session string) (bool, error) { return locks.take(session) },
		Unlock:     func(_ context.Context, _ *sql.Conn, session string) error { return locks.give(session) },
		Explain:    func(err error) error { return explain(path, err) },
	}, nil
}

// address is the file as a URI, since a path may have a question mark in it.
func address(path string, settings url.Values) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: settings.Encode(), OmitHost: true}).String()
}

// setup looks whose file it is before it changes anything of it.
func setup(ctx context.Context, c *sql.Conn, path string, patience time.Duration) error {
	if _, err := made(ctx, c, path); err != nil {
		return err
	}
	return useWAL(ctx, c, patience)
}

// useWAL sets the journal mode, which stays with the file. SQLite does not wait
// for others when it changes it, so we do.
func useWAL(ctx context.Context, c *sql.Conn, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		_, err := c.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		if code(err) != sqlite3.SQLITE_BUSY || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// made reports whether the tables are there. A database with other tables only
// is not ours to write to.
func made(ctx context.Context, c *sql.Conn, path string) (bool, error) {
	var ours, all int
	row := c.QueryRowContext(ctx, `SELECT count(CASE WHEN name = 'migrations' THEN 1 END), count(*) FROM sqlite_schema WHERE type = 'table'`)
	if err := row.Scan(&ours, &all); err != nil {
		return false, err
	}
	if ours == 0 && all > 0 {
		return false, &store.Unusable{Where: path, Why: "it is a database of another program", Hint: "name another store"}
	}
	return ours > 0, nil
}

// checkpoint moves the new version into the header of the file, where an older
// program finds it. When a reader is in the way a later checkpoint does it.
func checkpoint(ctx context.Context, c *sql.Conn) error {
	_, err := c.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// code is the primary result code of SQLite, 0 when err is not from it.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// reasons are what a person should read, and do, for a result code.
var reasons = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk is full; free some space",
	sqlite3.SQLITE_BUSY:     "another process has it locked",
	sqlite3.SQLITE_READONLY: "it is read-only; check the permissions of the file and its folder",
	sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the permissions of the file and its folder",
	sqlite3.SQLITE_IOERR:    "reading or writing it went wrong; check the disk",
}

// explain tells a damaged file from one that cannot be written now.
func explain(path string, err error) error {
	switch c := code(err); {
	case c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB:
		return &store.Unusable{
			Where: path, Why: "it is damaged or no store: " + err.Error(),
			Hint: "move it aside to begin a new one; it was left as it is",
		}
	case reasons[c] != "":
		return fmt.Errorf("the store %s: %s: %w", path, reasons[c], err)
	}
	return err
}
