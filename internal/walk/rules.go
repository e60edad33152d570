package walk

import (
	"os"
	"path/filepath"
	"strings"
)

// A source is a kind of ignore file. Of two kinds that both have something to
// say about a name the lower one decides, wherever the files lie.
type source uint8

const (
	fromRgignore source = iota
	fromIgnore
	fromGitignore
	fromExclude // .git/info/exclude
	fromGlobal  // core.excludesFile
	sources
)

// ruleFile is the source that is kept in a file of that name in the tree.
func ruleFile(name string) (source, bool) {
	switch name {
	case ".rgignore":
		return fromRgignore, true
	case ".ignore":
		return fromIgnore, true
	case ".gitignore":
		return fromGitignore, true
	}
	return 0, false
}

// verdict is what rules say of a name.
type verdict uint8

const (
	undecided verdict = iota
	ignored
	included // by a rule that begins with an exclamation mark
)

// folderRules are the rules one folder brings along.
type folderRules struct {
	repository bool // it is the top of a repository: no git rule from above it counts below
	sets       [sources]*ruleSet
}

func (f folderRules) empty() bool { return f == folderRules{} }

// rules are those of a folder and of all above it, a list from the innermost out.
// A nil *rules is the empty list.
type rules struct {
	folderRules
	dir   string // the folder, relative to the root of the walk, with a slash behind it; empty for the root
	up    string // for a folder above the root: the way from it down to the root, with a slash behind it
	outer *rules
}

// with adds the rules of the folder at path.
func (r *rules) with(path string, own folderRules) *rules {
	if own.empty() {
		return r
	}
	if path != "" {
		path += "/"
	}
	return &rules{folderRules: own, dir: path, outer: r}
}

// judge asks each source in turn, and within it the innermost folder first.
func (r *rules) judge(path, name string, folder bool) verdict {
	for src := range sources {
		for at := r; at != nil; at = at.outer {
			if set := at.sets[src]; set != nil {
				if v := set.judge(at.relative(path), name, folder); v != undecided {
					return v
				}
			}
			if at.repository && src >= fromGitignore && src != fromGlobal {
				break
			}
		}
	}
	return undecided
}

// same reports whether both lists say the same of everything.
func (r *rules) same(other *rules) bool {
	for r != other {
		if r == nil || other == nil || r.folderRules != other.folderRules || r.dir != other.dir || r.up != other.up {
			return false
		}
		r, other = r.outer, other.outer
	}
	return true
}

// relative is path as the folder of the rules sees it.
func (r *rules) relative(path string) string {
	if r.up != "" {
		return r.up + path
	}
	return path[len(r.dir):]
}

// above collects what counts before the walk begins: the global excludes and,
// when the root lies inside a repository, the ignore files from its top down.
func (s *scan) above(root string) *rules {
	dir, way := repository(root)
	global := folderRules{}
	global.sets[fromGlobal] = s.outside(globalFile(s.o))
	r := (*rules)(nil).over(way, global)
	for i, name := range way {
		r = r.over(way[i:], s.rulesIn(dir, i == 0))
		dir = filepath.Join(dir, name)
	}
	return r
}

// over adds the rules of a folder from which way leads down to the root.
func (r *rules) over(way []string, own folderRules) *rules {
	if own.empty() {
		return r
	}
	up := ""
	if len(way) > 0 {
		up = strings.Join(way, "/") + "/"
	}
	return &rules{folderRules: own, up: up, outer: r}
}

// rulesIn reads the ignore files of a folder outside the tree.
func (s *scan) rulesIn(dir string, top bool) folderRules {
	own := folderRules{repository: top}
	if top {
		own.sets[fromExclude] = s.outside(excludeFile(dir))
	}
	for _, name := range []string{".rgignore", ".ignore", ".gitignore"} {
		k, _ := ruleFile(name)
		own.sets[k] = s.outside(filepath.Join(dir, name))
	}
	return own
}

// repository finds the top of the repository that root lies in, and the names
// from there down to root; none when root is itself a top or in no repository.
func repository(root string) (top string, way []string) {
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			rel, _ := filepath.Rel(dir, root)
			if rel == "." {
				return dir, nil
			}
			return dir, strings.Split(filepath.ToSlash(rel), "/")
		}
		if dir == filepath.Dir(dir) {
			return root, nil
		}
	}
}

// excludeFile is the info/exclude of the repository whose top is dir, or nothing.
func excludeFile(dir string) string {
	git := filepath.Join(dir, ".git")
	if line, ok := firstLine(git); ok { // a worktree or submodule keeps its repository elsewhere
		git = resolve(dir, strings.TrimPrefix(line, "gitdir: "))
		if common, ok := firstLine(filepath.Join(git, "commondir")); ok {
			git = resolve(git, common)
		}
	}
	return filepath.Join(git, "info", "exclude")
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func firstLine(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r"), err == nil && line != ""
}

func globalFile(o Options) string {
	if rest, ok := strings.CutPrefix(o.Global, "~/"); ok {
		return filepath.Join(o.Home, rest)
	}
	if o.Global == "" && o.Home != "" {
		return filepath.Join(o.Home, ".config", "git", "ignore")
	}
	return o.Global
}

// readRules parses an ignore file outside the tree; nil when there is none.
func readRules(path string) *ruleSet {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseRules(data)
}
