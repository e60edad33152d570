package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// This file is pgx as a driver of database/sql, as much of it as relational
// needs. The one that pgx brings with it has a second pool of connections in
// it; database/sql is one already.

// connector makes connections.
type connector struct{ config *pgx.ConnConfig }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	p, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, err
	}
	return &conn{p, time.Now()}, nil
}

func (c connector) Driver() driver.Driver { return noDriver{} }

var errUnused = errors.New("postgres: not used here")

// noDriver is asked for only by those who open by name.
type noDriver struct{}

func (noDriver) Open(string) (driver.Conn, error) { return nil, errUnused }

// conn is one connection. pgx prepares each statement once and remembers it.
type conn struct {
	pgx  *pgx.Conn
	used time.Time
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	tag, err := c.pgx.Exec(ctx, query, values(args)...)
	c.used = time.Now()
	return driver.RowsAffected(tag.RowsAffected()), err
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.pgx.Query(ctx, query, values(args)...)
	c.used = time.Now()
	if err != nil {
		return nil, err
	}
	return newRows(r), nil
}

func values(args []driver.NamedValue) []any {
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a.Value
	}
	return all
}

// ResetSession makes sure that a connection which lay idle is still one: the
// server may have been started anew.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.pgx.IsClosed() || c.pgx.PgConn().TxStatus() != 'I' || time.Since(c.used) > time.Second && c.pgx.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	return nil
}

func (c *conn) IsValid() bool                  { return !c.pgx.IsClosed() }
func (c *conn) Ping(ctx context.Context) error { return c.pgx.Ping(ctx) }
func (c *conn) Begin() (driver.Tx, error)      { return nil, errUnused }

func (c *conn) Close() error {
	ctx, done := context.WithTimeout(context.Background(), time.Second) // saying goodbye is only polite
	defer done()
	return c.pgx.Close(ctx)
}

func (c *conn) Prepare(query string) (driver.Stmt, error) { return stmt{c, query}, nil }

// stmt is a statement that pgx prepares when it is first used.
type stmt struct {
	conn  *conn
	query string
}

func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

func (s stmt) Close() error                               { return nil }
func (s stmt) NumInput() int                              { return -1 }
func (s stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errUnused }
func (s stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errUnused }

// rows are the answer to a query.
type rows struct {
	pgx  pgx.Rows
	into []any // one place for each column, by its type
}

func newRows(r pgx.Rows) *rows {
	into := make([]any, len(r.FieldDescriptions()))
	for i, f := range r.FieldDescriptions() {
		switch f.DataTypeOID {
		case pgtype.Int4OID, pgtype.Int8OID:
			into[i] = new(pgtype.Int8)
		case pgtype.BoolOID:
			into[i] = new(pgtype.Bool)
		case pgtype.ByteaOID, pgtype.JSONOID:
			into[i] = new([]byte) // json as it was sent, unread
		default:
			into[i] = new(pgtype.Text)
		}
	}
	return &rows{r, into}
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.into))
	for i, f := range r.pgx.FieldDescriptions() {
		names[i] = f.Name
	}
	return names
}

func (r *rows) Next(dest []driver.Value) error {
	if !r.pgx.Next() {
		if err := r.pgx.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	if err := r.pgx.Scan(r.into...); err != nil {
		return err
	}
	for i, p := range r.into {
		v, err := value(p)
		if err != nil {
			return err
		}
		dest[i] = v
	}
	return nil
}

func value(p any) (driver.Value, error) {
	switch p := p.(type) {
	case *[]byte:
		if *p == nil {
			return nil, nil
		}
		return *p, nil
	case driver.Valuer:
		return p.Value()
	}
	return nil, errUnused
}

func (r *rows) Close() error {
	r.pgx.Close()
	return r.pgx.Err()
}
