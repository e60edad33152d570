package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

func TestExitCodes(t *testing.T) {
	failed := func(class string) convo.End {
		return convo.End{Stop: convo.StopError, Error: &convo.Error{Class: class}}
	}
	tests := []struct {
		name   string
		end    convo.End
		signal int
		want   int
	}{
		{"done", convo.End{Stop: convo.StopDone}, 0, 0},
		{"a call was denied", convo.End{Stop: convo.StopDone, Denied: 1}, 0, 3},
		{"a limit comes before a denial", convo.End{Stop: convo.StopLimit, Denied: 1}, 0, 4},
		{"key refused", failed("auth"), 0, 5},
		{"unreachable", failed("unreachable"), 0, 6},
		{"silent for too long", failed("timeout"), 0, 6},
		{"configuration", failed("config"), 0, 7},
		{"anything else", failed("garbage"), 0, 1},
		{"interrupted", convo.End{Stop: convo.StopCancelled}, 0, 130},
		{"a signal comes before everything", failed("auth"), 143, 143},
		{"no end at all", convo.End{}, 0, 1},
	}
	for _, tt := range tests {
		if got := exitCode(tt.end, tt.signal); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// played is a session that plays events and remembers what it was sent.
type played struct {
	events []convo.Event
	sent   []agent.Op
}

func (p *played) Send(op agent.Op) { p.sent = append(p.sent, op) }

func (p *played) Events(context.Context, int64) iter.Seq[convo.Event] {
	return func(yield func(convo.Event) bool) {
		for _, e := range p.events {
			if !yield(e) {
				return
			}
		}
	}
}

func TestWhatWouldBeAskedIsDenied(t *testing.T) {
	ask := convo.Of("", convo.Ask{Calls: []convo.Asked{{CallID: "a", Reason: "it writes"}, {CallID: "b"}}})
	ask.Turn = 3
	p := &played{events: []convo.Event{ask, convo.Of("", convo.End{Stop: convo.StopDone, Denied: 2})}}
	var out, err bytes.Buffer
	if code := Run(context.Background(), p, 0, "go", Options{Format: Text, Out: &out, Err: &err}); code != ExitDenied {
		t.Errorf("exit code %d", code)
	}
	if len(p.sent) != 3 {
		t.Fatalf("sent %+v", p.sent)
	}
	answer := p.sent[1].(agent.Answer)
	if answer.Allow || answer.Turn != 3 || answer.CallID != "a" || answer.By != convo.ByMode || !strings.Contains(answer.Reason, "it writes") {
		t.Errorf("%+v", answer)
	}
}

func TestTextHasTheLastReplyOnly(t *testing.T) {
	said := func(reply, text string) convo.Event {
		return convo.Event{Kind: convo.KindAssistant, Reply: reply, Text: text}
	}
	call := convo.Of("", convo.ToolCall{Call: tool.Call{ID: "a", Name: "look", Args: json.RawMessage(`{"x":"\u001b[31m"}`)}})
	p := &played{events: []convo.Event{
		said("1", "I look."), call, convo.Of("", convo.Running{CallID: "a", Name: "look"}),
		convo.Of("", convo.ToolResult{Result: tool.Result{CallID: "a", Name: "look", Data: json.RawMessage(`{}`), Summary: "seen \x1b]0;x\x07"}}),
		said("2", "It is "), said("2", "fine."), convo.Of("", convo.End{Stop: convo.StopDone}),
	}}
	var out, err bytes.Buffer
	Run(context.Background(), p, 0, "go", Options{Format: Text, Out: &out, Err: &err})
	if out.String() != "It is fine.\n" {
		t.Errorf("standard output: %q", out.String())
	}
	if !strings.Contains(err.String(), "I look.") || strings.ContainsRune(err.String(), 0x1b) {
		t.Errorf("standard error: %q", err.String())
	}
}

func TestEveryLineOfAStreamIsJSONAndNumbered(t *testing.T) {
	n := 7
	p := &played{events: []convo.Event{
		convo.Of("hm", convo.Delta{Thinking: true}), convo.Of("a", convo.Delta{}),
		convo.Of("", convo.ToolCall{Call: tool.Call{ID: "a", Name: "x", Args: json.RawMessage(`not json`)}}),
		convo.Of("", convo.Decision{CallID: "a", Risk: "low"}), convo.Of("out", convo.ToolOutput{CallID: "a"}),
		convo.Of("", convo.Usage{Input: &n}), convo.Of("", convo.Limit{Which: "turns", Value: 1, Max: 1}), convo.Of("careful", convo.Notice{Hint: "h"}),
		convo.Of("bad", convo.Error{Class: "auth", Text: "bad"}), convo.Of("", convo.State{Name: "idle"}),
		convo.Of("", convo.End{Stop: convo.StopError, Error: &convo.Error{Class: "auth", Text: "bad"}}),
	}}
	var out bytes.Buffer
	if code := Run(context.Background(), p, 0, "go", Options{Format: Stream, Session: "s", Out: &out}); code != ExitAuth {
		t.Errorf("exit code %d", code)
	}
	var kinds []string
	for i, raw := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var l struct {
			V, Seq  int
			TS      string
			Type    string
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal([]byte(raw), &l); err != nil || l.V != 1 || l.Seq != i+1 || l.Session != "s" || l.TS == "" {
			t.Errorf("line %d: %s (%v)", i+1, raw, err)
		}
		kinds = append(kinds, l.Type)
	}
	want := "init thinking delta tool_call_start permission tool_output usage limit notice error done"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("lines\n got %s\nwant %s", got, want)
	}
}
