package command

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/clean"
)

// A Share is one part of what fills the model's window.
type Share struct {
	What   string
	Tokens int
}

var contextCommand = Command{
	Name: "context", Help: "Show what fills the model's window",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Context == nil {
			return "", ErrUnavailable
		}
		shares, window := env.Context(ctx)
		return drawShares(shares, window), nil
	},
}

func drawShares(shares []Share, window int) string {
	var rows strings.Builder
	used := 0
	for _, s := range shares {
		used += s.Tokens
		fmt.Fprintf(&rows, "\n %7s  %s", count(s.Tokens), clean.Line(s.What))
	}
	if window <= 0 {
		return fmt.Sprintf("About %s tokens%s", count(used), rows.String())
	}
	return fmt.Sprintf("About %s of %s tokens (%d%%)%s", count(used), count(window), used*100/window, rows.String())
}

// count is a number as a person reads it.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
