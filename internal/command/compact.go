package command

import "context"

var compact = Command{
	Name: "compact", Args: "[WHAT MATTERS]", Help: "Sum up the conversation to make room",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Compact == nil {
			return "", ErrUnavailable
		}
		return env.Compact(ctx, args)
	},
}
