package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/permit"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// line is a tool that would run a shell line.
func line() tool.Tool {
	type in struct {
		Text string `json:"text"`
	}
	return toolkit.New(toolkit.Def[in, said]{
		Name: "bash", Doc: "run", Effects: []tool.Effect{tool.Exec},
		Plan: func(_ context.Context, _ tool.Place, i in) (tool.Plan, error) { return tool.Plan{Command: i.Text}, nil },
		Run: func(_ context.Context, _ tool.Place, _ tool.Grant, i in, _ tool.Progress) (said, error) {
			return said{i.Text}, nil
		},
	})
}

func isAsk(e convo.Event) bool    { return e.Kind == convo.KindAsk }
func isNotice(e convo.Event) bool { return e.Kind == convo.KindNotice }

func TestAQuestionCarriesThePartsOfAShellLine(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{calls(call("a", "bash", "ls && make test")), {Text: "ok"}},
		tools:  []tool.Tool{line()}, mode: permit.AskMode,
	})
	r.Send(agent.Prompt{Text: "go"})
	ask := r.until(1, "question", isAsk)
	parts := ask.Body.(convo.Ask).Calls[0].Parts
	if len(parts) != 2 || parts[0].Command != "ls" || parts[1].Command != "make test" || parts[0].Class == parts[1].Class {
		t.Errorf("%+v", parts)
	}
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "a", Allow: true})
	r.end(1)
}

func TestARuleThePersonWroteIsLearntWhenItCoversTheCall(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{
			calls(call("a", "bash", "make test")),
			calls(call("b", "bash", "make lint")),
			{Text: "ok"},
		},
		tools: []tool.Tool{line()}, mode: permit.AskMode,
	})
	r.Send(agent.Prompt{Text: "go"})
	ask := r.until(1, "question", isAsk)
	answer := agent.Answer{Turn: ask.Turn, CallID: "a", Allow: true, Scope: permit.Session}
	for i, bad := range []string{"bash(go *)", "bash(", "web_fetch(make *)"} {
		answer.Rules = []string{bad}
		r.Send(answer)
		if n := r.until(i+1, "notice", isNotice); !strings.Contains(n.Body.(convo.Notice).Hint, "still open") {
			t.Errorf("%s: %q, %+v", bad, n.Text, n.Body)
		}
	}
	if n := len(r.permit.List()); n != 0 {
		t.Errorf("%d rules were learnt from what was refused", n)
	}
	answer.Rules = []string{"bash(make *)"}
	r.Send(answer)
	if end := r.end(1); end.Stop != convo.StopDone || end.Calls != 2 {
		t.Errorf("%+v", end)
	}
	if got := r.permit.List(); len(got) != 1 || got[0].Text != "bash(make *)" {
		t.Errorf("learnt %v", got)
	}
	if d := r.until(1, "decision", func(e convo.Event) bool { return e.Kind == convo.KindDecision }); !strings.Contains(d.Body.(convo.Decision).Rule, "make *") {
		t.Errorf("%+v", d)
	}
}

func TestTheEffortHoldsFromTheNextRequestOn(t *testing.T) {
	r := open(t, setup{script: []fake.Reply{{Text: "one"}, {Text: "two", Expect: `"high"`}}})
	r.Send(agent.Prompt{Text: "go"})
	r.end(1)
	r.Send(agent.SetEffort{Effort: "high"})
	r.Send(agent.Prompt{Text: "go on"})
	if end := r.end(2); end.Stop != convo.StopDone {
		t.Errorf("%+v", end)
	}
}

func TestAnswersThatComeAllAtOnceAllCount(t *testing.T) {
	var cs []fake.Call
	for i := range 8 {
		cs = append(cs, call(fmt.Sprint("c", i), "write", "x"))
	}
	r := open(t, setup{script: []fake.Reply{calls(cs...), {Text: "ok"}}, tools: []tool.Tool{echo("write", tool.Write)}, mode: permit.AskMode})
	r.Send(agent.Prompt{Text: "go"})
	ask := r.until(1, "question", isAsk)
	for i, c := range cs {
		r.Send(agent.Answer{Turn: ask.Turn, CallID: c.ID, Allow: i%2 == 0, Reason: "no"})
	}
	if end := r.end(1); end.Stop != convo.StopDone || end.Denied != 4 {
		t.Errorf("%+v", end)
	}
	decisions := 0
	for _, e := range r.events() {
		if e.Kind == convo.KindDecision {
			decisions++
		}
	}
	if decisions != 8 {
		t.Errorf("%d decisions for 8 calls", decisions)
	}
	for i, got := range r.results() {
		if got.CallID != cs[i].ID || got.OK() != (i%2 == 0) {
			t.Errorf("call %d: %+v", i, got)
		}
	}
}
