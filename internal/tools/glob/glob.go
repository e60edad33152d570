// Package glob is the tool that finds files by their names.
package glob

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/walk"
)

type input struct {
	Pattern string `json:"pattern" doc:"Glob such as **/*.go" maxlen:"4096"`
	Path    string `json:"path,omitempty" doc:"Folder; default ." maxlen:"4096" format:"path"`
	Sort    string `json:"sort,omitempty" doc:"Default name" enum:"name,modified"`
	Hidden  bool   `json:"include_hidden,omitempty"`
	Ignored bool   `json:"include_ignored,omitempty" doc:"Also what .gitignore excludes"`
}

type output struct {
	toolkit.Shown
	Count int `json:"count"`
}

// Tool finds files by a glob pattern.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "glob",
	Doc:     "Find files by a glob pattern.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

func (in input) folder() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	real, err := at.Files.Locate(in.folder())
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: fmt.Sprintf("find %s in %s", in.Pattern, in.folder()), Reads: []string{real}}, nil
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	pattern := strings.TrimPrefix(in.Pattern, "./")
	if !doublestar.ValidatePattern(pattern) {
		return output{}, tool.Errorf(tool.InvalidPattern, "%q is no glob pattern: a bracket or brace is not closed", in.Pattern)
	}
	root, err := toolkit.Folder(at.Files.With(g), in.folder())
	if err != nil {
		return output{}, err
	}
	all, err := walk.List(ctx, root, walk.Options{Hidden: in.Hidden, Ignored: in.Ignored})
	if ctx.Err() != nil {
		return output{}, ctx.Err()
	}
	found := match(all, pattern)
	if len(found) == 0 && err != nil {
		return output{}, tool.Errorf(tool.ReadFailed, "listing %s: %w", in.folder(), err)
	}
	for i := range found {
		found[i] = path.Join(in.Path, found[i])
	}
	if in.Sort == "modified" {
		newestFirst(at.Files.With(g), found)
	}
	return output{Shown: toolkit.Show(at, strings.Join(found, "\n")), Count: len(found)}, nil
}

func match(all []walk.Entry, pattern string) []string {
	var found []string
	for _, e := range all {
		if e.Type&fs.ModeDir == 0 && doublestar.MatchUnvalidated(pattern, e.Path) {
			found = append(found, e.Path)
		}
	}
	return found
}

// newestFirst sorts by time of change; what cannot be looked at comes last.
func newestFirst(files tool.Files, names []string) {
	when := make(map[string]int64, len(names))
	for _, n := range names {
		if info, err := files.Stat(n); err == nil {
			when[n] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case when[a] > when[b]:
			return -1
		case when[a] < when[b]:
			return 1
		}
		return 0
	})
}

// Summary says how many there are.
func (o output) Summary() string {
	if o.Count == 1 {
		return "1 file found"
	}
	return fmt.Sprintf("%d files found", o.Count)
}
