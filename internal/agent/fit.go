package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/window"
)

// fit makes the events of the next request and goes on with them. Where they no
// longer fit, old tool output is thinned first and older events are then replaced
// by a summary; both are events, so that the view is the same after a restart and
// can be undone.
func (a *Agent) fit(ctx context.Context, then func([]convo.Event)) {
	for {
		p := a.plan()
		switch p.Action {
		case window.Record:
			a.emit(p.Record)
			a.notice(p.Record.Text+"; "+coldCache, "")
			continue
		case window.Summarise:
			a.summarise(ctx, p.Summary, func(err error) {
				if err != nil {
					a.replied(ctx, llm.Reply{}, err)
					return
				}
				a.fit(ctx, then)
			})
			return
		case window.Full:
			a.notice("the conversation is larger than the model's window and nothing more can be left out", "begin a new session, or choose a model with a larger window")
		}
		a.forget()
		then(p.Events)
		return
	}
}

const coldCache = "the provider's cache starts anew"

// plan is what to do before the next request: first what the person asked for.
func (a *Agent) plan() window.Plan {
	if p, ok := a.wanted(); ok {
		return p
	}
	return a.window.Fit(a.history.Events(), a.room())
}

// wanted is the compaction the person asked for, if there is one to be made.
func (a *Agent) wanted() (window.Plan, bool) {
	op := a.compacting
	if op == nil {
		return window.Plan{}, false
	}
	a.compacting = nil
	o := a.room()
	o.About = op.About
	p := a.window.Squeeze(a.history.Events(), o)
	if p.Action != window.Summarise {
		a.notice("there is nothing to compact yet", "")
	}
	return p, p.Action == window.Summarise
}

// compact makes room because the person wants it: at once, or where a turn runs
// before its next request, since only there every call has its result.
func (a *Agent) compact(ctx context.Context, op Compact) {
	a.compacting = &op
	a.squeeze(ctx)
}

// squeeze compacts between two turns. What the person says meanwhile waits.
func (a *Agent) squeeze(ctx context.Context) {
	if a.machine.State().Busy() || a.squeezing {
		return
	}
	p, ok := a.wanted()
	if !ok {
		return
	}
	a.squeezing = true
	work := ctx
	ctx = a.cancellable(work)
	a.emit(convo.Of("", convo.State{Name: "awaiting_model"}))
	a.summarise(ctx, p.Summary, func(err error) {
		a.squeezing = false
		a.cancel()
		if err != nil {
			a.notice("nothing was compacted: it was stopped", "")
		}
		a.emit(convo.Of("", convo.State{Name: a.machine.State().String()}))
		waiting := a.waiting
		a.waiting = nil
		for _, op := range waiting {
			a.prompt(work, op)
		}
	})
}

// summarise asks the model for a summary, in a request of its own, and goes on
// when it is recorded. A model that cannot give one, or a budget that is nearly
// used up, is no reason to stop: there is a digest made without any. The error is
// that somebody ended it.
func (a *Agent) summarise(ctx context.Context, s window.Summary, then func(error)) {
	conn, err := a.aside()
	if err != nil {
		a.compacted(s, "", err)
		then(nil)
		return
	}
	n, started, model := a.turn, a.parts.Now(), a.model
	a.work.Go(func() {
		r, err := llm.Assemble(conn.Stream(ctx, llm.Request{Model: model, Events: []convo.Event{{Kind: convo.KindUser, Text: s.Prompt}}}), func(llm.Delta) {})
		took := a.parts.Now().Sub(started)
		a.send(n, func(context.Context) {
			if r.Usage != nil {
				r.Usage.ModelMS = took.Milliseconds()
			}
			a.count(r.Usage, "")
			if ctx.Err() != nil {
				then(ctx.Err())
				return
			}
			a.compacted(s, r.Text(), usable(r, err))
			then(nil)
		})
	})
}

// aside is a connection of its own for a summary, so that the one of the
// conversation keeps what it sent; or why there is none.
func (a *Agent) aside() (llm.Conn, error) {
	switch {
	case a.opts.Plain != nil && a.opts.Plain(a.opts.Model):
		return nil, errors.New("this model cannot sum up")
	case a.ledger.tight():
		return nil, errors.New("the budget is nearly used up")
	}
	if _, err := a.connect(); err != nil {
		return nil, err
	}
	return a.provider.Open(a.opts.Session), nil
}

// usable reports why a reply is no summary.
func usable(r llm.Reply, err error) error {
	switch {
	case err != nil:
		return err
	case r.Stop == llm.Length || r.Stop == llm.Refused || r.Stop == llm.Filtered || r.Stop == llm.Broke:
		return fmt.Errorf("the model stopped for %s", r.Stop)
	case len(r.Calls()) > 0:
		return errors.New("the model wanted to call tools")
	case strings.TrimSpace(r.Text()) == "":
		return errors.New("the model answered nothing")
	}
	return nil
}

// compacted records a summary: the model's words, or the digest when it gave none.
func (a *Agent) compacted(s window.Summary, words string, err error) {
	by := "a summary by " + a.opts.Model
	if err != nil {
		words, by = s.Offline, fmt.Sprintf("a digest made without the model (%v)", err)
	}
	e := a.emit(s.Event(words))
	a.notice(fmt.Sprintf("compacted: for the model, what came before event %d is now %s; the session keeps all of it; %s", s.Through+1, by, coldCache),
		fmt.Sprintf("event %d is the summary; ikigai session show %s --event N shows what it left out", e.Seq, a.opts.Session))
}

// uncompact gives the model back what the last compaction took from it.
func (a *Agent) uncompact() {
	a.window.Fit(a.history.Events(), a.room())
	last := a.window.Last()
	if last == 0 {
		a.notice("no compaction is in force", "")
		return
	}
	all, err := a.whole()
	if err != nil {
		a.notice("the compaction cannot be taken back: "+err.Error(), "")
		return
	}
	undo := a.emit(window.Undo(last))
	a.window.Reread(append(all, undo))
	a.notice("the model sees again what the last compaction left out; "+coldCache, "")
}

// pin keeps an event from being left out, or no longer.
func (a *Agent) pin(op Pin) {
	if op.Event < 1 || op.Event > a.history.Last() {
		a.notice(fmt.Sprintf("there is no event %d to pin", op.Event), "")
		return
	}
	a.emit(window.Pin(op.Event, !op.Off))
}

// room is how much a request may hold.
func (a *Agent) room() window.Options {
	o := window.Options{Overhead: len(a.opts.System), Open: a.opts.Open}
	if a.opts.Window != nil {
		o.Window = a.opts.Window(a.opts.Model)
	}
	for _, s := range a.offered() {
		o.Overhead += len(s.Name) + len(s.Description) + len(s.Parameters.JSON())
	}
	return o
}
