package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
)

// asked is what every request for a summary contains.
const asked = "the older part of a conversation"

// prose is n bytes of words that do not repeat themselves.
func prose(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%d ", i*7919%10007)
	}
	return b.String()
}

func narrow(o *agent.Options) { o.Window = func(string) int { return 4000 } }

func isSummary(e convo.Event) bool { return e.Kind == convo.KindSummary }

// talkative fills a window of 4,000 tokens in four turns.
func talkative(more ...fake.Reply) []fake.Reply {
	return append(more, fake.Reply{Text: prose(3000), Repeat: 12})
}

func (r *room) turns(from, to int) {
	r.t.Helper()
	for n := from; n <= to; n++ {
		r.Send(agent.Prompt{Text: fmt.Sprintf("prompt number %d", n)})
		if end := r.end(n); end.Stop != convo.StopDone {
			r.t.Fatalf("turn %d: %+v", n, end)
		}
	}
}

func (r *room) noticed(text string) convo.Event {
	r.t.Helper()
	return r.until(1, "notice of "+text, func(e convo.Event) bool { return isNotice(e) && strings.Contains(e.Text, text) })
}

func TestTheModelSumsUpWhatNoLongerFits(t *testing.T) {
	r := open(t, setup{
		script: talkative(fake.Reply{When: asked, Text: "the notes of the model", Usage: &[2]int{900, 30}}),
		tools:  []tool.Tool{echo("echo", tool.Read)},
		more: func(o *agent.Options) {
			narrow(o)
			o.Open = func() []string { return []string{"paint the door"} }
		},
	})
	r.turns(1, 6)
	s := r.until(1, "summary", isSummary)
	for _, want := range []string{"the notes of the model", "prompt number 1", "paint the door"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, s.Text)
		}
	}
	n := r.noticed("compacted:")
	if !strings.Contains(n.Text, "by openai/scripted") || !strings.Contains(n.Text, "cache") || !strings.Contains(n.Body.(convo.Notice).Hint, "session show s1 --event") {
		t.Errorf("%q %+v", n.Text, n.Body)
	}
	var requests, summaries int
	for _, body := range r.model.Requests() {
		text := string(body)
		if strings.Contains(text, asked) {
			summaries++
			if strings.Contains(text, `"tools"`) || !strings.Contains(text, "word7919") {
				t.Errorf("the request for a summary is %.300s", text)
			}
			continue
		}
		requests++
		if len(text) > 16_000 {
			t.Errorf("request %d has %d bytes", requests, len(text))
		}
	}
	if requests != 6 || summaries == 0 {
		t.Errorf("%d requests and %d for summaries", requests, summaries)
	}
	last := string(r.model.Requests()[len(r.model.Requests())-1])
	if !strings.Contains(last, "the notes of the model") || !strings.Contains(last, "prompt number 1") {
		t.Errorf("the model does not see its notes: %.300s", last)
	}
	usage := r.until(1, "usage", func(e convo.Event) bool { return e.Kind == convo.KindUsage })
	if u := usage.Body.(convo.Usage); *u.Input != 900 || usage.Reply != "" {
		t.Errorf("%+v", usage)
	}
}

// What gives back the past is offered once there is one, and never twice: an
// executable of the same name takes its place.
func TestThePastIsOfferedOnceSomethingWasLeftOut(t *testing.T) {
	for name, tools := range map[string][]tool.Tool{
		"by the session": {echo("echo", tool.Read)}, "by an executable": {echo("echo", tool.Read), echo("back", tool.Read)},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, setup{
				script: talkative(fake.Reply{When: asked, Text: "the notes of the model"}),
				tools:  tools,
				more: func(o *agent.Options) {
					narrow(o)
					o.Past = []tool.Spec{echo("back", tool.Read).Spec()}
				},
			})
			r.turns(1, 6)
			r.until(1, "summary", isSummary)
			all := r.model.Requests()
			count := func(body []byte) int { return strings.Count(string(body), `"name":"back"`) }
			if first, last := count(all[0]), count(all[len(all)-1]); first != len(tools)-1 || last != 1 {
				t.Errorf("offered %d times at first and %d times at last", first, last)
			}
		})
	}
}

func TestADigestStandsInForASummaryThatCannotBe(t *testing.T) {
	tests := []struct {
		name  string
		reply fake.Reply
		more  func(*agent.Options)
		why   string
	}{
		{name: "the model is cut", reply: fake.Reply{When: asked, Text: "half of it", Finish: "length"}, why: "length"},
		{name: "the model refuses", reply: fake.Reply{When: asked, Text: "no", Finish: "content_filter"}, why: "content_filter"},
		{name: "the model says nothing", reply: fake.Reply{When: asked}, why: "nothing"},
		{name: "the model calls tools", reply: fake.Reply{When: asked, Text: "wait", Calls: []fake.Call{call("x", "echo", "y")}}, why: "call tools"},
		{name: "the request fails", reply: fake.Reply{When: asked, Status: 400, Body: `{"error":{"message":"too bad"}}`}, why: "too bad"},
		{name: "the stream breaks", reply: fake.Reply{When: asked, Text: "a b c d e f", Pieces: 6, Cut: true}, why: "without the model"},
		{name: "the model cannot", why: "cannot sum up", more: func(o *agent.Options) { o.Plain = func(string) bool { return true } }},
		{name: "there is no money", why: "budget", reply: fake.Reply{When: asked, Text: "costly"}, more: func(o *agent.Options) {
			o.Budgets.Session[agent.Tokens] = 100_000
			o.Stored = []convo.Event{{Seq: 1, Kind: convo.KindSystem}, used(2, 81_000)}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := talkative()
			if tt.reply.When != "" {
				script = talkative(tt.reply)
			}
			r := open(t, setup{script: script, more: func(o *agent.Options) {
				narrow(o)
				if tt.more != nil {
					tt.more(o)
				}
			}})
			r.turns(1, 6)
			s := r.until(1, "summary", isSummary)
			if !strings.Contains(s.Text, "What was done, without judgement") || !strings.Contains(s.Text, "prompt number 1") {
				t.Errorf("the digest:\n%s", s.Text)
			}
			if n := r.noticed("compacted:"); !strings.Contains(n.Text, tt.why) {
				t.Errorf("%q does not say %q", n.Text, tt.why)
			}
		})
	}
}

func used(seq int64, tokens int) convo.Event {
	e := convo.Of("", convo.Usage{Model: "m", Input: &tokens})
	e.Seq, e.Turn, e.At = seq, 0, time.Now()
	return e
}

func TestCompactingBetweenTurnsWaitsForNobodyAndHoldsThePrompts(t *testing.T) {
	r := open(t, setup{script: []fake.Reply{
		{Text: prose(2000)},
		{When: asked, Text: "short notes", Stall: 0.05, After: 2},
		{Text: "goes on", Expect: "short notes"},
	}})
	r.turns(1, 1)
	r.Send(agent.Compact{About: "the colour blue"})
	r.Send(agent.Prompt{Text: "prompt number 2"})
	if end := r.end(2); end.Stop != convo.StopDone {
		t.Fatalf("%+v", end)
	}
	kinds := r.story()
	if s, p := strings.Index(kinds, "summary"), strings.Index(kinds, "prompt number 2"); s < 0 || s > p {
		t.Errorf("the prompt did not wait: %s", kinds)
	}
	if !r.requested("the colour blue") {
		t.Error("what matters to the person was not said")
	}
	r.Send(agent.Compact{})
	r.Send(agent.Compact{}) // the second has nothing left to do
	r.noticed("nothing to compact")
}

func TestCompactingCanBeStopped(t *testing.T) {
	r := open(t, setup{script: []fake.Reply{{Text: prose(2000)}, {When: asked, Text: "a b c", Pieces: 3, Stall: -1, After: 1}, {Text: "goes on", Expect: "word7919"}}})
	r.turns(1, 1)
	r.Send(agent.Compact{})
	r.wait("the request for a summary", func() bool { return r.requested(asked) })
	r.Send(agent.Interrupt{})
	r.noticed("it was stopped")
	r.turns(2, 2)
	for _, e := range r.events() {
		if isSummary(e) {
			t.Error("half a summary was recorded")
		}
	}
}

func TestATurnCanBeStoppedWhileItIsCompacted(t *testing.T) {
	r := open(t, setup{more: narrow, script: talkative(fake.Reply{When: asked, Text: "a b c", Pieces: 3, Stall: -1, After: 1})})
	n := 0
	for !r.requested(asked) {
		n++
		r.Send(agent.Prompt{Text: fmt.Sprintf("prompt number %d", n)})
		r.wait("an answer or a request for a summary", func() bool { return r.has(n) || r.requested(asked) })
	}
	r.Send(agent.Interrupt{})
	if end := r.end(n); end.Stop != convo.StopCancelled {
		t.Errorf("%+v", end)
	}
}

// wait waits for something that is no event.
func (r *room) wait(what string, ok func() bool) {
	r.t.Helper()
	for late := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			r.t.Fatalf("no %s: %s", what, r.story())
		}
	}
}

// requested reports whether the model got a request that contains text.
func (r *room) requested(text string) bool {
	return slices.ContainsFunc(r.model.Requests(), func(b []byte) bool { return strings.Contains(string(b), text) })
}

// has reports whether turn n is over.
func (r *room) has(n int) bool {
	ends := 0
	for _, e := range r.events() {
		if e.Kind == convo.KindEnd {
			ends++
		}
	}
	return ends >= n
}

func TestACompactionIsTakenBackWhateverMemoryLetGo(t *testing.T) {
	kept := memory.New()
	script := []fake.Reply{{When: asked, Text: "the notes"}}
	for i := range 12 {
		script = append(script, fake.Reply{Text: fmt.Sprintf("answer %d: %s", i+1, prose(300))})
	}
	flood := make([]convo.Event, 0, 700)
	for i := range 700 { // commands are no part of what the model sees
		e := convo.Of("", convo.Command{Name: "help"})
		e.Seq, e.At = int64(i+1), time.Now()
		flood = append(flood, e)
	}
	feed(t, kept, flood)
	r := open(t, setup{script: script, store: kept, stored: flood})
	r.turns(1, 3)
	r.Send(agent.Compact{})
	r.noticed("compacted:")
	r.turns(4, 4)
	if last := lastRequest(r); strings.Contains(last, "answer 1:") || !strings.Contains(last, "the notes") {
		t.Errorf("%.300s", last)
	}
	r.Send(agent.Uncompact{})
	r.turns(5, 5)
	if last := lastRequest(r); !strings.Contains(last, "answer 1:") || strings.Contains(last, "the notes") {
		t.Errorf("%.300s", last)
	}
	r.Send(agent.Uncompact{})
	r.noticed("no compaction is in force")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var next int64 = 1
	for e := range r.Events(ctx, 0) {
		if e.Seq != next {
			t.Fatalf("event %d where %d should be", e.Seq, next)
		}
		next++
	}
	if next < 715 {
		t.Errorf("only %d events are there", next-1)
	}
}

func lastRequest(r *room) string {
	all := r.model.Requests()
	return string(all[len(all)-1])
}

func TestThePersonsPinsAreKept(t *testing.T) {
	r := open(t, setup{
		script: append([]fake.Reply{{When: asked, Text: "notes"}, calls(call("a", "echo", "the key is under the mat")), {Text: "ok"}}, talkative()...),
		tools:  []tool.Tool{echo("echo", tool.Read)}, more: narrow,
	})
	r.turns(1, 1)
	result := r.until(1, "result", func(e convo.Event) bool { return e.Kind == convo.KindToolResult })
	r.Send(agent.Pin{Event: result.Seq})
	r.turns(2, 8)
	if s := r.until(1, "summary", isSummary); !strings.Contains(s.Text, "under the mat") {
		t.Errorf("%s", s.Text)
	}
}

func TestASummaryTravelsInEveryWireFormat(t *testing.T) {
	for form := range bases {
		t.Run(form, func(t *testing.T) {
			r := open(t, setup{form: form, tools: []tool.Tool{echo("echo", tool.Read)}, script: []fake.Reply{
				{When: asked, Text: "the notes of the model"},
				calls(call("a", "echo", prose(1500))),
				{Text: prose(1000)},
				{Text: "goes on", Expect: "the notes of the model"},
			}})
			r.turns(1, 1)
			r.Send(agent.Compact{})
			if n := r.noticed("compacted:"); !strings.Contains(n.Text, "a summary by") {
				t.Error(n.Text)
			}
			r.turns(2, 2)
		})
	}
}
