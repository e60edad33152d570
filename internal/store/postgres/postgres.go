// Package postgres keeps sessions in a PostgreSQL server, for several machines
// at once.
//
// The tables are in a schema of their own, "ikigai" unless the address names
// another one with search_path. Every commit is durable. A session is locked
// with an advisory lock of the writing connection, so the server lets it go when
// the process or its machine dies; a pooler between us must not share
// connections (session pooling).
package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"ikigai/internal/store"
	"ikigai/internal/store/relational"
)

//go:embed schema/*.sql
var schema embed.FS

// Options are what may be set.
type Options struct {
	Patience time.Duration // how long one transaction, or connecting, may take; zero: 10 s
	Readers  int           // how many may read at once; zero: 4
}

// Open opens the store at an address such as postgres://user@host/database. The
// schema is made when it is missing; the database is not.
func Open(ctx context.Context, where string, o Options) (store.Store, error) {
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	c, err := settings(where, o)
	if err != nil {
		return nil, err
	}
	engine, err := newEngine(c, o)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, o.Patience)
	defer done()
	return relational.Open(ctx, engine)
}

// defaults are what the address may set otherwise. The server shall notice soon
// when a machine that has a session locked is gone.
var defaults = map[string]string{
	"search_path":             "ikigai",
	"application_name":        "ikigai",
	"tcp_keepalives_idle":     "30",
	"tcp_keepalives_interval": "10",
	"tcp_keepalives_count":    "3",
}

func settings(where string, o Options) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the store: %w", err) // it shows no password
	}
	for name, value := range defaults {
		if _, ok := c.RuntimeParams[name]; !ok {
			c.RuntimeParams[name] = value
		}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = o.Patience
	}
	return c, nil
}

func newEngine(c *pgx.ConnConfig, o Options) (relational.Engine, error) {
	migrations, err := fs.Sub(schema, "schema")
	if err != nil {
		return relational.Engine{}, err
	}
	name := c.RuntimeParams["search_path"]
	writer, readers := sql.OpenDB(connector{c}), sql.OpenDB(connector{c})
	writer.SetMaxOpenConns(1)
	readers.SetMaxOpenConns(o.Readers)
	return relational.Engine{
		Where: shown(c), Writer: writer, Readers: readers, Schema: migrations, Patience: o.Patience,
		Begin:      `BEGIN`,
		BeginSetup: `BEGIN; SELECT pg_advisory_xact_lock(` + strconv.FormatInt(key(name, ""), 10) + `)`,
		Like:       `ILIKE`,
		Setup:      func(ctx context.Context, c *sql.Conn) error { return makeSchema(ctx, c, name) },
		Made:       made,
		Migrated:   func(context.Context, *sql.Conn) error { return nil },
		Lock: func(ctx context.Context, c *sql.Conn, session string) (got bool, err error) {
			return got, c.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, key(name, session)).Scan(&got)
		},
		Unlock: func(ctx context.Context, c *sql.Conn, session string) error {
			_, err := c.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, key(name, session))
			return err
		},
		Explain: func(err error) error { return explain(shown(c), err) },
	}, nil
}

// shown is the address for people, without a password.
func shown(c *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s@%s/%s", c.User, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database)
}

// key is the number of the advisory lock of a session, or of the schema itself.
func key(schema, session string) int64 {
	sum := sha256.Sum256([]byte("ikigai\x00" + schema + "\x00" + session))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// makeSchema makes the schema when there is none; asking first spares a role
// that may not make any.
func makeSchema(ctx context.Context, c *sql.Conn, name string) error {
	var there bool
	err := c.QueryRowContext(ctx, `SELECT current_schema() IS NOT NULL`).Scan(&there)
	if err != nil || there {
		return err
	}
	lock := strconv.FormatInt(key(name, ""), 10)
	_, err = c.ExecContext(ctx, `BEGIN; SELECT pg_advisory_xact_lock(`+lock+`); CREATE SCHEMA IF NOT EXISTS `+
		pgx.Identifier{name}.Sanitize()+`; COMMIT`)
	if err != nil {
		err = fmt.Errorf("making the schema %s: %w", name, err)
	}
	return err
}

// made looks into the catalog itself: to_regclass may answer from a cache that
// does not know yet what another process made while we waited for it.
func made(ctx context.Context, c *sql.Conn) (ours bool, err error) {
	const statement = `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'migrations')`
	return ours, c.QueryRowContext(ctx, statement).Scan(&ours)
}

// advice is the next step for an error of the server.
var advice = map[string]string{
	"53100": "its disk is full; free some space there",
	"53300": "it has too many connections; end some",
	"28P01": "the password is wrong",
	"28000": "it does not let this user in",
	"3D000": "the database does not exist; make it with createdb",
	"42501": "this user may not do that; ask for the right to use and create in the schema",
	"25006": "it is read-only",
}

func explain(where string, err error) error {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && advice[e.Code] != "" {
		return fmt.Errorf("the store %s: %s: %w", where, advice[e.Code], err)
	}
	if e := (*pgconn.ConnectError)(nil); errors.As(err, &e) {
		return fmt.Errorf("the store %s cannot be reached: %w", where, err)
	}
	return err
}
