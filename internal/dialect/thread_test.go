package dialect

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

var plainRules = Rules{Dialect: "own", ID: Fit(40, WordByte), Name: ToolName}

func said(kind convo.Kind, text string) convo.Event { return convo.Event{Kind: kind, Text: text} }

func called(reply, id string) convo.Event {
	e := convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: "glob", Args: json.RawMessage(`{}`)}})
	e.Reply = reply
	return e
}

func answered(id, data string) convo.Event {
	return convo.Of("", convo.ToolResult{Result: tool.Result{CallID: id, Name: "glob", Data: json.RawMessage(data)}})
}

func inReply(name string, e convo.Event) convo.Event {
	e.Reply = name
	return e
}

// groupsOf gives all groups of events read at once.
func groupsOf(rules Rules, events []convo.Event) []Group {
	t := NewThread(rules, "m")
	return append(t.Read(events), t.Rest()...)
}

// sketch writes groups in short: U(text) M(text call:id) R(id=data).
func sketch(groups []Group) string {
	var b strings.Builder
	for _, g := range groups {
		switch g.Role {
		case User:
			var parts []string
			for _, p := range g.Said {
				if p.Image != nil {
					p.Text = "image:" + p.Image.Name
				}
				parts = append(parts, p.Text)
			}
			fmt.Fprintf(&b, "U(%s) ", strings.Join(parts, "+"))
		case Model:
			var items []string
			for _, it := range g.Items {
				switch it.Kind {
				case llm.CallPart:
					items = append(items, "call:"+it.Call.ID)
				case llm.Thinking:
					items = append(items, "thought:"+it.Text)
				case llm.Block:
					items = append(items, "block")
				default:
					items = append(items, it.Text)
				}
			}
			fmt.Fprintf(&b, "M(%s) ", strings.Join(items, " "))
		case Results:
			var answers []string
			for _, a := range g.Answers {
				what := string(a.Result.Data)
				if a.Result.Failure != nil {
					what = string(a.Result.Failure.Code)
				}
				answers = append(answers, a.Call.Call.ID+"="+what)
			}
			fmt.Fprintf(&b, "R(%s) ", strings.Join(answers, " "))
		}
	}
	return strings.TrimSpace(b.String())
}

func TestHistoriesAreMadeValid(t *testing.T) {
	own := &convo.Opaque{Dialect: "own", Data: json.RawMessage(`{"k":1}`)}
	foreign := &convo.Opaque{Dialect: "other", Data: json.RawMessage(`{"k":1}`)}
	otherModel := &convo.Opaque{Dialect: "own", Model: "other", Data: json.RawMessage(`{"k":1}`)}
	thought := func(keep *convo.Opaque) convo.Event {
		return convo.Event{Kind: convo.KindThinking, Text: "hm", Reply: "r1", Keep: keep}
	}
	for _, c := range []struct {
		name   string
		events []convo.Event
		want   string
	}{
		{"the calls of one reply go together", []convo.Event{
			said("user", "go"), inReply("r1", said("assistant", "look")), called("r1", "a"), called("r1", "b"), answered("a", "1"), answered("b", "2"),
		}, "U(go) M(look call:a call:b) R(a=1 b=2)"},
		{"calls and results that alternate in one reply", []convo.Event{
			said("user", "go"), called("r1", "a"), answered("a", "1"), called("r1", "b"), answered("b", "2"),
		}, "U(go) M(call:a call:b) R(a=1 b=2)"},
		{"results in another order stand in that of the calls", []convo.Event{
			said("user", "go"), called("r1", "a"), called("r1", "b"), answered("b", "2"), answered("a", "1"),
		}, "U(go) M(call:a call:b) R(a=1 b=2)"},
		{"without reply names a result ends the reply", []convo.Event{
			said("user", "go"), called("", "a"), answered("a", "1"), called("", "b"), answered("b", "2"),
		}, "U(go) M(call:a) R(a=1) M(call:b) R(b=2)"},
		{"pictures stand before the words they came with", []convo.Event{
			said("user", "go"), {Kind: convo.KindUser, Text: "look", Body: convo.Words{Images: []convo.Image{{Name: "p"}, {Name: "q"}}}}, {Kind: convo.KindUser, Body: convo.Words{Images: []convo.Image{{Name: "r"}}}},
		}, "U(go+image:p+image:q+look+image:r)"},
		{"an orphan is closed", []convo.Event{
			said("user", "go"), called("r1", "a"), called("r1", "b"), answered("b", "2"), said("user", "on"),
		}, "U(go) M(call:a call:b) R(a=INTERRUPTED b=2) U(on)"},
		{"a result away from its call is moved", []convo.Event{
			said("user", "go"), called("r1", "a"), said("user", "wait"), answered("a", "1"),
		}, "U(go) M(call:a) R(a=1) U(wait)"},
		{"a result without its call is dropped", []convo.Event{
			said("user", "go"), answered("x", "1"), inReply("r1", said("assistant", "ok")),
		}, "U(go) M(ok)"},
		{"the second result for one call is dropped", []convo.Event{
			said("user", "go"), called("r1", "a"), answered("a", "1"), answered("a", "2"),
		}, "U(go) M(call:a) R(a=1)"},
		{"an orphan does not take the result of a later call of its id", []convo.Event{
			said("user", "go"), called("r1", "a"), said("user", "on"), called("r2", "a"), answered("a", "2"),
		}, "U(go) M(call:a) R(a=INTERRUPTED) U(on) M(call:a_4162fddd) R(a_4162fddd=2)"},
		{"blank texts are dropped", []convo.Event{
			said("user", "go"), said("user", " \n"), inReply("r1", said("assistant", "\n")), called("r1", "a"), answered("a", "1"),
		}, "U(go) M(call:a) R(a=1)"},
		{"neighbours are merged", []convo.Event{
			said("user", "go"), said("user", "on"), inReply("r1", said("assistant", "one")), inReply("r2", said("assistant", "two")), said("user", "x"),
		}, "U(go+on) M(one two) U(x)"},
		{"what the model said first gets a word before it", []convo.Event{
			inReply("r1", said("assistant", "one")), said("user", "x"),
		}, "U((The conversation goes on.)) M(one) U(x)"},
		{"thinking of this format is kept in its place", []convo.Event{
			said("user", "go"), inReply("r1", said("assistant", "text")), thought(own), called("r1", "a"), answered("a", "1"),
		}, "U(go) M(text thought:hm call:a) R(a=1)"},
		{"thinking of another format is dropped", []convo.Event{
			said("user", "go"), thought(foreign), inReply("r1", said("assistant", "text")),
		}, "U(go) M(text)"},
		{"thinking of another model is dropped", []convo.Event{
			said("user", "go"), thought(otherModel), inReply("r1", said("assistant", "text")),
		}, "U(go) M(text)"},
		{"a reply of nothing but thinking is dropped", []convo.Event{
			said("user", "go"), thought(own), said("user", "on"), inReply("r2", said("assistant", "text")),
		}, "U(go+on) M(text)"},
		{"text that came after a call stands before it", []convo.Event{
			said("user", "go"), called("r1", "a"), inReply("r1", said("assistant", "text")), answered("a", "1"),
		}, "U(go) M(text call:a) R(a=1)"},
		{"a summary replaces what is before it", []convo.Event{
			said("system", "be good"), said("user", "go"), called("r1", "a"), answered("a", "1"), said("summary", "much"), inReply("r2", said("assistant", "ok")),
		}, "U(What happened before, in short:\n\nmuch) M(ok)"},
		{"what is no part of the conversation is skipped", []convo.Event{
			said("user", "go"), said("usage", "x"), inReply("r1", said("assistant", "ok")), said("end", "x"), said("undo", "x"), said("command", "/x"), said("job", "x"), said("delta", "x"),
		}, "U(go) M(ok)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := groupsOf(plainRules, c.events)
			if s := sketch(got); s != c.want {
				t.Fatalf("got  %s\nwant %s", s, c.want)
			}
			if err := valid(got); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestABridgeStandsBetweenResultsAndThePerson(t *testing.T) {
	rules := plainRules
	rules.Bridge = true
	got := sketch(groupsOf(rules, []convo.Event{said("user", "go"), called("r1", "a"), answered("a", "1"), said("user", "on"), inReply("r2", said("assistant", "ok"))}))
	if want := "U(go) M(call:a) R(a=1) M(Noted.) U(on) M(ok)"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestSystemEventsAreOneText(t *testing.T) {
	th := NewThread(plainRules, "m")
	th.Read([]convo.Event{said("system", "a"), said("user", "x"), said("system", "b"), said("system", "a")})
	if th.System() != "a\n\nb" {
		t.Fatalf("system is %q", th.System())
	}
}

func TestMendingIsNoticedOnce(t *testing.T) {
	th := NewThread(plainRules, "m")
	th.Read([]convo.Event{said("user", "go"), called("r1", "a"), said("user", "on"), answered("zzz", "1")})
	th.Rest()
	if n := th.Notices(); len(n) != 2 {
		t.Fatalf("notices: %q", n)
	}
	if n := th.Notices(); len(n) != 0 {
		t.Fatalf("told again: %q", n)
	}
}

// valid is section 0 of the providers' rules, written for groups.
func valid(groups []Group) error {
	ids := map[string]bool{}
	for i, g := range groups {
		if i == 0 && g.Role != User {
			return fmt.Errorf("the first group is %v", g.Role)
		}
		if i > 0 && groups[i-1].Role == g.Role {
			return fmt.Errorf("groups %d and %d are of one role", i-1, i)
		}
		var open []string
		for _, it := range g.Items {
			if it.Kind == llm.CallPart {
				open = append(open, it.Call.ID)
				if ids[it.Call.ID] {
					return fmt.Errorf("id %s stands twice", it.Call.ID)
				}
				ids[it.Call.ID] = true
			}
		}
		if len(open) > 0 != (i+1 < len(groups) && groups[i+1].Role == Results) {
			return fmt.Errorf("group %d has %d calls and the next is no group of results, or the other way round", i, len(open))
		}
		if len(open) > 0 {
			if answers := groups[i+1].Answers; len(answers) != len(open) {
				return fmt.Errorf("%d answers for %d calls", len(answers), len(open))
			}
			for n, a := range groups[i+1].Answers {
				if a.Call.Call.ID != open[n] {
					return fmt.Errorf("answer %d is for %s, not %s", n, a.Call.Call.ID, open[n])
				}
			}
		}
		for _, p := range g.Said {
			if strings.TrimSpace(p.Text) == "" && p.Image == nil {
				return fmt.Errorf("group %d has a blank text", i)
			}
		}
	}
	return nil
}

// anyEvents draws histories that are broken in all ways.
func anyEvents(t *rapid.T) []convo.Event {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	return rapid.SliceOfN(rapid.Custom(func(*rapid.T) convo.Event {
		r := pick("reply", "", "r1", "r2")
		switch pick("kind", "user", "assistant", "thinking", "call", "call", "result", "result", "opaque", "usage", "summary") {
		case "user":
			e := said("user", pick("text", "a", "b", " "))
			if pick("picture", "none", "none", "one") == "one" {
				e.Body = convo.Words{Images: []convo.Image{{Name: "p", Media: "image/gif"}}}
			}
			return e
		case "assistant":
			return inReply(r, said("assistant", pick("text", "a", "b", "")))
		case "thinking":
			e := inReply(r, said("thinking", pick("text", "a", "")))
			if pick("keep", "own", "none") == "own" {
				e.Keep = &convo.Opaque{Dialect: "own", Data: json.RawMessage(`{}`)}
			}
			return e
		case "call":
			return called(r, pick("id", "a", "b", "c.d"))
		case "result":
			return answered(pick("id", "a", "b", "c.d"), pick("data", "1", "2"))
		case "opaque":
			return convo.Of("", convo.Opaque{Dialect: pick("dialect", "own", "other"), Data: json.RawMessage(`{}`)})
		case "summary":
			return said("summary", "s")
		}
		return said("usage", "")
	}), 0, 25).Draw(t, "events")
}

// anyRules draws rules in all combinations.
func anyRules(t *rapid.T) Rules {
	rules := plainRules
	rules.Thinking = rapid.Bool().Draw(t, "thinking")
	rules.Merge = rapid.Bool().Draw(t, "merge")
	rules.Blind = rapid.Bool().Draw(t, "blind")
	rules.Bridge = !rules.Merge && rapid.Bool().Draw(t, "bridge")
	return rules
}

func TestEveryHistoryBecomesValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := anyRules(t)
		groups := groupsOf(rules, anyEvents(t))
		if err := valid(groups); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(groups); i++ {
			if (rules.Merge || rules.Bridge) && groups[i].Role == User && groups[i-1].Role == Results {
				t.Fatalf("words right after results: %s", sketch(groups))
			}
		}
	})
}

func TestReadingOneByOneGivesWhatReadingAtOnceGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events, rules := anyEvents(t), anyRules(t)
		th := NewThread(rules, "m")
		var whole []Group
		for n := range len(events) + 1 {
			if n < len(events) && rapid.Bool().Draw(t, "skip") {
				continue
			}
			if !th.Follows(events[:n]) {
				th, whole = NewThread(rules, "m"), nil
			}
			whole = append(whole, th.Read(events[:n])...)
			got := append(append([]Group(nil), whole...), th.Rest()...)
			if want := groupsOf(rules, events[:n]); !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d events: got %s, want %s", n, sketch(got), sketch(want))
			}
		}
	})
}

func TestFittedNamesAreTakenAndStayApart(t *testing.T) {
	fits := map[string]struct {
		fit Fitting
		ok  func(string) bool
	}{
		"forty": {Fit(40, WordByte), func(s string) bool { return len(s) <= 40 && s != "" && testAll(s, WordByte) }},
		"nine":  {Exactly(9), func(s string) bool { return len(s) == 9 && testAll(s, Alphanumeric) }},
		"tool name": {ToolName, func(s string) bool {
			return len(s) <= 64 && s != "" && testAll(s, WordByte) && s[0] != '-' && (s[0] < '0' || s[0] > '9')
		}},
		"any": {Any, func(s string) bool { return s != "" }},
	}
	for name, f := range fits {
		rapid.Check(t, func(t *rapid.T) {
			table := newTable(f.fit)
			became := map[string]string{}
			for _, s := range rapid.SliceOfDistinct(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z.:_-]{1,80}`)), rapid.ID[string]).Draw(t, "names") {
				w := table.of(s)
				if !f.ok(w) {
					t.Fatalf("%s: %q became %q", name, s, w)
				}
				if was, taken := became[w]; taken {
					t.Fatalf("%s: %q and %q both became %q", name, was, s, w)
				}
				became[w] = s
				if table.of(s) != w {
					t.Fatalf("%s: %q became two things", name, s)
				}
			}
		})
	}
}

func testAll(s string, ok func(byte) bool) bool {
	for _, c := range []byte(s) {
		if !ok(c) {
			return false
		}
	}
	return true
}
