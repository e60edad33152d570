package command

import "context"

var stats = Command{
	Name: "stats", Help: "Show calls, times, tokens and cost of this session",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Stats == nil {
			return "", ErrUnavailable
		}
		return env.Stats(ctx)
	},
}
