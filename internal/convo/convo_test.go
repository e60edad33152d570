package convo

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"ikigai/internal/tool"
)

func TestDataIsWhatTheSeedSays(t *testing.T) {
	tests := []struct {
		name string
		body Body
		want string
	}{
		{
			"tool_call",
			ToolCall{tool.Call{ID: "call_abc123", Name: "glob", Args: json.RawMessage(`{"pattern": "*.c"}`)}},
			`{"id":"call_abc123","type":"function","function":{"name":"glob","arguments":"{\"pattern\": \"*.c\"}"}}`,
		},
		{
			"tool_result",
			ToolResult{tool.Result{CallID: "call_abc123", Name: "glob", Data: json.RawMessage(`{"output":"a.c\nb.c","count":2}`), Took: 1500 * time.Microsecond}},
			`{"tool_call_id":"call_abc123","name":"glob","output":"{\"output\":\"a.c\\nb.c\",\"count\":2}","success":true,"error_type":"none","took_us":1500}`,
		},
	}
	for _, tt := range tests {
		got, err := Of("", tt.body).Data()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
	if got, err := (Event{Kind: KindUser, Text: "hi"}).Data(); got != nil || err != nil {
		t.Errorf("plain text has data %s, %v", got, err)
	}
}

func TestEventsSurviveTheirJSON(t *testing.T) {
	code, n, cost := 2, 7, 0.25
	at := time.Date(2026, 11, 15, 1, 2, 3, 4000000, time.UTC)
	bodies := []Body{
		ToolCall{tool.Call{ID: "a", Name: "x", Args: json.RawMessage(`{"a": "<&>"}`)}},
		ToolResult{tool.Result{CallID: "a", Name: "x", Data: json.RawMessage(`{"output":"é"}`), Truncated: true, Limit: 3, Notes: []string{"repaired"}, At: at, Took: time.Second}},
		ToolResult{tool.Result{CallID: "a", Failure: &tool.Failure{Code: tool.ToolCrashed, Message: "m", ExitCode: &code, Stdout: "o", Stderr: "e"}}},
		Opaque{Dialect: "anthropic", Model: "m", Data: json.RawMessage(`{"signature":"x"}`)},
		Decision{CallID: "a", Name: "x", Allowed: true, By: ByRule, Rule: "r", Reason: "why", Risk: "low", Scope: "once"},
		Usage{Input: &n, CostUSD: &cost},
		Delta{Thinking: true},
		Running{CallID: "a"},
		ToolOutput{CallID: "a"},
		Ask{Calls: []Asked{{CallID: "a", Args: json.RawMessage(`{}`)}}},
		State{Name: "idle"},
		Notice{Hint: "h"},
		Error{Class: "auth", Text: "t"},
		Limit{Which: "turns", Value: 1, Max: 2},
		Command{Name: "tool"},
		Undo{Turns: []int{2}, Files: []string{"a"}, Before: "b"},
		End{Stop: StopLimit, Limit: &Limit{Which: "cost"}, Unsent: []string{"x"}},
		Unknown{Of: "future", Data: json.RawMessage(`{"x":1}`)},
		Words{Images: []Image{{Name: "a.png", Media: "image/png", Data: []byte("\x89PNG")}, {Media: "image/gif", Data: []byte("GIF")}}},
		Unknown{Of: KindUser, Data: json.RawMessage(`{"from":"harness"}`)},
		Unknown{Of: KindUser, Data: json.RawMessage(`{"images":"none of ours"}`)},
	}
	for i, b := range bodies {
		if r, ok := b.(ToolResult); ok {
			r.Summary = "text"
			b = r
		}
		e := Of("text", b)
		e.Seq, e.Turn, e.At, e.Reply, e.Keep = int64(i+1), 2, at, "r1", &Opaque{Dialect: "gemini", Data: json.RawMessage(`"sig"`)}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var again Event
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !reflect.DeepEqual(e, again) {
			t.Errorf("%T\n got %+v\nwant %+v", b, again, e)
		}
	}
}

func TestEnvelopeIsTheSameAfterStoring(t *testing.T) {
	for _, r := range []tool.Result{
		{CallID: "a", Data: json.RawMessage(`{"output":"x"}`), Limit: 2},
		tool.Fail(tool.Call{ID: "a", Name: "x"}, tool.PermissionDenied, "no"),
	} {
		raw, err := json.Marshal(ToolResult{r})
		if err != nil {
			t.Fatal(err)
		}
		var again ToolResult
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		if got, want := string(again.Envelope()), string(r.Envelope()); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestDataMayBeAString(t *testing.T) {
	var e Event
	err := json.Unmarshal([]byte(`{"kind":"tool_call","content":"x","data_json":"{\"id\":\"a\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}"}`), &e)
	if c, ok := e.Body.(ToolCall); err != nil || !ok || c.Name != "n" {
		t.Errorf("%+v, %v", e, err)
	}
}

func called(ids ...string) []Event {
	var events []Event
	for _, id := range ids {
		kind, name := id[:1], id[1:]
		switch kind {
		case "c":
			events = append(events, Of("", ToolCall{tool.Call{ID: name}}))
		case "r":
			events = append(events, Of("", ToolResult{tool.Result{CallID: name}}))
		default:
			events = append(events, Event{Kind: KindUser})
		}
	}
	return events
}

func TestCheckFindsWhatCannotBeSent(t *testing.T) {
	tests := []struct {
		name string
		ids  []string
		good bool
	}{
		{"a plain history", []string{"u", "c1", "c2", "r1", "r2", "u"}, true},
		{"an orphan", []string{"u", "c1"}, false},
		{"a result without a call", []string{"u", "r1"}, false},
		{"two results", []string{"c1", "r1", "r1"}, false},
		{"words between call and result", []string{"c1", "u", "r1"}, false},
		{"a call that stands twice", []string{"c1", "r1", "c1", "r1"}, false},
	}
	for _, tt := range tests {
		if err := Check(called(tt.ids...)); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if got := Orphans(called("c1", "c2", "r1", "c3")); len(got) != 2 || got[0].ID != "2" || got[1].ID != "3" {
		t.Errorf("orphans: %+v", got)
	}
}

func TestHistoryNeverChangesWhatWasHandedOut(t *testing.T) {
	h := NewHistory(nil)
	h.Append(Event{Kind: KindUser, Text: "one"})
	before := h.Events()
	h.Append(Event{Kind: KindUser, Text: "two"})
	_ = append(before, Event{Text: "mine"})
	if got := h.Events(); len(before) != 1 || got[1].Text != "two" || got[1].Seq != 2 {
		t.Errorf("%+v", got)
	}
	if again := NewHistory(h.Events()).Append(Event{}); again.Seq != 3 {
		t.Errorf("a history that goes on numbers its next event %d", again.Seq)
	}
}
