package app

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"ikigai/internal/convo"
	"ikigai/internal/export"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// resumeElsewhere says how a session goes on where there is no terminal to show
// it: w is the one that was asked for.
func (a *app) resumeElsewhere(c *cobra.Command, w which) error {
	return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
		found, err := a.sessionOf(ctx, s, w.id, dir)
		if err != nil {
			return err
		}
		return usage(fmt.Sprintf(`ikigai run --session %s "..." goes on without one`, found.ID), "talking needs a terminal on standard input and output")
	})
}

// A pick is a session as a person chooses it.
type pick struct {
	store.Session
	CostUSD *float64 // nil when it is not known
	Words   string   // the beginning of the last answer
	Files   []picked // that were changed, in the order of their first change
}

// picked is a file that a session changed.
type picked struct {
	Path           string
	Added, Removed int // lines, over all changes
}

// picks are the sessions of a folder, or of all when dir is empty, the last used
// first. Each is read only when it is asked for, so the first rows are there at
// once however many sessions there are.
func (a *app) picks(ctx context.Context, s store.Store, dir string) iter.Seq2[pick, error] {
	return func(yield func(pick, error) bool) {
		list, err := collect(ctx, s, dir)
		if err != nil {
			yield(pick{}, err)
			return
		}
		for _, one := range list {
			p, err := detailed(ctx, s, one)
			if !yield(p, err) {
				return
			}
		}
	}
}

// detailed reads what a session changed and cost out of its events.
func detailed(ctx context.Context, s store.Store, one store.Session) (pick, error) {
	p := pick{Session: one}
	open := map[string]tool.Call{}
	for e, err := range s.Events(ctx, one.ID, 0) {
		if err != nil {
			return p, storeFault(err)
		}
		switch b := e.Body.(type) {
		case convo.ToolCall:
			open[b.ID] = b.Call
		case convo.ToolResult:
			p.changed(open[b.CallID], b.Result)
			delete(open, b.CallID)
		case convo.Usage:
			p.spent(b.CostUSD)
		case nil:
			if e.Kind == convo.KindAssistant {
				p.Words = toolkit.FirstLine(e.Text)
			}
		}
	}
	return p, nil
}

func (p *pick) changed(c tool.Call, r tool.Result) {
	change, ok := export.ChangeOf(c, r)
	if !ok {
		return
	}
	i := slices.IndexFunc(p.Files, func(f picked) bool { return f.Path == change.Path })
	if i < 0 {
		i = len(p.Files)
		p.Files = append(p.Files, picked{Path: change.Path})
	}
	p.Files[i].Added += change.Added
	p.Files[i].Removed += change.Removed
}

func (p *pick) spent(cost *float64) {
	if cost == nil {
		return
	}
	sum := *cost
	if p.CostUSD != nil {
		sum += *p.CostUSD
	}
	p.CostUSD = &sum
}
