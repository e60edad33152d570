// Package stats makes numbers of what happened: how often each tool was called,
// how long it took and how it ended, what was spent on which model and day, and
// where the time went. It reads events once, in order, and keeps none of them,
// so it counts a session of any length; for the percentiles it keeps one number
// per call.
package stats

import (
	"encoding/json"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Tally counts the events of one session after another.
type Tally struct {
	zone   *time.Location
	report Report // the plain sums; the rest is worked out at the end

	tools  map[string]*toolTally
	days   map[string]*dayTally
	models map[string]*Spent
	cache  struct{ read, of int } // prompt tokens of the replies that said how many were cached

	begun   bool // the session at hand had an event
	open    map[string]*openCall
	turn    turnTally
	waiting time.Time // a person answered then: waiting for the next answer begins there
}

// A toolTally is what is known of one tool.
type toolTally struct {
	Tool
	took []time.Duration // of the calls that ran
}

// A dayTally is one day, model by model.
type dayTally struct {
	calls  int
	models map[string]*Spent
}

// An openCall has no result yet.
type openCall struct {
	name   string
	at     time.Time
	denied bool
}

// A turnTally is the turn at hand.
type turnTally struct {
	number int
	asked  bool // it has words of the person, so it counts as a turn
	depth  int  // rounds of calls
	inside bool // a round of calls that has no result yet
	tokens Tokens
}

// New counts days as they are in that zone.
func New(zone *time.Location) *Tally {
	t := &Tally{zone: zone, tools: map[string]*toolTally{}, days: map[string]*dayTally{}, models: map[string]*Spent{}}
	t.report.Depth = map[int]int{}
	t.Begin()
	return t
}

// Begin says that the events which follow are of another session.
func (t *Tally) Begin() {
	t.endTurn()
	for _, c := range t.open {
		t.unanswered(c)
	}
	t.begun, t.turn, t.waiting = false, turnTally{}, time.Time{}
	t.open = map[string]*openCall{}
}

// Add counts an event. Events that are live only count nothing.
func (t *Tally) Add(e convo.Event) {
	if !e.Durable() {
		return
	}
	if !t.begun {
		t.begun = true
		t.report.Sessions++
	}
	if e.Turn != t.turn.number {
		t.endTurn()
		t.turn = turnTally{number: e.Turn}
	}
	t.report.Events++
	switch b := e.Body.(type) {
	case nil:
		t.turn.asked = t.turn.asked || e.Kind == convo.KindUser
	case convo.ToolCall:
		t.call(e.At, b.Call)
	case convo.Decision:
		t.decision(e.At, b)
	case convo.ToolResult:
		t.result(b.Result)
	case convo.Usage:
		t.usage(e.At, b)
	case convo.End:
		t.report.Clocks.Turns += time.Duration(b.TookMS) * time.Millisecond
	}
}

func (t *Tally) call(at time.Time, c tool.Call) {
	t.tool(c.Name).Calls++
	t.day(at).calls++
	if lost := t.open[c.ID]; lost != nil {
		t.unanswered(lost)
	}
	t.open[c.ID] = &openCall{name: c.Name, at: at}
	if !t.turn.inside {
		t.turn.depth++
		t.turn.inside = true
	}
}

// decision notes a verdict. The question itself is not stored, so the person was
// waited for since the call, or since the answer before this one: what is asked
// together is answered one by one.
func (t *Tally) decision(at time.Time, d convo.Decision) {
	t.report.Decisions.add(d)
	c := t.open[d.CallID]
	if c == nil {
		return
	}
	c.denied = !d.Allowed
	if d.By != convo.ByPerson {
		return
	}
	since := c.at
	if t.waiting.After(since) {
		since = t.waiting
	}
	t.report.Clocks.Waiting += max(0, at.Sub(since))
	t.waiting = at
}

// result counts the answer to a call. One whose call was not counted is not
// counted either, so calls are always ok, failed, denied or open.
func (t *Tally) result(r tool.Result) {
	t.turn.inside = false
	c := t.open[r.CallID]
	if c == nil {
		return
	}
	delete(t.open, r.CallID)
	x := t.tool(c.name)
	x.Bytes += int64(len(r.Envelope()))
	if code, ok := exitCode(r); ok {
		x.exit(code)
	}
	if ran(r) && !c.denied {
		x.took = append(x.took, r.Took)
		t.report.Clocks.Tools += r.Took
	}
	switch code := r.Code(); {
	case c.denied:
		x.Denied++
	case code == "":
		x.OK++
	default:
		x.fail(code.Type())
	}
}

// unanswered counts a call that has no result when its session is over.
func (t *Tally) unanswered(c *openCall) {
	if c.denied {
		t.tool(c.name).Denied++
		return
	}
	t.tool(c.name).Open++
}

// ran reports whether a tool was really at work: a wrapper that refuses a call
// takes no time.
func ran(r tool.Result) bool { return r.Failure == nil || r.Took > 0 }

// exitCode is the exit code that a result reports, if it does.
func exitCode(r tool.Result) (int, bool) {
	if f := r.Failure; f != nil {
		if f.ExitCode == nil {
			return 0, false
		}
		return *f.ExitCode, true
	}
	var own struct {
		Code *int `json:"exit_code"`
	}
	if json.Unmarshal(r.Data, &own) != nil || own.Code == nil {
		return 0, false
	}
	return *own.Code, true
}

func (t *Tally) usage(at time.Time, u convo.Usage) {
	t.report.Clocks.Model += time.Duration(u.ModelMS) * time.Millisecond
	t.report.Tokens.add(u)
	t.turn.tokens.add(u)
	if u.CacheRead != nil && u.Input != nil {
		t.cache.read += *u.CacheRead
		t.cache.of += *u.Input
	}
	spent(t.models, u.Model).add(u)
	spent(t.day(at).models, u.Model).add(u)
}

// endTurn sorts what the turn at hand used by whether it called tools.
func (t *Tally) endTurn() {
	side := &t.report.WithoutTools
	if t.turn.depth > 0 {
		side = &t.report.WithTools
	}
	side.Tokens.plus(t.turn.tokens)
	if t.turn.asked {
		t.report.Turns++
		side.Turns++
		t.report.Depth[t.turn.depth]++
	}
	t.turn = turnTally{}
}

func (t *Tally) tool(name string) *toolTally {
	x := t.tools[name]
	if x == nil {
		x = &toolTally{Tool: Tool{Name: name, Failures: map[tool.ErrorType]int{}, ExitCodes: map[int]int{}}}
		t.tools[name] = x
	}
	return x
}

func (t *Tally) day(at time.Time) *dayTally {
	name := at.In(t.zone).Format(time.DateOnly)
	d := t.days[name]
	if d == nil {
		d = &dayTally{models: map[string]*Spent{}}
		t.days[name] = d
	}
	return d
}

func spent(in map[string]*Spent, model string) *Spent {
	s := in[model]
	if s == nil {
		s = &Spent{Model: model}
		in[model] = s
	}
	return s
}
