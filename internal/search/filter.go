package search

import (
	"fmt"
	"iter"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ikigai/internal/walk"
)

// Filter keeps the files that globs pick, as ripgrep's -g does: one without a
// slash is compared with the last name at any depth, one with a slash with the
// whole path; ** crosses folders, {a,b} is a choice, and a leading exclamation
// mark drops what fits. The last glob that fits decides. A folder that fits
// stands for all that is in it. A file that no glob fits is kept when all globs
// drop.
func Filter(files iter.Seq2[walk.Entry, error], globs ...string) (iter.Seq2[walk.Entry, error], error) {
	var rules []fileGlob
	keep := true
	for _, text := range globs {
		g, err := parseFileGlob(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, g)
		keep = keep && g.drop
	}
	if len(rules) == 0 {
		return files, nil
	}
	return func(yield func(walk.Entry, error) bool) {
		for e, err := range files {
			if (err != nil || picked(rules, e.Path, keep)) && !yield(e, err) {
				return
			}
		}
	}, nil
}

// A fileGlob is one glob of a filter.
type fileGlob struct {
	drop    bool
	path    bool   // compared with the whole path
	pattern string // for doublestar
	ending  string // of a glob that is a star and this
}

func parseFileGlob(text string) (g fileGlob, err error) {
	g.pattern, g.drop = strings.CutPrefix(text, "!")
	g.pattern = strings.TrimSuffix(g.pattern, "/")
	g.path = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	if g.pattern == "" || !doublestar.ValidatePattern(g.pattern) {
		return g, fmt.Errorf("the file filter %q is not a glob", text)
	}
	if ending, ok := strings.CutPrefix(g.pattern, "*"); ok && !g.path && !strings.ContainsAny(ending, `*?[]{}\`) {
		g.ending = ending
	}
	return g, nil
}

func picked(rules []fileGlob, path string, otherwise bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].fits(path) {
			return !rules[i].drop
		}
	}
	return otherwise
}

// fits compares the path and every folder on it.
func (g *fileGlob) fits(path string) bool {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if g.fitsOne(path[:end]) {
			return true
		}
	}
	return false
}

func (g *fileGlob) fitsOne(path string) bool {
	if !g.path {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	if g.ending != "" {
		return strings.HasSuffix(path, g.ending)
	}
	return doublestar.MatchUnvalidated(g.pattern, path)
}

// Files makes a list into what Run and Filter take.
func Files(list []walk.Entry) iter.Seq2[walk.Entry, error] {
	return func(yield func(walk.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}
