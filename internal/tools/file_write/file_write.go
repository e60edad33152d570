// Package file_write is the tool that makes or replaces a file.
package file_write

import (
	"context"
	"fmt"

	"ikigai/internal/diff"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Path    string `json:"path" doc:"File" format:"path" alias:"file_path,filename,filePath"`
	Content string `json:"content" alias:"text,contents"`
}

type output struct {
	Output string `json:"output"`
	Bytes  int    `json:"bytes"`
}

// Tool writes a whole file.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "file_write",
	Doc:     "Create a file or replace all of it.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Write},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	real, err := at.Files.Locate(in.Path)
	if err != nil {
		return tool.Plan{}, err
	}
	old, _, err := toolkit.Peek(at.Files, in.Path)
	if err != nil {
		old = nil // a new file, or one that Run will report on
	}
	return tool.Plan{
		Summary: fmt.Sprintf("write %d bytes to %s", len(in.Content), in.Path),
		Writes:  []string{real}, Preview: diff.Unified("a/"+in.Path, "b/"+in.Path, old, []byte(in.Content), 3),
	}, nil
}

func run(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	files := at.Files.With(g)
	seen, _ := files.Seen(in.Path)
	if err := files.WriteFile(in.Path, []byte(in.Content), seen); err != nil {
		return output{}, err
	}
	return output{Output: fmt.Sprintf("Wrote %d bytes to %s", len(in.Content), in.Path), Bytes: len(in.Content)}, nil
}

// Summary is what was written.
func (o output) Summary() string { return o.Output }
