// Package get_current_time is the tool that tells the time.
package get_current_time

import (
	"context"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type output struct {
	Output string `json:"output" doc:"ISO 8601"`
}

// Tool tells date and time with the offset of the local zone.
var Tool = toolkit.New(toolkit.Def[struct{}, output]{
	Name:    "get_current_time",
	Doc:     "Get current date and time.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Run: func(context.Context, tool.Place, tool.Grant, struct{}, tool.Progress) (output, error) {
		return output{time.Now().Format(time.RFC3339)}, nil
	},
})

// Aliases are the names under which other agents ask for the time.
func Aliases() []toolkit.Alias {
	return toolkit.Also(Tool, "current_time", "get_time", "get_datetime", "current_date")
}
