package agent_test

import (
	"strings"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/tool"
)

// spending is a model that calls once and answers, and says what it used.
func spending(turns int) []fake.Reply {
	var s []fake.Reply
	for range turns {
		s = append(s,
			fake.Reply{Calls: []fake.Call{call("", "echo", "x")}, Usage: &[2]int{60, 40}},
			fake.Reply{Text: "ok", Usage: &[2]int{80, 20}},
		)
	}
	return s
}

func (r *room) limits() (all []convo.Limit) {
	for _, e := range r.events() {
		if b, ok := e.Body.(convo.Limit); ok {
			all = append(all, b)
		}
	}
	return all
}

func (r *room) warnings() (all []string) {
	for _, e := range r.events() {
		if isNotice(e) && strings.Contains(e.Text, "% of the budget") {
			all = append(all, e.Text)
		}
	}
	return all
}

func TestBudgetsOfASessionWarnPauseAndGoOn(t *testing.T) {
	tests := []struct {
		measure     agent.Measure
		kind        string
		budget      float64
		stops       int // the turn that is stopped
		warned      string
		value, next float64
	}{
		{agent.Tokens, "tokens", 500, 3, "80% of the budget of tokens for this session is used: 400 of 500", 500, 1000},
		{agent.Calls, "calls", 3, 3, "", 3, 6},
		{agent.Turns, "turns", 5, 3, "80% of the budget of turns for this session is used: 4 of 5", 5, 10},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			r := open(t, setup{
				script: spending(6), tools: []tool.Tool{echo("echo", tool.Read)},
				more: func(o *agent.Options) { o.Budgets.Session[tt.measure] = tt.budget },
			})
			for n := 1; n <= tt.stops; n++ {
				r.Send(agent.Prompt{Text: "go"})
				end := r.end(n)
				if want := map[bool]convo.Stop{true: convo.StopLimit, false: convo.StopDone}[n == tt.stops]; end.Stop != want {
					t.Fatalf("turn %d: %+v", n, end)
				}
			}
			l := r.limits()
			if len(l) != 1 || l[0] != (convo.Limit{Which: tt.kind, Scope: "session", Value: tt.value, Max: tt.budget}) {
				t.Errorf("%+v", l)
			}
			if got := strings.Join(r.warnings(), "; "); got != tt.warned {
				t.Errorf("warned %q", got)
			}
			r.Send(agent.Prompt{Text: "continue"}) // the person's answer: as much again
			if end := r.end(tt.stops + 1); end.Stop != convo.StopDone {
				t.Errorf("%+v", end)
			}
			r.noticed("is now")
		})
	}
}

func TestAStoredSessionIsCountedIn(t *testing.T) {
	r := open(t, setup{
		script: spending(2), tools: []tool.Tool{echo("echo", tool.Read)},
		stored: []convo.Event{{Seq: 1, Kind: convo.KindSystem}, used(2, 10_000)},
		more:   func(o *agent.Options) { o.Budgets.Session[agent.Tokens] = 10_000 },
	})
	r.Send(agent.Prompt{Text: "go"})
	if end := r.end(1); end.Stop != convo.StopLimit || end.Turns != 0 || len(r.model.Requests()) != 0 {
		t.Errorf("%+v after %d requests", end, len(r.model.Requests()))
	}
}

func TestTheDayIsSharedByAllSessions(t *testing.T) {
	r := open(t, setup{
		script: spending(3), tools: []tool.Tool{echo("echo", tool.Read)},
		more: func(o *agent.Options) {
			o.Budgets.Day[agent.Calls] = 10
			o.Today[agent.Calls] = 8
		},
	})
	r.turns(1, 1)
	r.Send(agent.Prompt{Text: "go"})
	r.end(2)
	if l := r.limits(); len(l) != 1 || l[0].Scope != "day" || l[0].Value != 10 {
		t.Errorf("%+v", l)
	}
	if w := r.warnings(); len(w) != 1 || !strings.Contains(w[0], "90% of the budget of calls for today") {
		t.Errorf("%q", w)
	}
}

func TestBudgetsOfAPromptBeginAnew(t *testing.T) {
	r := open(t, setup{
		script: spending(4), tools: []tool.Tool{echo("echo", tool.Read)},
		more: func(o *agent.Options) { o.Budgets.Prompt[agent.Tokens] = 240 },
	})
	r.turns(1, 2)
	if got := r.warnings(); len(got) != 2 {
		t.Errorf("each prompt warns once: %q", got)
	}
	if l := r.limits(); len(l) != 0 {
		t.Errorf("%+v", l)
	}
}

func TestTimeThatIsUsedUpEndsATurn(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{{Text: "a b c", Pieces: 3, Stall: -1, After: 1}},
		more:   func(o *agent.Options) { o.Budgets.Session[agent.Time] = 0.2 },
	})
	r.Send(agent.Prompt{Text: "go"})
	if end := r.end(1); end.Stop != convo.StopLimit || end.Limit.Which != "time" || end.Limit.Value < 0.2 {
		t.Errorf("%+v", end)
	}
}

func TestMoneyThatCannotBeCountedIsTold(t *testing.T) {
	r := open(t, setup{script: spending(1), tools: []tool.Tool{echo("echo", tool.Read)}, more: func(o *agent.Options) { o.Budgets.Prompt[agent.Cost] = 1 }})
	r.turns(1, 1)
	r.noticed("costs is not known")
}

func TestACountOfEventsIsThatOfTheirNumbers(t *testing.T) {
	n, m, cost := 100, 20, 0.5
	events := []convo.Event{
		{Kind: convo.KindUser, Text: "x"},
		{Kind: convo.KindAssistant, Reply: "t1.1"},
		{Kind: convo.KindToolCall, Reply: "t1.1", Body: convo.ToolCall{}},
		{Kind: convo.KindToolCall, Reply: "t1.1", Body: convo.ToolCall{}},
		{Kind: convo.KindUsage, Reply: "t1.1", Body: convo.Usage{Input: &n, Output: &m, CostUSD: &cost}},
		{Kind: convo.KindUsage, Body: convo.Usage{Input: &n}}, // of a summary
		{Kind: convo.KindAssistant, Reply: "t1.2"},
		{Kind: convo.KindEnd, Body: convo.End{TookMS: 1500}},
	}
	var c agent.Count
	for _, e := range events {
		c.Add(e)
	}
	if want := (agent.Amounts{agent.Turns: 2, agent.Calls: 2, agent.Tokens: 220, agent.Cost: 0.5, agent.Time: 1.5}); c.Amounts != want {
		t.Errorf("%v, want %v", c.Amounts, want)
	}
}

func TestAnotherDayHasABudgetOfItsOwn(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 59, 0, 0, time.Local)
	clock := func() time.Time { return now }
	r := open(t, setup{
		script: spending(6), tools: []tool.Tool{echo("echo", tool.Read)}, now: clock,
		more: func(o *agent.Options) { o.Budgets.Day[agent.Calls] = 2 },
	})
	r.turns(1, 1)
	now = now.Add(2 * time.Minute) // nothing runs just now
	r.turns(2, 2)
	if l := r.limits(); len(l) != 0 {
		t.Errorf("%+v", l)
	}
}
