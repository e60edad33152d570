package command

import (
	"context"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/permit"
)

// modeHelp says who decides in each mode.
var modeHelp = map[permit.Mode]string{
	permit.Plan: "reads only", permit.AskMode: "asks before it changes anything", permit.AutoEdit: "edits in the workspace unasked",
	permit.Auto: "does unasked what the sandbox confines", permit.Yolo: "asks nothing and is not confined",
}

var mode = Command{
	Name: "mode", Args: "[MODE]", Help: "Show or change who decides",
	Run: func(_ context.Context, env Env, args string) (string, error) {
		if env.Mode == nil || env.Send == nil {
			return "", ErrUnavailable
		}
		if args == "" {
			return listModes(env.Mode()), nil
		}
		m, err := permit.ParseMode(args)
		if err != nil {
			return "", wrong("%v", err)
		}
		env.Send(agent.SetMode{Mode: m})
		return "Mode " + string(m) + ": " + modeHelp[m] + ".", nil
	},
}

func listModes(now permit.Mode) string {
	var lines []string
	for _, m := range permit.Modes {
		mark := "  "
		if m == now {
			mark = "* "
		}
		lines = append(lines, mark+string(m)+": "+modeHelp[m])
	}
	return strings.Join(lines, "\n")
}
