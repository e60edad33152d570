package command

import "context"

var resume = Command{
	Name: "resume", Args: "[SESSION]", Help: "Go on with another session",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Resume == nil || env.Again == nil {
			return "", ErrUnavailable
		}
		if args == "" {
			return "", wrong("/resume needs a session: /sessions lists them")
		}
		if err := env.Resume(ctx, args); err != nil {
			return "", err
		}
		env.Again()
		return "", nil
	},
}
