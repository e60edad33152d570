package command

import "context"

var fork = Command{
	Name: "fork", Args: "", Help: "Begin a session that shares this one up to here",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Fork == nil {
			return "", ErrUnavailable
		}
		return env.Fork(ctx)
	},
}
