package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
)

func TestADayIsWhatAllSessionsUsedSinceMidnight(t *testing.T) {
	now := time.Date(2026, 3, 1, 15, 0, 0, 0, time.Local)
	used := func(tokens int, at time.Time) convo.Event {
		e := convo.Of("", convo.Usage{Input: &tokens})
		e.At = at
		return e
	}
	s := memory.New()
	kept(t, s, store.Session{ID: "old"}, used(1, now.AddDate(0, 0, -1)))
	kept(t, s, store.Session{ID: "parent"}, used(10, now.AddDate(0, 0, -1)), used(100, now.Add(-time.Hour)))
	kept(t, s, store.Session{ID: "other"}, used(1000, now.Add(-time.Minute)))
	if _, err := store.Fork(t.Context(), s, "parent", 0, store.Session{ID: "fork"}); err != nil {
		t.Fatal(err)
	}
	got, err := spentToday(t.Context(), s, now)
	if want := (agent.Amounts{agent.Tokens: 1100}); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestAMarkIsAnotherOneWhenAFileChanged(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	a := &app{env: Env{Home: home}}
	mark := a.mark(&house{roots: []string{dir}})
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func() string {
		t.Helper()
		m, err := mark(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	write("a.txt", "one")
	first := look()
	if look() != first {
		t.Error("nothing changed, and the mark did")
	}
	own, err := filepath.Rel(dir, a.places().Data)
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(own, "sessions.db"), "ours")
	if look() != first {
		t.Error("what we write ourselves changed the mark")
	}
	write("a.txt", "another")
	second := look()
	write(".hidden", "x")
	if second == first || look() == second {
		t.Error("files changed, and the mark did not")
	}
}
