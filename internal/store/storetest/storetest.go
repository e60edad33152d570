// Package storetest is the suite that every store must pass. Run is for all of
// them, RunShared for those that can be opened more than once.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/tool"
)

// Open opens one store: the same one each time it is called.
type Open func(t *testing.T) store.Store

// Run tries everything that a Store promises within one process. fresh gives a
// way to open a store that is empty and used by nobody else.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"EveryEventComesBackAsItWas", everyEventComesBackAsItWas},
		{"EventsComeAfterASeq", eventsComeAfterASeq},
		{"HardTextComesBackByteForByte", hardTextComesBackByteForByte},
		{"VendorDataKeepsItsBlanks", vendorDataKeepsItsBlanks},
		{"UnreadableBodyIsKeptAsItIs", unreadableBodyIsKeptAsItIs},
		{"UnwritableDataIsReportedAndBlocksNothing", unwritableDataIsReportedAndBlocksNothing},
		{"EventsMustBeTheNextOnes", eventsMustBeTheNextOnes},
		{"OnlyBegunSessionsTakeEvents", onlyBegunSessionsTakeEvents},
		{"OneSessionIsOpenOnce", oneSessionIsOpenOnce},
		{"SessionIsFoundByPrefix", sessionIsFoundByPrefix},
		{"SessionsAreListedByLastUse", sessionsAreListedByLastUse},
		{"SessionCountsItsEvents", sessionCountsItsEvents},
		{"BeginChangesNothingOfAnOldSession", beginChangesNothingOfAnOldSession},
		{"UpdateChangesTitleBranchModel", updateChangesTitleBranchModel},
		{"RemovedSessionIsGone", removedSessionIsGone},
		{"HeadCoversEveryEvent", headCoversEveryEvent},
		{"ForkIsByteForByte", forkIsByteForByte},
		{"SearchFindsAllWords", searchFindsAllWords},
		{"ManySessionsAtOnceLoseNothing", manySessionsAtOnceLoseNothing},
		{"ManyReadersAtOnceDoNotWaitForOneAnother", manyReadersAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)(t)) })
	}
}

// RunShared tries what a Store promises beyond one process. Two Stores of the
// same place stand for two processes.
func RunShared(t *testing.T, fresh func(t *testing.T) Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"WhatWasFlushedIsThereForOthers", whatWasFlushedIsThereForOthers},
		{"ClosedStoreHasWrittenAll", closedStoreHasWrittenAll},
		{"SessionOpenElsewhereIsBusy", sessionOpenElsewhereIsBusy},
		{"SessionGoesOnInAnotherProcess", sessionGoesOnInAnotherProcess},
		{"TwoStoresWriteAtOnce", twoStoresWriteAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

// start is when the sessions of the suite begin. The nanoseconds must survive.
var start = time.Date(2026, 10, 5, 9, 30, 0, 123456789, time.UTC)

// NewSession is a session to begin.
func NewSession(id string) store.Session {
	return store.Session{ID: id, Title: "title of " + id, Dir: "/src/" + id, Branch: "main", Model: "m1", Created: start, Updated: start}
}

// Event is the nth event of a plausible session: the kinds alternate.
func Event(n int64) convo.Event {
	e := sample(n)
	e.Seq, e.Turn, e.At = n, int(n/8)+1, start.Add(time.Duration(n)*time.Second)
	return e
}

func sample(n int64) convo.Event {
	id := fmt.Sprintf("call_%d", n)
	switch n % 4 {
	case 1:
		return convo.Event{Kind: convo.KindUser, Text: fmt.Sprintf("question %d", n)}
	case 2:
		e := convo.Of("grep(pattern=x)", convo.ToolCall{Call: tool.Call{ID: id, Name: "grep", Args: json.RawMessage(`{"pattern": "a<b"}`)}})
		e.Reply = fmt.Sprintf("reply %d", n)
		e.Keep = &convo.Opaque{Dialect: "anthropic", Model: "m1", Data: json.RawMessage(`{"signature":"Zm9v"}`)}
		return e
	case 3:
		return convo.Of("3 lines found", convo.ToolResult{Result: tool.Result{
			CallID: id, Name: "grep", Summary: "3 lines found", Data: json.RawMessage(`{"output":"a\nb\nc","count":3}`), Took: 4 * time.Millisecond,
		}})
	default:
		return convo.Event{Kind: convo.KindAssistant, Text: fmt.Sprintf("answer %d & more", n)}
	}
}

func everyEventComesBackAsItWas(t *testing.T, s store.Store) {
	begin(t, s, "a")
	n := 7
	want := []convo.Event{
		{Kind: convo.KindSystem, Text: "be good"},
		{Kind: convo.KindUser, Text: "hello"},
		{Kind: convo.KindThinking, Text: "hm", Keep: &convo.Opaque{Dialect: "gemini", Data: json.RawMessage(`"sig"`)}},
		sample(2),
		convo.Of("allow", convo.Decision{CallID: "call_2", Name: "grep", Allowed: true, By: convo.ByMode, Risk: "safe"}),
		sample(3),
		convo.Of("no", convo.ToolResult{Result: tool.Result{CallID: "c", Name: "x", Summary: "no", Failure: &tool.Failure{Code: "TOOL_CRASHED", Message: "no", ExitCode: &n}}}),
		convo.Of("", convo.Opaque{Dialect: "responses", Data: json.RawMessage(`{"encrypted":"x"}`)}),
		convo.Of("", convo.Usage{Model: "m1", Input: &n}),
		convo.Of("cleared", convo.Command{Name: "clear"}),
		{Kind: convo.KindSummary, Text: "what was"},
		{Kind: convo.KindAssistant, Text: "done"},
		convo.Of("", convo.End{Stop: convo.StopDone, Turns: 2}),
	}
	for i := range want {
		want[i].Seq, want[i].Turn, want[i].At = int64(i+1), 1, start.Add(time.Duration(i))
		must(t, s.Append(t.Context(), "a", want[i]))
	}
	must(t, s.Sync(t.Context()))
	same(t, Collect(t, s.Events(t.Context(), "a", 0)), want)
}

func eventsComeAfterASeq(t *testing.T, s store.Store) {
	begin(t, s, "a")
	fill(t, s, "a", 1, 9)
	for after, want := range map[int64]int{0: 9, 4: 5, 9: 0, 12: 0} {
		if got := Collect(t, s.Events(t.Context(), "a", after)); len(got) != want || want > 0 && got[0].Seq != after+1 {
			t.Errorf("after %d: %d events, want %d: %v", after, len(got), want, got)
		}
	}
	for range s.Events(t.Context(), "a", 0) {
		break // a reader may leave early
	}
	wantNoSession(t, first(s.Events(t.Context(), "nobody", 0)))
}

// hardTexts are what a database may refuse or change.
var hardTexts = []string{
	"", "\x00", "a\x00b", "\xff\xfe broken \xc3", "line\r\n\u2028line", "\ufeffbom", "it's \"quoted\" \\u0000 $1 ? %s", "日本語 🚀 \U0010ffff",
	strings.Repeat("long ", 300_000), "\x1b[31mred", "trailing blanks   ",
}

func hardTextComesBackByteForByte(t *testing.T, s store.Store) {
	begin(t, s, "a")
	var want []convo.Event
	for i, text := range hardTexts {
		quoted, err := json.Marshal(text)
		must(t, err)
		want = append(want,
			convo.Event{Seq: int64(3*i + 1), At: start, Kind: convo.KindUser, Text: text, Reply: text},
			convo.Event{Seq: int64(3*i + 2), At: start, Kind: "later", Text: text, Body: convo.Unknown{Of: "later", Data: quoted}},
			convo.Event{Seq: int64(3*i + 3), At: start, Kind: "later", Body: convo.Unknown{Of: "later", Data: json.RawMessage(text + " not JSON")}})
	}
	for _, e := range want {
		must(t, s.Append(t.Context(), "a", e))
	}
	must(t, s.Sync(t.Context()))
	same(t, Collect(t, s.Events(t.Context(), "a", 0)), want)
	must(t, Verify(t, s, "a"))
}

func vendorDataKeepsItsBlanks(t *testing.T, s store.Store) {
	begin(t, s, "a")
	raw := json.RawMessage("{ \"z\" : 1,\n \"a\":\"<&>\\u0000\", \"z\": 2.50 }")
	keep := convo.Opaque{Dialect: "anthropic", Data: raw}
	must(t, s.Append(t.Context(), "a", convo.Event{Seq: 1, Kind: convo.KindThinking, Keep: &keep}))
	must(t, s.Append(t.Context(), "a", convo.Event{Seq: 2, Kind: convo.KindOpaque, Body: keep}))
	got := Collect(t, s.Events(t.Context(), "a", 0))
	if string(got[0].Keep.Data) != string(raw) {
		t.Errorf("keep came back as %s", got[0].Keep.Data)
	}
	if o, ok := got[1].Body.(convo.Opaque); !ok || string(o.Data) != string(raw) {
		t.Errorf("opaque body came back as %v", got[1].Body)
	}
}

func unreadableBodyIsKeptAsItIs(t *testing.T, s store.Store) {
	begin(t, s, "a")
	odd := convo.Event{Seq: 1, Kind: convo.KindToolCall, Body: convo.Unknown{Of: convo.KindToolCall, Data: json.RawMessage(`["another form"]`)}}
	must(t, s.Append(t.Context(), "a", odd))
	same(t, Collect(t, s.Events(t.Context(), "a", 0)), []convo.Event{odd})
}

func unwritableDataIsReportedAndBlocksNothing(t *testing.T, s store.Store) {
	begin(t, s, "a")
	bad := convo.Event{Seq: 1, Kind: convo.KindThinking, Text: "hm", Keep: &convo.Opaque{Dialect: "x", Data: json.RawMessage(`{broken`)}}
	err := s.Append(t.Context(), "a", bad)
	Collect(t, s.Events(t.Context(), "a", 0)) // a reader does not take the news away
	err = errors.Join(err, s.Flush(t.Context()))
	if unsaved := (*store.Unsaved)(nil); !errors.As(err, &unsaved) {
		t.Errorf("nobody was told: %v", err)
	}
	must(t, s.Append(t.Context(), "a", convo.Event{Seq: 2, Kind: convo.KindUser, Text: "on"}))
	must(t, s.Sync(t.Context()))
	got := Collect(t, s.Events(t.Context(), "a", 0))
	if len(got) != 2 || got[0].Text != "hm" || got[1].Text != "on" {
		t.Errorf("got %v", got)
	}
}

func eventsMustBeTheNextOnes(t *testing.T, s store.Store) {
	begin(t, s, "a")
	fill(t, s, "a", 1, 3)
	for _, seq := range []int64{0, 1, 3, 5, -1} {
		if err := s.Append(t.Context(), "a", Event(seq)); err == nil {
			t.Errorf("event %d was taken after 3", seq)
		}
	}
	fill(t, s, "a", 4, 4)
	if got := Collect(t, s.Events(t.Context(), "a", 0)); len(got) != 4 {
		t.Errorf("%d events, want 4", len(got))
	}
}

func onlyBegunSessionsTakeEvents(t *testing.T, s store.Store) {
	wantNoSession(t, s.Append(t.Context(), "a", Event(1)))
	begin(t, s, "a")
	fill(t, s, "a", 1, 1)
	must(t, s.End(t.Context(), "a"))
	must(t, s.End(t.Context(), "a")) // twice is no harm
	wantNoSession(t, s.Append(t.Context(), "a", Event(2)))
	begin(t, s, "a")
	fill(t, s, "a", 2, 2)
	must(t, Verify(t, s, "a"))
}

func oneSessionIsOpenOnce(t *testing.T, s store.Store) {
	begin(t, s, "a")
	wantBusy(t, s.Begin(t.Context(), NewSession("a")), "a")
	begin(t, s, "b")
}

func sessionIsFoundByPrefix(t *testing.T, s store.Store) {
	for _, id := range []string{"0199a-1", "0199a-2", "0200b", "0200b-longer", "100%", "100_x"} {
		begin(t, s, id)
	}
	for prefix, want := range map[string]string{"0199a-1": "0199a-1", "0200b": "0200b", "0200b-": "0200b-longer", "100%": "100%", "100_": "100_x"} {
		got, err := s.Session(t.Context(), prefix)
		if err != nil || got.ID != want {
			t.Errorf("Session(%q) = %q, %v; want %q", prefix, got.ID, err, want)
		}
	}
	for prefix, several := range map[string]int{"0199a": 2, "9": 0, "": 0, "%": 0, "0200B": 0} {
		_, err := s.Session(t.Context(), prefix)
		if no := (*store.NoSession)(nil); !errors.As(err, &no) || len(no.Several) != several || no.ID != prefix {
			t.Errorf("Session(%q): %#v, want %d candidates", prefix, err, several)
		}
	}
}

func sessionsAreListedByLastUse(t *testing.T, s store.Store) {
	for i, id := range []string{"a", "b", "c"} {
		n := NewSession(id)
		n.Updated = start.Add(time.Duration(i) * time.Minute)
		n.Dir = map[bool]string{true: "/one", false: "/two"}[id == "b"]
		must(t, s.Begin(t.Context(), n))
	}
	e := Event(1)
	e.At = start.Add(time.Hour)
	must(t, s.Append(t.Context(), "a", e))
	for _, c := range []struct {
		filter store.Filter
		want   string
	}{{store.Filter{}, "a c b"}, {store.Filter{Dir: "/two"}, "a c"}, {store.Filter{Limit: 2}, "a c"}, {store.Filter{Dir: "/none"}, ""}} {
		var ids []string
		for _, x := range Collect(t, s.Sessions(t.Context(), c.filter)) {
			ids = append(ids, x.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.filter, got, c.want)
		}
	}
}

func sessionCountsItsEvents(t *testing.T, s store.Store) {
	n := NewSession("a")
	n.Parent, n.ParentSeq = "elder", 4
	must(t, s.Begin(t.Context(), n))
	same(t, session(t, s, "a"), n)
	fill(t, s, "a", 1, 11)
	n.Events, n.Calls, n.LastWords, n.Updated = 11, 3, "question 9", start.Add(11*time.Second)
	same(t, session(t, s, "a"), n)
	long := convo.Event{Seq: 12, Kind: convo.KindAssistant, Text: " many\n\n\twords " + strings.Repeat("ä", 500)}
	must(t, s.Append(t.Context(), "a", long))
	got := session(t, s, "a").LastWords
	if r := []rune(got); !strings.HasPrefix(got, "many words ää") || len(r) > 120 || r[len(r)-1] != '…' {
		t.Errorf("last words %q", got)
	}
}

func beginChangesNothingOfAnOldSession(t *testing.T, s store.Store) {
	begin(t, s, "a")
	fill(t, s, "a", 1, 4)
	want := session(t, s, "a")
	must(t, s.End(t.Context(), "a"))
	must(t, s.Begin(t.Context(), store.Session{ID: "a", Title: "other", Created: start.Add(time.Hour)}))
	same(t, session(t, s, "a"), want)
}

func updateChangesTitleBranchModel(t *testing.T, s store.Store) {
	begin(t, s, "a")
	fill(t, s, "a", 1, 2)
	want := session(t, s, "a")
	want.Title, want.Branch, want.Model = "new", "dev", "m2"
	changed := want
	changed.Dir, changed.Events = "/elsewhere", 99
	must(t, s.Update(t.Context(), changed))
	same(t, session(t, s, "a"), want)
	fill(t, s, "a", 3, 3)
	if got := session(t, s, "a"); got.Title != "new" || got.Events != 3 {
		t.Errorf("after one more event: %+v", got)
	}
	wantNoSession(t, s.Update(t.Context(), NewSession("nobody")))
}

func removedSessionIsGone(t *testing.T, s store.Store) {
	begin(t, s, "a")
	begin(t, s, "b")
	fill(t, s, "a", 1, 5)
	fill(t, s, "b", 1, 5)
	must(t, s.Remove(t.Context(), "a"))
	_, err := s.Session(t.Context(), "a")
	wantNoSession(t, err)
	_, err = s.Head(t.Context(), "a")
	wantNoSession(t, err)
	wantNoSession(t, first(s.Events(t.Context(), "a", 0)))
	wantNoSession(t, s.Remove(t.Context(), "a"))
	wantNoSession(t, s.Append(t.Context(), "a", Event(6)))
	if n := len(Collect(t, s.Events(t.Context(), "b", 0))); n != 5 {
		t.Errorf("the other session has %d events, want 5", n)
	}
	begin(t, s, "a")
	fill(t, s, "a", 1, 1)
	must(t, Verify(t, s, "a"))
}

func headCoversEveryEvent(t *testing.T, s store.Store) {
	begin(t, s, "a")
	heads := []string{head(t, s, "a")}
	if heads[0] != store.Genesis("a").String() {
		t.Errorf("an empty session has the head %s", heads[0])
	}
	for n := int64(1); n <= 8; n++ {
		fill(t, s, "a", n, n)
		heads = append(heads, head(t, s, "a"))
	}
	must(t, Verify(t, s, "a", heads...))
	if err := Verify(t, s, "a", store.Genesis("b").String()); err == nil {
		t.Error("a head of another session was found in this one")
	}
}

func forkIsByteForByte(t *testing.T, s store.Store) {
	begin(t, s, "a")
	fill(t, s, "a", 1, 10)
	must(t, s.Append(t.Context(), "a", convo.Event{Seq: 11, Kind: "later", Body: convo.Unknown{Of: "later", Data: json.RawMessage(`{"b" :1}`)}}))
	part, err := store.Fork(t.Context(), s, "a", 6, store.Session{ID: "b", Title: "side road", Created: start, Updated: start})
	must(t, err)
	if part.Events != 6 || part.Parent != "a" || part.ParentSeq != 6 || part.Title != "side road" || part.Dir != "/src/a" {
		t.Errorf("the fork is %+v", part)
	}
	_, err = store.Fork(t.Context(), s, "a", 0, store.Session{ID: "c"})
	must(t, err)
	want := unlinked(Collect(t, s.Rows(t.Context(), "a", 0)))
	same(t, unlinked(Collect(t, s.Rows(t.Context(), "b", 0))), want[:6])
	same(t, unlinked(Collect(t, s.Rows(t.Context(), "c", 0))), want)
	must(t, Verify(t, s, "b"))
	fill(t, s, "b", 7, 7)
	_, err = store.Fork(t.Context(), s, "nobody", 0, store.Session{ID: "d"})
	wantNoSession(t, err)
}

func searchFindsAllWords(t *testing.T, s store.Store) {
	find, ok := s.(store.Searcher)
	if !ok {
		t.Skip("this store does not search")
	}
	begin(t, s, "a")
	begin(t, s, "b")
	texts := []string{"Über den WOLKEN", "muss die 100% Freiheit", "wohl grenzenlos sein", strings.Repeat("x ", 5000) + "die Wolken\nziehen", "100_ % \\ '"}
	for i, text := range texts {
		for _, id := range []string{"a", "b"} {
			at := start.Add(time.Duration(i) * time.Second)
			must(t, s.Append(t.Context(), id, convo.Event{Seq: int64(i + 1), At: at, Kind: convo.KindUser, Text: text + id}))
		}
	}
	for _, c := range []struct {
		query string
		limit int
		want  string
	}{
		{"wolken", 0, "b4 b1 a4 a1"},
		{"wolken", 3, "b4 b1 a4"},
		{"  über   wolken ", 0, "b1 a1"},
		{"100%", 0, "b2 a2"},
		{"100_", 0, "b5 a5"},
		{`\ '`, 0, "b5 a5"},
		{"seina", 0, "a3"},
		{"nirgends", 0, ""},
		{" ", 0, ""},
	} {
		var got []string
		for _, h := range Collect(t, find.Search(t.Context(), c.query, c.limit)) {
			got = append(got, fmt.Sprint(h.Session, h.Seq))
			if h.Title != "title of "+h.Session || h.Kind != convo.KindUser || h.At.IsZero() || strings.ContainsAny(h.Excerpt, "\n") || h.Excerpt == "" || len([]rune(h.Excerpt)) > 160 {
				t.Errorf("hit %+v", h)
			}
			if w := store.Words(c.query)[0]; !strings.Contains(strings.ToLower(h.Excerpt), w) {
				t.Errorf("excerpt %q is not around %q", h.Excerpt, w)
			}
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("search %q: %q, want %q", c.query, g, c.want)
		}
	}
}

func manySessionsAtOnceLoseNothing(t *testing.T, s store.Store) {
	sessions, events := 50, int64(40)
	if testing.Short() {
		sessions, events = 10, 20
	}
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() {
			id := fmt.Sprintf("s%02d", i)
			if err := write(t.Context(), s, id, events); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, s.Sync(t.Context()))
	for i := range sessions {
		id := fmt.Sprintf("s%02d", i)
		wantEvents(t, s, id, events)
	}
}

func manyReadersAtOnce(t *testing.T, s store.Store) {
	for _, id := range []string{"a", "b", "c"} {
		begin(t, s, id)
		fill(t, s, id, 1, 30)
	}
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for it, err := range s.Sessions(t.Context(), store.Filter{}) {
				n := int64(0)
				for _, e := range s.Events(t.Context(), it.ID, 0) {
					err = errors.Join(err, e)
					n++
				}
				if err != nil || n != 30 {
					t.Errorf("session %s: %d events, %v", it.ID, n, err)
				}
			}
		})
	}
	all.Wait()
}

func write(ctx context.Context, s store.Store, id string, events int64) error {
	if err := s.Begin(ctx, NewSession(id)); err != nil {
		return err
	}
	for n := int64(1); n <= events; n++ {
		if err := s.Append(ctx, id, Event(n)); err != nil {
			return err
		}
		if n%8 == 0 {
			if err := s.Sync(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func whatWasFlushedIsThereForOthers(t *testing.T, open Open) {
	one, two := open(t), open(t)
	begin(t, one, "a")
	for n := int64(1); n <= 5; n++ {
		must(t, one.Append(t.Context(), "a", Event(n)))
		must(t, one.Flush(t.Context()))
		if got := Collect(t, two.Events(t.Context(), "a", n-1)); len(got) != 1 {
			t.Fatalf("event %d: the other store sees %d", n, len(got))
		}
	}
	same(t, session(t, two, "a"), session(t, one, "a"))
	must(t, Verify(t, two, "a", head(t, one, "a")))
}

func closedStoreHasWrittenAll(t *testing.T, open Open) {
	one := open(t)
	begin(t, one, "a")
	for n := int64(1); n <= 300; n++ {
		must(t, one.Append(t.Context(), "a", Event(n)))
	}
	must(t, one.Close())
	wantEvents(t, open(t), "a", 300)
}

func sessionOpenElsewhereIsBusy(t *testing.T, open Open) {
	one, two := open(t), open(t)
	begin(t, one, "a")
	must(t, one.Flush(t.Context()))
	wantBusy(t, two.Begin(t.Context(), NewSession("a")), "a")
	wantBusy(t, two.Remove(t.Context(), "a"), "a")
	wantNoSession(t, two.Append(t.Context(), "a", Event(1)))
	fill(t, one, "a", 1, 2)
	changed := session(t, two, "a")
	changed.Title = "renamed elsewhere"
	must(t, two.Update(t.Context(), changed))
	fill(t, one, "a", 3, 3)
	if got := session(t, one, "a"); got.Title != "renamed elsewhere" || got.Events != 3 {
		t.Errorf("the rename was lost: %+v", got)
	}
}

func sessionGoesOnInAnotherProcess(t *testing.T, open Open) {
	one, two, three := open(t), open(t), open(t)
	begin(t, one, "a")
	fill(t, one, "a", 1, 3)
	must(t, one.End(t.Context(), "a"))
	begin(t, two, "a")
	fill(t, two, "a", 4, 6)
	must(t, two.Close())
	begin(t, three, "a")
	fill(t, three, "a", 7, 9)
	must(t, three.End(t.Context(), "a"))
	begin(t, one, "a")
	fill(t, one, "a", 10, 12)
	wantEvents(t, one, "a", 12)
	must(t, one.End(t.Context(), "a"))
	must(t, three.Remove(t.Context(), "a"))
	wantNoSession(t, first(one.Events(t.Context(), "a", 0)))
}

func twoStoresWriteAtOnce(t *testing.T, open Open) {
	const events = 60
	var all sync.WaitGroup
	stores := []store.Store{open(t), open(t), open(t)}
	for i, s := range stores {
		for j := range 3 {
			all.Go(func() {
				if err := write(t.Context(), s, fmt.Sprintf("s%d-%d", i, j), events); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i, s := range stores {
		must(t, s.Flush(t.Context()))
		for j := range 3 {
			wantEvents(t, stores[(i+1)%3], fmt.Sprintf("s%d-%d", i, j), events)
		}
	}
}

// Verify checks the chain of a session as audit does.
func Verify(t *testing.T, s store.Store, id string, seen ...string) error {
	t.Helper()
	return store.Verify(id, head(t, s, id), s.Rows(t.Context(), id, 0), seen...)
}

// Collect takes all that a store gives; an error ends the test.
func Collect[V any](t *testing.T, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var all []V
	for v, err := range seq {
		must(t, err)
		all = append(all, v)
	}
	return all
}

func begin(t *testing.T, s store.Store, id string) {
	t.Helper()
	must(t, s.Begin(t.Context(), NewSession(id)))
}

func fill(t *testing.T, s store.Store, id string, from, to int64) {
	t.Helper()
	for n := from; n <= to; n++ {
		must(t, s.Append(t.Context(), id, Event(n)))
	}
}

func session(t *testing.T, s store.Store, id string) store.Session {
	t.Helper()
	got, err := s.Session(t.Context(), id)
	must(t, err)
	return got
}

func head(t *testing.T, s store.Store, id string) string {
	t.Helper()
	h, err := s.Head(t.Context(), id)
	must(t, err)
	return h
}

func unlinked(rows []store.Row) []store.Row {
	for i := range rows {
		rows[i].Prev, rows[i].Hash = store.Hash{}, store.Hash{}
	}
	return rows
}

func first[V any](seq iter.Seq2[V, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same[V any](t *testing.T, got, want V) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // cmp takes seconds for long texts that are equal
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("difference (- want, + got):\n%.2000s", d)
	}
}

func wantEvents(t *testing.T, s store.Store, id string, n int64) {
	t.Helper()
	want := make([]convo.Event, n)
	for i := range want {
		want[i] = Event(int64(i + 1))
	}
	same(t, Collect(t, s.Events(t.Context(), id, 0)), want)
	if err := Verify(t, s, id); err != nil {
		t.Error(err)
	}
}

func wantNoSession(t *testing.T, err error) {
	t.Helper()
	if no := (*store.NoSession)(nil); !errors.As(err, &no) {
		t.Errorf("got %v, want *NoSession", err)
	}
}

func wantBusy(t *testing.T, err error, id string) {
	t.Helper()
	if b := (*store.Busy)(nil); !errors.As(err, &b) || b.Session != id || b.PID != os.Getpid() {
		t.Errorf("got %#v, want *Busy of session %s with our pid", err, id)
	}
}
