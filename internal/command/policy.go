package command

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/clean"
)

var policy = Command{
	Name: "policy", Help: "List the rules in force and where they are written",
	Run: func(_ context.Context, env Env, _ string) (string, error) {
		if env.Rules == nil {
			return "", ErrUnavailable
		}
		rules := env.Rules()
		if len(rules) == 0 {
			return "No rules; the mode decides. ikigai policy allow RULE writes one.", nil
		}
		var b strings.Builder
		for _, r := range rules {
			fmt.Fprintf(&b, "%-5s  %s\n", r.Decision, clean.Line(r.Name()))
		}
		b.WriteString("ikigai policy forget RULE takes one away.")
		return b.String(), nil
	},
}
