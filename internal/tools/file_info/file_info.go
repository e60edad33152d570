// Package file_info is the tool that says what there is at a path.
package file_info

import (
	"context"
	"fmt"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Path string `json:"path" format:"path" alias:"file_path,filename,filePath"`
}

// output leaves out what only an existing file has. It has no words besides.
type output struct {
	Exists      bool   `json:"exists"`
	Type        string `json:"type,omitempty" doc:"file, directory or other"`
	Size        *int64 `json:"size,omitempty"`
	Modified    string `json:"modified,omitempty"`
	Permissions string `json:"permissions,omitempty"`
}

// Tool tells whether a file exists, and its metadata.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "file_info",
	Doc:     "Whether a path exists; type, size, time, permissions.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		return toolkit.Reading(at, in.Path, "look at "+in.Path)
	},
	Run: run,
})

func run(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	info, err := at.Files.With(g).Stat(in.Path)
	if tool.CodeOf(err, "") == tool.FileNotFound {
		return output{}, nil
	}
	if err != nil {
		return output{}, err
	}
	out := output{Exists: true, Type: "other", Modified: info.ModTime().Format(time.RFC3339), Permissions: info.Mode().Perm().String()}
	switch {
	case info.IsDir():
		out.Type = "directory"
	case info.Mode().IsRegular():
		out.Type = "file"
	}
	if size := info.Size(); !info.IsDir() {
		out.Size = &size
	}
	return out, nil
}

// Summary is the type and the size.
func (o output) Summary() string {
	switch {
	case !o.Exists:
		return "does not exist"
	case o.Size != nil:
		return fmt.Sprintf("%s, %d bytes", o.Type, *o.Size)
	}
	return o.Type
}

// Aliases are the names under which other agents look at a file.
func Aliases() []toolkit.Alias {
	self := func(in input) (any, error) { return in, nil }
	return append(toolkit.Also(Tool, "get_file_info", "stat", "file_exists", "file_stat"),
		toolkit.As(Tool, toolkit.Name{Name: "filesystem", When: "operation=exists"}, self),
		toolkit.As(Tool, toolkit.Name{Name: "filesystem", When: "operation=metadata"}, self))
}
