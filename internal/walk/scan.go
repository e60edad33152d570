package walk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A scan is one walk through a tree.
type scan struct {
	o      Options
	tree   *Root
	cache  *Cache    // nil: everything is read afresh
	number int64     // of the walk, of those through the cache
	top    *rules    // what counts before the walk begins
	lists  sync.Pool // of *lister
}

// A folder is what belongs to the tree of what is in one folder.
type folder struct {
	entries []Entry // in order; not to be changed
	folders int     // how many of them are folders
	rules   *rules  // for what is below
}

func newScan(root string, o Options, c *Cache) (*scan, error) {
	tree, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	s := &scan{o: o, tree: tree, cache: c}
	if c != nil {
		s.number = c.walks.Add(1)
	}
	s.lists.New = func() any { return new(lister) }
	if !o.Ignored {
		s.top = s.above(root)
	}
	return s, nil
}

func (s *scan) close() { s.tree.Close() }

// read gives what the folder holds. Folders that vanish meanwhile are no error:
// they are not there.
func (s *scan) read(path string, outer *rules) (f folder, err error) {
	if s.cache != nil {
		f, err = s.cache.folder(s, path, outer)
	} else {
		f, err = s.readAfresh(path, outer)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != "":
		return folder{}, nil
	case err != nil:
		err = fmt.Errorf("reading folder %s: %w", cmp.Or(path, "."), err)
	}
	return f, err
}

func (s *scan) readAfresh(path string, outer *rules) (folder, error) {
	entries, _, err := s.list(path)
	if err != nil {
		return folder{}, err
	}
	return s.choose(entries, s.enter(path, outer, entries), entries[:0]), nil
}

// list gives what is in a folder, and its mark before it was read.
func (s *scan) list(path string) ([]Entry, Mark, error) {
	l := s.lists.Get().(*lister)
	defer s.lists.Put(l)
	return s.tree.readDir(path, l)
}

// choose adds to chosen the entries that belong to the tree.
func (s *scan) choose(entries []Entry, rules *rules, chosen []Entry) folder {
	f := folder{rules: rules}
	for _, e := range entries {
		isFolder := e.Type.IsDir()
		name := base(e.Path)
		if isVersionControl(name) || !s.wanted(rules, e.Path, name, isFolder) {
			continue
		}
		chosen = append(chosen, e)
		if isFolder {
			f.folders++
		}
	}
	if len(chosen) > 1 {
		same := len(chosen[0].Path) - len(base(chosen[0].Path)) // the way to the folder
		slices.SortFunc(chosen, func(a, b Entry) int {
			return byPath(Entry{a.Path[same:], a.Type}, Entry{b.Path[same:], b.Type})
		})
	}
	f.entries = chosen
	return f
}

// wanted decides about one name. A rule that re-includes a hidden name makes it
// visible.
func (s *scan) wanted(r *rules, path, name string, folder bool) bool {
	v := undecided
	if !s.o.Ignored {
		v = r.judge(path, name, folder)
	}
	switch v {
	case ignored:
		return false
	case included:
		return true
	}
	return s.o.Hidden || name[0] != '.'
}

// enter adds the rules that the folder brings along.
func (s *scan) enter(path string, outer *rules, entries []Entry) *rules {
	if s.o.Ignored {
		return nil
	}
	var own folderRules
	for _, e := range entries {
		name := base(e.Path)
		if name[0] != '.' {
			continue
		}
		if name == ".git" {
			own.repository = true
			own.sets[fromExclude] = s.outside(excludeFile(filepath.Join(s.tree.path, path)))
		} else if k, ok := ruleFile(name); ok && e.Type.IsRegular() {
			own.sets[k] = s.inside(e.Path)
		}
	}
	return outer.with(path, own)
}

// inside reads an ignore file of the tree. One that cannot be read has no
// rules: the walk shows more then, never less.
func (s *scan) inside(path string) *ruleSet {
	if s.cache != nil {
		return s.cache.inside(s.tree, path)
	}
	return s.tree.readRules(path)
}

// outside reads an ignore file anywhere; nil when there is none.
func (s *scan) outside(path string) *ruleSet {
	if s.cache != nil {
		return s.cache.outside(path)
	}
	return readRules(path)
}

func (r *Root) readRules(path string) *ruleSet {
	data, err := r.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseRules(data)
}

func isVersionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".bzr":
		return true
	}
	return false
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
