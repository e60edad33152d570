// Package get_working_directory is the tool that tells where it is.
package get_working_directory

import (
	"context"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type output struct {
	Output string `json:"output" doc:"Absolute path"`
}

// Tool tells the working folder.
var Tool = toolkit.New(toolkit.Def[struct{}, output]{
	Name:    "get_working_directory",
	Doc:     "Get current working directory path.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, _ struct{}, _ tool.Progress) (output, error) {
		return output{at.Files.Dir()}, nil
	},
})

// Aliases are the names under which other agents ask for it.
func Aliases() []toolkit.Alias {
	return toolkit.Also(Tool, "pwd", "get_cwd", "current_directory", "get_current_directory")
}
