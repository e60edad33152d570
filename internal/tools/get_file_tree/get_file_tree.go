// Package get_file_tree is the tool that lists all files of the project.
package get_file_tree

import (
	"cmp"
	"context"
	"fmt"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tree"
)

// input is empty for the model; agents that name a folder are understood.
type input struct {
	Path string `json:"path,omitempty" hidden:"true" format:"path" alias:"dir,directory,dir_path"`
}

type output struct {
	Output     string `json:"output" doc:"JSON array of paths"`
	Count      int    `json:"count"`
	Truncated  bool   `json:"truncated,omitempty"`
	TotalBytes int    `json:"total_bytes,omitempty"`
	FullOutput string `json:"full_output,omitempty"`
}

// Tool lists the files of the project, without what git ignores.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "get_file_tree",
	Doc:     "Generate file tree of current directory (recursive).",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		dir := cmp.Or(in.Path, ".")
		return toolkit.Reading(at, dir, "list all files below "+dir)
	},
	Run: run,
})

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	root, err := toolkit.Folder(at.Files.With(g), cmp.Or(in.Path, "."))
	if err != nil {
		return output{}, err
	}
	all, err := tree.List(ctx, at.Memo, root, tree.Options{})
	switch {
	case ctx.Err() != nil:
		return output{}, ctx.Err()
	case err != nil && len(all) == 0:
		return output{}, tool.Errorf(tool.ReadFailed, "listing the files: %w", err)
	}
	paths := make([]string, len(all))
	for i, e := range all {
		paths[i] = e.Path
	}
	return answer(at, paths)
}

// answer is the list as a JSON array. One that is too long ends with an entry
// that says so, and stays an array.
func answer(at tool.Place, paths []string) (output, error) {
	whole, err := tool.Encode(paths)
	if err != nil {
		return output{}, err
	}
	out := output{Output: string(whole), Count: len(paths)}
	if toolkit.Fits(out.Output) {
		return out, nil
	}
	out.Truncated, out.TotalBytes, out.FullOutput = true, len(whole), toolkit.Spill(at, out.Output)
	n := fitting(paths)
	rest := fmt.Sprintf("[... %d more files", len(paths)-n)
	if out.FullOutput != "" {
		rest += "; whole list in " + out.FullOutput
	}
	short, err := tool.Encode(append(paths[:n:n], rest+"]"))
	out.Output = string(short)
	return out, err
}

// fitting is how many paths a result has room for.
func fitting(paths []string) int {
	const room = 48 << 10
	used := 0
	for i, p := range paths {
		if used += len(p) + len(`"",`); used > room {
			return i
		}
	}
	return len(paths)
}

// Cut reports whether files were left out.
func (o output) Cut() bool { return o.Truncated }

// Summary says how many there are.
func (o output) Summary() string { return fmt.Sprintf("%d files", o.Count) }

// Aliases are the names under which other agents show a tree.
func Aliases() []toolkit.Alias {
	return append(toolkit.Also(Tool, "directory_tree", "tree", "file_tree", "list_files_recursive", "project_structure"),
		toolkit.As(Tool, toolkit.Name{Name: "list_files", When: "recursive=true"}, func(in input) (any, error) { return in, nil }))
}
