package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/headless"
	"ikigai/internal/stats"
	"ikigai/internal/store"
	"ikigai/internal/view"
)

func (a *app) statsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "stats", Short: "Show where calls, time, tokens and money went", Args: cobra.NoArgs,
		Long: `Show where calls, time, tokens and money went in the sessions of this folder.

A call is ok, failed, denied, or open when no answer is recorded. P50 and P95 are
of the calls that ran. Depth is how many rounds of calls a turn took. What a fork
shares with its parent is counted once.`,
	}
	c.Flags().Bool("all", false, "of every folder")
	c.Flags().String("session", "", "of this session alone")
	c.Flags().Int("days", 0, "of today and the days before, so many in all; 0 is ever")
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		all, _ := c.Flags().GetBool("all")
		id, _ := c.Flags().GetString("session")
		days, _ := c.Flags().GetInt("days")
		asJSON, _ := c.Flags().GetBool("json")
		if days < 0 {
			return usage("ikigai stats --days 7", "--days %d is no number of days", days)
		}
		return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
			list, err := a.counted(ctx, s, dir, id, all)
			if err != nil {
				return err
			}
			r, err := tally(ctx, s, list, since(days, time.Now()))
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(r)
			}
			return printStats(a.env.Stdout, r)
		})
	}
	return c
}

// counted are the sessions that the numbers are about.
func (a *app) counted(ctx context.Context, s store.Store, dir, id string, all bool) ([]store.Session, error) {
	switch {
	case id != "":
		one, err := a.find(ctx, s, id)
		return []store.Session{one}, err
	case all:
		dir = ""
	}
	return collect(ctx, s, dir)
}

// since is the beginning of the first of so many days; the zero time is ever.
func since(days int, now time.Time) time.Time {
	if days == 0 {
		return time.Time{}
	}
	y, m, d := now.Date()
	return time.Date(y, m, d-days+1, 0, 0, 0, 0, now.Location())
}

// tally counts what happened in sessions since then. What a fork took over from
// a session that is counted itself did not happen twice.
func tally(ctx context.Context, s store.Store, list []store.Session, then time.Time) (stats.Report, error) {
	t := stats.New(time.Local)
	here := map[string]bool{}
	for _, one := range list {
		here[one.ID] = true
	}
	for _, one := range list {
		if one.Updated.Before(then) {
			continue
		}
		after := int64(0)
		if here[one.Parent] {
			after = one.ParentSeq
		}
		t.Begin()
		for e, err := range s.Events(ctx, one.ID, after) {
			if err != nil {
				return stats.Report{}, storeFault(err)
			}
			if !e.At.Before(then) {
				t.Add(e)
			}
		}
	}
	return t.Report(), nil
}

// printStats writes the numbers as a person reads them.
func printStats(w io.Writer, r stats.Report) error {
	if r.Events == 0 {
		_, err := fmt.Fprintln(w, "nothing happened here; --all counts every folder")
		return err
	}
	fmt.Fprintf(w, "%s, %s, %s\n", several(r.Sessions, "session"), several(r.Turns, "turn"), cost(r.Total))
	fmt.Fprintf(w, "time       %s\n", clocks(r.Clocks))
	fmt.Fprintf(w, "tokens     %s\n", tokensUsed(r))
	fmt.Fprintf(w, "           with tools %s in %s, without %s in %s\n",
		sides(r.WithTools), several(r.WithTools.Turns, "turn"), sides(r.WithoutTools), several(r.WithoutTools.Turns, "turn"))
	fmt.Fprintf(w, "depth      %s\n", depths(r.Depth))
	fmt.Fprintf(w, "decisions  %s\n", decided(r.Decisions))
	for _, table := range [][][]string{toolTable(r), modelTable(r.Models), dayTable(r.Days)} {
		if err := printTable(w, table); err != nil {
			return err
		}
	}
	return nil
}

// printTable writes rows below their head; a table without rows is left out.
func printTable(w io.Writer, rows [][]string) error {
	if len(rows) < 2 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, cells := range rows {
		for i, c := range cells {
			cells[i] = clean.Line(c)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

func toolTable(r stats.Report) [][]string {
	rows := [][]string{{"TOOL", "CALLS", "OK", "FAIL", "EXIT≠0", "DENIED", "OPEN", "P50", "P95", "BYTES", "TOP ERROR"}}
	for _, t := range append(slices.Clone(r.Tools), r.Calls) {
		if t.Name == "" {
			t.Name = "all"
		}
		p50, p95, exits, top := "-", "-", "-", string(t.TopFailure())
		if t.Ran > 0 {
			p50, p95 = view.Duration(t.P50), view.Duration(t.P95)
		}
		if len(t.ExitCodes) > 0 {
			exits = fmt.Sprint(t.NotZero())
		}
		if top == "" {
			top = "-"
		}
		rows = append(rows, []string{
			t.Name, fmt.Sprint(t.Calls), fmt.Sprint(t.OK), fmt.Sprint(t.Failed), exits, fmt.Sprint(t.Denied), fmt.Sprint(t.Open), p50, p95, bytesOf(t.Bytes), top,
		})
	}
	if len(r.Tools) == 0 {
		return nil
	}
	return rows
}

func modelTable(models []stats.Spent) [][]string {
	rows := [][]string{{"MODEL", "REPLIES", "IN", "OUT", "COST"}}
	for _, m := range models {
		if m.Model == "" {
			m.Model = "unknown"
		}
		rows = append(rows, []string{m.Model, fmt.Sprint(m.Replies), thousands(m.Tokens.Input), thousands(m.Tokens.Output), cost(m)})
	}
	return rows
}

func dayTable(days []stats.Day) [][]string {
	rows := [][]string{{"DAY", "CALLS", "REPLIES", "IN", "OUT", "COST"}}
	for _, d := range days {
		rows = append(rows, []string{d.Day, fmt.Sprint(d.Calls), fmt.Sprint(d.Spent.Replies), thousands(d.Spent.Tokens.Input), thousands(d.Spent.Tokens.Output), cost(d.Spent)})
	}
	return rows
}

func clocks(c stats.Clocks) string {
	return fmt.Sprintf("model %s, tools %s, waiting for you %s; %s from prompts to answers",
		clock(c.Model), clock(c.Tools), clock(c.Waiting), clock(c.Turns))
}

func clock(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	return view.Duration(d)
}

func tokensUsed(r stats.Report) string {
	cached := ""
	if r.CacheShare != nil {
		cached = fmt.Sprintf(" (%.0f%% cached)", 100**r.CacheShare)
	}
	return fmt.Sprintf("in %s%s, out %s", thousands(r.Tokens.Input), cached, thousands(r.Tokens.Output))
}

func sides(s stats.Side) string { return thousands(s.Tokens.Input + s.Tokens.Output) }

// depths draws how many turns took how many rounds of calls.
func depths(by map[int]int) string {
	if len(by) == 0 {
		return "-"
	}
	deepest, most := slices.Max(slices.Collect(maps.Keys(by))), slices.Max(slices.Collect(maps.Values(by)))
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for d := range min(deepest, 60) + 1 {
		if by[d] == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(levels[(by[d]*len(levels)-1)/most])
	}
	return fmt.Sprintf("%s  0..%d rounds of calls per turn", b.String(), deepest)
}

func decided(d stats.Decisions) string {
	return fmt.Sprintf("by you %d once, %d session, %d always, %d refused; by rules and modes %d allowed, %d denied",
		d.Once, d.Session, d.Always, d.Refused, d.Allowed, d.Denied)
}

// cost is a sum of money, and how much of it is not known.
func cost(s stats.Spent) string {
	switch {
	case s.CostUSD == nil:
		return "cost unknown"
	case s.Unpriced > 0:
		return fmt.Sprintf("%s and %s of unknown cost", dollars(*s.CostUSD), several(s.Unpriced, "reply"))
	}
	return dollars(*s.CostUSD)
}

func dollars(d float64) string {
	if d > 0 && d < 0.1 {
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

func several(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// sumUp prints the short form of the numbers of this run, where it is wanted:
// in a text run with --verbose.
func (a *app) sumUp(ctx context.Context, h *house, o headless.Options) {
	if o.Format != headless.Text || !o.Verbose || o.Quiet {
		return
	}
	t := stats.New(time.Local)
	ctx = context.WithoutCancel(ctx) // a run that was interrupted has numbers too
	for e, err := range h.store.Events(ctx, h.id, h.last) {
		if err != nil {
			fmt.Fprintf(a.env.Stderr, "note: no numbers of this run: %v\n", err)
			return
		}
		t.Add(e)
	}
	for _, line := range shortStats(t.Report()) {
		fmt.Fprintln(a.env.Stderr, line)
	}
}

// shortStats are the numbers in three lines.
func shortStats(r stats.Report) []string {
	var tools []string
	for _, t := range r.Tools {
		text := fmt.Sprintf("%s %d", clean.Line(t.Name), t.Calls)
		if bad := t.Failed + t.Denied + t.Open; bad > 0 {
			text += fmt.Sprintf(" (%d not ok)", bad)
		}
		tools = append(tools, text)
	}
	if len(tools) == 0 {
		tools = []string{"none"}
	}
	return []string{
		"time    " + clocks(r.Clocks),
		"tokens  " + tokensUsed(r) + ", " + cost(r.Total),
		"calls   " + strings.Join(tools, ", "),
	}
}
