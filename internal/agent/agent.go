// Package agent is one session: it owns the history and the turn machine,
// performs the machine's actions, and tells of everything as events. One
// goroutine, Run, touches its state; the model and the tools work in goroutines
// that only send their outcome back to it. So no lock guards a turn.
package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ikigai/internal/bus"
	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/permit"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/turn"
	"ikigai/internal/window"
)

// A Session is all a face may do with the engine: two verbs. Both may be called
// from any goroutine.
type Session interface {
	// Send hands over an Op. It returns at once; what becomes of it is seen in the events.
	Send(op Op)
	// Events gives the durable events after a Seq, then all as they happen.
	Events(ctx context.Context, after int64) iter.Seq[convo.Event]
}

// An Op is something a face wants done.
type Op interface{ op() }

type (
	// Prompt brings words of the person. While a turn runs they steer it.
	Prompt struct {
		Text   string
		Images []convo.Image
	}
	// Answer settles one asked call of the turn it was asked in.
	Answer struct {
		Turn   int
		CallID string
		Allow  bool
		Scope  permit.Scope
		Rules  []string // what to remember, as the person wrote it; empty for what the question offered
		Reason string   // why not, for the model
		By     convo.By // ByMode when a face answers for nobody; ByPerson otherwise
	}
	// Interrupt ends the turn. What a running call printed until then is kept.
	Interrupt struct{}
	// SetModel changes the model for the requests that follow.
	SetModel struct{ Model string }
	// SetMode changes who decides.
	SetMode struct{ Mode permit.Mode }
	// SetEffort changes how much the model thinks, for the requests that follow.
	SetEffort struct{ Effort llm.Effort }
	// Compact replaces the older part of what the model sees by a summary: at
	// once, or where a turn runs before its next request.
	Compact struct{ About string } // what matters to the person
	// Uncompact takes the last compaction back.
	Uncompact struct{}
	// Pin keeps an event in front of the model whatever is compacted, or no longer.
	Pin struct {
		Event int64
		Off   bool
	}
	// Note records a command of the person and what it showed.
	Note struct{ Name, Args, Text string }
)

func (Prompt) op()    {}
func (Answer) op()    {}
func (Interrupt) op() {}
func (SetModel) op()  {}
func (SetMode) op()   {}
func (SetEffort) op() {}
func (Compact) op()   {}
func (Uncompact) op() {}
func (Pin) op()       {}
func (Note) op()      {}

// Options are the settings of one session.
type Options struct {
	Session string // its id
	Model   string // PROVIDER/MODEL
	System  string // the system prompt
	Limits  turn.Limits
	Budgets Budgets
	Today   Amounts // what all sessions used of the day's budget before this one goes on
	MaxLoop int     // the same calls with the same results so often in a row; zero means no limit
	Effort  llm.Effort
	Shape   llm.Shape
	Place   tool.Place
	Stored  []convo.Event               // of a session that goes on
	Tools   func(*tool.Set) []tool.Spec // which tools the model is offered; nil means all

	OneByOne bool // nothing runs side by side

	Window func(model string) int  // tokens a model takes; nil means a cautious guess
	Plain  func(model string) bool // models that cannot sum up a conversation; nil means none
	Open   func() []string         // what is not done yet: no compaction leaves it out; nil means nothing
	Past   []tool.Spec             // tools that give back what was left out, offered once something was
}

// A Redactor takes known secret values out of text and JSON.
type Redactor interface {
	Text(string) string
	JSON([]byte) []byte
}

// A Guard keeps the workspace as it was, so that a turn can be taken back.
type Guard interface {
	Before(ctx context.Context, turn int) error // before the first call of a turn that may change something
	After(ctx context.Context, turn int) error  // when that turn is over
}

// A Mark of the workspace is another one when any of its files changed.
type Mark func(ctx context.Context) (string, error)

// Parts are what a session works with.
type Parts struct {
	Open   func(model string, notice func(text, hint string)) (llm.Provider, error)
	Tools  *tool.Registry
	Ready  func(ctx context.Context) error // returns when the tools are known; nil means they are
	Permit *permit.Engine
	Store  store.Store
	Redact Redactor // nil when there is nothing to hide
	Guard  Guard    // nil when nothing can be taken back
	Mark   Mark     // nil when nobody can tell whether files changed
	Now    func() time.Time
}

// Agent is a Session that runs.
type Agent struct {
	opts  Options
	parts Parts
	bus   *bus.Bus
	ops   chan Op
	in    chan message
	gone  chan struct{} // closed when Run is over
	work  sync.WaitGroup
	lacks atomic.Bool // something was left out of what the model sees

	// What follows belongs to the goroutine of Run.
	history  *convo.History
	machine  *turn.Machine
	turn     int
	began    time.Time
	replies  int
	made     int // calls
	denied   int
	ledger   *ledger
	provider llm.Provider
	conn     llm.Conn
	model    string             // that conn speaks to
	reply    string             // id of the reply in hand
	cancel   context.CancelFunc // ends the model call or the tools that run
	ending   turn.Input         // how the turn shall end, while the model's goroutine still has to
	clock    *time.Timer        // of a budget of time
	calls    map[string]*call
	window   *window.Window
	circle   circle
	guarded  bool     // the workspace was kept before this turn changed it
	unsaved  bool     // the last word about the store was bad
	lost     []string // jobs of earlier runs that the model does not know to be gone

	compacting *Compact        // asked for, and due before the next request
	squeezing  bool            // a summary is made between two turns
	waiting    []Prompt        // what the person said meanwhile
	pictures   [][]convo.Image // of the words that are not recorded yet
}

// A call is one call of the reply in hand, on its way to its result.
type call struct {
	tool.Call
	spec     tool.Spec
	prepared tool.Prepared
	verdict  permit.Verdict
	result   tool.Result
}

// A message is what a goroutine that works for the session has to say.
type message struct {
	turn int
	do   func(ctx context.Context)
}

// New makes an agent that has not started.
func New(o Options, p Parts) *Agent {
	a := &Agent{
		opts: o, parts: p, bus: bus.New(o.Stored),
		ops: make(chan Op, 16), in: make(chan message, 64), gone: make(chan struct{}),
		history: convo.NewHistory(o.Stored), machine: turn.New(o.Limits), calls: map[string]*call{},
		window: window.New(), ledger: newLedger(o.Budgets, o.Limits.Rounds, o.Stored, o.Today, p.Now()),
		turn: lastTurn(o.Stored),
	}
	a.lost = lostJobs(o.Stored)
	a.lacks.Store(slices.ContainsFunc(o.Stored, window.Compacts))
	a.opts.Stored = nil // the history has them, as long as they are wanted
	return a
}

func lastTurn(events []convo.Event) int {
	if n := len(events); n > 0 {
		return events[n-1].Turn
	}
	return 0
}

// Send hands over an Op. To a session that is over it does nothing.
func (a *Agent) Send(op Op) {
	select {
	case a.ops <- op:
	case <-a.gone:
	}
}

// Events gives the events of the session.
func (a *Agent) Events(ctx context.Context, after int64) iter.Seq[convo.Event] {
	return a.bus.Events(ctx, after)
}

// Run serves the session until ctx ends. A turn under way is then cancelled as
// by Interrupt, its partial results recorded, and nothing of it is left running.
func (a *Agent) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer close(a.gone)
	a.open()
	done := ctx.Done()
	for {
		select {
		case op := <-a.ops: // the person comes first
			a.perform(work, op)
		default:
			done = a.wait(work, done)
		}
		if done == nil && !a.machine.State().Busy() {
			stop()
			a.drain()
			return nil
		}
	}
}

// wait does the next thing that happens, and gives done back until it is over.
func (a *Agent) wait(work context.Context, done <-chan struct{}) <-chan struct{} {
	select {
	case op := <-a.ops:
		a.perform(work, op)
	case m := <-a.in:
		if m.turn == a.turn { // what a finished turn left behind does nothing
			m.do(work)
		}
	case <-done:
		a.interrupt(work)
		return nil
	}
	return done
}

// drain lets the goroutines that still have something to say end.
func (a *Agent) drain() {
	gone := make(chan struct{})
	go func() { a.work.Wait(); close(gone) }()
	for {
		select {
		case <-a.in:
		case <-gone:
			return
		}
	}
}

// open begins a new session with its system prompt, and closes what a crash
// left open in an old one.
func (a *Agent) open() {
	if a.history.Last() == 0 {
		a.emit(convo.Event{Kind: convo.KindSystem, Text: a.opts.System})
	}
	for _, c := range convo.Orphans(a.history.Events()) {
		r := tool.Fail(c, tool.Interrupted, "ikigai ended before this call was done; what it did until then is not known")
		r.At = a.parts.Now()
		a.emit(convo.Of(r.Summary, convo.ToolResult{Result: r}))
	}
}

// emit is the only place where anything is recorded or told. The end of a turn
// is told when everything before it is on the disk.
func (a *Agent) emit(e convo.Event) convo.Event {
	e.Turn, e.At = a.turn, a.parts.Now()
	e = a.masked(e)
	if e.Durable() {
		e = a.history.Append(e)
		a.ledger.add(e)
		if window.Compacts(e) {
			a.lacks.Store(true)
		}
		a.save(a.parts.Store.Append(context.Background(), a.opts.Session, e))
	}
	if e.Kind == convo.KindEnd {
		a.save(a.parts.Store.Sync(context.Background()))
	}
	a.bus.Publish(e)
	return e
}

// save tells once that the store does not take events, and once that it does again.
func (a *Agent) save(err error) {
	switch {
	case err != nil && !a.unsaved:
		a.unsaved = true
		a.notice("not saved: "+err.Error(), "the session goes on in memory and is saved as soon as the store takes it")
	case err == nil && a.unsaved:
		a.unsaved = false
		a.notice("saved again: the store has everything until now", "")
	}
}

func (a *Agent) notice(text, hint string) { a.emit(convo.Of(text, convo.Notice{Hint: hint})) }

// perform does what a face wants.
func (a *Agent) perform(ctx context.Context, op Op) {
	switch op := op.(type) {
	case Prompt:
		a.prompt(ctx, op)
	case Answer:
		a.answer(ctx, op)
	case Interrupt:
		a.interrupt(ctx)
	case SetModel:
		a.opts.Model = op.Model
	case SetMode:
		a.parts.Permit.SetMode(op.Mode)
	case SetEffort:
		a.opts.Effort = op.Effort
	case Compact:
		a.compact(ctx, op)
	case Uncompact:
		a.uncompact()
	case Pin:
		a.pin(op)
	case Note:
		a.emit(convo.Of(op.Text, convo.Command{Name: op.Name, Args: op.Args}))
	}
}

func (a *Agent) prompt(ctx context.Context, op Prompt) {
	if a.squeezing {
		a.waiting = append(a.waiting, op)
		return
	}
	if !a.machine.State().Busy() {
		a.tellOfUndo()
		a.tellOfJobs()
		a.turn++
		a.began = a.parts.Now()
		a.replies, a.made, a.denied = 0, 0, 0
		for _, text := range a.ledger.begin(a.began) {
			a.notice(text, "")
		}
		a.watchTime()
	}
	a.pictures = append(a.pictures, op.Images)
	a.step(ctx, turn.Prompted{Text: op.Text})
}

// exhaust ends the turn because a budget is used up.
func (a *Agent) exhaust(ctx context.Context, l convo.Limit) { a.end(ctx, turn.Exhausted{Limit: l}) }

func (a *Agent) interrupt(ctx context.Context) {
	if a.squeezing {
		a.cancel()
		return
	}
	a.end(ctx, turn.Cancelled{})
}

// end stops the turn. A model that is talking is cut off first: its goroutine
// ends promptly and brings what had arrived, and only then the turn is over.
func (a *Agent) end(ctx context.Context, how turn.Input) {
	if a.machine.State() != turn.AwaitingModel {
		a.step(ctx, how)
		return
	}
	if a.ending == nil {
		a.ending = how
	}
	a.cancel()
}

// cancellable is a context for the next work, which cancel ends. The work before
// it is over, and its context with it.
func (a *Agent) cancellable(ctx context.Context) context.Context {
	if a.cancel != nil {
		a.cancel()
	}
	ctx, a.cancel = context.WithCancel(ctx)
	return ctx
}

// send brings a message of a working goroutine to the session's own.
func (a *Agent) send(turn int, do func(ctx context.Context)) {
	select {
	case a.in <- message{turn, do}:
	case <-a.gone:
	}
}

// step moves the machine and performs what it says.
func (a *Agent) step(ctx context.Context, in turn.Input) {
	before := a.machine.State()
	actions := a.machine.Step(in)
	if now := a.machine.State(); now != before {
		a.emit(convo.Of("", convo.State{Name: now.String()}))
	}
	for _, act := range actions {
		a.act(ctx, act)
	}
}

func (a *Agent) act(ctx context.Context, act turn.Action) {
	switch act := act.(type) {
	case turn.Record:
		a.emit(a.said(act.Text))
	case turn.CallModel:
		a.callModel(ctx, act.Final)
	case turn.Judge:
		a.judge(ctx, act.IDs)
	case turn.Ask:
		a.ask(act.IDs)
	case turn.Reject:
		a.reject(act)
	case turn.Run:
		a.run(ctx, act.IDs)
	case turn.Halt:
		a.cancel()
	case turn.Deliver:
		a.deliver(act)
	case turn.Reached:
		a.reached(act.Limit)
	case turn.Finish:
		a.finish(ctx, act)
	}
}

// reached tells of a bound that was met, and how to go on.
func (a *Agent) reached(l convo.Limit) {
	which := l.Which
	if l.Scope != "" {
		which += " of this " + l.Scope
	}
	a.emit(convo.Of(fmt.Sprintf("limit reached: %s, %.6g of %g", which, l.Value, l.Max), l))
	if l.Scope != "" {
		a.notice("the budget of "+which+" is used up", "a further prompt of this session goes on with as much again; the setting budget."+l.Scope+"."+l.Which+" changes it")
	}
}

// finish ends the turn.
func (a *Agent) finish(ctx context.Context, f turn.Finish) {
	if a.clock != nil {
		a.clock.Stop()
		a.clock = nil
	}
	clear(a.calls)
	a.pictures = nil // of words that go back unsent
	if a.guarded {
		a.guarded = false
		if err := a.parts.Guard.After(context.Background(), a.turn); err != nil {
			a.notice("this turn may not be undone cleanly: "+err.Error(), "")
		}
	}
	if f.Err != nil {
		a.emit(convo.Of(f.Err.Text, *f.Err))
	}
	a.pictures = nil // those of unsent words come again with the words
	a.emit(convo.Of(string(f.Stop), convo.End{
		Stop: f.Stop, Error: f.Err, Limit: f.Limit, Unsent: f.Unsent,
		Turns: a.replies, Calls: a.made, Denied: a.denied, TookMS: a.parts.Now().Sub(a.began).Milliseconds(),
	}))
	a.squeeze(ctx)
}
