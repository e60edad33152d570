// Package glob is the tool that finds files by their names.
package glob

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tree"
	"ikigai/internal/walk"
)

type input struct {
	Pattern string `json:"pattern" doc:"Such as src/**/*.go"`
	Path    string `json:"path,omitempty" doc:"Folder" format:"path" alias:"dir,directory,folder"`
	Sort    string `json:"sort,omitempty" enum:"name,modified"`
	Hidden  bool   `json:"include_hidden,omitempty"`
	Ignored bool   `json:"include_ignored,omitempty" doc:"What .gitignore excludes"`
}

type output struct {
	toolkit.Shown
	Count int `json:"count"`
}

// Tool finds files by a glob pattern.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "glob",
	Doc:     "Find files by name.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

// where splits a call into the folder to walk and the pattern within it. A
// pattern may begin with folders outside of path, also with the root.
func (in input) where() (folder, pattern string) {
	folder, pattern = in.Path, path.Clean(filepath.ToSlash(in.Pattern))
	if path.IsAbs(pattern) || strings.HasPrefix(pattern, "../") {
		base, rest := doublestar.SplitPattern(pattern)
		if path.IsAbs(base) {
			folder = ""
		}
		folder, pattern = path.Join(folder, base), rest
	}
	return folder, pattern
}

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	folder, _ := in.where()
	return toolkit.Reading(at, cmp.Or(folder, "."), fmt.Sprintf("find %s in %s", in.Pattern, cmp.Or(in.Path, ".")))
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	folder, pattern := in.where()
	if in.Pattern == "" || !doublestar.ValidatePattern(pattern) {
		return output{}, tool.Errorf(tool.InvalidPattern, "%q is no glob pattern", in.Pattern)
	}
	root, err := toolkit.Folder(at.Files.With(g), cmp.Or(folder, "."))
	if err != nil {
		return output{}, err
	}
	all, err := tree.List(ctx, at.Memo, root, tree.Options{Hidden: in.Hidden || dotted(pattern), Ignored: in.Ignored})
	if ctx.Err() != nil {
		return output{}, ctx.Err()
	}
	found := match(all, pattern)
	if len(found) == 0 && err != nil {
		return output{}, tool.Errorf(tool.ReadFailed, "listing %s: %w", cmp.Or(folder, "."), err)
	}
	if in.Sort == "modified" {
		if found, err = tree.Newest(ctx, at.Memo, root, found); err != nil {
			return output{}, tool.Errorf(tool.ReadFailed, "sorting by time: %w", err)
		}
	}
	return output{Shown: toolkit.Show(at, names(folder, found)), Count: len(found)}, nil
}

// dotted reports whether a pattern asks for hidden names itself.
func dotted(pattern string) bool {
	return strings.HasPrefix(pattern, ".") || strings.Contains(pattern, "/.")
}

func match(all []walk.Entry, pattern string) []walk.Entry {
	var found []walk.Entry
	for _, e := range all {
		if doublestar.MatchUnvalidated(pattern, e.Path) {
			found = append(found, e)
		}
	}
	return found
}

// names are the entries of a folder as the model may use them, one in a line.
func names(folder string, found []walk.Entry) string {
	var b strings.Builder
	for i, e := range found {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(path.Join(folder, e.Path))
	}
	return b.String()
}

// Summary says how many there are.
func (o output) Summary() string {
	if o.Count == 1 {
		return "1 file found"
	}
	return fmt.Sprintf("%d files found", o.Count)
}
