package command

import (
	"context"

	"ikigai/internal/agent"
)

var compact = Command{
	Name: "compact", Args: "[ABOUT | undo]", Help: "Sum up the conversation to make room, or take that back",
	Run: func(_ context.Context, env Env, args string) (string, error) {
		var op agent.Op = agent.Compact{About: args}
		if args == "undo" {
			op = agent.Uncompact{}
		}
		if env.Send == nil {
			return "", ErrUnavailable
		}
		env.Send(op)
		return "", nil // the engine tells what came of it
	},
}
