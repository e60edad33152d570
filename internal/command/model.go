package command

import (
	"context"
	"strings"

	"ikigai/internal/agent"
)

var model = Command{
	Name: "model", Args: "[PROVIDER/MODEL]", Help: "Show or change the model",
	Run: func(ctx context.Context, env Env, args string) (string, error) {
		if env.Model == nil || env.Send == nil {
			return "", ErrUnavailable
		}
		if args == "" {
			return showModel(ctx, env), nil
		}
		if known := usable(ctx, env); !strings.Contains(args, "/") && args != "demo" {
			return "", wrong("A model is written PROVIDER/MODEL.%s", suggestion(args, known))
		}
		env.Send(agent.SetModel{Model: args})
		return "The model is " + args + " from the next request on.", nil
	},
}

func usable(ctx context.Context, env Env) []string {
	if env.Models == nil {
		return nil
	}
	return env.Models(ctx)
}

func showModel(ctx context.Context, env Env) string {
	now := env.Model()
	if now == "" {
		now = "none"
	}
	text := "Model: " + now
	if known := usable(ctx, env); len(known) > 0 {
		text += "\nUsable now:\n  " + strings.Join(known, "\n  ")
	}
	return text + "\n/model PROVIDER/MODEL changes it; ikigai models says what is missing for others."
}
