package command

import "context"

var clearCommand = Command{
	Name: "clear", Args: "", Help: "Clear the screen; the conversation stays",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Clear == nil {
			return "", ErrUnavailable
		}
		env.Clear()
		return "", nil
	},
}
