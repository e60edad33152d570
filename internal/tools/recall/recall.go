// Package recall is the tool that gives back what was said or done before and is
// no longer in front of the model.
package recall

import (
	"context"
	"fmt"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Event int64 `json:"event" doc:"Its number"`
}

type output struct {
	toolkit.Shown
	Kind string `json:"kind"`
}

// Tool gives one event of the session whole, as far as a result has room.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "recall",
	Doc:     "An earlier event of this conversation, by its number.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		if at.Past == nil {
			return tool.Plan{}, tool.Errorf(tool.InvalidParams, "earlier events need a session")
		}
		return tool.Plan{Summary: fmt.Sprintf("look at event %d again", in.Event)}, nil
	},
	Run: func(ctx context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
		kind, text, err := at.Past(ctx, in.Event)
		if err != nil {
			return output{}, err
		}
		return output{toolkit.Show(at, clean.Model(text)), kind}, nil
	},
})

// Aliases are none: no other agent numbers what was said.
func Aliases() []toolkit.Alias { return nil }
