package command

import (
	"context"
	"fmt"
	"strings"
)

var refresh = Command{
	Name: "refresh", Help: "Reload tool registry from disk",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Refresh == nil {
			return "", ErrUnavailable
		}
		const begun = "Refreshing tools...\n"
		r, err := env.Refresh(ctx)
		if err != nil {
			return begun, fmt.Errorf("refreshing tools: %w", err)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%sTools refreshed. %d tools available.\n", begun, r.Count)
		for _, part := range []struct {
			word  string
			names []string
		}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}} {
			if len(part.names) > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", part.word, strings.Join(part.names, ", "))
			}
		}
		return strings.TrimRight(b.String()+problems(r.Problems), "\n"), nil
	},
}
