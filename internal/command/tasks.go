package command

import "context"

var tasks = Command{
	Name: "tasks", Args: "", Help: "Show the task list",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Tasks == nil {
			return "", ErrUnavailable
		}
		return env.Tasks(), nil
	},
}
