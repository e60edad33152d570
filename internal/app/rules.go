package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/permit"
	"ikigai/internal/policy"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/tools"
)

// policies are the user's remembered rules, those of this project included.
func (a *app) policies(dir string) *policy.File {
	return &policy.File{Path: a.places().Policies(), Dir: dir, Now: time.Now}
}

func projectPolicies(dir string) *policy.File {
	return &policy.File{Path: filepath.Join(dir, ".ikigai", "policies.json"), Dir: dir, Now: time.Now}
}

// rulesOf reads every rule in force: of flags and settings, the user's, and the
// project's own, which may only tighten until the project is trusted.
func (a *app) rulesOf(h *house) ([]permit.Rule, error) {
	var rules []permit.Rule
	for _, group := range []struct {
		decision permit.Decision
		key      string
		texts    []string
	}{{permit.Deny, "deny", h.cfg.Deny}, {permit.Ask, "ask", h.cfg.Ask}, {permit.Allow, "allow", h.cfg.Allow}} {
		for _, text := range group.texts {
			r, err := permit.ParseRule(group.decision, text)
			if err != nil {
				return nil, &fault{headless.ExitConfig, err.Error(), "it was given by " + h.cfg.Origin[group.key]}
			}
			r.Source = h.cfg.Origin[group.key]
			rules = append(rules, r)
		}
	}
	mine, err := a.policies(h.dir).Load()
	if err != nil {
		return nil, &fault{headless.ExitConfig, err.Error(), "mend or delete the rule"}
	}
	theirs, err := projectPolicies(h.dir).Load()
	if err != nil {
		return nil, &fault{headless.ExitConfig, err.Error(), "mend or delete the rule"}
	}
	rules = append(rules, mine...)
	for _, r := range theirs {
		if h.trusted || r.Decision != permit.Allow {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "List, check, change and test rules", Args: cobra.NoArgs}
	c.AddCommand(a.policyListCommand(), a.policyCheckCommand(), a.policyForgetCommand(), a.policyTestCommand())
	for _, d := range []permit.Decision{permit.Allow, permit.Ask, permit.Deny} {
		c.AddCommand(a.policyAddCommand(d))
	}
	return c
}

func (a *app) policyListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List every rule in force, where it is written and how often it matched", Args: cobra.NoArgs}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("json", false, "print one JSON array")
	c.RunE = func(c *cobra.Command, _ []string) error {
		asJSON, _ := c.Flags().GetBool("json")
		return a.withHouse(c, func(h *house) error {
			hits, err := a.ruleHits(c.Context(), h)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(ruleRows(h.permit.List(), hits))
			}
			return a.printRules(ruleRows(h.permit.List(), hits))
		})
	}
	return c
}

type ruleRow struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	Source   string `json:"source"`
	Why      string `json:"why,omitempty"`
	Matched  int    `json:"matched"`
}

func ruleRows(rules []permit.Rule, hits map[string]int) []ruleRow {
	rows := []ruleRow{}
	for _, r := range rules {
		rows = append(rows, ruleRow{r.Decision.String(), r.Text, r.Source, r.Why, hits[r.Text]})
	}
	return rows
}

func (a *app) printRules(rows []ruleRow) error {
	if len(rows) == 0 {
		fmt.Fprintln(a.env.Stdout, "no rules; the mode decides every call")
		return nil
	}
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "DECISION\tRULE\tWRITTEN IN\tMATCHED\tWHY")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", r.Decision, clean.Line(r.Rule), clean.Line(r.Source), r.Matched, clean.Line(r.Why))
	}
	return w.Flush()
}

// ruleHits counts in the trail how often each rule decided.
func (a *app) ruleHits(ctx context.Context, h *house) (map[string]int, error) {
	hits := map[string]int{}
	err := a.trail(ctx, h.cfg.Store, "", func(_ store.Session, e convo.Event) error {
		if d, ok := e.Body.(convo.Decision); ok && d.By == convo.ByRule {
			hits[permit.TextOf(d.Rule)]++
		}
		return nil
	})
	return hits, err
}

func (a *app) policyCheckCommand() *cobra.Command {
	c := &cobra.Command{Use: "check [flags] TOOL JSON", Short: "Say what would happen to a call, and why", Args: cobra.ExactArgs(2)}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("json", false, "print one JSON object")
	c.Flags().Bool("trust", false, "trust this project for this command")
	c.RunE = func(c *cobra.Command, args []string) error {
		asJSON, _ := c.Flags().GetBool("json")
		return a.withHouse(c, func(h *house) error {
			raw, err := a.arguments(args[1:])
			if err != nil {
				return err
			}
			v, err := a.verdict(c.Context(), h, tool.Call{ID: "check", Name: args[0], Args: raw})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(verdictJSON(v))
			}
			a.printVerdict(v)
			return nil
		})
	}
	return c
}

// verdict judges a call without running it.
func (a *app) verdict(ctx context.Context, h *house, c tool.Call) (permit.Verdict, error) {
	t, ok := h.tools.Current().Lookup(c.Name)
	if !ok {
		return permit.Verdict{}, usage("ikigai tool list names all", "%s", tool.NotFound(c.Name, h.offeredNames()).Text)
	}
	p, err := t.Prepare(ctx, h.place(), c.Args)
	if err != nil {
		return permit.Verdict{}, usage("ikigai tool show "+c.Name+" shows the parameters", "%s", err.Error())
	}
	return h.permit.Judge(permit.Request{Spec: tool.JudgedAs(t, c.Args), Call: c, Plan: p.Plan}), nil
}

func (a *app) printVerdict(v permit.Verdict) {
	out := a.env.Stdout
	fmt.Fprintf(out, "%s  risk %s\n  %s\n  by %s: %s\n", v.Decision, v.Risk, clean.Line(v.Reason), v.By, clean.Line(v.Rule))
	for _, p := range v.Parts {
		line := fmt.Sprintf("  %-22s %s", p.Class, clean.Line(p.Command))
		if p.Rule != "" {
			line += "  [" + clean.Line(p.Rule) + "]"
		}
		fmt.Fprintf(out, "%s\n  %-22s %s\n", line, "", clean.Line(p.Reason))
	}
	for _, r := range v.Covers {
		fmt.Fprintf(out, "  to allow it from now on: ikigai policy allow '%s'\n", clean.Line(r))
	}
}

func verdictJSON(v permit.Verdict) any {
	type part struct {
		Command string `json:"command"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason"`
		Rule    string `json:"rule,omitempty"`
	}
	parts := []part{}
	for _, p := range v.Parts {
		parts = append(parts, part{p.Command, p.Class, p.Reason, p.Rule})
	}
	return struct {
		Decision string   `json:"decision"`
		Risk     string   `json:"risk"`
		Reason   string   `json:"reason"`
		By       convo.By `json:"by"`
		Rule     string   `json:"rule"`
		Parts    []part   `json:"parts"`
		Covers   []string `json:"covers"`
	}{v.Decision.String(), v.Risk.String(), v.Reason, v.By, v.Rule, parts, append([]string{}, v.Covers...)}
}

func (a *app) policyAddCommand(d permit.Decision) *cobra.Command {
	c := &cobra.Command{Use: d.String() + " RULE", Short: "Remember a rule that says " + d.String(), Args: cobra.ExactArgs(1)}
	c.Flags().String("scope", "user", "user: everywhere; project: in this folder")
	c.Flags().String("why", "", "the reason, shown with the rule")
	c.RunE = func(c *cobra.Command, args []string) error {
		scope, _ := c.Flags().GetString("scope")
		why, _ := c.Flags().GetString("why")
		dir, err := a.dir()
		if err != nil {
			return err
		}
		e := policy.Entry{Decision: d.String(), Rule: strings.TrimSpace(args[0]), Origin: "command", Why: why}
		switch scope {
		case "user":
		case "project":
			e.Dir = dir
		default:
			return usage("", "--scope is %q: it must be user or project", scope)
		}
		if err := a.suits(d, e.Rule); err != nil {
			return err
		}
		if err := a.policies(dir).Add(e); err != nil {
			return &fault{headless.ExitUsage, err.Error(), "write Tool or Tool(spec), such as bash(go test *)"}
		}
		fmt.Fprintf(a.env.Stdout, "%s %s, written in %s\n", e.Decision, e.Rule, a.places().Policies())
		return nil
	}
	return c
}

// suits refuses a rule that no call of the built-in tool it names could match.
func (a *app) suits(d permit.Decision, text string) error {
	r, err := permit.ParseRule(d, text)
	if err != nil {
		return usage("write Tool or Tool(spec), such as bash(go test *)", "%s", err.Error())
	}
	for _, t := range tools.All() {
		if err := r.Suits(t.Spec()); err != nil {
			return usage("", "%s", err.Error())
		}
	}
	return nil
}

func (a *app) policyForgetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget RULE", Short: "Forget a remembered rule", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			n, err := a.policies(dir).Forget(strings.TrimSpace(args[0]))
			if err != nil {
				return &fault{headless.ExitConfig, err.Error(), ""}
			}
			if n == 0 {
				return usage("ikigai policy list shows the rules in force", "no remembered rule %q", args[0])
			}
			fmt.Fprintf(a.env.Stdout, "forgot %d\n", n)
			return nil
		},
	}
}

func (a *app) policyTestCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "test [FILE]", Short: "Test the examples beside rules; replay FILE's rules over the trail", Args: cobra.MaximumNArgs(1),
	}
	settingFlags(c, toolFlags...)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withHouse(c, func(h *house) error {
			fmt.Fprintf(a.env.Stdout, "%d rules in force, every example holds\n", len(h.permit.List()))
			if len(args) == 0 {
				return nil
			}
			name := args[0]
			if !filepath.IsAbs(name) {
				name = filepath.Join(a.env.Dir, name)
			}
			rules, err := (&policy.File{Path: name, Dir: h.dir}).Load()
			if err != nil {
				return &fault{headless.ExitConfig, err.Error(), "mend the rule"}
			}
			return a.replayRules(c.Context(), h, rules)
		})
	}
	return c
}

// replayRules judges every call of the trail twice, with and without new rules,
// and tells what would have changed.
func (a *app) replayRules(ctx context.Context, h *house, rules []permit.Rule) error {
	before := h.permit
	after := permit.New(a.permitOptions(h, append(before.List(), rules...)))
	change := map[string]int{}
	var order []string
	calls := 0
	err := a.trail(ctx, h.cfg.Store, h.dir, func(_ store.Session, e convo.Event) error {
		c, ok := e.Body.(convo.ToolCall)
		if !ok {
			return nil
		}
		calls++
		was, now, ok := judgeBoth(ctx, h, before, after, c.Call)
		if !ok || was == now {
			return nil
		}
		line := fmt.Sprintf("%s -> %s  %s", was, now, clean.Line(c.Summary()))
		if change[line]++; change[line] == 1 {
			order = append(order, line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stdout, "%d new rules over %d calls of this folder: %d kinds of call would be decided otherwise\n", len(rules), calls, len(order))
	for _, line := range order {
		fmt.Fprintf(a.env.Stdout, "%4d  %s\n", change[line], line)
	}
	return nil
}

func judgeBoth(ctx context.Context, h *house, before, after *permit.Engine, c tool.Call) (was, now permit.Decision, ok bool) {
	t, found := h.tools.Current().Lookup(c.Name)
	if !found || !json.Valid(c.Args) {
		return 0, 0, false
	}
	p, err := t.Prepare(ctx, h.place(), c.Args)
	if err != nil {
		return 0, 0, false
	}
	r := permit.Request{Spec: tool.JudgedAs(t, c.Args), Call: c, Plan: p.Plan}
	return before.Judge(r).Decision, after.Judge(r).Decision, true
}
