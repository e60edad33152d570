package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/permit"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// background starts a job, as bash does.
var background = toolkit.New(toolkit.Def[words, started]{
	Name: "background", Doc: "start", Effects: []tool.Effect{tool.Read},
	Run: func(context.Context, tool.Place, tool.Grant, words, tool.Progress) (started, error) {
		return started{Output: "started as job_1", Job: "job_1"}, nil
	},
})

type started struct {
	Output string `json:"output"`
	Job    string `json:"job"`
}

// richLog is a session in which much happened: calls allowed, denied and cut off,
// steering, a job, commands, a pin, a compaction and its undoing, and files that
// were put back.
func richLog(t *testing.T) []convo.Event {
	at := make(chan string, 1)
	kept := memory.New()
	r := open(t, setup{
		script: []fake.Reply{
			{When: asked, Text: "the notes"},
			{Text: "I look and write.", Calls: []fake.Call{call("a", "echo", "x"), call("b", "write", "y"), call("c", "write", "z")}},
			{Text: "done"},
			calls(call("d", "slow", "work"), call("e", "echo", "w")),
			calls(call("f", "background", ""), call("g", "nothing", "")),
			{Text: prose(3000)},
			{Text: prose(3000)},
			{Text: "short"},
		},
		tools: []tool.Tool{echo("echo", tool.Read), echo("write", tool.Write), slow(at), background}, mode: permit.AskMode, store: kept,
	})
	r.Send(agent.Prompt{Text: "first"})
	ask := r.until(1, "question", isAsk)
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "b", Allow: true})
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "c", Reason: "not that"})
	r.end(1)
	r.Send(agent.Note{Name: "help", Text: "what there is"})
	r.Send(agent.Prompt{Text: "second"})
	slowly := r.until(1, "question", func(e convo.Event) bool { return isAsk(e) && e.Turn == 2 })
	r.Send(agent.Answer{Turn: slowly.Turn, CallID: "d", Allow: true})
	<-at
	r.Send(agent.Prompt{Text: "and be quick"})
	r.Send(agent.Interrupt{})
	r.end(2)
	for n, words := range []string{"third", "fourth"} {
		r.Send(agent.Prompt{Text: words})
		r.end(3 + n)
	}
	r.Send(agent.Pin{Event: 3})
	r.Send(agent.Compact{})
	r.noticed("compacted:")
	r.Send(agent.Uncompact{})
	r.noticed("sees again")
	r.Send(agent.Prompt{Text: "fifth"})
	r.end(5)
	r.stop()
	log := stored(t, kept)
	undo := convo.Of("undid", convo.Undo{Turns: []int{1}, Files: []string{"y"}})
	undo.Seq, undo.Turn, undo.At = int64(len(log)+1), 5, time.Now()
	return append(log, undo)
}

func stored(t *testing.T, s store.Store) (all []convo.Event) {
	t.Helper()
	for e, err := range s.Events(t.Context(), "s1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestASessionGoesOnFromWhereverItWasCut takes every beginning of a session, as a
// process that was killed leaves it behind: all that was open is closed, once;
// nothing runs again; and the next request is one that a provider takes.
func TestASessionGoesOnFromWhereverItWasCut(t *testing.T) {
	log := richLog(t)
	kinds := map[convo.Kind]bool{}
	for _, e := range log {
		kinds[e.Kind] = true
	}
	for _, k := range []convo.Kind{convo.KindDecision, convo.KindToolResult, convo.KindSummary, convo.KindCommand, convo.KindUndo, convo.KindEnd} {
		if !kinds[k] {
			t.Fatalf("the log has no %s", k)
		}
	}
	for n := range len(log) + 1 {
		t.Run(fmt.Sprint(n), func(t *testing.T) { goesOn(t, log[:n:n]) })
	}
}

func goesOn(t *testing.T, cut []convo.Event) {
	kept := memory.New()
	feed(t, kept, cut)
	first := reopen(t, kept)
	open := convo.Orphans(cut)
	closed := first[len(cut):]
	if len(cut) == 0 {
		closed = closed[1:] // the system prompt
	}
	if len(closed) != len(open) {
		t.Fatalf("%d calls were open, %d events came", len(open), len(closed))
	}
	for i, e := range closed {
		if r := e.Body.(convo.ToolResult); r.CallID != open[i].ID || r.Code() != tool.Interrupted {
			t.Errorf("%+v", r)
		}
	}
	if err := convo.Check(first); err != nil {
		t.Error(err)
	}
	if again := reopen(t, kept); len(again) != len(first) {
		t.Errorf("the second time %d events came", len(again)-len(first))
	}
	one, two := nextRequest(t, first), nextRequest(t, first)
	if one != two {
		t.Errorf("two machines go on differently:\n%s\n%s", one, two)
	}
	sendable(t, one)
	for _, e := range cut {
		if e.Kind == convo.KindUser && !strings.Contains(one, quoted(e.Text)) {
			t.Errorf("the person's words %q are lost", e.Text)
		}
	}
	undone := len(cut) > 0 && cut[len(cut)-1].Kind == convo.KindUndo
	if got := strings.Contains(one, "The person took back what turns 1"); got != undone {
		t.Errorf("told of the undo: %v", got)
	}
	job := slices.ContainsFunc(cut, func(e convo.Event) bool { r, ok := e.Body.(convo.ToolResult); return ok && r.Name == "background" })
	if got := strings.Contains(one, "ended with that run of the program: job_1"); got != job {
		t.Errorf("told that the job is gone: %v", got)
	}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return strings.Trim(string(raw), `"`)
}

// never fails the test when it runs: a call of an earlier life must not.
func never(t *testing.T, name string) tool.Tool {
	return toolkit.New(toolkit.Def[words, said]{
		Name: name, Doc: "never", Effects: []tool.Effect{tool.Write},
		Run: func(context.Context, tool.Place, tool.Grant, words, tool.Progress) (said, error) {
			t.Errorf("%s ran again", name)
			return said{}, nil
		},
	})
}

// life opens a stored session as another process would.
func life(t *testing.T, kept store.Store, events []convo.Event, script ...fake.Reply) *room {
	return open(t, setup{script: script, store: kept, stored: events, tools: []tool.Tool{never(t, "echo"), never(t, "write"), never(t, "slow"), never(t, "background")}})
}

// reopen opens the session, lets it close what is open, and gives what is stored then.
func reopen(t *testing.T, kept store.Store) []convo.Event {
	t.Helper()
	r := life(t, kept, stored(t, kept))
	r.Send(agent.Interrupt{}) // nothing runs; but when it is taken the session is open
	r.Send(agent.SetModel{Model: "openai/scripted"})
	r.stop()
	if err := kept.End(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	return stored(t, kept)
}

// nextRequest is what the model would be sent next.
func nextRequest(t *testing.T, events []convo.Event) string {
	t.Helper()
	kept := memory.New()
	feed(t, kept, events)
	r := life(t, kept, events, fake.Reply{Text: "ok"})
	r.Send(agent.Prompt{Text: "go on"})
	r.until(1, "end", func(e convo.Event) bool { return e.Kind == convo.KindEnd && e.Seq > int64(len(events)) })
	r.stop()
	if len(r.model.Requests()) != 1 {
		t.Fatalf("%d requests", len(r.model.Requests()))
	}
	return string(r.model.Requests()[0])
}

// sendable checks what providers of this format demand: every call is followed by
// its result at once, and no result is without its call.
func sendable(t *testing.T, body string) {
	t.Helper()
	var req struct {
		Messages []struct {
			Role   string `json:"role"`
			CallID string `json:"tool_call_id"`
			Calls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	waiting := map[string]bool{}
	for i, m := range req.Messages {
		if m.Role == "tool" {
			if !waiting[m.CallID] {
				t.Errorf("message %d answers %s, which nobody called", i, m.CallID)
			}
			delete(waiting, m.CallID)
			continue
		}
		if len(waiting) > 0 {
			t.Errorf("message %d of %s while %v wait for their results", i, m.Role, waiting)
		}
		for _, c := range m.Calls {
			waiting[c.ID] = true
		}
	}
	if last := req.Messages[len(req.Messages)-1]; len(waiting) > 0 || last.Role != "user" {
		t.Errorf("the last message is of %s, %v wait", last.Role, waiting)
	}
}
