// Package insert_lines is the tool that puts new lines before a line given by
// number.
package insert_lines

import (
	"context"
	"fmt"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/text"
)

type input struct {
	Path    string `json:"path" format:"path" alias:"file_path,filename,filePath"`
	Line    int    `json:"line_start" doc:"Insert before this line, from 1; last+1 appends" min:"1" alias:"line"`
	End     int    `json:"line_end" doc:"Same as line_start" min:"1"`
	Content string `json:"new_content" alias:"content,new_text,text"`
}

type output struct {
	Output   string `json:"output"`
	Inserted int    `json:"lines_inserted"`
}

// Tool inserts lines into a file.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "insert_lines",
	Doc:     "Insert lines into a file.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Write},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		return text.Plan(at, in.Path, fmt.Sprintf("insert before line %d of %s", in.Line, in.Path), in.change)
	},
	Run: func(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
		if err := text.Change(at.Files.With(g), in.Path, in.change); err != nil {
			return output{}, err
		}
		n := text.Lines([]byte(in.Content))
		return output{Output: fmt.Sprintf("Inserted %d lines before line %d in %s", n, in.Line, in.Path), Inserted: n}, nil
	},
})

func (in input) change(old []byte) ([]byte, error) {
	switch n := text.Lines(old); {
	case in.End != in.Line:
		return nil, tool.Errorf("INVALID_RANGE", "line_end must equal line_start: lines are inserted at one place")
	case in.Line > n+1:
		return nil, tool.Errorf("INVALID_RANGE", "%s has %d lines; line_start is at most %d", in.Path, n, n+1)
	case in.Content == "":
		return nil, tool.Errorf("INVALID_CONTENT", "new_content is empty; a single line end inserts an empty line")
	}
	return text.Splice(old, in.Line, in.Line, in.Content), nil
}

// Summary is what was done.
func (o output) Summary() string { return o.Output }

// Aliases are the names under which other agents insert lines.
func Aliases() []toolkit.Alias {
	return append(toolkit.Also(Tool, "insert_content"),
		toolkit.As(Tool, toolkit.Name{Name: "insert_line"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_editor", When: "command=insert"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_based_edit_tool", When: "command=insert"}, guess.input),
	)
}

// guess inserts after a line, as the editors of other agents do; 0 is the top.
type guess struct {
	Path    string `json:"path" format:"path" alias:"file_path,filePath"`
	After   int    `json:"insert_line" min:"0" alias:"line"`
	Content string `json:"new_str" alias:"insert_text,new_text,text,content"`
}

func (g guess) input() (any, error) {
	return input{Path: g.Path, Line: g.After + 1, End: g.After + 1, Content: g.Content}, nil
}
