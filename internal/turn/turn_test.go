package turn

import (
	"fmt"
	"reflect"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// world performs actions the way the session goroutine does, and remembers
// everything that must come out even.
type world struct {
	m        *Machine
	events   []convo.Event
	made     int // calls made so far, for ids
	results  map[string]int
	prepared map[string]bool // calls with a result that is not yet recorded
	judge    []string        // what the last Judge wants
	asked    []string
	running  []string
	awaiting bool // a CallModel is unanswered
	said     int  // prompts given
	recorded int  // prompts in the history
	unsent   int
	finishes int
	begun    int
}

func newWorld(l Limits) *world {
	return &world{m: New(l), results: map[string]int{}, prepared: map[string]bool{}}
}

func (w *world) step(in Input) error {
	switch in := in.(type) {
	case Prompted:
		w.said++
		if !w.m.State().Busy() {
			w.begun++
		}
	case Replied:
		if w.m.State() == AwaitingModel {
			w.awaiting = false
			for _, c := range in.Calls {
				w.events = append(w.events, convo.Of("", convo.ToolCall{Call: c.Call}))
			}
		}
	case Judged:
		w.judge = nil
	case Ran:
		if i := index(w.running, in.ID); i >= 0 {
			w.running = append(w.running[:i:i], w.running[i+1:]...)
			w.prepared[in.ID] = true
		}
	}
	for _, a := range w.m.Step(in) {
		if err := w.perform(a); err != nil {
			return err
		}
	}
	return w.check()
}

func (w *world) perform(a Action) error {
	switch a := a.(type) {
	case Record:
		w.recorded++
		w.events = append(w.events, convo.Event{Kind: convo.KindUser, Text: a.Text})
		if err := convo.Check(w.events); err != nil {
			return fmt.Errorf("words recorded while a call is open: %w", err)
		}
	case CallModel:
		if err := convo.Check(w.events); err != nil {
			return fmt.Errorf("the model is called with a history that cannot be sent: %w", err)
		}
		w.awaiting = true
	case Judge:
		w.judge = a.IDs
	case Ask:
		w.asked = a.IDs
	case Reject:
		w.prepared[a.ID] = true
	case Run:
		w.running = append(w.running, a.IDs...)
	case Deliver:
		if !w.prepared[a.ID] {
			return fmt.Errorf("%s delivered before it has a result", a.ID)
		}
		delete(w.prepared, a.ID)
		w.results[a.ID]++
		w.events = append(w.events, convo.Of("", convo.ToolResult{Result: tool.Result{CallID: a.ID, Limit: a.Limit}}))
	case Finish:
		w.finishes++
		w.unsent += len(a.Unsent)
		w.awaiting = false
		if len(w.running) > 0 {
			return fmt.Errorf("finished while %v run", w.running)
		}
		if err := convo.Check(w.events); err != nil {
			return fmt.Errorf("finished with a history that cannot be sent: %w", err)
		}
	}
	return nil
}

func (w *world) check() error {
	for id, n := range w.results {
		if n != 1 {
			return fmt.Errorf("call %s has %d results", id, n)
		}
	}
	if !w.m.State().Busy() {
		if w.said != w.recorded+w.unsent {
			return fmt.Errorf("%d prompts, %d recorded, %d given back", w.said, w.recorded, w.unsent)
		}
		if w.finishes != w.begun {
			return fmt.Errorf("%d turns begun, %d finished", w.begun, w.finishes)
		}
		if len(w.results) != w.made {
			return fmt.Errorf("%d calls, %d results", w.made, len(w.results))
		}
	}
	if w.stuck() {
		return fmt.Errorf("nothing can happen any more in state %s", w.m.State())
	}
	return nil
}

// stuck reports a busy machine that waits for nothing.
func (w *world) stuck() bool {
	return w.m.State().Busy() && !w.awaiting && len(w.judge) == 0 && len(w.m.in(asked)) == 0 && len(w.running) == 0
}

// choices are the inputs that may come next, the useless and late ones included.
func (w *world) choices() []func(*world) Input {
	c := []func(*world) Input{
		func(*world) Input { return Prompted{"words"} },
		func(*world) Input { return Cancelled{} },
		func(*world) Input { return Exhausted{convo.Limit{Which: "time"}} },
		func(*world) Input { return Ran{"late"} },
		func(*world) Input { return Answered{ID: "late", Allow: true} },
	}
	if w.awaiting {
		c = append(c,
			func(*world) Input { return Failed{convo.Error{Class: "truncated"}} },
			reply(0), reply(1), reply(3, 1))
	}
	if len(w.judge) > 0 {
		for _, r := range []Ruling{{Rule: Allow}, {Rule: Allow, Alone: true}, {Rule: AskPerson}, {Rule: Refuse, Code: tool.PermissionDenied}} {
			c = append(c, ruleAll(r))
		}
		if len(w.judge) > 1 {
			c = append(c, mixed)
		}
	}
	if ids := w.m.in(asked); len(ids) > 0 && len(w.judge) == 0 {
		c = append(c,
			func(*world) Input { return Answered{ID: ids[0], Allow: true} },
			func(*world) Input { return Answered{ID: ids[len(ids)-1], Reason: "no"} })
	}
	for _, id := range w.running {
		c = append(c, func(*world) Input { return Ran{id} })
	}
	return c
}

func reply(n int, incomplete ...int) func(*world) Input {
	return func(w *world) Input {
		var calls []Call
		for i := range n {
			w.made++
			calls = append(calls, Call{Call: tool.Call{ID: fmt.Sprint("c", w.made)}, Incomplete: len(incomplete) > 0 && incomplete[0] == i})
		}
		return Replied{calls}
	}
}

func ruleAll(r Ruling) func(*world) Input {
	return func(w *world) Input {
		var rs []Ruling
		for _, id := range w.judge {
			r.ID = id
			rs = append(rs, r)
		}
		return Judged{rs}
	}
}

func mixed(w *world) Input {
	kinds := []Ruling{{Rule: AskPerson}, {Rule: Allow, Alone: true}, {Rule: Refuse, Code: tool.PermissionDenied}}
	var rs []Ruling
	for i, id := range w.judge {
		r := kinds[i%len(kinds)]
		r.ID = id
		rs = append(rs, r)
	}
	return Judged{rs}
}

// TestEveryShortSequenceKeepsTheTwoTruths walks all input sequences to a depth,
// each from a fresh machine, and checks after every step.
func TestEveryShortSequenceKeepsTheTwoTruths(t *testing.T) {
	depth := 7
	if testing.Short() {
		depth = 6
	}
	limits := Limits{Rounds: 2, CallsPerRound: 2}
	var walked int
	var walk func(path []int)
	walk = func(path []int) {
		w := newWorld(limits)
		var log []string
		for _, choice := range path {
			in := w.choices()[choice](w)
			log = append(log, fmt.Sprintf("%T%+v", in, in))
			if err := w.step(in); err != nil {
				t.Fatalf("after %v: %v", log, err)
			}
		}
		walked++
		if len(path) == depth {
			return
		}
		for i := range w.choices() {
			walk(append(path[:len(path):len(path)], i))
		}
	}
	// Begin with a prompt: what comes before it does nothing, and the walk goes deeper.
	walk([]int{0})
	t.Logf("%d sequences", walked)
	if walked < 10_000 {
		t.Fatalf("only %d sequences walked: the choices are broken", walked)
	}
}

func index(s []string, x string) int {
	for i := range s {
		if s[i] == x {
			return i
		}
	}
	return -1
}

func calls(ids ...string) Replied {
	var r Replied
	for _, id := range ids {
		r.Calls = append(r.Calls, Call{Call: tool.Call{ID: id}})
	}
	return r
}

func rule(ids string, r Rule, alone bool) Judged {
	var j Judged
	for _, id := range ids {
		j.Rulings = append(j.Rulings, Ruling{ID: string(id), Rule: r, Alone: alone, Code: tool.PermissionDenied})
	}
	return j
}

// TestTheTable holds the rows of the house's table, one each.
func TestTheTable(t *testing.T) {
	denied := func(id string) Reject { return Reject{ID: id, Code: tool.PermissionDenied} }
	tests := []struct {
		name   string
		limits Limits
		inputs []Input
		want   []Action // of the last input
		state  State
	}{
		{
			"a prompt is recorded and sent",
			Limits{},
			[]Input{Prompted{"hi"}},
			[]Action{Record{"hi"}, CallModel{}},
			AwaitingModel,
		},
		{
			"a reply without calls ends the turn",
			Limits{},
			[]Input{Prompted{"hi"}, Replied{}},
			[]Action{Finish{Stop: convo.StopDone}},
			Completed,
		},
		{
			"steering waits and is given back at the end",
			Limits{},
			[]Input{Prompted{"hi"}, Prompted{"wait"}, Replied{}},
			[]Action{Finish{Stop: convo.StopDone, Unsent: []string{"wait"}}},
			Completed,
		},
		{
			"steering is recorded where every call has its result",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a"), Prompted{"also"}, rule("a", Allow, false), Ran{"a"}},
			[]Action{Deliver{ID: "a"}, Record{"also"}, CallModel{}},
			AwaitingModel,
		},
		{
			"calls beyond the limit are refused, the others judged",
			Limits{CallsPerRound: 1},
			[]Input{Prompted{"hi"}, calls("a", "b")},
			[]Action{
				Reached{convo.Limit{Which: "calls", Value: 2, Max: 1}},
				Reject{"b", tool.LimitReached, "only the first 1 calls of a reply run; make this one again in the next reply"},
				Judge{[]string{"a"}},
			},
			EvaluatingPolicy,
		},
		{
			"calls that only read run together",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", Allow, false)},
			[]Action{Run{[]string{"a", "b"}}},
			Executing,
		},
		{
			"calls that change something run one after another",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", Allow, true), Ran{"a"}},
			[]Action{Deliver{ID: "a"}, Run{[]string{"b"}}},
			Executing,
		},
		{
			"results are recorded in the order of the calls",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", Allow, false), Ran{"b"}, Ran{"a"}},
			[]Action{Deliver{ID: "a"}, Deliver{ID: "b"}, CallModel{}},
			AwaitingModel,
		},
		{
			"when none is allowed the model hears of it",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a"), rule("a", Refuse, false)},
			[]Action{denied("a"), Deliver{ID: "a"}, CallModel{}},
			AwaitingModel,
		},
		{
			"all that are asked are asked at once",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", AskPerson, true)},
			[]Action{Ask{[]string{"a", "b"}}},
			AwaitingPermission,
		},
		{
			"after an answer the others are judged again",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", AskPerson, true), Answered{ID: "a", Allow: true}},
			[]Action{Judge{[]string{"b"}}},
			AwaitingPermission,
		},
		{
			"a late answer does nothing",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a"), rule("a", AskPerson, true), Cancelled{}, Answered{ID: "a", Allow: true}},
			nil,
			Completed,
		},
		{
			"the last round carries the limit and one answer without tools",
			Limits{Rounds: 1},
			[]Input{Prompted{"hi"}, calls("a"), rule("a", Allow, false), Ran{"a"}},
			[]Action{Deliver{ID: "a", Limit: 1}, Reached{convo.Limit{Which: "turns", Value: 1, Max: 1}}, CallModel{Final: true}},
			AwaitingModel,
		},
		{
			"the last answer ends with the limit",
			Limits{Rounds: 1},
			[]Input{Prompted{"hi"}, calls("a"), rule("a", Allow, false), Ran{"a"}, Replied{}},
			[]Action{Finish{Stop: convo.StopLimit, Limit: &convo.Limit{Which: "turns", Value: 1, Max: 1}}},
			Completed,
		},
		{
			"cancelling waits for the partial result of what runs",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", Allow, true), Cancelled{}},
			[]Action{Reject{"b", tool.CallCancelled, "not run: the turn was stopped before"}, Halt{}},
			Stopping,
		},
		{
			"and then ends",
			Limits{},
			[]Input{Prompted{"hi"}, calls("a", "b"), rule("ab", Allow, true), Cancelled{}, Ran{"a"}},
			[]Action{Deliver{ID: "a"}, Deliver{ID: "b"}, Finish{Stop: convo.StopCancelled}},
			Completed,
		},
		{
			"a failing model ends the turn",
			Limits{},
			[]Input{Prompted{"hi"}, Failed{convo.Error{Class: "auth"}}},
			[]Action{Finish{Stop: convo.StopError, Err: &convo.Error{Class: "auth"}}},
			Completed,
		},
		{
			"a call that was cut is refused without judging",
			Limits{},
			[]Input{Prompted{"hi"}, Replied{[]Call{{Call: tool.Call{ID: "a"}, Incomplete: true}}}},
			[]Action{
				Reject{"a", tool.InvalidParams, "the arguments were cut off before they were whole; make the call again, shorter"},
				Deliver{ID: "a"},
				CallModel{},
			},
			AwaitingModel,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := New(tt.limits)
			var got []Action
			for _, in := range tt.inputs {
				got = m.Step(in)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("actions\n got %+v\nwant %+v", got, tt.want)
			}
			if m.State() != tt.state {
				t.Errorf("state %s, want %s", m.State(), tt.state)
			}
		})
	}
}
