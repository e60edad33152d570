package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/view"
)

var stats = Command{
	Name: "stats", Help: "Show calls, times, tokens and cost of this session",
	Run: func(_ context.Context, env Env, _ string) (string, error) {
		if env.Events == nil {
			return "", ErrUnavailable
		}
		return Stats(env.Events()), nil
	},
}

// Stats is the table of a session: where the time, the tokens and the money
// went, and how the tools did.
func Stats(events []convo.Event) string {
	var b strings.Builder
	u := usageOf(events)
	fmt.Fprintf(&b, "tokens  in %s  out %s  cached %s   model %s", count(u.input), count(u.output), count(u.cached), view.Duration(u.model))
	if u.cost > 0 {
		fmt.Fprintf(&b, "   $%.2f", u.cost)
	}
	rows := toolRows(events)
	if len(rows) == 0 {
		return b.String() + "\nno tool was called"
	}
	fmt.Fprintf(&b, "\n%-18s %5s %4s %5s %6s  %8s %8s  %s", "tool", "calls", "ok", "fail", "denied", "p50", "p95", "top error_type")
	for _, r := range rows {
		fmt.Fprintf(&b, "\n%-18s %5d %4d %5d %6d  %8s %8s  %s", clean.Line(r.name), len(r.took), len(r.took)-r.failed, r.failed, r.denied,
			view.Duration(r.at(50)), view.Duration(r.at(95)), r.worst())
	}
	return b.String()
}

type usage struct {
	input, output, cached int
	model                 time.Duration
	cost                  float64
}

func usageOf(events []convo.Event) (u usage) {
	for _, e := range events {
		if b, ok := e.Body.(convo.Usage); ok {
			u.input += value(b.Input)
			u.output += value(b.Output)
			u.cached += value(b.CacheRead)
			u.model += time.Duration(b.ModelMS) * time.Millisecond
			if b.CostUSD != nil {
				u.cost += *b.CostUSD
			}
		}
	}
	return u
}

func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// count is a number as a person reads it.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// toolRow is how one tool did.
type toolRow struct {
	name           string
	took           []time.Duration
	failed, denied int
	errors         map[string]int
}

func toolRows(events []convo.Event) []*toolRow {
	var rows []*toolRow
	row := func(name string) *toolRow {
		if i := slices.IndexFunc(rows, func(r *toolRow) bool { return r.name == name }); i >= 0 {
			return rows[i]
		}
		rows = append(rows, &toolRow{name: name, errors: map[string]int{}})
		return rows[len(rows)-1]
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case convo.ToolResult:
			r := row(b.Name)
			r.took = append(r.took, b.Took)
			if code := b.Code(); code != "" {
				r.failed++
				r.errors[string(code.Type())]++
			}
		case convo.Decision:
			if !b.Allowed {
				row(b.Name).denied++
			}
		}
	}
	slices.SortFunc(rows, func(a, b *toolRow) int { return strings.Compare(a.name, b.name) })
	return rows
}

// at is a percentile of the durations.
func (r *toolRow) at(percent int) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.took))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func (r *toolRow) worst() string {
	name, most := "-", 0
	for e, n := range r.errors {
		if n > most || n == most && e < name {
			name, most = e, n
		}
	}
	return name
}
