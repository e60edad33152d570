package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
	"ikigai/internal/turn"
)

// callModel asks for the next reply, once what the model shall see fits. A model
// that goes round in circles, or a budget that is used up, ends the turn instead.
func (a *Agent) callModel(ctx context.Context, final bool) {
	l := a.circling(ctx)
	if l == nil {
		l = a.ledger.over(a.parts.Now())
	}
	if l != nil {
		a.step(ctx, turn.Exhausted{Limit: *l})
		return
	}
	ctx = a.cancellable(ctx)
	a.fit(ctx, func(events []convo.Event) { a.request(ctx, events, final) })
}

// request sends events to the model, in a goroutine of its own.
func (a *Agent) request(ctx context.Context, events []convo.Event, final bool) {
	n, reply := a.turn, fmt.Sprintf("t%d.%d", a.turn, a.replies+1)
	a.reply = reply
	conn, err := a.connect()
	req := llm.Request{Model: a.model, System: a.opts.System, Events: events, Effort: a.opts.Effort, Shape: a.opts.Shape}
	if final {
		req.Choice = llm.NoTools
	}
	started := a.parts.Now()
	a.work.Go(func() {
		var r llm.Reply
		if err == nil {
			r, err = a.stream(ctx, conn, req, n, reply)
		}
		took := a.parts.Now().Sub(started)
		a.send(n, func(ctx context.Context) {
			if r.Usage != nil {
				r.Usage.ModelMS = took.Milliseconds()
			}
			a.replied(ctx, r, err)
		})
	})
}

// connect opens the provider on first use and when the model was changed.
func (a *Agent) connect() (llm.Conn, error) {
	if a.conn != nil && a.model == a.opts.Model {
		return a.conn, nil
	}
	p, err := a.parts.Open(a.opts.Model, a.tell)
	if err != nil {
		return nil, err
	}
	a.provider, a.conn, a.model = p, p.Open(a.opts.Session), a.opts.Model
	return a.conn, nil
}

// tell is notice for other goroutines than the session's.
func (a *Agent) tell(text, hint string) {
	e := convo.Of(text, convo.Notice{Hint: hint})
	e.At = a.parts.Now()
	a.bus.Publish(e)
}

// stream runs outside the session goroutine; deltas go straight to the bus,
// since nothing of them is recorded.
func (a *Agent) stream(ctx context.Context, conn llm.Conn, req llm.Request, n int, reply string) (llm.Reply, error) {
	if a.parts.Ready != nil {
		if err := a.parts.Ready(ctx); err != nil {
			return llm.Reply{}, err
		}
	}
	req.Tools = a.offered()
	return llm.Assemble(conn.Stream(ctx, req), func(d llm.Delta) {
		if (d.Kind == llm.Text || d.Kind == llm.Thinking) && d.Text != "" {
			e := convo.Of(d.Text, convo.Delta{Thinking: d.Kind == llm.Thinking})
			e.Turn, e.At, e.Reply = n, a.parts.Now(), reply
			a.bus.Publish(a.masked(e))
		}
	})
}

// offered are the tools the model is told of. Any goroutine may ask.
func (a *Agent) offered() []tool.Spec {
	set := a.parts.Tools.Current()
	var specs []tool.Spec
	if a.opts.Tools != nil {
		specs = a.opts.Tools(set)
	} else {
		for t := range set.All() {
			specs = append(specs, t.Spec())
		}
	}
	if a.lacks.Load() {
		return with(specs, a.opts.Past)
	}
	return specs
}

// with adds the tools that specs do not have: an executable may go by the same name.
func with(specs, more []tool.Spec) []tool.Spec {
	specs = slices.Clip(specs)
	for _, m := range more {
		if !slices.ContainsFunc(specs, func(s tool.Spec) bool { return s.Name == m.Name }) {
			specs = append(specs, m)
		}
	}
	return specs
}

// replied takes the end of a reply, good or bad.
func (a *Agent) replied(ctx context.Context, r llm.Reply, err error) {
	a.cancel()
	if err == nil && a.ending == nil && len(r.Items) == 0 {
		err = emptyReply(r)
	}
	if err != nil || a.ending != nil {
		a.broken(ctx, r, err)
		return
	}
	a.replies++
	calls := a.record(r)
	a.count(r.Usage, a.reply)
	a.warn()
	a.step(ctx, turn.Replied{Calls: calls})
	if !a.machine.State().Busy() {
		return
	}
	if l := a.ledger.over(a.parts.Now()); l != nil {
		a.exhaust(ctx, *l)
	}
}

func emptyReply(r llm.Reply) error {
	e := &llm.Error{Class: llm.Garbage, Message: "the model answered nothing", Hint: "ask again, or try another model"}
	if r.Stop == llm.Length {
		e.Message = "the model used its whole reply for thinking and answered nothing"
	}
	if r.Stop == llm.Filtered || r.Stop == llm.Refused {
		e.Class, e.Message = llm.Blocked, "the provider's filter refused to answer"
	}
	return e
}

// record keeps the items of a whole reply in the order of the wire.
func (a *Agent) record(r llm.Reply) []turn.Call {
	clear(a.calls) // those before have their results
	var calls []turn.Call
	for _, it := range r.Items {
		e := convo.Event{Text: it.Text, Reply: a.reply, Keep: it.Keep}
		switch it.Kind {
		case llm.Text:
			e.Kind = convo.KindAssistant
		case llm.Thinking:
			e.Kind = convo.KindThinking
		case llm.Block:
			if it.Keep == nil {
				continue
			}
			e.Kind, e.Body = convo.KindOpaque, *it.Keep
		case llm.CallPart:
			a.made++
			a.calls[it.Call.ID] = &call{Call: it.Call}
			e.Kind, e.Text, e.Body = convo.KindToolCall, it.Call.Summary(), convo.ToolCall{Call: it.Call}
			calls = append(calls, turn.Call{Call: it.Call, Incomplete: !it.Complete})
		}
		a.emit(e)
	}
	if r.Stop == llm.Length {
		a.notice("the reply was cut at the model's length limit", "")
	}
	return calls
}

// count records what a reply used; one that is no part of the conversation has no
// name.
func (a *Agent) count(u *convo.Usage, reply string) {
	if u == nil {
		return
	}
	u.Model = a.model
	e := convo.Of("", *u)
	e.Reply = reply
	a.emit(e)
	a.price(u)
}

// broken keeps the text of a reply that did not come to its end; its calls were
// never recorded and never run.
func (a *Agent) broken(ctx context.Context, r llm.Reply, err error) {
	if text := r.Text(); strings.TrimSpace(text) != "" {
		a.emit(convo.Event{Kind: convo.KindAssistant, Text: text, Reply: a.reply})
	}
	if n := len(r.Calls()); n > 0 {
		a.notice(fmt.Sprintf("%d tool calls of the unfinished reply were not run", n), "")
	}
	a.count(r.Usage, a.reply)
	if how := a.ending; how != nil {
		a.ending = nil
		a.step(ctx, how)
		return
	}
	a.step(ctx, turn.Failed{Err: fault(err)})
}

// fault puts an error into words for a person.
func fault(err error) convo.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return convo.Error{Class: string(e.Class), Text: e.Error(), Hint: e.Hint}
	}
	return convo.Error{Class: "internal", Text: err.Error()}
}
