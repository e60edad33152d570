package grep

import "ikigai/internal/toolkit"

// Aliases are the names under which other agents search in files.
func Aliases() []toolkit.Alias {
	const doc = "Search files for text patterns with flexible options"
	all := []toolkit.Alias{
		toolkit.As(Tool, toolkit.Name{Name: "grep_search", Set: "localharness", Once: true, Doc: doc}, harness.input),
		toolkit.As(Tool, toolkit.Name{Name: "grep_search", Doc: doc}, harness.input),
		toolkit.As(Tool, toolkit.Name{Name: "grep_search", When: "query"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "search_files", When: "regex"}, guess.input),
	}
	for _, n := range []string{"Grep", "search_file_content", "search_text", "search_code", "search_for_pattern", "ripgrep", "rg", "search", "search_in_files"} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// harness is grep_search of the Local Harness: a text with stars, in any case.
type harness struct {
	Pattern string `json:"pattern" doc:"Text to search for (supports * wildcards, e.g., fn*init)"`
	Filter  string `json:"file_filter,omitempty" doc:"Limit to files matching glob (e.g., *.zig, **/*.md)"`
	Most    int    `json:"max_results,omitempty" doc:"Max results to return (default: 200, max: 1000)" min:"1" max:"1000"`
	Hidden  bool   `json:"include_hidden,omitempty" doc:"Search hidden directories like .config (default: false, always skips .git)"`
	Ignored bool   `json:"ignore_gitignore,omitempty" doc:"Search files normally excluded by .gitignore (default: false)"`
}

func (h harness) input() (any, error) {
	return input{
		Pattern: h.Pattern, Mode: "wildcard", IgnoreCase: true, Filter: h.Filter, Most: h.Most, Hidden: h.Hidden, Ignored: h.Ignored, Flags: true,
	}, nil
}

// guess has the parameters that such tools have in common: a regular expression.
type guess struct {
	Pattern string `json:"pattern" alias:"regex,query,search,search_term,search_pattern"`
	Path    string `json:"path,omitempty" format:"path" alias:"dir,directory,dir_path,folder"`
	Filter  string `json:"include,omitempty" alias:"glob,file_pattern,include_pattern,includePattern,file_filter,file_glob"`
	Fold    bool   `json:"ignore_case,omitempty" alias:"-i,case_insensitive"`
	Case    *bool  `json:"case_sensitive,omitempty" alias:"caseSensitive"`
	Context int    `json:"context,omitempty" alias:"-C,context_lines" min:"0"`
	Before  int    `json:"before,omitempty" alias:"-B" min:"0"`
	After   int    `json:"after,omitempty" alias:"-A" min:"0"`
	Most    int    `json:"max_results,omitempty" alias:"head_limit,limit,maxResults" min:"0"`
}

func (g guess) input() (any, error) {
	return input{
		Pattern: g.Pattern, Path: g.Path, Filter: g.Filter, IgnoreCase: g.Fold || g.Case != nil && !*g.Case,
		Context: min(g.Context, 50), Before: min(g.Before, 50), After: min(g.After, 50), Most: min(g.Most, 1000),
	}, nil
}
