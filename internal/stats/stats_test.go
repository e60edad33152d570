package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// tallied counts the events of sessions.
func tallied(sessions ...[]convo.Event) Report {
	t := New(time.UTC)
	for _, events := range sessions {
		t.Begin()
		for _, e := range events {
			t.Add(e)
		}
	}
	return t.Report()
}

// A story writes the events of one session, a second apart.
type story struct {
	events []convo.Event
	turn   int
	at     time.Time
}

func (s *story) add(e convo.Event) *story {
	s.at = s.at.Add(time.Second)
	e.Seq, e.Turn, e.At = int64(len(s.events)+1), s.turn, s.at
	s.events = append(s.events, e)
	return s
}

func (s *story) prompt(text string) *story {
	s.turn++
	return s.add(convo.Event{Kind: convo.KindUser, Text: text})
}

func (s *story) call(id, name string) *story {
	return s.add(convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: name, Args: json.RawMessage(`{}`)}}))
}

func (s *story) decided(id string, by convo.By, allowed bool, scope string) *story {
	return s.add(convo.Of("", convo.Decision{CallID: id, By: by, Allowed: allowed, Scope: scope}))
}

func (s *story) answered(id, data string, took time.Duration) *story {
	return s.add(convo.Of("", convo.ToolResult{Result: tool.Result{CallID: id, Data: json.RawMessage(data), Took: took}}))
}

func (s *story) refused(id string, code tool.Code) *story {
	return s.add(convo.Of("", convo.ToolResult{Result: tool.Fail(tool.Call{ID: id}, code, "no")}))
}

func (s *story) used(model string, in, out int, cost *float64) *story {
	return s.add(convo.Of("", convo.Usage{Model: model, Input: &in, Output: &out, CostUSD: cost, ModelMS: 100}))
}

func TestEveryCallEndsInOneWay(t *testing.T) {
	s := (&story{at: noon}).prompt("go").
		call("1", "bash").answered("1", `{"output":"","exit_code":3}`, 2*time.Millisecond).
		call("2", "bash").answered("2", `{"output":"","exit_code":0}`, 9*time.Millisecond).
		call("3", "read").answered("3", `{"error":"gone","error_code":"FILE_NOT_FOUND"}`, time.Millisecond).
		call("4", "bash").decided("4", convo.ByPerson, false, "").refused("4", tool.PermissionDenied).
		call("5", "read").refused("5", tool.InvalidParams).
		call("6", "read")
	r := tallied(s.events)
	if len(r.Tools) != 2 {
		t.Fatalf("%d tools", len(r.Tools))
	}
	bash, read := r.Tools[0], r.Tools[1]
	want := Tool{
		Name: "bash", Calls: 3, OK: 2, Denied: 1, Failures: map[tool.ErrorType]int{}, ExitCodes: map[int]int{0: 1, 3: 1},
		P50: 2 * time.Millisecond, P95: 9 * time.Millisecond, Ran: 2, Bytes: bash.Bytes,
	}
	if d := cmp.Diff(want, bash); d != "" || bash.NotZero() != 1 {
		t.Error(d)
	}
	want = Tool{
		Name: "read", Calls: 3, Failed: 2, Open: 1, Failures: map[tool.ErrorType]int{tool.TypeNotFound: 1, tool.TypeValidation: 1},
		ExitCodes: map[int]int{}, P50: time.Millisecond, P95: time.Millisecond, Ran: 1, Bytes: read.Bytes,
	}
	if d := cmp.Diff(want, read); d != "" || read.TopFailure() != tool.TypeNotFound {
		t.Error(d)
	}
}

func TestDepthIsRoundsOfCallsNotCalls(t *testing.T) {
	s := (&story{at: noon}).
		prompt("no tools").
		prompt("two at once").call("1", "a").call("2", "a").answered("1", `{}`, 1).answered("2", `{}`, 1).
		prompt("one after the other").call("3", "a").answered("3", `{}`, 1).call("4", "a").answered("4", `{}`, 1)
	if d := cmp.Diff(map[int]int{0: 1, 1: 1, 2: 1}, tallied(s.events).Depth); d != "" {
		t.Error(d)
	}
}

// Three calls are asked at once and answered after 10, 15 and 16 seconds: the
// person was waited for 16 seconds, not 41.
func TestWaitingCountsEachSecondOnce(t *testing.T) {
	s := &story{turn: 1}
	for _, id := range []string{"1", "2", "3"} {
		s.at = noon.Add(-time.Second)
		s.call(id, "bash")
	}
	for i, after := range []time.Duration{10, 15, 16} {
		s.at = noon.Add((after - 1) * time.Second)
		s.decided(fmt.Sprint(i+1), convo.ByPerson, true, "once")
	}
	if got := tallied(s.events).Clocks.Waiting; got != 16*time.Second {
		t.Errorf("waited %s", got)
	}
	byRule := (&story{at: noon}).call("1", "bash").decided("1", convo.ByRule, true, "")
	if got := tallied(byRule.events).Clocks.Waiting; got != 0 {
		t.Errorf("waited %s for a rule", got)
	}
}

func TestUnknownCostIsNotFree(t *testing.T) {
	half := 0.5
	s := (&story{at: noon}).prompt("x").used("a", 1, 1, nil).used("b", 1, 1, &half).used("b", 1, 1, nil)
	r := tallied(s.events)
	want := []Spent{
		{Model: "b", Replies: 2, Tokens: Tokens{Input: 2, Output: 2}, CostUSD: &half, Unpriced: 1},
		{Model: "a", Replies: 1, Tokens: Tokens{Input: 1, Output: 1}, Unpriced: 1},
	}
	if d := cmp.Diff(want, r.Models); d != "" {
		t.Error(d)
	}
}

func TestDaysAreThoseOfThePerson(t *testing.T) {
	late := time.Date(2026, 11, 15, 23, 30, 0, 0, time.UTC)
	tally := New(time.FixedZone("ahead", 3600))
	for _, e := range (&story{at: late}).call("1", "a").events {
		tally.Add(e)
	}
	if days := tally.Report().Days; len(days) != 1 || days[0].Day != "2026-11-16" {
		t.Errorf("%+v", days)
	}
}

func TestPercentileIsAValueThatOccurred(t *testing.T) {
	for n := 1; n <= 40; n++ {
		var took []time.Duration
		for i := 1; i <= n; i++ {
			took = append(took, time.Duration(i))
		}
		for _, p := range []int{50, 95} {
			if got, want := percentile(took, p), time.Duration(math.Ceil(float64(n)*float64(p)/100)); got != want {
				t.Errorf("p%d of 1..%d is %d, want %d", p, n, got, want)
			}
		}
	}
}

func TestReportAsJSONNamesItsUnits(t *testing.T) {
	raw, err := json.Marshal(tallied((&story{at: noon}).prompt("x").call("1", "a").answered("1", `{}`, 1500*time.Microsecond).events))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tools []struct {
			P50 float64 `json:"p50_ms"`
		}
		Clocks struct {
			Tools float64 `json:"tools_ms"`
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Tools[0].P50 != 1.5 || got.Clocks.Tools != 1.5 {
		t.Errorf("%v in %s", err, raw)
	}
}

func TestNumbersAgreeWithANaiveCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sessions [][]convo.Event
		for range rapid.IntRange(0, 3).Draw(t, "sessions") {
			sessions = append(sessions, history(t))
		}
		r := tallied(sessions...)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
		if d := cmp.Diff(naive(t, sessions), leaves(t, r), near); d != "" {
			t.Fatal(d)
		}
		if err := sumsHold(r); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	s := &story{at: noon}
	for i := range 1000 {
		id := fmt.Sprint(i)
		s.prompt("x").call(id, "bash").decided(id, convo.ByMode, true, "").answered(id, `{"output":"some text","exit_code":0}`, time.Millisecond).used("m", 10, 10, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		tallied(s.events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.events)), "ns/event")
}
