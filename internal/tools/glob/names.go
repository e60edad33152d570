package glob

import (
	"strings"

	"ikigai/internal/toolkit"
)

// Aliases are the names under which other agents find files.
func Aliases() []toolkit.Alias {
	var all []toolkit.Alias
	for _, n := range []string{"Glob", "find_files", "file_search", "search_files", "glob_search", "find_file", "find_path"} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// guess has the parameters that such tools have in common.
type guess struct {
	Pattern string `json:"pattern" alias:"glob,glob_pattern,query,name,filePattern,file_pattern"`
	Path    string `json:"path,omitempty" format:"path" alias:"dir,directory,dir_path,folder,target_directory"`
}

// input looks at any depth for a name without a folder, as those tools do, and
// for a part of a name where it is no pattern.
func (g guess) input() (any, error) {
	pattern := g.Pattern
	if !strings.ContainsAny(pattern, "*?[{/") {
		pattern = "*" + pattern + "*"
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	return input{Pattern: pattern, Path: g.Path}, nil
}
