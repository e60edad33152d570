package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

var update = flag.Bool("update", false, "make the golden store of this schema version anew")

// golden is a store as version 1 of the schema left it: two sessions, the
// second with bytes that are no text.
const golden = "testdata/v1.db"

func TestStoresOfEveryReleaseOpen(t *testing.T) {
	if *update {
		makeGolden(t)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, golden, path)
	s := open(t, path, sqlite.Options{})
	var ids []string
	for it, err := range s.Sessions(t.Context(), store.Filter{}) {
		ids = append(ids, it.ID)
		check(t, err)
		check(t, storetest.Verify(t, s, it.ID))
	}
	if strings.Join(ids, " ") != "one two" {
		t.Errorf("it has the sessions %q", ids)
	}
	check(t, s.Begin(t.Context(), store.Session{ID: "one"}))
	check(t, s.Append(t.Context(), "one", storetest.Event(41)))
	check(t, s.Sync(t.Context()))
	events := storetest.Collect(t, s.Events(t.Context(), "one", 0))
	for i, e := range events {
		if e.Kind != storetest.Event(int64(i+1)).Kind {
			t.Errorf("event %d is %v", i+1, e)
		}
	}
	if got := storetest.Collect(t, s.Events(t.Context(), "two", 0)); len(events) != 41 || got[0].Text != "a\x00\xff" {
		t.Errorf("%d events, and %q", len(events), got[0].Text)
	}
}

func makeGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	s := open(t, path, sqlite.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("one")))
	check(t, s.Begin(t.Context(), storetest.NewSession("two")))
	for n := int64(1); n <= 40; n++ {
		check(t, s.Append(t.Context(), "one", storetest.Event(n)))
	}
	odd := storetest.Event(1)
	odd.Text = "a\x00\xff"
	check(t, s.Append(t.Context(), "two", odd))
	check(t, s.Close())
	db := raw(t, path)
	_, err := db.Exec(`UPDATE sessions SET pid = 1, host = 'elsewhere'; VACUUM`)
	check(t, err, db.Close(), os.MkdirAll("testdata", 0o755))
	copyFile(t, path, golden)
}

func TestStoreThatMustNotBeTouchedIsNot(t *testing.T) {
	exec := func(statement string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db := raw(t, path)
			_, err := db.Exec(statement)
			check(t, err, db.Close())
		}
	}
	bytesAt := func(offset int64, b string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			check(t, err)
			_, err = f.WriteAt([]byte(b), offset)
			check(t, errors.Join(err, f.Close()))
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, path string)
		why  string
	}{
		{"newer", exec(`PRAGMA user_version = 99`), "version 99"},
		{"newer by its table", exec(`INSERT INTO migrations VALUES (2, 'x')`), "version 2"},
		{"another form of the same version", exec(`UPDATE migrations SET checksum = 'x'`), "not the one"},
		{"another program's", func(t *testing.T, path string) {
			check(t, os.Remove(path))
			exec(`CREATE TABLE theirs (x)`)(t, path)
		}, "another program"},
		{"no database", func(t *testing.T, path string) {
			check(t, os.WriteFile(path, bytes.Repeat([]byte("text\n"), 2000), 0o600))
		}, "damaged"},
		{"header damaged", bytesAt(0, "garbage garbage "), "damaged"},
		{"schema damaged", bytesAt(100, strings.Repeat("\xff", 3000)), "damaged"},
		{"cut off", func(t *testing.T, path string) { check(t, os.Truncate(path, 5000)) }, "damaged"},
		{"cut off, with a log that is none", func(t *testing.T, path string) {
			check(t, os.Truncate(path, 5000), os.WriteFile(path+"-wal", bytes.Repeat([]byte("text\n"), 2000), 0o600))
		}, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			copyFile(t, golden, path)
			c.do(t, path)
			before, err := os.ReadFile(path)
			check(t, err)
			_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
			if u := (*store.Unusable)(nil); !errors.As(err, &u) || !strings.Contains(u.Why, c.why) || u.Hint == "" || u.Where != path {
				t.Errorf("got %v, want *Unusable about %q", err, c.why)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the store was changed: %v", err)
			}
		})
	}
}

// A process that is killed while it moves its log into the file leaves a file that is
// whole only together with the log: here the first page says already that there are
// more pages than there are.
func TestACheckpointThatWasCutShortIsFinished(t *testing.T) {
	path, cut := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "cut.db")
	copyFile(t, golden, path)
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE sessions SET title = hex(randomblob(100000)) WHERE id = 'one'`)
	check(t, err)
	copyFile(t, path, cut)
	copyFile(t, path+"-wal", cut+"-wal")
	_, err = db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	check(t, err, db.Close())
	all, err := os.ReadFile(path)
	check(t, err)
	f, err := os.OpenFile(cut, os.O_RDWR, 0)
	check(t, err)
	_, err = f.WriteAt(all[:4096], 0)
	check(t, errors.Join(err, f.Close()))
	s := open(t, cut, sqlite.Options{})
	one, err := s.Session(t.Context(), "one")
	check(t, err)
	if n := len(storetest.Collect(t, s.Events(t.Context(), "one", 0))); n != 40 || len(one.Title) != 200000 {
		t.Errorf("%d events, a title of %d bytes", n, len(one.Title))
	}
	check(t, s.Close())
}

func TestDamageFoundWhileReadingIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	copyFile(t, golden, path)
	all, err := os.ReadFile(path)
	check(t, err)
	at := bytes.LastIndex(all, []byte("question 1")) / 4096 * 4096 // the page of the first events
	copy(all[at:], bytes.Repeat([]byte{0xa5}, 4096))
	check(t, os.WriteFile(path, all, 0o600))
	s := open(t, path, sqlite.Options{})
	err = nil
	for _, e := range s.Events(t.Context(), "one", 0) {
		err = e
	}
	if u := (*store.Unusable)(nil); !errors.As(err, &u) {
		t.Errorf("got %v", err)
	}
}

func TestTamperingIsFound(t *testing.T) {
	for _, c := range []struct {
		statement string
		seq       int64
		fault     store.Fault
	}{
		{`UPDATE events SET content = 'x' WHERE seq = 7`, 7, store.Altered},
		{`UPDATE events SET data_json = replace(data_json, 'grep', 'bash') WHERE seq = 6`, 6, store.Altered},
		{`UPDATE events SET content = 'x' WHERE exact IS NOT NULL`, 41, store.Altered},
		{`UPDATE events SET exact = NULL`, 41, store.Altered},
		{`DELETE FROM events WHERE seq = 3`, 3, store.Missing},
		{`DELETE FROM events WHERE seq = 41`, 41, store.Missing},
		{`UPDATE events SET seq = -1 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 6; UPDATE events SET seq = 6 WHERE seq = -1`, 5, store.Reordered},
		{`INSERT INTO events SELECT session, 42, turn, at, kind, content, data_json, reply, keep, exact, hash, prev FROM events WHERE seq = 41`, 42, store.Inserted},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		s := open(t, path, sqlite.Options{})
		check(t, s.Begin(t.Context(), storetest.NewSession("a")))
		for n := int64(1); n <= 41; n++ {
			e := storetest.Event(n)
			if n == 41 {
				e.Text = "\xff"
			}
			check(t, s.Append(t.Context(), "a", e))
		}
		check(t, storetest.Verify(t, s, "a"))
		_, err := raw(t, path).Exec(c.statement)
		check(t, err)
		err = storetest.Verify(t, s, "a")
		if b := (*store.Broken)(nil); !errors.As(err, &b) || b.Seq != c.seq || b.Fault != c.fault {
			t.Errorf("%s: got %v, want event %d %s", c.statement, err, c.seq, c.fault)
		}
	}
}

func TestLockedFileDelaysAndLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path, sqlite.Options{Busy: 30 * time.Millisecond})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))
	check(t, s.Append(t.Context(), "a", storetest.Event(1)))
	check(t, s.Flush(t.Context()))
	free := holdWriteLock(t, path)
	s.Append(t.Context(), "a", storetest.Event(2))
	for _, wait := range []func(context.Context) error{s.Flush, s.Sync} {
		err := wait(t.Context())
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || u.Events != 1 || !strings.Contains(err.Error(), "locked") {
			t.Errorf("got %v, want one event unsaved", err)
		}
	}
	if err := s.Append(t.Context(), "a", storetest.Event(3)); err == nil {
		t.Error("Append said nothing of the events that wait")
	}
	err := s.End(t.Context(), "a")
	if u := (*store.Unsaved)(nil); !errors.As(err, &u) || u.Events != 2 {
		t.Errorf("End with unsaved events says %v", err)
	}
	if got := storetest.Collect(t, s.Events(t.Context(), "a", 0)); len(got) != 1 {
		t.Errorf("%d events can be read while it is locked, want 1", len(got))
	}
	if err := s.Begin(t.Context(), storetest.NewSession("b")); !errors.As(err, new(*store.Unsaved)) {
		t.Errorf("beginning a session while it is locked: %v", err)
	}
	s.Append(t.Context(), "b", storetest.Event(1))
	free()
	check(t, s.Sync(t.Context()), s.Append(t.Context(), "b", storetest.Event(2)), s.Append(t.Context(), "a", storetest.Event(4)))
	for id, want := range map[string]int{"a": 4, "b": 2} {
		if got := storetest.Collect(t, s.Events(t.Context(), id, 0)); len(got) != want {
			t.Errorf("%s has %d events, want %d", id, len(got), want)
		}
		check(t, storetest.Verify(t, s, id))
	}
}

func holdWriteLock(t *testing.T, path string) (free func()) {
	t.Helper()
	c, err := raw(t, path).Conn(t.Context())
	check(t, err)
	run := func(statement string) {
		_, err := c.ExecContext(t.Context(), statement)
		check(t, err)
	}
	run(`BEGIN IMMEDIATE`)
	return func() { run(`ROLLBACK`); check(t, c.Close()) }
}

func TestSessionRemovedBehindOurBackBlocksNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path, sqlite.Options{})
	for _, id := range []string{"a", "b"} {
		check(t, s.Begin(t.Context(), storetest.NewSession(id)))
		check(t, s.Append(t.Context(), id, storetest.Event(1)), s.Flush(t.Context()))
	}
	_, err := raw(t, path).Exec(`DELETE FROM events WHERE session = 'a'; DELETE FROM sessions WHERE id = 'a'`)
	check(t, err)
	told := errors.Join(s.Append(t.Context(), "a", storetest.Event(2)), s.Flush(t.Context()), s.Flush(t.Context()))
	if l := (*store.Lost)(nil); !errors.As(told, &l) || l.Session != "a" {
		t.Errorf("got %v, want *Lost", told)
	}
	check(t, s.Append(t.Context(), "b", storetest.Event(2)), s.Sync(t.Context()), storetest.Verify(t, s, "b"))
}

func TestFilesAreForThisUserOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "a.db")
	s := open(t, path, sqlite.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))
	files, err := filepath.Glob(filepath.Dir(path) + "/*")
	check(t, err)
	for _, f := range append(files, filepath.Dir(path)) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", f, info.Mode(), err)
		}
	}
}

func TestClosedStoreIsOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path, sqlite.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")), s.Append(t.Context(), "a", storetest.Event(1)))
	storetest.Collect(t, s.Events(t.Context(), "a", 0))
	check(t, s.Close())
	if files, err := filepath.Glob(path + "-[sw]*"); err != nil || len(files) > 0 {
		t.Errorf("it left %v, %v", files, err)
	}
	if files, err := filepath.Glob(path + "-open/*"); err != nil || len(files) > 0 {
		t.Errorf("it left %v, %v", files, err)
	}
}

func TestClosedStoreLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	path := filepath.Join(t.TempDir(), "a.db")
	for range 3 {
		s := open(t, path, sqlite.Options{})
		check(t, s.Begin(t.Context(), storetest.NewSession("a")), s.Flush(t.Context()))
		storetest.Collect(t, s.Events(t.Context(), "a", 0))
		check(t, s.Close(), s.Close())
		if err := s.Append(t.Context(), "a", storetest.Event(1)); err == nil {
			t.Error("a closed store took an event")
		}
	}
	goleak.VerifyNone(t, before)
}

func TestFolderInPlaceOfTheStoreIsSaid(t *testing.T) {
	if _, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{}); err == nil {
		t.Error("a folder was opened as a store")
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	check(t, err)
	check(t, os.WriteFile(to, b, 0o600))
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
