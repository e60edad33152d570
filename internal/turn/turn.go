// Package turn is one turn of a conversation as a pure machine: inputs in,
// actions out, no I/O, no goroutine, no clock. The session goroutine owns a
// Machine and performs its actions.
//
// Two truths hold after every step: each call gets exactly one result, and
// whenever no call is open the history could be sent to any provider.
package turn

import (
	"fmt"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// State is where a turn stands.
type State uint8

const (
	Idle State = iota
	AwaitingModel
	EvaluatingPolicy
	AwaitingPermission
	Executing
	Stopping
	Completed
)

var stateNames = [...]string{
	"idle", "awaiting_model", "evaluating_policy", "awaiting_permission", "executing", "stopping", "completed",
}

// String is the word used in state events.
func (s State) String() string { return stateNames[s] }

// Busy reports whether a turn is under way.
func (s State) Busy() bool { return s != Idle && s != Completed }

// Limits bound one turn. Zero means no limit.
type Limits struct {
	Rounds        int // model replies with tool calls
	CallsPerRound int
}

// An Input is something that happened to the turn.
type Input interface{ input() }

type (
	// Prompted brings words of the person.
	Prompted struct{ Text string }
	// Replied brings the calls of a whole reply that is already recorded.
	Replied struct{ Calls []Call }
	// Judged brings a ruling for every call of the last Judge.
	Judged struct{ Rulings []Ruling }
	// Answered brings the person's answer for one asked call.
	Answered struct {
		ID     string
		Allow  bool
		Reason string // for the model, when not allowed
	}
	// Ran says that the result of a running call is there.
	Ran struct{ ID string }
	// Failed says that the model gave no usable reply.
	Failed struct{ Err convo.Error }
	// Cancelled says that the person wants the turn to end.
	Cancelled struct{}
	// Exhausted says that a budget of the turn ran out.
	Exhausted struct{ Limit convo.Limit }
)

func (Prompted) input()  {}
func (Replied) input()   {}
func (Judged) input()    {}
func (Answered) input()  {}
func (Ran) input()       {}
func (Failed) input()    {}
func (Cancelled) input() {}
func (Exhausted) input() {}

// A Call is one call of a reply. One that the wire did not finish is never run.
type Call struct {
	tool.Call
	Incomplete bool
}

// A Ruling says what may become of one call.
type Ruling struct {
	ID     string
	Rule   Rule
	Alone  bool      // its effects go beyond reading: nothing runs beside it
	Code   tool.Code // why it is refused
	Reason string
}

// Rule is the outcome of judging.
type Rule uint8

const (
	Refuse Rule = iota
	Allow
	AskPerson
)

// An Action is something the session goroutine must do, in the order given.
type Action interface{ action() }

type (
	// Record keeps words of the person in the history.
	Record struct{ Text string }
	// CallModel asks for the next reply.
	CallModel struct{ Final bool } // Final: no tools any more
	// Judge wants a Ruling for each of these.
	Judge struct{ IDs []string }
	// Ask puts these calls before the person, in order.
	Ask struct{ IDs []string }
	// Reject gives a call that will not run its result. Deliver follows.
	Reject struct {
		ID   string
		Code tool.Code
		Text string
	}
	// Run starts these calls, side by side.
	Run struct{ IDs []string }
	// Halt cancels what runs; a Ran is still expected for each.
	Halt struct{}
	// Deliver records the result of a call. Limit is not zero on the last
	// result of the last round.
	Deliver struct {
		ID    string
		Limit int
	}
	// Reached tells of a bound that was met.
	Reached struct{ Limit convo.Limit }
	// Finish ends the turn.
	Finish struct {
		Stop   convo.Stop
		Err    *convo.Error
		Limit  *convo.Limit
		Unsent []string // the person's words that no request carried
	}
)

func (Record) action()    {}
func (CallModel) action() {}
func (Judge) action()     {}
func (Ask) action()       {}
func (Reject) action()    {}
func (Run) action()       {}
func (Halt) action()      {}
func (Deliver) action()   {}
func (Reached) action()   {}
func (Finish) action()    {}

// phase is where one call stands.
type phase uint8

const (
	open     phase = iota // not yet judged
	asked                 // waits for the person
	allowed               // may run
	running               // runs
	ready                 // its result is there
	recorded              // its result is in the history
)

type call struct {
	id    string
	phase phase
	alone bool
}

// Machine is one turn. The zero value has no limits; use New.
type Machine struct {
	state  State
	limits Limits
	round  int
	final  bool   // the reply awaited is the last one, without tools
	calls  []call // of the reply in hand
	held   []string
	limit  *convo.Limit // the first bound that was met
	end    Finish       // what Stopping will finish with
}

// New is a machine in state Idle.
func New(l Limits) *Machine { return &Machine{limits: l} }

// State is where the turn stands.
func (m *Machine) State() State { return m.state }

// Round is how many replies with calls this turn has had.
func (m *Machine) Round() int { return m.round }

// Step takes one input and says what to do. An input that the state has no use
// for, such as a late answer, does nothing.
func (m *Machine) Step(in Input) []Action {
	switch in := in.(type) {
	case Prompted:
		return m.prompted(in)
	case Replied:
		return m.replied(in)
	case Judged:
		return m.judged(in)
	case Answered:
		return m.answered(in)
	case Ran:
		return m.ran(in)
	case Failed:
		return m.stop(Finish{Stop: convo.StopError, Err: &in.Err})
	case Cancelled:
		return m.stop(Finish{Stop: convo.StopCancelled})
	case Exhausted:
		acts := []Action{Reached(in)}
		return append(acts, m.stop(Finish{Stop: convo.StopLimit, Limit: &in.Limit})...)
	}
	panic(fmt.Sprintf("turn: no such input: %T", in))
}

func (m *Machine) prompted(in Prompted) []Action {
	if m.state.Busy() {
		m.held = append(m.held, in.Text)
		return nil
	}
	*m = Machine{state: AwaitingModel, limits: m.limits}
	return []Action{Record(in), CallModel{}}
}

func (m *Machine) replied(in Replied) []Action {
	if m.state != AwaitingModel {
		return nil
	}
	if len(in.Calls) == 0 {
		return m.finish(Finish{Stop: convo.StopDone})
	}
	m.round++
	m.calls = m.calls[:0]
	for _, c := range in.Calls {
		m.calls = append(m.calls, call{id: c.ID})
	}
	var acts []Action
	if m.final {
		acts = m.rejectOpen(tool.LimitReached, "no more tool calls: answer with what you have")
		return append(acts, m.finish(Finish{Stop: convo.StopLimit})...)
	}
	var judge []string
	for i, c := range in.Calls {
		switch {
		case m.limits.CallsPerRound > 0 && i >= m.limits.CallsPerRound:
			acts = append(acts, m.tooMany(len(in.Calls), &m.calls[i])...)
		case c.Incomplete:
			acts = append(acts, m.reject(&m.calls[i], tool.InvalidParams,
				"the arguments were cut off before they were whole; make the call again, shorter"))
		default:
			judge = append(judge, c.ID)
		}
	}
	m.state = EvaluatingPolicy
	if len(judge) == 0 {
		return append(acts, m.proceed()...)
	}
	return append(acts, Judge{judge})
}

// tooMany refuses one call beyond the limit, and tells of the limit once.
func (m *Machine) tooMany(n int, c *call) []Action {
	max := m.limits.CallsPerRound
	act := m.reject(c, tool.LimitReached, fmt.Sprintf("only the first %d calls of a reply run; make this one again in the next reply", max))
	if m.limit != nil {
		return []Action{act}
	}
	m.limit = &convo.Limit{Which: "calls", Value: float64(n), Max: float64(max)}
	return []Action{Reached{*m.limit}, act}
}

func (m *Machine) judged(in Judged) []Action {
	if m.state != EvaluatingPolicy && m.state != AwaitingPermission {
		return nil
	}
	var acts []Action
	for _, r := range in.Rulings {
		c := m.find(r.ID)
		if c == nil || (c.phase != open && c.phase != asked) {
			continue
		}
		c.alone = r.Alone
		switch r.Rule {
		case Allow:
			c.phase = allowed
		case AskPerson:
			c.phase = asked
		default:
			acts = append(acts, m.reject(c, r.Code, r.Reason))
		}
	}
	return append(acts, m.proceed()...)
}

func (m *Machine) answered(in Answered) []Action {
	c := m.find(in.ID)
	if m.state != AwaitingPermission || c == nil || c.phase != asked {
		return nil // late, or for another turn
	}
	var acts []Action
	if in.Allow {
		c.phase = allowed
	} else {
		acts = append(acts, m.reject(c, tool.PermissionDenied, in.Reason))
	}
	if rest := m.in(asked); len(rest) > 0 {
		return append(acts, Judge{rest}) // a rule may have been learnt
	}
	return append(acts, m.proceed()...)
}

func (m *Machine) ran(in Ran) []Action {
	c := m.find(in.ID)
	if c == nil || c.phase != running {
		return nil
	}
	c.phase = ready
	if m.state == Stopping {
		acts := m.deliver()
		if len(m.in(running)) > 0 {
			return acts
		}
		return append(acts, m.finish(m.end)...)
	}
	if len(m.in(running)) > 0 {
		return m.deliver()
	}
	return m.proceed()
}

// proceed goes as far as it can: ask, run the next batch, or back to the model.
func (m *Machine) proceed() []Action {
	if ids := m.in(asked); len(ids) > 0 {
		m.state = AwaitingPermission
		return []Action{Ask{ids}}
	}
	if len(m.in(open)) > 0 {
		return nil
	}
	acts := m.deliver()
	if batch := m.batch(); len(batch) > 0 {
		m.state = Executing
		return append(acts, Run{batch})
	}
	return append(acts, m.next()...)
}

// next goes back to the model, for the last time when the rounds are used up.
func (m *Machine) next() []Action {
	var acts []Action
	if m.limits.Rounds > 0 && m.round >= m.limits.Rounds {
		m.final = true
		m.limit = &convo.Limit{Which: "turns", Value: float64(m.round), Max: float64(m.limits.Rounds)}
		acts = append(acts, Reached{*m.limit})
	}
	for _, words := range m.held {
		acts = append(acts, Record{words})
	}
	m.held = nil
	m.state = AwaitingModel
	return append(acts, CallModel{Final: m.final})
}

// batch takes the next calls that may run side by side: one that is alone, or
// neighbours that only read.
func (m *Machine) batch() []string {
	var ids []string
	for i := range m.calls {
		c := &m.calls[i]
		if c.phase != allowed {
			continue
		}
		if c.alone && len(ids) > 0 {
			break
		}
		c.phase = running
		ids = append(ids, c.id)
		if c.alone {
			break
		}
	}
	return ids
}

// deliver records results in the order of the calls, as far as they are there.
func (m *Machine) deliver() []Action {
	var acts []Action
	for i := range m.calls {
		c := &m.calls[i]
		if c.phase == recorded {
			continue
		}
		if c.phase != ready {
			break
		}
		c.phase = recorded
		d := Deliver{ID: c.id}
		if i == len(m.calls)-1 && m.limits.Rounds > 0 && m.round == m.limits.Rounds {
			d.Limit = m.limits.Rounds
		}
		acts = append(acts, d)
	}
	return acts
}

// stop ends the turn now. What runs is cancelled and waited for: its partial
// result is real.
func (m *Machine) stop(f Finish) []Action {
	if !m.state.Busy() {
		return nil
	}
	if m.state == Stopping {
		return nil
	}
	code, text := tool.CallCancelled, "not run: the turn was stopped before"
	acts := m.rejectOpen(code, text)
	if len(m.in(running)) > 0 {
		m.state, m.end = Stopping, f
		return append(acts, Halt{})
	}
	return append(acts, m.finish(f)...)
}

func (m *Machine) finish(f Finish) []Action {
	if f.Stop == convo.StopDone && m.limit != nil {
		f.Stop = convo.StopLimit
	}
	if f.Limit == nil && f.Stop == convo.StopLimit {
		f.Limit = m.limit
	}
	f.Unsent, m.held = m.held, nil
	m.state, m.calls = Completed, nil
	return []Action{f}
}

// reject gives a call a result that says why it did not run.
func (m *Machine) reject(c *call, code tool.Code, text string) Action {
	c.phase = ready
	return Reject{ID: c.id, Code: code, Text: text}
}

// rejectOpen refuses every call that has not started, and records what can be.
func (m *Machine) rejectOpen(code tool.Code, text string) []Action {
	var acts []Action
	for i := range m.calls {
		if c := &m.calls[i]; c.phase < running {
			acts = append(acts, m.reject(c, code, text))
		}
	}
	return append(acts, m.deliver()...)
}

func (m *Machine) find(id string) *call {
	for i := range m.calls {
		if m.calls[i].id == id {
			return &m.calls[i]
		}
	}
	return nil
}

func (m *Machine) in(p phase) []string {
	var ids []string
	for _, c := range m.calls {
		if c.phase == p {
			ids = append(ids, c.id)
		}
	}
	return ids
}
