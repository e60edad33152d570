package command

import "context"

var redo = Command{
	Name: "redo", Help: "Do again what undo took back",
	Run: func(_ context.Context, env Env, _ string) (string, error) {
		if env.Redo == nil || env.Again == nil {
			return "", ErrUnavailable
		}
		env.Redo()
		env.Again()
		return "", nil
	},
}
