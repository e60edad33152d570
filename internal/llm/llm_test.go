package llm

import (
	"errors"
	"iter"
	"reflect"
	"testing"

	"ikigai/internal/convo"
)

func stream(err error, deltas ...Delta) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
		if err != nil {
			yield(Delta{}, err)
		}
	}
}

var end = Delta{Kind: Done, Stop: EndTurn, Native: "stop"}

func TestAssemblePutsPiecesTogetherByBlock(t *testing.T) {
	one, two := 1, 2
	r, err := Assemble(stream(
		nil,
		Delta{Kind: Thinking, Text: "hm"}, Delta{Kind: Thinking, Text: "m", Keep: &convo.Opaque{Dialect: "x"}},
		Delta{Kind: Text, Block: 1, Text: "a"}, Delta{Kind: Text, Block: 2, Text: "b"},
		Delta{Kind: CallPart, Block: 3, ID: "c1", Name: "f", Text: `{"x"`}, Delta{Kind: CallPart, Block: 4, Name: "g"},
		Delta{Kind: CallPart, Block: 3, Text: `:1}`},
		Delta{Kind: UsageDelta, Usage: &convo.Usage{Input: &one}}, Delta{Kind: UsageDelta, Usage: &convo.Usage{Output: &two}},
		end,
	), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Items) != 4 || r.Items[0].Text != "hmm" || r.Items[0].Keep == nil || r.Items[1].Text != "ab" {
		t.Errorf("items: %+v", r.Items)
	}
	calls := r.Calls()
	if string(calls[0].Args) != `{"x":1}` || string(calls[1].Args) != "{}" || len(calls[1].ID) != 9 {
		t.Errorf("calls: %+v", calls)
	}
	if r.Stop != ToolUse || *r.Usage.Input != 1 || *r.Usage.Output != 2 {
		t.Errorf("%+v", r)
	}
}

func TestTextsWithSomethingToKeepStayApart(t *testing.T) {
	r, err := Assemble(stream(nil, Delta{Kind: Text, Text: "a"}, Delta{Kind: Text, Block: 1, Text: "b", Keep: &convo.Opaque{}}, Delta{Kind: Text, Block: 2, Text: "c"}, end), nil)
	if err != nil || len(r.Items) != 3 || r.Text() != "abc" {
		t.Errorf("%+v, %v", r.Items, err)
	}
}

func TestTwoCallsWithOneIDGetTwo(t *testing.T) {
	r, err := Assemble(stream(nil, Delta{Kind: CallPart, ID: "a"}, Delta{Kind: CallPart, Block: 1, ID: "a"}, end), nil)
	if c := r.Calls(); err != nil || c[0].ID == c[1].ID {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCutStreamIsAnErrorAndKeepsWhatCame(t *testing.T) {
	r, err := Assemble(stream(nil, Delta{Kind: Text, Text: "half"}, Delta{Kind: CallPart, Block: 1, Text: `{"a`}), nil)
	var e *Error
	if !errors.As(err, &e) || e.Class != Truncated || r.Text() != "half" {
		t.Errorf("%+v, %v", r, err)
	}
	if r.Items[1].Complete {
		t.Error("a cut call counts as whole")
	}
}

func TestCallCutByTheLengthLimitIsNotWhole(t *testing.T) {
	cut := Delta{Kind: Done, Stop: Length}
	r, err := Assemble(stream(nil, Delta{Kind: CallPart, Text: `{"a":"b`}, Delta{Kind: CallPart, Block: 1, Text: `{"a":1}`}, cut), nil)
	if err != nil || r.Items[0].Complete || !r.Items[1].Complete {
		t.Errorf("%+v, %v", r.Items, err)
	}
}

func TestErrorEndsTheStream(t *testing.T) {
	boom := errors.New("boom")
	var seen []Delta
	_, err := Assemble(stream(boom, Delta{Kind: Text, Text: "x"}), func(d Delta) { seen = append(seen, d) })
	if !errors.Is(err, boom) || !reflect.DeepEqual(seen, []Delta{{Kind: Text, Text: "x"}}) {
		t.Errorf("%v, %v", seen, err)
	}
}

func TestOnlyWhatMaySucceedLaterIsRetried(t *testing.T) {
	for class, want := range map[Class]bool{
		RateLimited: true, Overloaded: true, Unreachable: true, Timeout: true, Truncated: true,
		Auth: false, NotFound: false, BadRequest: false, Quota: false, Garbage: false, Blocked: false, Config: false,
	} {
		if got := (&Error{Class: class}).Retryable(); got != want {
			t.Errorf("%s: %v", class, got)
		}
		if (&Error{Class: class, Partial: true}).Retryable() {
			t.Errorf("%s is repeated although something had arrived", class)
		}
	}
}

func BenchmarkAssembleToken(b *testing.B) {
	b.ReportAllocs()
	n := 0
	s := func(yield func(Delta, error) bool) {
		for b.Loop() {
			n++
			yield(Delta{Kind: Text, Text: "token "}, nil)
		}
		yield(end, nil)
	}
	if _, err := Assemble(s, nil); err != nil {
		b.Fatal(err)
	}
}
