package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ikigai/internal/clean"
)

var sessions = Command{
	Name: "sessions", Help: "List the sessions of this folder",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Sessions == nil {
			return "", ErrUnavailable
		}
		list, err := env.Sessions(ctx)
		if err != nil {
			return "", fmt.Errorf("listing sessions: %w", err)
		}
		if len(list) == 0 {
			return "No other sessions here.", nil
		}
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "%s  %5s  %s %s  %3d calls  %s\n", s.ID, Ago(time.Since(s.Updated)), clean.Line(filepath.Base(s.Dir)), clean.Line(s.Branch), s.Calls, clean.Line(s.Title))
		}
		b.WriteString("ikigai resume ID goes on with one.")
		return b.String(), nil
	},
}

// Ago is a length of time as a person says it.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
