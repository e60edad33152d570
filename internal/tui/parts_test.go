package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/tool"
)

func asked(ids ...string) convo.Event {
	var q convo.Ask
	for _, id := range ids {
		q.Calls = append(q.Calls, convo.Asked{CallID: id, Name: "bash", Args: json.RawMessage(`{"command":"ls"}`), Risk: "low"})
	}
	e := convo.Of("", q)
	e.Turn = 1
	return e
}

func TestAQuestionTakesNoAnswerTooSoon(t *testing.T) {
	now := time.Unix(100, 0)
	var q question
	if !q.event(asked("a"), now) {
		t.Fatal("no question")
	}
	if !q.tooSoon(now.Add(tooSoon-1)) || q.tooSoon(now.Add(tooSoon)) {
		t.Error("a key that came too soon was taken, or one that came in time was not")
	}
	a, ok := q.key("2")
	if !ok || a.CallID != "a" || a.Turn != 1 || !a.Allow || a.Scope != permit.Session {
		t.Errorf("the answer is %+v", a)
	}
	if _, ok := q.key("9"); ok {
		t.Error("a key without a meaning was taken")
	}
}

func TestAQuestionFollowsItsBatch(t *testing.T) {
	now := time.Unix(100, 0)
	var q question
	q.event(asked("a", "b", "c"), now)
	q.event(convo.Of("", convo.Decision{CallID: "a"}), now)
	q.event(asked("b", "c"), now) // what is left is asked again
	if text := q.rows(80, 24, now)[0].String(); !strings.Contains(text, "2 of 3") {
		t.Errorf("it says %q", text)
	}
	q.event(convo.Of("", convo.End{Stop: convo.StopCancelled}), now)
	if q.open() {
		t.Error("the question outlives its turn")
	}
}

func TestTheQuestionFitsAnyRoom(t *testing.T) {
	now := time.Unix(100, 0)
	var q question
	e := asked("a")
	e.Body.(convo.Ask).Calls[0].Preview = strings.Repeat("@@ -1 +1 @@\n-old\n+new\n", 100)
	q.event(e, now)
	for height := 8; height < 60; height++ {
		if rows := q.rows(80, height, now); len(rows) > height {
			t.Errorf("%d rows where %d fit", len(rows), height)
		}
	}
}

func TestThreeClocks(t *testing.T) {
	start := time.Unix(1000, 0)
	s := status{o: &Options{Now: func() time.Time { return start.Add(time.Minute) }}}
	at := func(seconds int, state string) {
		e := convo.Of("", convo.State{Name: state})
		e.At = start.Add(time.Duration(seconds) * time.Second)
		s.event(e)
	}
	at(0, "awaiting_model")
	at(3, "evaluating_policy")
	at(3, "awaiting_permission")
	at(10, "executing")
	at(12, "awaiting_model")
	at(13, "completed")
	if got := s.times(); got != "model 4s tools 2s you 7s" {
		t.Errorf("the clocks are %q", got)
	}
}

func TestTheStatusLineFitsAnyWidth(t *testing.T) {
	s := status{o: &Options{Dir: "project", Branch: "main", Turns: 50, Now: time.Now}, model: "provider/a-long-name-of-a-model", mode: "ask", input: 31_000, output: 1200, cached: 22_000, cost: 0.09}
	for width := 40; width < 400; width++ {
		if l := s.line(width, "? keys"); len([]rune(l.String())) > width {
			t.Errorf("%d columns where %d are: %s", len([]rune(l.String())), width, l)
		}
	}
}

func TestTheTailOfMuchOutputIsBounded(t *testing.T) {
	var tl tail
	for i := range 100_000 {
		tl.add(fmt.Sprintf("line %d\n", i))
	}
	lines, before := tl.last(3)
	if len(lines) != 3 || lines[2].String() != "line 99999" || before != 99_997 {
		t.Errorf("%v after %d lines", lines, before)
	}
	if len(tl.text) > 2*tailBytes {
		t.Errorf("%d bytes are kept", len(tl.text))
	}
}

func TestEveryCallIsDrawnWhole(t *testing.T) {
	tr := newTranscript(0, time.Now)
	c := tool.Call{ID: "1", Name: "deploy", Args: json.RawMessage(`{"target":"prod","count":3,"notes":"a\nb"}`)}
	tr.event(convo.Of("", convo.ToolCall{Call: c}))
	tr.event(convo.Of("", convo.ToolResult{Result: tool.Result{CallID: "1", Name: "deploy", Data: json.RawMessage(`{"output":"x\ny\nz"}`), Summary: "done"}}))
	var got []string
	for _, it := range tr.out {
		got = append(got, it.Line.String())
	}
	want := "✓ deploy  prod count=3  done|│ notes:|│ a|│ b|│ x|│ y|│ z"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("drawn as %q, want %q", joined, want)
	}
}

func TestFilesLikeWhatIsTyped(t *testing.T) {
	files := []string{"internal/pay/retry.go", "README.md", "internal/pay/retry_test.go", "docs/retry/notes.md", "cmd/main.go"}
	for typed, want := range map[string]string{"retry": "@internal/pay/retry.go", "main": "@cmd/main.go", "ipr": "@internal/pay/retry.go", "READ": "@README.md"} {
		list := filesLike(files, typed)
		if len(list) == 0 || list[0].text != want {
			t.Errorf("%s gives %v, want %s", typed, list, want)
		}
	}
	if list := filesLike(files, "zzz"); len(list) > 0 {
		t.Errorf("zzz gives %v", list)
	}
}

func TestWordsThatWereStoppedComeBack(t *testing.T) {
	var b box
	b.Insert("typing")
	b.putBack("first", "second")
	if got := b.Text(); got != "first\nsecond\ntyping" {
		t.Errorf("the box holds %q", got)
	}
}
