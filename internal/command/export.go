package command

import "context"

var export = Command{
	Name: "export", Args: "[html|md|jsonl]", Help: "Save this session to a file",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Export == nil {
			return "", ErrUnavailable
		}
		return env.Export(ctx, args)
	},
}
