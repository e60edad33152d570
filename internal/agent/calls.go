package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/tool"
	"ikigai/internal/turn"
)

// judge prepares the calls and asks the permission engine, outside the session
// goroutine: preparing may read files. Calls prepared before are judged anew
// only, since a rule may have been learnt.
func (a *Agent) judge(ctx context.Context, ids []string) {
	n, set := a.turn, a.parts.Tools.Current()
	todo := make([]call, len(ids))
	for i, id := range ids {
		todo[i] = *a.calls[id]
	}
	a.work.Go(func() {
		rulings := make([]turn.Ruling, len(todo))
		for i := range todo {
			rulings[i] = todo[i].rule(ctx, set, a.offered(), a.opts.Place, a.parts.Permit)
			rulings[i].Alone = rulings[i].Alone || a.opts.OneByOne
		}
		a.send(n, func(ctx context.Context) { a.judged(ctx, todo, rulings) })
	})
}

// rule prepares the call, if it is not yet, and judges it.
func (c *call) rule(ctx context.Context, set *tool.Set, offered []tool.Spec, at tool.Place, engine *permit.Engine) turn.Ruling {
	refuse := func(code tool.Code, err error) turn.Ruling {
		return turn.Ruling{ID: c.ID, Rule: turn.Refuse, Code: code, Reason: err.Error()}
	}
	if c.prepared.Run == nil {
		t, ok := set.Lookup(c.Name)
		if !ok {
			return refuse(tool.ToolNotFound, tool.NotFound(c.Name, namesOf(offered)))
		}
		c.spec = tool.JudgedAs(t, c.Args)
		var err error
		at.Call = c.ID
		if c.prepared, err = prepare(ctx, t, at, c.Call); err != nil {
			return refuse(tool.CodeOf(err, tool.InvalidParams), err)
		}
	}
	c.verdict = engine.Judge(c.request())
	return turn.Ruling{
		ID: c.ID, Rule: ruleOf[c.verdict.Decision], Alone: !c.spec.OnlyReads(), Reason: c.verdict.Reason, Code: tool.PermissionDenied,
	}
}

var ruleOf = map[permit.Decision]turn.Rule{permit.Allow: turn.Allow, permit.Ask: turn.AskPerson, permit.Deny: turn.Refuse}

// One runs a single call by the same road as a call of the model: validate,
// judge, confine, run. Nobody is asked: what would be is denied. It reports
// whether the call was denied.
func One(ctx context.Context, c tool.Call, set *tool.Set, offered []tool.Spec, at tool.Place, engine *permit.Engine, now func() time.Time, p tool.Progress) (r tool.Result, denied bool) {
	one := &call{Call: c}
	switch ruling := one.rule(ctx, set, offered, at, engine); {
	case ruling.Rule == turn.Allow:
		return execute(ctx, one, at.Limits, now, p), false
	case ruling.Rule == turn.AskPerson:
		return tool.Fail(c, tool.PermissionDenied, "%s; nobody is there to be asked", ruling.Reason), true
	default:
		return tool.Fail(c, ruling.Code, "%s", ruling.Reason), ruling.Code == tool.PermissionDenied
	}
}

func namesOf(specs []tool.Spec) []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

// prepare keeps a panicking tool from taking the session with it.
func prepare(ctx context.Context, t tool.Tool, at tool.Place, c tool.Call) (p tool.Prepared, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = tool.Errorf(tool.ToolCrashed, "tool %q crashed while planning: %v", c.Name, r)
		}
	}()
	return t.Prepare(ctx, at, c.Args)
}

func (c *call) request() permit.Request {
	return permit.Request{Spec: c.spec, Call: c.Call, Plan: c.prepared.Plan}
}

func (a *Agent) judged(ctx context.Context, done []call, rulings []turn.Ruling) {
	for i := range done {
		now := a.calls[done[i].ID]
		if now == nil {
			return // the turn ended meanwhile
		}
		if now.settled() {
			continue // the person was quicker
		}
		c := done[i]
		a.calls[c.ID] = &c
		if c.prepared.Run != nil && rulings[i].Rule != turn.AskPerson {
			a.decided(&c, rulings[i].Rule == turn.Allow, convo.Decision{By: c.verdict.By, Rule: c.verdict.Rule, Reason: c.verdict.Reason})
		}
	}
	a.step(ctx, turn.Judged{Rulings: rulings})
}

// settled reports whether it is known what becomes of the call.
func (c *call) settled() bool {
	return c.result.CallID != "" || c.prepared.Run != nil && c.verdict.Decision != permit.Ask
}

// decided records whether a call may run, and who said so.
func (a *Agent) decided(c *call, allowed bool, d convo.Decision) {
	d.CallID, d.Name, d.Allowed, d.Risk = c.ID, c.Name, allowed, c.verdict.Risk.String()
	if !allowed {
		a.denied++
	}
	a.emit(convo.Of(fmt.Sprintf("%s: %s", d.Word(), d.Reason), d))
}

func (a *Agent) ask(ids []string) {
	var q convo.Ask
	for _, id := range ids {
		c := a.calls[id]
		q.Calls = append(q.Calls, convo.Asked{
			CallID: id, Name: c.Name, Args: c.prepared.Args, Summary: c.prepared.Plan.Summary, Preview: c.prepared.Plan.Preview,
			Risk: c.verdict.Risk.String(), Reason: c.verdict.Reason, Covers: c.verdict.Covers, Parts: partsOf(c.verdict),
		})
	}
	a.emit(convo.Of(fmt.Sprintf("%d calls wait for an answer", len(ids)), q))
}

// partsOf are the simple commands of a shell line, as a question shows them.
func partsOf(v permit.Verdict) []convo.Part {
	var parts []convo.Part
	for _, p := range v.Parts {
		parts = append(parts, convo.Part(p))
	}
	return parts
}

// answer takes the person's word for one call. A late one, for a turn that is
// over or a call that no longer waits, does nothing.
func (a *Agent) answer(ctx context.Context, op Answer) {
	c := a.calls[op.CallID]
	if op.Turn != a.turn || c == nil || a.machine.State() != turn.AwaitingPermission || c.verdict.Decision != permit.Ask {
		return
	}
	d := convo.Decision{By: op.By, Reason: op.Reason, Scope: string(op.Scope)}
	if d.By == "" {
		d.By = convo.ByPerson
	}
	if d.By == convo.ByMode {
		d.Rule = c.verdict.Rule
	}
	if op.Allow && !a.learn(ctx, c, op, &d) {
		return
	}
	c.verdict.Decision = permit.Deny
	if op.Allow {
		c.verdict.Decision = permit.Allow
	}
	a.decided(c, op.Allow, d)
	a.step(ctx, turn.Answered{ID: op.CallID, Allow: op.Allow, Reason: denial(op.Reason)})
}

// learn remembers an allowing answer as far as it reaches. It reports whether the
// answer counts: with rules that do not cover the call, the question stays open.
func (a *Agent) learn(ctx context.Context, c *call, op Answer, d *convo.Decision) bool {
	learn := a.parts.Permit.Learn
	if len(op.Rules) > 0 {
		learn = func(ctx context.Context, r permit.Request, s permit.Scope) ([]string, error) {
			return a.parts.Permit.LearnAs(ctx, r, s, op.Rules)
		}
	}
	rules, err := learn(ctx, c.request(), op.Scope)
	var outside *permit.NotCovered
	switch {
	case errors.As(err, &outside):
		a.notice(err.Error(), "the question is still open: mend the rule, or answer for this once")
		return false
	case err != nil:
		a.notice(err.Error(), "the call is allowed this once")
		d.Scope = string(permit.Once)
	case len(rules) > 0:
		d.Rule = fmt.Sprint(rules)
	}
	return true
}

func denial(reason string) string {
	if reason == "" {
		return "the person said no"
	}
	return reason
}

func (a *Agent) reject(act turn.Reject) {
	c := a.calls[act.ID]
	c.result = tool.Fail(c.Call, act.Code, "%s", act.Text)
}

// run starts calls side by side. One whose effects go beyond reading waits until
// everything that led to it is on the disk.
func (a *Agent) run(ctx context.Context, ids []string) {
	ctx = a.cancellable(ctx)
	n := a.turn
	for _, id := range ids {
		c := *a.calls[id]
		a.emit(convo.Of("", convo.Running{CallID: id, Name: c.Name}))
		ready := a.precautions(ctx, n, &c)
		a.work.Go(func() {
			ready()
			r := execute(ctx, &c, a.opts.Place.Limits, a.parts.Now, a.progress(n, id))
			a.send(n, func(ctx context.Context) {
				a.calls[id].result = r
				a.step(ctx, turn.Ran{ID: id})
			})
		})
	}
}

// precautions are what must be done before a call that may change something: all
// that led to it is on the disk, and the workspace is kept as it was before this
// turn. Neither can keep the call from running; what fails is told.
func (a *Agent) precautions(ctx context.Context, n int, c *call) func() {
	if c.verdict.Reads {
		return func() {}
	}
	first := a.parts.Guard != nil && !a.guarded
	a.guarded = a.guarded || first
	return func() {
		if err := a.parts.Store.Sync(ctx); err != nil {
			a.send(n, func(context.Context) { a.save(err) })
		}
		if !first {
			return
		}
		if err := a.parts.Guard.Before(ctx, n); err != nil {
			a.tell("this turn cannot be undone: "+err.Error(), "")
		}
	}
}

// progress tells of output as it comes. It is live only: the whole is in the result.
func (a *Agent) progress(n int, id string) tool.Progress {
	return func(chunk string) {
		e := convo.Of(chunk, convo.ToolOutput{CallID: id})
		e.Turn, e.At = n, a.parts.Now()
		a.bus.Publish(a.masked(e))
	}
}

// execute runs one call within its deadline and never panics.
func execute(ctx context.Context, c *call, l tool.Limits, now func() time.Time, p tool.Progress) tool.Result {
	ctx, cancel := context.WithTimeout(ctx, l.Deadline(c.spec, c.prepared.Plan))
	defer cancel()
	started := time.Now()
	r := recovered(ctx, c, p)
	r.CallID, r.Name = c.ID, c.Name
	r.Took, r.At = time.Since(started), now()
	r.Notes = append(r.Notes, c.prepared.Plan.Notes...)
	r.Display = shownDiff(r, c.prepared.Plan.Preview)
	if max := outputLimit(l); r.Failure == nil && len(r.Data) > max {
		big := tool.Fail(c.Call, tool.OutputTooLarge, "the result of %s has %d bytes; at most %d are taken", c.Name, len(r.Data), max)
		big.Took, big.At, big.Notes = r.Took, r.At, r.Notes
		return big
	}
	return r
}

// maxDiff is the longest diff that is kept with a result.
const maxDiff = 64 << 10

// shownDiff is what a screen draws of a result: what the tool asked for, else the
// diff that was planned and done.
func shownDiff(r tool.Result, preview string) json.RawMessage {
	if len(r.Display) > 0 || preview == "" || len(preview) > maxDiff || !r.OK() {
		return r.Display
	}
	raw, err := tool.Encode(map[string]string{"diff": preview})
	if err != nil {
		return nil // text always encodes
	}
	return raw
}

// outputLimit leaves room for the JSON around an output of the full size.
func outputLimit(l tool.Limits) int {
	if l.Output > 0 {
		return 4 * l.Output
	}
	return 4 * tool.DefaultOutput
}

// recovered turns a panic into a result, as an exit status would be.
func recovered(ctx context.Context, c *call, p tool.Progress) (r tool.Result) {
	defer func() {
		if v := recover(); v != nil {
			r = tool.Fail(c.Call, tool.ToolCrashed, "tool %q crashed: %v", c.Name, v)
			r.Failure.Stderr = string(debug.Stack())
		}
	}()
	return c.prepared.Run(ctx, c.verdict.Grant, p)
}

// deliver records the result of a call.
func (a *Agent) deliver(act turn.Deliver) {
	r := a.calls[act.ID].result
	r.Limit = act.Limit
	if r.At.IsZero() {
		r.At = a.parts.Now()
	}
	a.emit(convo.Of(r.Summary, convo.ToolResult{Result: r}))
	if c := a.calls[act.ID]; c.prepared.Run != nil && !c.verdict.Reads && c.verdict.Decision == permit.Allow {
		a.circle.acted = a.history.Last()
	}
}
