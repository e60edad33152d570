package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/stats"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
)

// kept stores a session with these events.
func kept(t *testing.T, s store.Store, about store.Session, events ...convo.Event) {
	t.Helper()
	ctx := context.Background()
	if err := s.Begin(ctx, about); err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		e.Seq, e.Turn = int64(i+1), 1
		if e.At.IsZero() {
			e.At = time.Now()
		}
		if err := s.Append(ctx, about.ID, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Flush(ctx), s.End(ctx, about.ID)); err != nil {
		t.Fatal(err)
	}
}

func anEdit(id, path, old, fresh string) []convo.Event {
	args, err := json.Marshal(map[string]string{"path": path, "old_text": old, "new_text": fresh})
	if err != nil {
		panic(err)
	}
	c := tool.Call{ID: id, Name: "file_edit", Args: args}
	return []convo.Event{
		convo.Of(c.Summary(), convo.ToolCall{Call: c}),
		convo.Of("done", convo.ToolResult{Result: tool.Result{CallID: id, Name: c.Name, Data: json.RawMessage(`{}`), Took: time.Millisecond}}),
	}
}

func TestWhatAForkSharesIsCountedOnce(t *testing.T) {
	ctx, s := context.Background(), memory.New()
	kept(t, s, store.Session{ID: "parent"}, anEdit("1", "a", "x", "y")...)
	if _, err := store.Fork(ctx, s, "parent", 0, store.Session{ID: "child"}); err != nil {
		t.Fatal(err)
	}
	count := func(ids ...string) int {
		var list []store.Session
		for _, id := range ids {
			one, err := s.Session(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, one)
		}
		r, err := tally(ctx, s, list, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Calls.Calls
	}
	if both, alone := count("parent", "child"), count("child"); both != 1 || alone != 1 {
		t.Errorf("both: %d calls, the fork alone: %d", both, alone)
	}
}

func TestDaysBeginAtMidnight(t *testing.T) {
	now := time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC)
	if got := since(2, now); !got.Equal(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)) {
		t.Error(got)
	}
	if !since(0, now).IsZero() {
		t.Error("no number of days is not ever")
	}
	s := memory.New()
	old := convo.Event{Kind: convo.KindUser, Text: "old", At: now.AddDate(0, 0, -1)}
	kept(t, s, store.Session{ID: "1"}, old, convo.Event{Kind: convo.KindUser, Text: "new", At: now})
	list, err := collect(context.Background(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := tally(context.Background(), s, list, since(1, now)); err != nil || r.Events != 1 {
		t.Errorf("%d events, %v", r.Events, err)
	}
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	half := 0.5
	tests := []struct{ got, want string }{
		{thousands(999), "999"},
		{thousands(31234), "31.2k"},
		{thousands(2_500_000), "2.5M"},
		{bytesOf(10), "10 B"},
		{bytesOf(18 << 10), "18.0 KB"},
		{bytesOf(3 << 20), "3.0 MB"},
		{several(1, "reply"), "1 reply"},
		{several(2, "reply"), "2 replies"},
		{several(0, "turn"), "0 turns"},
		{cost(stats.Spent{}), "cost unknown"},
		{cost(stats.Spent{CostUSD: &half, Unpriced: 2}), "$0.50 and 2 replies of unknown cost"},
		{dollars(0.0012), "$0.0012"},
		{depths(nil), "-"},
		{depths(map[int]int{0: 1, 1: 8, 3: 4}), "▁█·▄  0..3 rounds of calls per turn"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestTheShortFormIsForVerboseTextRunsOnly(t *testing.T) {
	s := memory.New()
	kept(t, s, store.Session{ID: "1"}, anEdit("1", "a", "x", "y")...)
	h := &house{store: s, id: "1", cfg: &config.Config{}}
	for _, tt := range []struct {
		o    headless.Options
		want bool
	}{
		{headless.Options{Format: headless.Text, Verbose: true}, true},
		{headless.Options{Format: headless.Text}, false},
		{headless.Options{Format: headless.JSON, Verbose: true}, false},
		{headless.Options{Format: headless.Text, Verbose: true, Quiet: true}, false},
	} {
		var out bytes.Buffer
		(&app{env: Env{Stderr: &out}}).sumUp(context.Background(), h, tt.o)
		if got := strings.Contains(out.String(), "calls   file_edit 1\n"); got != tt.want {
			t.Errorf("%+v: %q", tt.o, out.String())
		}
	}
}
