package window

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/tool"
)

// A session is a history that is written by hand.
type session struct {
	*convo.History
	replies, calls int
}

func newSession() *session { return &session{History: convo.NewHistory(nil)} }

func (s *session) user(text string) convo.Event {
	return s.Append(convo.Event{Kind: convo.KindUser, Text: text})
}

func (s *session) name() string { return fmt.Sprintf("r%d", s.replies) }

func (s *session) answer(text string) {
	s.replies++
	s.Append(convo.Event{Kind: convo.KindAssistant, Text: text, Reply: s.name()})
}

// call is a reply with calls of one tool, each with its result.
func (s *session) call(name, args string, data ...string) []convo.Event {
	s.replies++
	var ids []string
	for range data {
		s.calls++
		ids = append(ids, fmt.Sprintf("c%d", s.calls))
		e := convo.Of("", convo.ToolCall{Call: tool.Call{ID: ids[len(ids)-1], Name: name, Args: json.RawMessage(args)}})
		e.Reply = s.name()
		s.Append(e)
	}
	var results []convo.Event
	for i, d := range data {
		r := tool.Result{CallID: ids[i], Name: name, Data: json.RawMessage(d)}
		results = append(results, s.Append(convo.Of("", convo.ToolResult{Result: r})))
	}
	return results
}

func (s *session) usage(input, output int) {
	e := convo.Of("", convo.Usage{Model: "m", Input: &input, Output: &output})
	e.Reply = s.name()
	s.Append(e)
}

// settle does what a plan says until the request fits.
func (s *session) settle(t interface{ Fatalf(string, ...any) }, w *Window, o Options) Plan {
	for range 10 {
		switch p := w.Fit(s.Events(), o); p.Action {
		case Record:
			s.Append(p.Record)
		case Summarise:
			s.Append(p.Summary.Event(p.Summary.Offline))
		default:
			return p
		}
	}
	t.Fatalf("ten compactions were not enough")
	return Plan{}
}

func output(n int) string { return `{"output":"` + strings.Repeat("x", n) + `","exit_code":0}` }

func TestAShortConversationIsSentAsItIs(t *testing.T) {
	s := newSession()
	s.Append(convo.Event{Kind: convo.KindSystem, Text: "be good"})
	s.user("hello")
	s.Append(convo.Of("", convo.Decision{}))
	s.Append(convo.Of("", convo.End{}))
	s.answer("hi")
	p := Fit(s.Events(), Options{})
	if p.Action != Send || len(p.Events) != 3 {
		t.Errorf("%+v", p)
	}
}

func TestOldOutputIsThinnedFirst(t *testing.T) {
	s := newSession()
	s.user("look")
	first := s.call("bash", `{"command":"ls"}`, output(9000))
	for range 5 {
		s.call("bash", `{"command":"ls"}`, output(9000))
	}
	s.answer("done")
	w, o := New(), Options{Window: 16_000}
	before := w.Fit(s.Events(), o)
	if before.Action != Record {
		t.Fatalf("action %d, used %d of %d", before.Action, before.Used, before.Room)
	}
	s.Append(before.Record)
	p := w.Fit(s.Events(), o)
	if p.Action != Send || p.Used >= before.Used {
		t.Fatalf("action %d, used %d, before %d", p.Action, p.Used, before.Used)
	}
	var got string
	for _, e := range p.Events {
		if e.Seq == first[0].Seq {
			got = string(e.Body.(convo.ToolResult).Data)
		}
	}
	if want := fmt.Sprintf(`{"output":"[output of 9000 bytes thinned; event %d has all of it]","exit_code":0}`, first[0].Seq); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := convo.Check(p.Events); err != nil {
		t.Error(err)
	}
	if len(s.Events()[2].Body.(convo.ToolResult).Data) < 9000 {
		t.Error("the history was changed")
	}
}

func TestThinningKeepsTheShapeOfResults(t *testing.T) {
	long := strings.Repeat("long é ", 100)
	tests := []struct {
		name string
		in   tool.Result
		want string
	}{
		{"a short one", tool.Result{Data: json.RawMessage(`{"a":1}`)}, `{"tool_success":true,"result":{"a":1}}`},
		{
			"fields in their order",
			tool.Result{Data: json.RawMessage(`{"b":"` + long + `","a":[1,2],"exit_code":3}`)},
			`{"tool_success":true,"result":{"b":"[output of 800 bytes thinned; event 7 has all of it]","a":[1,2],"exit_code":3}}`,
		},
		{
			"a long list",
			tool.Result{Data: json.RawMessage(`{"list":[` + strings.Repeat("1,", 200) + `1]}`)},
			`{"tool_success":true,"result":{"list":"[output of 403 bytes thinned; event 7 has all of it]"}}`,
		},
		{
			"no object",
			tool.Result{Data: json.RawMessage(`"` + long + `"`)},
			`{"tool_success":true,"result":{"output":"[output of 802 bytes thinned; event 7 has all of it]"}}`,
		},
		{
			"a failure", tool.Fail(tool.Call{}, tool.ToolCrashed, "%s", "m"+long),
			`{"tool_success":false,"error":"[output of 801 bytes thinned; event 7 has all of it]","error_code":"TOOL_CRASHED","exit_code":null,"stdout":"","stderr":""}`,
		},
	}
	for _, tt := range tests {
		e := convo.Of("", convo.ToolResult{Result: tt.in})
		e.Seq = 7
		got := thinned(e, 0)
		if env := string(got.Body.(convo.ToolResult).Envelope()); env != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, env, tt.want)
		}
		if again := thinned(got, 0); !cmp.Equal(again, got) {
			t.Errorf("%s: thinning again changes it", tt.name)
		}
	}
	cut := thinnedData(json.RawMessage(output(1000)), 100, 7)
	if want := `{"output":"` + strings.Repeat("x", 50) + `\n[output of 1000 bytes thinned; event 7 has all of it]\n` + strings.Repeat("x", 50) + `","exit_code":0}`; string(cut) != want {
		t.Errorf("got %s", cut)
	}
}

func TestASummaryKeepsWhatMustStay(t *testing.T) {
	s := newSession()
	s.Append(convo.Event{Kind: convo.KindSystem, Text: "be good"})
	s.user("build a house\nwith a \"door\"")
	s.Append(Pin(s.call("note", `{}`, `{"output":"the key is under the mat"}`)[0].Seq, true))
	for i := range 40 {
		s.call("edit", fmt.Sprintf(`{"path":"f%d.go","text":%q}`, i, strings.Repeat("y", 2000)), `{"ok":true}`)
	}
	s.Append(Remark("a word of the harness"))
	s.answer("half of it stands")
	s.user("and now the roof")
	o := Options{Window: 16_000, Open: func() []string { return []string{"paint the door"} }}
	w := New()
	p := w.Fit(s.Events(), o)
	if p.Action != Summarise || len(p.Summary.Cut) > 0 {
		t.Fatalf("%d, cut %v", p.Action, p.Summary.Cut)
	}
	if strings.Contains(p.Summary.Prompt, "be good") || !strings.Contains(p.Summary.Prompt, "f0.go") {
		t.Errorf("prompt:\n%s", p.Summary.Prompt)
	}
	s.Append(p.Summary.Event("walls are up"))
	p = w.Fit(s.Events(), o)
	if p.Action != Send {
		t.Fatalf("action %d", p.Action)
	}
	if p.Events[0].Text != "be good" || p.Events[1].Kind != convo.KindSummary {
		t.Fatalf("the view begins with %s and %s", p.Events[0].Kind, p.Events[1].Kind)
	}
	text := p.Events[1].Text
	for _, want := range []string{"walls are up", "build a house\nwith a \"door\"", "under the mat", "- paint the door"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "harness") {
		t.Error("words of the harness were taken for the person's")
	}
	if last := p.Events[len(p.Events)-1]; last.Text != "and now the roof" {
		t.Errorf("the last event is %+v", last)
	}

	for i := range 40 {
		s.call("edit", fmt.Sprintf(`{"path":"g%d.go","text":%q}`, i, strings.Repeat("y", 2000)), `{"ok":true}`)
	}
	p = s.settle(t, w, o)
	text = p.Events[1].Text
	for _, want := range []string{"walls are up", "build a house\nwith a \"door\"", "and now the roof", "under the mat", "g0.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("the second summary lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "build a house"); n > 2 { // in the digest and word for word
		t.Errorf("the person's words stand %d times in it:\n%s", n, text)
	}
}

func TestWordsBeyondAllRoomAreNamed(t *testing.T) {
	s := newSession()
	s.user("early: " + strings.Repeat("a", 100))
	big := s.user("big: " + strings.Repeat("b", 30_000)).Seq
	s.answer(strings.Repeat("c", 10_000))
	s.answer(strings.Repeat("c", 10_000))
	s.user("late")
	w, o := New(), Options{Window: 12_000}
	p := w.Fit(s.Events(), o)
	if p.Action != Summarise || !slices.Equal(p.Summary.Cut, []int64{big}) {
		t.Fatalf("%d %v", p.Action, p.Summary.Cut)
	}
	text := p.Summary.Event("d").Text
	for _, want := range []string{"early: aaa", "big: bbb", fmt.Sprintf("[30005 bytes; event %d has all of it]", big)} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestOneHugeResultIsCutEvenWhenItIsNew(t *testing.T) {
	s := newSession()
	s.user("cat it")
	s.call("bash", `{"command":"cat big"}`, output(500_000))
	w, o := New(), Options{Window: 32_000}
	p := s.settle(t, w, o)
	if p.Action != Send || p.Used > p.Room {
		t.Errorf("action %d, %d of %d", p.Action, p.Used, p.Room)
	}
	if data := p.Events[len(p.Events)-1].Body.(convo.ToolResult).Data; len(data) < 2000 {
		t.Errorf("too little is left of it: %s", data)
	}
}

func TestWhatCannotFitIsSaid(t *testing.T) {
	s := newSession()
	s.user(strings.Repeat("x", 200_000))
	if p := Fit(s.Events(), Options{Window: 16_000}); p.Action != Full || len(p.Events) != 1 {
		t.Errorf("%d", p.Action)
	}
}

func TestCompactionsCanBeUndone(t *testing.T) {
	s := newSession()
	s.user("look")
	for range 20 {
		s.call("bash", `{"command":"ls"}`, output(5000))
	}
	s.answer("done")
	all := Fit(s.Events(), Options{Window: 1_000_000}).Events
	w, o := New(), Options{Window: 16_000}
	p := w.Fit(s.Events(), o)
	record := s.Append(p.Record)
	w.Fit(s.Events(), o)
	s.Append(Undo(record.Seq))
	big := Options{Window: 1_000_000}
	summary := s.Append(Summary{Through: 10}.Event("short"))
	if got := w.Fit(s.Events(), big).Events; len(got) >= len(all) {
		t.Fatalf("%d events after a summary of 10", len(got))
	}
	s.Append(Undo(summary.Seq))
	for name, got := range map[string][]convo.Event{"going on": w.Fit(s.Events(), big).Events, "after a restart": Fit(s.Events(), big).Events} {
		got = slices.DeleteFunc(slices.Clone(got), func(e convo.Event) bool { return e.Kind == convo.KindCommand })
		if !reflect.DeepEqual(all, got) {
			t.Errorf("%s: %d events, want %d", name, len(got), len(all))
		}
	}
}

func TestEncodersSeeEveryCompaction(t *testing.T) {
	s := newSession()
	s.user("look")
	for range 20 {
		s.call("bash", `{"command":"ls"}`, output(5000))
	}
	s.answer("done")
	w, o := New(), Options{Window: 1_000_000}
	compact := func(e convo.Event) {
		t.Helper()
		thread := dialect.NewThread(dialect.Rules{ID: dialect.Any, Name: dialect.Any}, "m")
		thread.Read(w.Fit(s.Events(), o).Events)
		if !thread.Follows(w.Fit(s.Events(), o).Events) {
			t.Error("the same view does not follow itself")
		}
		s.user("more")
		if !thread.Follows(w.Fit(s.Events(), o).Events) {
			t.Error("a longer view does not follow")
		}
		s.Append(e)
		if thread.Follows(w.Fit(s.Events(), o).Events) {
			t.Errorf("%q was not noticed", e.Text)
		}
	}
	compact(compaction{through: 20}.event(1, 1))
	compact(compaction{through: 30}.event(1, 1))
	compact(Undo(s.Last()))
	compact(Summary{Through: 20}.Event("short"))
	compact(Summary{Through: 25}.Event("shorter"))
	compact(Undo(s.Last()))
}

func TestTheProvidersCountIsBelieved(t *testing.T) {
	s := newSession()
	s.user(strings.Repeat("word ", 2000))
	s.answer(strings.Repeat("answer ", 100))
	s.usage(5000, 200)
	w := New()
	if p := w.Fit(s.Events(), Options{}); p.Used != 5200 {
		t.Errorf("used %d", p.Used)
	}
	s.user(strings.Repeat("x", 984)) // 1,000 bytes at about two for a token
	if p := w.Fit(s.Events(), Options{}); p.Used < 5650 || p.Used > 5750 {
		t.Errorf("used %d", p.Used)
	}
	s.Append(func() convo.Event { // the bill of a summary
		n := 90_000
		return convo.Of("", convo.Usage{Model: "m", Input: &n})
	}())
	if p := w.Fit(s.Events(), Options{}); p.Used > 6000 {
		t.Errorf("used %d after the count of another request", p.Used)
	}
}

func TestMetersDoNotBelieveEverything(t *testing.T) {
	var m Meter
	for _, c := range []struct{ bytes, tokens int }{{1000, 0}, {1000, -5}, {100_000, 100}, {100, 5000}, {30, 10}} {
		if m.Report("m", c.bytes, c.tokens) {
			t.Errorf("%+v was believed", c)
		}
	}
	if m.Tokens(3500) != 1000 || Estimate(convo.Event{Text: strings.Repeat("x", 19)}) != 10 {
		t.Error("the usual ratio is not what it was")
	}
	m.Report("m", 8000, 2000)
	m.Report("m", 4000, 2000)
	if got := m.Tokens(3000); got != 1000 {
		t.Errorf("%d tokens", got)
	}
	m.Report("other", 4000, 2000)
	if got := m.Tokens(3000); got != 1500 {
		t.Errorf("another model: %d tokens", got)
	}
}

func TestOfflineSummaryTellsWhatWasDone(t *testing.T) {
	s := newSession()
	s.user("fix the bug\nplease")
	s.call("file_edit", `{"path":"a.go","old_text":"x"}`, `{"ok":true}`)
	s.call("file_edit", `{"path":"b.go"}`, `{"error":"File not found: b.go","error_code":"FILE_NOT_FOUND"}`)
	s.call("bash", `{"command":"go test ./..."}`, `{"output":"FAIL","exit_code":1}`)
	s.call("bash", `{"command":"go test ./..."}`, `{"output":"ok","exit_code":0}`)
	s.answer("It is fixed.")
	s.user("thanks")
	want := `What was done, without judgement:
- asked: fix the bug please
  file_edit: a.go; b.go (FILE_NOT_FOUND)
  bash: go test ./... (exit 1); go test ./... (exit 0)
  answered: It is fixed.
- asked: thanks
`
	if got := Offline(s.Events()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestBreakdownAddsUp(t *testing.T) {
	s := newSession()
	s.user("hello")
	s.call("bash", `{}`, output(1000), output(10))
	s.call("grep", `{}`, output(100))
	s.answer("done")
	got := Breakdown(s.Events(), 500, 700)
	want := []Share{
		{"results of bash", 2, 1164, 333},
		{"tools", 0, 700, 200},
		{"system prompt", 0, 500, 143},
		{"results of grep", 1, 177, 51},
		{"tool calls", 3, 72, 21},
		{"your words", 1, 21, 6},
		{"answers", 1, 20, 6},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A random conversation, compacted whenever that is due.
func TestACompactedConversationIsAlwaysSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSession()
		w := New()
		o := Options{Window: rapid.SampledFrom([]int{8_000, 16_000, 64_000}).Draw(rt, "window")}
		length := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
		var said []string
		s.Append(convo.Event{Kind: convo.KindSystem, Text: "be good"})
		var sent []convo.Event
		for turn := range rapid.IntRange(1, 25).Draw(rt, "turns") {
			words := fmt.Sprintf("<%d> %s", turn, strings.Repeat("w", length("words", 200)))
			said = append(said, words)
			s.user(words)
			for range rapid.IntRange(0, 6).Draw(rt, "rounds") {
				var results []string
				for range rapid.IntRange(1, 3).Draw(rt, "calls") {
					results = append(results, output(length("output", 8000)))
				}
				s.call("tool", fmt.Sprintf(`{"a":%q}`, strings.Repeat("a", length("args", 1500))), results...)
				before := w.Events()
				p := s.settle(rt, w, o)
				check(rt, p, said)
				if slices.Equal(seqs(before), seqs(p.Events[:min(len(before), len(p.Events))])) {
					samePrefix(rt, sent, p.Events)
				}
				sent = p.Events
			}
			s.answer(strings.Repeat("b", length("answer", 3000)))
		}
		again := Fit(s.Events(), Options{Window: 1 << 40})
		if !reflect.DeepEqual(w.Fit(s.Events(), Options{Window: 1 << 40}).Events, again.Events) {
			rt.Errorf("a restart sees something else")
		}
	})
}

func check(rt *rapid.T, p Plan, said []string) {
	if err := convo.Check(p.Events); err != nil {
		rt.Fatalf("%v", err)
	}
	if p.Action == Full || p.Used > p.Room {
		rt.Fatalf("action %d: %d of %d", p.Action, p.Used, p.Room)
	}
	var all strings.Builder
	system := false
	for i, e := range p.Events {
		system = system || e.Text == "be good"
		all.WriteString(e.Text + "\n")
		if e.Kind == convo.KindSummary && i > 0 && slices.ContainsFunc(p.Events[:i], func(e convo.Event) bool { return e.Kind == convo.KindUser }) {
			rt.Fatalf("a summary after words that it would hide")
		}
	}
	if !system {
		rt.Fatalf("the system's text is gone")
	}
	for _, words := range said {
		if !strings.Contains(all.String(), words) {
			rt.Fatalf("%.20q is gone", words)
		}
	}
}

func seqs(events []convo.Event) []int64 {
	var all []int64
	for _, e := range events {
		all = append(all, e.Seq)
	}
	return all
}

func samePrefix(rt *rapid.T, before, after []convo.Event) {
	if len(before) > len(after) || len(before) == 0 {
		return
	}
	if !reflect.DeepEqual(before, after[:len(before)]) {
		rt.Fatalf("the prefix changed without a compaction")
	}
}

// A turn must cost the same whatever came before it.
func BenchmarkFit(b *testing.B) {
	for _, turns := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("after %d turns", turns), func(b *testing.B) {
			s, w := newSession(), New()
			o := Options{Window: 200_000}
			for i := range turns {
				s.user(fmt.Sprintf("prompt %d", i))
				s.call("bash", `{"command":"ls"}`, output(1000))
				s.answer("done")
				s.settle(b, w, o)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.user("prompt")
				s.call("bash", `{"command":"ls"}`, output(1000))
				s.answer("done")
				s.settle(b, w, o)
			}
		})
	}
}

func FuzzThinning(f *testing.F) {
	f.Add([]byte(output(1000)), 0)
	f.Add([]byte(`{"a":{"b":"`+strings.Repeat("é", 300)+`"},"a":1}`), 50)
	f.Add([]byte(`[`+strings.Repeat("1,", 300)+`1]`), 10)
	f.Fuzz(func(t *testing.T, data []byte, keep int) {
		keep = min(max(keep, 0), 1000)
		out := thinnedData(data, keep, 7)
		if json.Valid(data) && !json.Valid(out) {
			t.Fatalf("%q is no JSON", out)
		}
		if again := thinnedData(out, keep, 7); keep == 0 && len(again) > len(out) {
			t.Fatalf("%q grows to %q", out, again)
		}
	})
}

func FuzzSummaryData(f *testing.F) {
	f.Add("text", []byte(`{"through":5,"digest":2,"kept":[{"seq":1,"from":0,"to":3,"said":true}]}`))
	f.Add("text", []byte(`{"digest":-1,"kept":[{"from":3,"to":1},{"from":-1,"to":2},{"from":0,"to":99}]}`))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		s := newSession()
		s.user("hello")
		s.Append(convo.Event{Kind: convo.KindSummary, Text: text, Body: convo.Unknown{Of: convo.KindSummary, Data: data}})
		s.user(strings.Repeat("x", 9000))
		s.answer("y")
		s.user("z")
		p := Fit(s.Events(), Options{Window: 3000})
		if p.Action == Summarise {
			s.Append(p.Summary.Event(p.Summary.Offline))
			Fit(s.Events(), Options{Window: 3000})
		}
	})
}

func TestASummaryThePersonWantsTakesAllThatWasAnswered(t *testing.T) {
	s := newSession()
	s.user("look around")
	for i := range 5 {
		s.call("read", fmt.Sprintf(`{"path":"f%d.go"}`, i), output(300))
	}
	s.answer("seen")
	w, o := New(), Options{Window: 32_000, About: "the colours"}
	p := w.Squeeze(s.Events(), o)
	if p.Action != Summarise || !strings.Contains(p.Summary.Prompt, "the colours") {
		t.Fatalf("%d\n%s", p.Action, p.Summary.Prompt)
	}
	made := s.Append(p.Summary.Event("all is blue")).Seq
	if p = w.Squeeze(s.Events(), o); p.Action != Send || len(p.Events) != 1 || w.Last() != made {
		t.Fatalf("the second time: %d, %d events, last compaction %d", p.Action, len(p.Events), w.Last())
	}
	s.user("and now?")
	s.call("read", `{"path":"g.go"}`, output(3000))
	if p = w.Squeeze(s.Events(), o); p.Action != Send {
		t.Errorf("results that the model has not seen yet were taken: %d", p.Action)
	}
	s.Append(Undo(made))
	if w.Reread(s.Events()); w.Last() != 0 || len(w.Events()) < 14 {
		t.Errorf("after taking it back %d events, compaction %d", len(w.Events()), w.Last())
	}
}
