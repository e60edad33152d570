package command

import "context"

var quit = Command{
	Name: "quit", Args: "", Help: "End",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Quit == nil {
			return "", ErrUnavailable
		}
		env.Quit()
		return "", nil
	},
}
