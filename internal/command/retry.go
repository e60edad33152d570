package command

import (
	"context"

	"ikigai/internal/agent"
)

var retry = Command{
	Name: "retry", Help: "Send the last prompt again",
	Run: func(_ context.Context, env Env, _ string) (string, error) {
		if env.Events == nil || env.Send == nil {
			return "", ErrUnavailable
		}
		events := env.Events()
		for i := len(events) - 1; i >= 0; i-- {
			if events[i].Said() {
				env.Send(agent.Prompt{Text: events[i].Text})
				return "", nil
			}
		}
		return "", wrong("there is no prompt yet to send again")
	},
}
