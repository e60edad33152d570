package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
)

// What comes of a pin is an event of its own: there is no more to say.
var pin = Command{
	Name: "pin", Args: "[EVENT] [off]", Help: "Keep the last answer, or an event by its number, whatever is compacted",
	Run: func(_ context.Context, env Env, args string) (string, error) {
		if env.Events == nil || env.Send == nil {
			return "", ErrUnavailable
		}
		number, off := strings.CutSuffix(args, "off")
		if number = strings.TrimSpace(number); number == "" {
			number = numberOfAnswer(env.Events())
		}
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case number == "":
			return "", wrong("there is no answer yet to pin")
		case err != nil || n < 1:
			return "", wrong("/pin takes the number of an event, such as /pin 12 or /pin 12 off")
		}
		env.Send(agent.Pin{Event: n, Off: off})
		return "", nil
	},
}

// numberOfAnswer is the number of what the model said last; empty when it said nothing.
func numberOfAnswer(events []convo.Event) string {
	for _, e := range slices.Backward(events) {
		if e.Kind == convo.KindAssistant {
			return strconv.FormatInt(e.Seq, 10)
		}
	}
	return ""
}
