package app

import (
	"context"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/config"
	"ikigai/internal/store"
)

// budgets are what the settings let a prompt, the session and the day use.
func (h *house) budgets() agent.Budgets {
	b := h.cfg.Budgets
	b.Prompt.Cost, b.Prompt.Time = h.cfg.Limits.Cost, h.cfg.Limits.Time
	return agent.Budgets{Prompt: amounts(b.Prompt), Session: amounts(b.Session), Day: amounts(b.Day)}
}

func amounts(b config.Budget) agent.Amounts {
	return agent.Amounts{
		agent.Turns: float64(b.Turns), agent.Calls: float64(b.Calls), agent.Tokens: float64(b.Tokens),
		agent.Cost: b.Cost, agent.Time: b.Time.Seconds(),
	}
}

// spentToday is what all sessions of the store used since midnight. It is read
// once, and only where a budget wants it; what other processes use after that is
// not seen.
func spentToday(ctx context.Context, s store.Store, now time.Time) (agent.Amounts, error) {
	then := since(1, now)
	list, err := collect(ctx, s, "")
	if err != nil {
		return agent.Amounts{}, err
	}
	here := map[string]bool{}
	for _, one := range list {
		here[one.ID] = true
	}
	var all agent.Amounts
	for _, one := range list {
		if one.Updated.Before(then) {
			continue
		}
		after := int64(0)
		if here[one.Parent] {
			after = one.ParentSeq // what a fork took over was used once
		}
		used, err := usedSince(ctx, s, one.ID, after, then)
		if err != nil {
			return agent.Amounts{}, err
		}
		for m := range all {
			all[m] += used[m]
		}
	}
	return all, nil
}

func usedSince(ctx context.Context, s store.Store, id string, after int64, then time.Time) (agent.Amounts, error) {
	var c agent.Count
	for e, err := range s.Events(ctx, id, after) {
		if err != nil {
			return c.Amounts, storeFault(err)
		}
		if !e.At.Before(then) {
			c.Add(e)
		}
	}
	return c.Amounts, nil
}
