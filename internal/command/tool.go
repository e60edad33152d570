package command

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/clean"
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
			return listTools(set), nil
		}
		t, ok := set.Lookup(args)
		if !ok {
			return "", unknownTool(args, set)
		}
		return inspect(t.Spec(), env), nil
	},
}

func listTools(set *tool.Set) string {
	var b strings.Builder
	for t := range set.All() {
		if b.Len() == 0 {
			b.WriteString("Available tools:\n")
		}
		s := t.Spec()
		fmt.Fprintf(&b, "  %s - %s\n", clean.Line(s.Name), clean.Line(s.Description))
	}
	if b.Len() == 0 {
		b.WriteString("No tools available\n")
	}
	return strings.TrimRight(b.String()+problems(set.Problems), "\n")
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

// inspect is the whole schema of a tool.
func inspect(s tool.Spec, env Env) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Tool: %s\nDescription: %s\n", clean.Line(s.Name), clean.Line(s.Description))
	b.WriteString(parameters(s))
	fmt.Fprintf(&b, "Source: %s\nRisk: %s\n", where(s), s.Risk)
	if env.Usual != nil {
		fmt.Fprintf(&b, "Allowed: %s\n", env.Usual(s))
	}
	timeout := s.Timeout
	if timeout == 0 {
		timeout = tool.DefaultTimeout
	}
	fmt.Fprintf(&b, "Timeout: %s", timeout)
	return b.String()
}

func where(s tool.Spec) string {
	if s.Path == "" {
		return s.Origin.String()
	}
	return s.Origin.String() + " " + clean.Line(s.Path)
}

func parameters(s tool.Spec) string {
	var b strings.Builder
	b.WriteString("Parameters:\n")
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
