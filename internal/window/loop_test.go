package window

import (
	"fmt"
	"strings"
	"testing"

	"ikigai/internal/convo"
)

// round is one reply with calls: "a" calls a with the usual result, "a:x" with
// result x; "!" is a remark of the harness, "u" a word of the person, "c" a
// command; "say:x" is text before the next call.
func written(s *session, script string) {
	for word := range strings.FieldsSeq(script) {
		kind, rest, _ := strings.Cut(word, ":")
		switch kind {
		case "!":
			s.Append(Remark("you go round in circles"))
		case "u":
			s.user("go on")
		case "c":
			s.Append(convo.Of("", convo.Command{Name: "context"}))
		case "say":
			s.replies++
			s.Append(convo.Event{Kind: convo.KindAssistant, Text: rest, Reply: s.name()})
			s.replies--
		default:
			s.call(kind, `{"n": 1}`, fmt.Sprintf(`{"output":%q}`, rest))
		}
	}
}

func TestLoopsAreFound(t *testing.T) {
	const talk = "say:I_will_try_that_again_now"
	tests := []struct {
		name, script string
		want         Guard
		length       int
	}{
		{"nothing", "", GoOn, 0},
		{"twice is no loop", "u a a", GoOn, 0},
		{"the same call three times", "u a a a", Tell, 1},
		{"after other work", "u x y z a a a", Tell, 1},
		{"a result that changes", "u a:1 a:2 a:3 a:4", GoOn, 0},
		{"a result that changed at last", "u a a a:new", GoOn, 0},
		{"two in turn", "u a b a b a b", Tell, 2},
		{"three in turn", "u a b d a b d a b d", Tell, 3},
		{"four in turn", "u a b d e a b d e a b d e", Tell, 4},
		{"five in turn", "u a b d e f a b d e f a b d e f", GoOn, 0},
		{"half of the last round", "u a b a b a b a", Tell, 2},
		{"two in turn, one changes", "u a b:1 a b:2 a b:3", GoOn, 0},
		{"told just now", "u a a a !", GoOn, 0},
		{"told, and once more", "u a a a ! a", Ask, 1},
		{"told, and something else", "u a a a ! b", GoOn, 0},
		{"told, and in another circle", "u a a a ! b b b", Ask, 1},
		{"told of two, and half a round", "u a b a b a b ! a", GoOn, 0},
		{"told of two, and a round", "u a b a b a b ! a b", Ask, 2},
		{"the person spoke", "u a a u a", GoOn, 0},
		{"the person did something", "u a a c a a", GoOn, 0},
		{"the person let it go on", "u a a a ! a c a a a", Tell, 1},
		{"the same words, the same results", strings.Repeat(talk+" a b:1 ", 0) + "u " + talk + " a " + talk + " b " + talk + " d", Tell, 1},
		{"the same words, other results", "u " + talk + " a:1 " + talk + " b:2 " + talk + " d:3", GoOn, 0},
	}
	for _, tt := range tests {
		s := newSession()
		written(s, tt.script)
		v := Loop(s.Events(), nil)
		if v.Do != tt.want || v.Length != tt.length {
			t.Errorf("%s: %+v", tt.name, v)
		}
		asked := false
		quiet := Loop(s.Events(), func(since int64, _ int) bool { asked = true; return since == v.Since })
		if quiet.Do != GoOn || asked != (tt.want != GoOn) {
			t.Errorf("%s: while files change: %+v, asked %t", tt.name, quiet, asked)
		}
	}
}

func TestArgumentsAreComparedAsJSON(t *testing.T) {
	s := newSession()
	for _, args := range []string{`{"a":1}`, `{ "a": 1 }`, `{"a":1 }`} {
		s.call("x", args, `{}`)
	}
	if v := Loop(s.Events(), nil); v.Do != Tell {
		t.Errorf("%+v", v)
	}
	s = newSession()
	for _, args := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`} {
		s.call("x", args, `{}`)
	}
	if v := Loop(s.Events(), nil); v.Do != GoOn {
		t.Errorf("%+v", v)
	}
}

func TestBabbleIsFound(t *testing.T) {
	tests := []struct {
		name, text string
		want       Guard
	}{
		{"an answer", "All tests pass now. The bug was in the parser.", GoOn},
		{"a line over and over", "Let me see.\n" + strings.Repeat("I will now fix the bug!!!\n", 30), Tell},
		{"one word", strings.Repeat("the ", 200), Tell},
		{"a ruler", "Title\n" + strings.Repeat("-", 1000), GoOn},
		{"a table", strings.Repeat("| | |\n", 100), GoOn},
		{"a short list", strings.Repeat("- item\n", 10), GoOn},
		{"a list that goes on", func() string {
			var b strings.Builder
			for i := range 200 {
				fmt.Fprintf(&b, "- item %d of many\n", i)
			}
			return b.String()
		}(), GoOn},
	}
	for _, tt := range tests {
		s := newSession()
		s.user("go")
		s.answer(tt.text)
		v := Loop(s.Events(), func(int64, int) bool { return true })
		if v.Do != tt.want {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if v.Do == Tell {
			s.Append(Remark(v.Text))
			if v := Loop(s.Events(), nil); v.Do != GoOn {
				t.Errorf("%s: told, and not answered yet: %+v", tt.name, v)
			}
			s.answer(tt.text)
			if v := Loop(s.Events(), nil); v.Do != Ask {
				t.Errorf("%s: told, and again: %+v", tt.name, v)
			}
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	s := newSession()
	s.user("go")
	for i := range 5000 {
		s.call("bash", `{"command":"make"}`, fmt.Sprintf(`{"output":"%s %d"}`, strings.Repeat("x", 10_000), i))
	}
	b.ReportAllocs()
	for b.Loop() {
		Loop(s.Events(), nil)
	}
}
