package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

var toolCommand = Command{
	Name: "tool", Args: "[NAME]", Help: "List or inspect tools (usage: /tool [NAME])",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Tools == nil {
			return "", ErrUnavailable
		}
		set, err := env.Tools(ctx)
		if err != nil {
			return "", fmt.Errorf("looking for tools: %w", err)
		}
		if args == "" {
			return listTools(set, env), nil
		}
		t, ok := set.Lookup(args)
		if !ok {
			return "", unknownTool(args, set)
		}
		return inspect(t.Spec(), env), nil
	},
}

// listTools is the list of the seed, and below it what the tools cost and did.
func listTools(set *tool.Set, env Env) string {
	if len(set.Names()) == 0 {
		return strings.TrimRight("No tools available\n"+problems(set.Problems), "\n")
	}
	var list strings.Builder
	list.WriteString("Available tools:\n")
	rows := [][]string{{"NAME", "SOURCE", "RISK", "ALLOW", "TOKENS", "CALLS", "OK%"}}
	total := 0
	for t := range set.All() {
		s := t.Spec()
		fmt.Fprintf(&list, "  %s - %s\n", clean.Line(s.Name), clean.Line(s.Description))
		total += tokens(s)
		rows = append(rows, append([]string{clean.Line(s.Name), s.Origin.String(), strings.ToUpper(s.Risk.String()), usual(s, env), count(tokens(s))}, used(s.Name, env)...))
	}
	fmt.Fprintf(&list, "\n%d tools · %d failed · about %s tokens of schema per request\n", len(rows)-1, len(set.Problems), count(total))
	return strings.TrimRight(list.String()+table(rows)+problems(set.Problems), "\n")
}

// tokens is about how much a tool takes of every request.
func tokens(s tool.Spec) int {
	return (len(s.Name) + len(s.Description) + len(s.Parameters.JSON())) / 4
}

func usual(s tool.Spec, env Env) string {
	if env.Usual == nil {
		return "-"
	}
	return env.Usual(s)
}

// used says how often a tool was called in this session, and how often it worked.
func used(name string, env Env) []string {
	calls, good := 0, 0
	for _, r := range results(name, env) {
		calls++
		if r.OK() {
			good++
		}
	}
	if calls == 0 {
		return []string{"-", "-"}
	}
	return []string{fmt.Sprint(calls), fmt.Sprint(good * 100 / calls)}
}

// results are the results of a tool in this session.
func results(name string, env Env) []tool.Result {
	if env.Events == nil {
		return nil
	}
	var all []tool.Result
	for _, e := range env.Events() {
		if b, ok := e.Body.(convo.ToolResult); ok && b.Name == name {
			all = append(all, b.Result)
		}
	}
	return all
}

// table puts cells below one another; the first column is text, the last ones
// are numbers.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, " "+strings.Join(r, "\t"))
	}
	w.Flush() // to memory: it cannot fail
	return b.String()
}

// problems are the files that could have been tools, and why they are not.
func problems(list []tool.Problem) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "  ! %s: %s (%s). Fix it, then /refresh\n", clean.Line(p.Path), clean.Line(p.Detail), clean.Line(p.Reason))
	}
	return b.String()
}

func unknownTool(name string, set *tool.Set) error {
	hint := suggestion(name, set.Names())
	return wrong("Unknown tool: %q.%s Run /tool to list all.", clean.Line(name), hint)
}

// inspect is the whole schema of a tool, how it is allowed and what it did.
func inspect(s tool.Spec, env Env) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Tool: %s\nDescription: %s\n", clean.Line(s.Name), clean.Line(s.Description))
	b.WriteString(parameters("Parameters:", s))
	if len(s.Returns.Properties()) > 0 {
		b.WriteString(parameters("Returns:", tool.Spec{Parameters: s.Returns}))
	}
	timeout := s.Timeout
	if timeout == 0 {
		timeout = tool.DefaultTimeout
	}
	fmt.Fprintf(&b, "Source: %s\nRisk: %s\nAllowed: %s\nTimeout: %s\n", where(s), s.Risk, usual(s, env), timeout)
	if env.Rules != nil {
		for _, r := range env.Rules() {
			if name, _, _ := strings.Cut(r.Text, "("); name == s.Name || name == "*" {
				fmt.Fprintf(&b, "Rule: %s %s\n", r.Decision, clean.Line(r.Name()))
			}
		}
	}
	if u := used(s.Name, env); u[0] != "-" {
		fmt.Fprintf(&b, "Here: %s calls, %s%% ok\n", u[0], u[1])
	}
	return strings.TrimRight(b.String(), "\n")
}

func where(s tool.Spec) string {
	if s.Path == "" {
		return s.Origin.String()
	}
	return s.Origin.String() + " " + clean.Line(s.Path)
}

func parameters(title string, s tool.Spec) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, p := range s.Parameters.Properties() {
		need := "optional"
		if p.Required {
			need = "required"
		}
		fmt.Fprintf(&b, "  %s (%s, %s): %s\n", clean.Line(p.Name), p.Type, need, clean.Line(p.Description))
	}
	if len(s.Parameters.Properties()) == 0 {
		b.WriteString("  none\n")
	}
	return b.String()
}
