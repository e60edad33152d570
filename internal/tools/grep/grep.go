// Package grep is the tool that finds lines in files.
package grep

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/search"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tree"
	"ikigai/internal/walk"
)

// usual is how many matches are shown when nobody says how many.
const usual = 200

type input struct {
	Pattern    string `json:"pattern" doc:"What to find" alias:"regex"`
	Path       string `json:"path,omitempty" doc:"File or folder" format:"path" alias:"dir,directory,folder"`
	Mode       string `json:"mode,omitempty" doc:"Default regex (RE2); wildcard: * is any text" enum:"regex,literal,wildcard"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty" doc:"Lines around a match" min:"0" max:"50"`
	Filter     string `json:"file_filter,omitempty" doc:"Glob of files" alias:"include,glob"`
	Most       int    `json:"max_results,omitempty" doc:"Default 200" min:"1" max:"1000"`
	Hidden     bool   `json:"include_hidden,omitempty"`
	Ignored    bool   `json:"include_ignored,omitempty" doc:"What .gitignore excludes" alias:"ignore_gitignore"`
	Before     int    `json:"before,omitempty" hidden:"true" min:"0" max:"50"`
	After      int    `json:"after,omitempty" hidden:"true" min:"0" max:"50"`
	Flags      bool   `json:"show_flags,omitempty" hidden:"true"`
}

type output struct {
	toolkit.Shown
	Count   int `json:"count"`
	Private int `json:"private_files_skipped,omitempty" doc:"Files that may hold secrets; name one to ask for it"`
}

// Tool finds the lines that match a pattern.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "grep",
	Doc:     "Search file contents.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	where := cmp.Or(in.Path, ".")
	return toolkit.Reading(at, where, fmt.Sprintf("search %q in %s", in.Pattern, where))
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	q, err := in.query()
	if err != nil {
		return output{}, tool.Errorf(tool.InvalidPattern, "%q is no pattern to search for: %w", in.Pattern, err)
	}
	place, err := in.place(ctx, at.Files.With(g), at.Memo)
	if err != nil {
		return output{}, err
	}
	private := 0
	if at.Private != nil && place.walked {
		place.files = public(place, at.Private, &private)
	}
	hits, err := q.Run(ctx, place.root, place.files, in.limits(), sketches(at.Memo))
	if err != nil {
		return output{}, err
	}
	if hits.Searched == 0 && len(hits.Problems) > 0 {
		return output{}, tool.Errorf("READ_ERROR", "searching %s: %w", cmp.Or(in.Path, "."), hits.Problems[0])
	}
	return output{Shown: toolkit.Show(at, in.text(hits, place.prefix)), Count: hits.Matches, Private: private}, nil
}

// sketches are what the session knows of files that were searched before.
func sketches(m *tool.Memo) *search.Sketches {
	if m == nil {
		return nil
	}
	return tool.Remember(m, sketchesKey{}, search.NewSketches)
}

type sketchesKey struct{}

// public leaves out files that may hold secrets, and counts them.
func public(p place, private func(real string) bool, n *int) iter.Seq2[walk.Entry, error] {
	return func(yield func(walk.Entry, error) bool) {
		for e, err := range p.files {
			if err == nil && private(filepath.Join(p.root, filepath.FromSlash(e.Path))) {
				*n++
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (in input) query() (*search.Query, error) {
	if in.Pattern == "" {
		return nil, fmt.Errorf("it is empty")
	}
	return search.Compile(in.Pattern, search.Options{
		Literal: in.Mode == "literal", Wildcard: in.Mode == "wildcard", IgnoreCase: in.IgnoreCase,
	})
}

func (in input) limits() search.Limits {
	return search.Limits{Max: cmp.Or(in.Most, usual), Before: max(in.Context, in.Before), After: max(in.Context, in.After)}
}

// A place is where to search: the files below a root, and what stands before
// their names in the answer.
type place struct {
	root   string
	prefix string
	files  iter.Seq2[walk.Entry, error]
	walked bool // a folder, not a file that was named
}

func (in input) place(ctx context.Context, files tool.Files, memo *tool.Memo) (place, error) {
	name := cmp.Or(in.Path, ".")
	info, err := files.Stat(name)
	if err != nil {
		return place{}, toolkit.Missing(err, name)
	}
	real, err := files.Locate(name)
	if err != nil {
		return place{}, err
	}
	if !info.IsDir() {
		return single(name, real, info)
	}
	list := tree.Walk(ctx, memo, real, tree.Options{Hidden: in.Hidden, Ignored: in.Ignored})
	if in.Filter != "" {
		if list, err = search.Filter(list, in.Filter); err != nil {
			return place{}, tool.Errorf(tool.InvalidPattern, "%w", err)
		}
	}
	return place{real, in.Path, list, true}, nil
}

// single is a file that was named: neither its name nor rules keep it out.
func single(name, real string, info fs.FileInfo) (place, error) {
	if !info.Mode().IsRegular() {
		return place{}, tool.Errorf(tool.InvalidPath, "%s is no regular file", name)
	}
	one := walk.Entry{Path: filepath.Base(real), Type: info.Mode().Type()}
	return place{filepath.Dir(real), path.Dir(filepath.ToSlash(name)), search.Files([]walk.Entry{one}), false}, nil
}

// text shows the hits as grep does: file:line: match, and file-line- for context.
func (in input) text(h search.Hits, prefix string) string {
	var b strings.Builder
	if in.Flags {
		b.WriteString(in.flags(h) + "\n")
	}
	groups := in.limits().Before > 0 || in.limits().After > 0
	for i, l := range h.Lines {
		if i > 0 && groups && (l.Path != h.Lines[i-1].Path || l.Number != h.Lines[i-1].Number+1) {
			b.WriteString("--\n")
		}
		form := "%s:%d: %s\n"
		if !l.Match {
			form = "%s-%d- %s\n"
		}
		fmt.Fprintf(&b, form, path.Join(prefix, l.Path), l.Number, clean.Model(l.Text))
	}
	if h.Truncated {
		fmt.Fprintf(&b, "[... more than %d matches: narrow the pattern or raise max_results]\n", h.Matches)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// flags is the line that says how many matches there are and what was let in.
func (in input) flags(h search.Hits) string {
	said := fmt.Sprintf("%d matches in %d files", h.Matches, h.Files)
	if in.Hidden {
		said += " [+hidden]"
	}
	if in.Ignored {
		said += " [+gitignored]"
	}
	return said
}

// Summary says how many there are.
func (o output) Summary() string {
	if o.Count == 1 {
		return "1 match found"
	}
	return fmt.Sprintf("%d matches found", o.Count)
}
