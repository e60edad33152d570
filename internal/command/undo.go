package command

import (
	"context"
	"strconv"
)

var undo = Command{
	Name: "undo", Args: "[TURN]", Help: "Put the files back as they were before the last turn, or before TURN",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Undo == nil || env.Again == nil {
			return "", ErrUnavailable
		}
		turn := 0
		if args != "" {
			n, err := strconv.Atoi(args)
			if err != nil || n < 1 {
				return "", wrong("/undo takes the number of a turn, such as /undo 2")
			}
			turn = n
		}
		env.Undo(turn)
		env.Again()
		return "", nil
	},
}
