package command

import "context"

var trust = Command{
	Name: "trust", Args: "", Help: "Show what this project would enable, and trust it",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Trust == nil {
			return "", ErrUnavailable
		}
		return env.Trust(ctx)
	},
}
