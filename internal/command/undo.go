package command

import (
	"context"
	"strconv"
)

var undo = Command{
	Name: "undo", Args: "[TURNS]", Help: "Put the files back as they were before the last turn",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Undo == nil {
			return "", ErrUnavailable
		}
		turns := 1
		if args != "" {
			n, err := strconv.Atoi(args)
			if err != nil || n < 1 {
				return "", wrong("/undo takes a number of turns, such as /undo 2")
			}
			turns = n
		}
		return env.Undo(ctx, turns)
	},
}
