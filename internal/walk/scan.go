package walk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

// A scan is one walk through a tree.
type scan struct {
	o     Options
	tree  *Root
	cache *Cache // nil: everything is read afresh
	top   *dir
	bufs  sync.Pool // of *[]byte, for reading folders
}

// A dir is a folder still to be read.
type dir struct {
	path  string // relative to the root; empty for the root itself
	rules *rules // of the folders above it
}

// folderEntries is what belongs to the tree of what is in one folder.
type folderEntries struct {
	files []Entry
	dirs  []*dir
}

func newScan(root string, o Options, c *Cache) (*scan, error) {
	tree, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	s := &scan{o: o, tree: tree, cache: c, top: &dir{}}
	s.bufs.New = func() any { b := make([]byte, 32<<10); return &b }
	if !o.Ignored {
		s.top.rules = above(root, o)
	}
	return s, nil
}

func (s *scan) close() { s.tree.Close() }

// read fills found with what the folder holds. Names that vanish meanwhile are
// no error: they are not there.
func (s *scan) read(d *dir, found *folderEntries) error {
	found.files, found.dirs = found.files[:0], found.dirs[:0]
	entries, err := s.entries(d.path)
	if err != nil {
		return fmt.Errorf("reading folder %s: %w", cmp.Or(d.path, "."), err)
	}
	rules := s.enter(d, entries)
	for _, e := range entries {
		name := base(e.Path)
		folder := e.Type.IsDir()
		if isVersionControl(name) || !s.wanted(rules, e.Path, name, folder) {
			continue
		}
		if folder {
			found.dirs = append(found.dirs, &dir{e.Path, rules})
		} else {
			found.files = append(found.files, e)
		}
	}
	return nil
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
func (s *scan) enter(d *dir, entries []Entry) *rules {
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
			own.sets[fromExclude] = readRules(excludeFile(filepath.Join(s.tree.path, d.path)))
		} else if k, ok := ruleFile(name); ok && e.Type.IsRegular() {
			own.sets[k] = s.ruleSet(e.Path)
		}
	}
	return d.rules.with(d.path, own)
}

func (s *scan) entries(path string) ([]Entry, error) {
	buf := s.bufs.Get().(*[]byte)
	defer s.bufs.Put(buf)
	if s.cache != nil {
		return s.cache.entries(s.tree, path, *buf)
	}
	return s.tree.readDir(path, *buf)
}

func (s *scan) ruleSet(path string) *ruleSet {
	if s.cache != nil {
		return s.cache.ruleSet(s.tree, path)
	}
	return s.tree.readRules(path)
}

// readRules parses an ignore file of the tree. One that cannot be read has no
// rules: the walk shows more then, never less.
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
