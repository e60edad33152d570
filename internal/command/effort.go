package command

import (
	"context"
	"slices"
	"strings"
)

var efforts = []string{"low", "medium", "high"}

var effort = Command{
	Name: "effort", Args: "[low|medium|high]", Help: "Show or change how much the model thinks",
	Run: func(_ context.Context, env Env, args string) (string, error) {
		if env.Effort == nil || env.SetEffort == nil {
			return "", ErrUnavailable
		}
		switch {
		case args == "":
			now := env.Effort()
			if now == "" {
				now = "left to the model"
			}
			return "Effort: " + now, nil
		case !slices.Contains(efforts, args):
			return "", wrong("effort is one of %s", strings.Join(efforts, ", "))
		}
		if err := env.SetEffort(args); err != nil {
			return "", err
		}
		return "The effort is " + args + " from the next request on.", nil
	},
}
