package command

import (
	"context"
	"strings"

	"ikigai/internal/agent"
)

// efforts are how much a model can be asked to think, as the engine is told.
var efforts = []agent.SetEffort{{Effort: "low"}, {Effort: "medium"}, {Effort: "high"}}

var effort = Command{
	Name: "effort", Args: "[LEVEL]", Help: "Show or change how much the model thinks: low, medium, high",
	Run: func(_ context.Context, env Env, args string) (string, error) {
		if env.Effort == nil || env.Send == nil {
			return "", ErrUnavailable
		}
		if args == "" {
			now := env.Effort()
			if now == "" {
				now = "left to the model"
			}
			return "Effort: " + now, nil
		}
		var names []string
		for _, e := range efforts {
			if string(e.Effort) == args {
				env.Send(e)
				return "The effort is " + args + " from the next request on, where the model can.", nil
			}
			names = append(names, string(e.Effort))
		}
		return "", wrong("effort is one of %s", strings.Join(names, ", "))
	},
}
