// Package replace_lines is the tool that puts new lines in the place of lines
// given by number.
package replace_lines

import (
	"context"
	"fmt"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/text"
)

type input struct {
	Path    string `json:"path" format:"path" alias:"file_path,filename,filePath"`
	First   int    `json:"line_start" doc:"First line, from 1" min:"1" alias:"start_line,start"`
	Last    int    `json:"line_end" doc:"Last line, inclusive" min:"1" alias:"end_line,end"`
	Content string `json:"new_content" alias:"content,new_text"`
}

type output struct {
	Output   string `json:"output"`
	Replaced int    `json:"lines_replaced"`
}

// Tool replaces lines of a file.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "replace_lines",
	Doc:     "Replace lines of a file by number.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Write},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		return text.Plan(at, in.Path, fmt.Sprintf("replace lines %d-%d of %s", in.First, in.Last, in.Path), in.change)
	},
	Run: func(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
		if err := text.Change(at.Files.With(g), in.Path, in.change); err != nil {
			return output{}, err
		}
		n := in.Last - in.First + 1
		return output{Output: fmt.Sprintf("Replaced %d lines (%d-%d) in %s", n, in.First, in.Last, in.Path), Replaced: n}, nil
	},
})

func (in input) change(old []byte) ([]byte, error) {
	switch n := text.Lines(old); {
	case in.Last < in.First:
		return nil, tool.Errorf("INVALID_RANGE", "line_end %d is before line_start %d", in.Last, in.First)
	case in.Last > n:
		return nil, tool.Errorf("INVALID_RANGE", "%s has %d lines; there is no line %d", in.Path, n, in.Last)
	}
	return text.Splice(old, in.First, in.Last+1, in.Content), nil
}

// Summary is what was done.
func (o output) Summary() string { return o.Output }

// Aliases are the names under which other agents replace lines.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "edit_lines", "replace_line_range") }
