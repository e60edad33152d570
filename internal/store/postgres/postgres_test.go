//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/postgres"
	"ikigai/internal/store/storetest"
	"ikigai/internal/store/storetest/cluster"
)

// theCluster starts the server when the first test needs it.
var theCluster = sync.OnceValues(func() (*cluster.Cluster, error) {
	c, err := cluster.Make()
	started.Store(c)
	return c, err
})

var started atomic.Pointer[cluster.Cluster]

func TestMain(m *testing.M) {
	code := storetest.Main(m, plainly)
	if c := started.Load(); c != nil {
		if err := c.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the server:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func plainly(ctx context.Context, where string) (store.Store, error) {
	return postgres.Open(ctx, where, postgres.Options{})
}

// need gives the cluster of this test binary.
func need(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := theCluster()
	cluster.Require(t, err)
	return c
}

var schemas atomic.Int64

// address is an empty store of its own.
func address(t testing.TB) string {
	return need(t).Address(fmt.Sprintf("s%d", schemas.Add(1)))
}

func schemaOf(where string) string {
	_, name, _ := strings.Cut(where, "search_path=")
	return name
}

func fresh(t *testing.T) storetest.Open {
	where := address(t)
	return func(t *testing.T) store.Store { return open(t, where, postgres.Options{}) }
}

func open(t testing.TB, where string, o postgres.Options) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), where, o)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func TestPostgresIsAStore(t *testing.T) {
	storetest.Run(t, fresh)
	storetest.RunShared(t, fresh)
}

func TestPostgresAmongProcesses(t *testing.T) {
	storetest.RunProcesses(t, func(t *testing.T) string { return address(t) }, plainly, func(*testing.T, string) {})
}

func TestJSONIsKeptAsItWasWritten(t *testing.T) {
	s := open(t, address(t), postgres.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))
	hard := []string{
		`{"b" :1, "a":2,"b":3}`, `"\u0000"`, `"\ud800"`, `1e400000`, `[ ]`, `null`, ` {}`, "{}\n", `"\u00e9"`,
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	}
	for i, raw := range hard {
		check(t, s.Append(t.Context(), "a", convo.Event{Seq: int64(i + 1), Kind: "later", Body: convo.Unknown{Of: "later", Data: json.RawMessage(raw)}}))
	}
	check(t, s.Flush(t.Context()))
	for i, r := range storetest.Collect(t, s.Rows(t.Context(), "a", 0)) {
		if string(r.Data) != hard[i] {
			t.Errorf("%.40q came back as %.40q", hard[i], r.Data)
		}
	}
	check(t, storetest.Verify(t, s, "a"))
}

var update = flag.Bool("update", false, "make the golden store of this schema version anew")

// golden is a store as version 1 of the schema left it: two sessions, the
// second with bytes that are no text.
const golden = "testdata/v1.sql"

func TestStoresOfEveryReleaseOpen(t *testing.T) {
	if *update {
		makeGolden(t)
	}
	statements, err := os.ReadFile(golden)
	check(t, err)
	where := need(t).Address("golden")
	raw(t, where, string(statements))
	s := open(t, where, postgres.Options{})
	wantEvents(t, s, "one", 40)
	check(t, s.Begin(t.Context(), store.Session{ID: "one"}), s.Append(t.Context(), "one", storetest.Event(41)))
	wantEvents(t, s, "one", 41)
	if got := storetest.Collect(t, s.Events(t.Context(), "two", 0)); len(got) != 1 || got[0].Text != "a\x00\xff" {
		t.Errorf("session two has %v", got)
	}
	check(t, storetest.Verify(t, s, "two"))
}

func makeGolden(t *testing.T) {
	where := need(t).Address("golden")
	s := open(t, where, postgres.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("one")), s.Begin(t.Context(), storetest.NewSession("two")))
	for n := int64(1); n <= 40; n++ {
		check(t, s.Append(t.Context(), "one", storetest.Event(n)))
	}
	odd := storetest.Event(1)
	odd.Text = "a\x00\xff"
	check(t, s.Append(t.Context(), "two", odd), s.Close())
	raw(t, where, `UPDATE sessions SET pid = 1, host = 'elsewhere'`)
	dump, err := need(t).Dump("golden")
	check(t, err, os.MkdirAll("testdata", 0o755), os.WriteFile(golden, dump, 0o644))
	raw(t, where, `DROP SCHEMA golden CASCADE`)
}

func TestNewerStoreIsRefused(t *testing.T) {
	where := address(t)
	check(t, open(t, where, postgres.Options{}).Close())
	raw(t, where, `INSERT INTO migrations VALUES (2, 'x')`)
	_, err := plainly(t.Context(), where)
	if u := (*store.Unusable)(nil); !errors.As(err, &u) || u.Hint == "" || !strings.Contains(u.Why, "version 2") {
		t.Errorf("got %v", err)
	}
	raw(t, where, `DELETE FROM migrations WHERE version = 2; UPDATE migrations SET checksum = 'x'`)
	if _, err = plainly(t.Context(), where); !errors.As(err, new(*store.Unusable)) {
		t.Errorf("another form of the same version: %v", err)
	}
}

func TestAddressIsShownWithoutPassword(t *testing.T) {
	for _, where := range []string{"postgres://me:sesame@127.0.0.1:1/db", "postgres://me:sesame@[broken/db"} {
		_, err := plainly(t.Context(), where)
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestMissingDatabaseIsSaid(t *testing.T) {
	_, err := plainly(t.Context(), strings.Replace(address(t), "/postgres?", "/nothere?", 1))
	if err == nil || !strings.Contains(err.Error(), "createdb") {
		t.Errorf("got %v", err)
	}
}

// raw runs statements without us.
func raw(t *testing.T, where, statements string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), where)
	check(t, err)
	_, err = c.Exec(t.Context(), statements)
	check(t, err, c.Close(t.Context()))
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
