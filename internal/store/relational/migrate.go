package relational

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"

	"ikigai/internal/store"
)

// migrate brings the schema up to date. Migrations are numbered from 1, go
// forward only, and are never changed once released: their checksums are kept
// in the database and compared.
func migrate(ctx context.Context, e Engine, c *sql.Conn) error {
	wanted, err := migrations(e.Schema)
	if err != nil {
		return err
	}
	if have, err := applied(ctx, e, c); err != nil || len(have) == len(wanted) {
		return orUnusable(err, e.Where, have, wanted)
	}
	w := &writer{engine: e, conn: c}
	defer w.unready() // what is wrong with it is wrong with the connection
	start := func(ctx context.Context) error {
		_, err := c.ExecContext(ctx, e.BeginSetup)
		return err
	}
	changed := false
	err = w.transact(ctx, start, func() error {
		have, err := applied(ctx, e, c) // again: another process may have been quicker
		if err := orUnusable(err, e.Where, have, wanted); err != nil {
			return err
		}
		for i, m := range wanted[len(have):] {
			changed = true
			if err := m.apply(ctx, c, len(have)+i+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !changed {
		return err
	}
	return e.Migrated(ctx, c)
}

type migration struct{ sql, checksum string }

func migrations(in fs.FS) ([]migration, error) {
	names, err := fs.Glob(in, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []migration
	for i, name := range names {
		if want := fmt.Sprintf("%04d.sql", i+1); name != want {
			return nil, fmt.Errorf("reading the migrations: found %s, want %s", name, want)
		}
		b, err := fs.ReadFile(in, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		all = append(all, migration{string(b), hex.EncodeToString(sum[:])})
	}
	return all, nil
}

func (m migration) apply(ctx context.Context, c *sql.Conn, version int) error {
	if _, err := c.ExecContext(ctx, m.sql); err != nil {
		return fmt.Errorf("applying migration %d: %w", version, err)
	}
	_, err := c.ExecContext(ctx, `INSERT INTO migrations (version, checksum) VALUES ($1, $2)`, version, m.checksum)
	return err
}

// applied are the checksums of the migrations that the database has had; none
// when it is new.
func applied(ctx context.Context, e Engine, c *sql.Conn) ([]string, error) {
	if made, err := e.Made(ctx, c); err != nil || !made {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, `SELECT checksum FROM migrations ORDER BY version`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var sum string
		if err := rows.Scan(&sum); err != nil {
			return nil, err
		}
		all = append(all, sum)
	}
	return all, rows.Err()
}

// orUnusable refuses what this program does not understand.
func orUnusable(err error, where string, have []string, wanted []migration) error {
	if err != nil {
		return err
	}
	if len(have) > len(wanted) {
		return Newer(where, len(have), len(wanted))
	}
	for i, sum := range have {
		if sum != wanted[i].checksum {
			return &store.Unusable{
				Where: where, Why: fmt.Sprintf("its schema version %d is not the one of this program", i+1),
				Hint: "open it with the ikigai that made it, or name another store",
			}
		}
	}
	return nil
}

// Newer is the refusal of a store that a later program made.
func Newer(where string, have, know int) error {
	return &store.Unusable{
		Where: where, Why: fmt.Sprintf("it has schema version %d, this program knows up to %d", have, know),
		Hint: "update ikigai, or name another store",
	}
}
