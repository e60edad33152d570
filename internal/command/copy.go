package command

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/convo"
)

var copyCommand = Command{
	Name: "copy", Help: "Copy the last answer to the clipboard",
	Run: func(_ context.Context, env Env, _ string) (string, error) {
		if env.Copy == nil || env.Events == nil {
			return "", ErrUnavailable
		}
		text := lastAnswer(env.Events())
		if text == "" {
			return "", wrong("there is no answer yet to copy")
		}
		env.Copy(text)
		return fmt.Sprintf("Copied %d characters.", len([]rune(text))), nil
	},
}

// lastAnswer is the whole text of the last reply that has one.
func lastAnswer(events []convo.Event) string {
	var reply string
	var text []string
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Kind != convo.KindAssistant {
			continue
		}
		if reply != "" && e.Reply != reply {
			break
		}
		reply, text = e.Reply, append([]string{e.Text}, text...)
	}
	return strings.TrimSpace(strings.Join(text, ""))
}
