package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"ikigai/internal/diff"
)

// A Change is what is different at one path.
type Change struct {
	Root string // the root it is under
	Path string // below the root, with slashes
	From string // for Renamed: the path it had
	What What

	OldMode, NewMode fs.FileMode // with type bits; zero for what is not there
	Added, Removed   int         // lines
	Diff             string      // unified; empty where the content is the same
}

// What says in one word what is different.
type What string

const (
	Added    What = "added"
	Removed  What = "removed"
	Modified What = "modified"
	Renamed  What = "renamed"
	Mode     What = "mode"     // permissions or owner only
	Retyped  What = "replaced" // a link where a file was, and so on
)

// Changes are the differences between two states of a workspace.
type Changes struct {
	List []Change

	// Unknown is what changed but is covered on one side at most, so that nobody
	// can say how.
	Unknown []Uncovered
}

// Diff is what happened between two snapshots. An empty later one stands for
// the workspace as it is now.
func (s *Store) Diff(ctx context.Context, earlier, later string) (Changes, error) {
	unlock, err := s.locked(ctx, false)
	if err != nil {
		return Changes{}, err
	}
	defer unlock()
	before, err := s.Find(earlier)
	if err != nil {
		return Changes{}, err
	}
	var all Changes
	for _, t := range s.trees {
		if _, ok := before.tree(t); !ok {
			continue
		}
		from, err := s.entries(before, t)
		if err != nil {
			return Changes{}, err
		}
		to, err := s.later(ctx, t, later, earlier)
		if err != nil {
			return Changes{}, err
		}
		if err := s.compare(t, from, to, &all); err != nil {
			return Changes{}, err
		}
	}
	return all, nil
}

// later is what a snapshot knows of a tree, or how the tree is now.
func (s *Store) later(ctx context.Context, t *tree, id, earlier string) (map[string]entry, error) {
	if id == "" {
		c, err := s.scan(ctx, t, nil, []string{earlier})
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", t.path, err)
		}
		return c.index.entries(), nil
	}
	snap, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return s.entries(snap, t)
}

// compare adds the differences of one tree.
func (s *Store) compare(t *tree, from, to map[string]entry, into *Changes) error {
	paths := differing(from, to)
	moved := renames(paths, from, to)
	for _, p := range paths {
		old, new := from[p], to[p]
		switch {
		case moved.sources[p]:
			continue
		case old.kind > folder || new.kind > folder:
			into.Unknown = append(into.Unknown, uncovered(t.path, p, cmpKind(new.kind, old.kind), max(old.size, new.size)))
			continue
		case isPlainFolder(old, new) && holdsAny(paths, p):
			continue
		}
		c := Change{Root: t.path, Path: p, What: what(old, new), OldMode: old.fileMode(), NewMode: new.fileMode()}
		if source, ok := moved.targets[p]; ok {
			old = from[source]
			c.What, c.From, c.OldMode = Renamed, source, old.fileMode()
		}
		if err := s.describe(t, &c, old, new); err != nil {
			return err
		}
		into.List = append(into.List, c)
	}
	return nil
}

func cmpKind(a, b kind) kind {
	if a > folder {
		return a
	}
	return b
}

// isPlainFolder reports a folder that only came or went.
func isPlainFolder(old, new entry) bool {
	return old.kind == folder && new.kind == absent || old.kind == absent && new.kind == folder
}

// holdsAny reports whether something below a folder is in the sorted paths: it
// tells of the folder too then.
func holdsAny(paths []string, dir string) bool {
	i, _ := slices.BinarySearch(paths, dir+"/")
	return i < len(paths) && strings.HasPrefix(paths[i], dir+"/")
}

// differing are the paths at which two states differ, in order.
func differing(from, to map[string]entry) []string {
	var paths []string
	for p, e := range from {
		if !e.same(to[p]) {
			paths = append(paths, p)
		}
	}
	for p := range to {
		if _, ok := from[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

type renaming struct {
	targets map[string]string // new path to old path
	sources map[string]bool
}

// renames pairs what is gone with what is new and has the same content. Empty
// files are never paired: they are all alike.
func renames(paths []string, from, to map[string]entry) renaming {
	r := renaming{map[string]string{}, map[string]bool{}}
	gone := map[sum][]string{}
	for _, p := range paths {
		if e := from[p]; e.kind == file && e.size > 0 && to[p].kind == absent {
			gone[e.sum] = append(gone[e.sum], p)
		}
	}
	for _, p := range paths {
		e := to[p]
		candidates := gone[e.sum]
		if e.kind != file || from[p].kind != absent || len(candidates) == 0 {
			continue
		}
		i := max(0, slices.IndexFunc(candidates, func(c string) bool { return path.Base(c) == path.Base(p) }))
		r.targets[p], r.sources[candidates[i]] = candidates[i], true
		gone[e.sum] = slices.Delete(candidates, i, i+1)
	}
	return r
}

func what(old, new entry) What {
	switch {
	case old.kind == absent:
		return Added
	case new.kind == absent:
		return Removed
	case old.kind != new.kind:
		return Retyped
	case old.sum != new.sum:
		return Modified
	}
	return Mode
}

func (e entry) fileMode() fs.FileMode {
	types := map[kind]fs.FileMode{link: fs.ModeSymlink, folder: fs.ModeDir}
	return e.mode | types[e.kind]
}

// describe fills in the lines of a change.
func (s *Store) describe(t *tree, c *Change, old, new entry) error {
	if old.sum == new.sum {
		return nil
	}
	a, err := s.content(t, old)
	if err != nil {
		return err
	}
	b, err := s.content(t, new)
	if err != nil {
		return err
	}
	oldName, newName := "a/"+c.Path, "b/"+c.Path
	if !old.hasContent() {
		oldName = os.DevNull
	}
	if !new.hasContent() {
		newName = os.DevNull
	}
	c.Diff = diff.Unified(oldName, newName, a, b, 3)
	c.Added, c.Removed = diff.Stat(a, b)
	return nil
}

func (e entry) hasContent() bool { return e.kind == file || e.kind == link }

// content is the content of a file or the target of a link: as it was stored,
// or, of what is only there now, as it is on the disk.
func (s *Store) content(t *tree, e entry) ([]byte, error) {
	if !e.hasContent() {
		return nil, nil
	}
	if _, ok := s.library.find(e.sum); ok {
		return s.library.read(e.sum)
	}
	root, err := os.OpenRoot(t.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if e.kind == link {
		target, err := root.Readlink(e.path)
		return []byte(target), err
	}
	return root.ReadFile(e.path)
}

// String is one line for each change.
func (c Changes) String() string {
	var b strings.Builder
	for _, x := range c.List {
		fmt.Fprintf(&b, "%-8s %s", x.What, printable(x.Path))
		if x.From != "" {
			fmt.Fprintf(&b, " (was %s)", printable(x.From))
		}
		if x.Added+x.Removed > 0 {
			fmt.Fprintf(&b, " +%d -%d", x.Added, x.Removed)
		}
		b.WriteByte('\n')
	}
	for _, u := range c.Unknown {
		fmt.Fprintf(&b, "changed  %s (not covered: %s)\n", printable(u.Path), u.Why)
	}
	return b.String()
}

// printable is a path that stays on its line.
func printable(p string) string {
	if q := fmt.Sprintf("%q", p); q != `"`+p+`"` {
		return q
	}
	return p
}

// sorted are the keys of a map, in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
