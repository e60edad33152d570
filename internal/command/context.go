package command

import "context"

var contextCommand = Command{
	Name: "context", Args: "", Help: "Show what fills the model's window",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Context == nil {
			return "", ErrUnavailable
		}
		return env.Context(), nil
	},
}
