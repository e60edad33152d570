package command

import "context"

var redo = Command{
	Name: "redo", Args: "", Help: "Do again what undo took back",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Redo == nil {
			return "", ErrUnavailable
		}
		return env.Redo(ctx)
	},
}
