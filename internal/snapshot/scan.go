package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ikigai/internal/walk"
)

// A scan is one look at a tree.
type scan struct {
	*Store
	tree  *tree
	start time.Time
	old   *index
	index *index // the outcome; the old one when nothing is different
	rules sum

	look  looker
	root  *walk.Root
	seen  []bool // which of the old records still hold; each is set by one worker
	fresh []record
}

// scan looks at a tree and reads what is new. Contents go to pack unless it is
// nil. What bases cover is looked at wherever it is.
func (s *Store) scan(ctx context.Context, t *tree, pack *packer, bases []string) (*scan, error) {
	if err := s.recall(t); err != nil {
		return nil, err
	}
	c := &scan{Store: s, tree: t, start: time.Now(), old: t.index, seen: make([]bool, len(t.index.records))}
	c.rules = outsideRules(t.path, s.o.walkOptions())
	var err error
	if c.look, err = newLooker(t.path); err != nil {
		return nil, err
	}
	defer c.look.close()
	if c.root, err = walk.OpenRoot(t.path); err != nil {
		return nil, err
	}
	defer c.root.Close()
	if err := c.walk(ctx); err != nil {
		return nil, err
	}
	if err := c.revisit(bases); err != nil {
		return nil, err
	}
	if len(c.fresh) == 0 && !slices.Contains(c.seen, false) && c.old.manifest != (sum{}) {
		c.index = c.old
		return c, nil
	}
	return c, c.read(ctx, pack)
}

func (o Options) walkOptions() walk.Options {
	return walk.Options{Hidden: true, Folders: true, Global: o.Global, Home: o.Home}
}

// walk looks at everything that is not ignored.
func (c *scan) walk(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	found := make([]finds, runtime.GOMAXPROCS(0))
	own := c.ownFolders()
	err := c.tree.each(ctx, c.o.walkOptions(), func(worker int, e walk.Entry) {
		if own.hold(e.Path) {
			return
		}
		f := &found[worker]
		if isScrap(e.Path) {
			f.scraps = append(f.scraps, e.Path)
			return
		}
		if f.count++; f.count > c.o.MaxFiles {
			stop(fmt.Errorf("%w: more than %d in %s", ErrTooMany, c.o.MaxFiles, c.tree.path))
		}
		c.visit(e.Path, f)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	total := 0
	c.tree.scraps = nil
	for i := range found {
		c.tree.scraps = append(c.tree.scraps, found[i].scraps...)
		c.fresh = append(c.fresh, found[i].fresh...)
		total += found[i].count
	}
	if total > c.o.MaxFiles {
		return fmt.Errorf("%w: %d in %s, at most %d", ErrTooMany, total, c.tree.path, c.o.MaxFiles)
	}
	return c.unlisted(err)
}

// each walks the tree. The first walk of a process has nothing to remember, and
// it may be the only one, so it does not pay for remembering.
func (t *tree) each(ctx context.Context, o walk.Options, f func(worker int, e walk.Entry)) error {
	if !t.walked {
		t.walked = true
		return walk.Each(ctx, t.path, o, f)
	}
	return t.cache.Each(ctx, o, f)
}

// finds is what one worker found. The padding keeps two workers off one cache line.
type finds struct {
	fresh  []record
	scraps []string
	count  int
	_      [64]byte
}

func (c *scan) visit(path string, f *finds) {
	st, err := c.look.look(path)
	if err != nil {
		return // it went away meanwhile
	}
	if st.mode.IsDir() {
		st.size, st.mtime, st.ctime = 0, 0, 0 // they tell of what is in it
	}
	if i, ok := c.old.at[path]; ok && c.old.records[i].settled && c.old.records[i].stamp == st {
		c.seen[i] = true
		return
	}
	f.fresh = append(f.fresh, newRecord(path, st))
}

// unlisted turns folders that could not be listed into entries that are not
// covered. What was known to be in them is unknown now, not gone.
func (c *scan) unlisted(err error) error {
	if err == nil {
		return nil
	}
	if _, e := os.ReadDir(c.tree.path); e != nil {
		return e
	}
	for i := range len(c.fresh) { // more are added meanwhile
		if r := c.fresh[i]; r.kind == folder && !c.listable(r.path) {
			c.shut(&r)
			c.fresh[i] = r
		}
	}
	for i, ok := range c.seen {
		if r := c.old.records[i]; ok && r.kind == folder && !c.listable(r.path) {
			c.seen[i] = false
			c.shut(&r)
			c.fresh = append(c.fresh, r)
		}
	}
	return nil
}

func (c *scan) shut(r *record) {
	r.refuse(unreadable)
	r.mode |= fs.ModeDir
	r.settled = false
	for i := range c.old.records {
		if in := c.old.records[i]; strings.HasPrefix(in.path, r.path+"/") && !in.stamp.mode.IsDir() {
			in.refuse(unreadable)
			in.settled = false
			c.fresh, c.seen[i] = append(c.fresh, in), false
		}
	}
}

func (c *scan) listable(path string) bool {
	f, err := os.Open(filepath.Join(c.tree.path, path))
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err == nil || err == io.EOF
}

// folders are paths inside a tree.
type folders []string

// ownFolders are those of the store itself and of Options.Skip that lie inside
// the tree.
func (s *scan) ownFolders() folders {
	var own folders
	for _, f := range append([]string{s.o.Folder}, s.o.Skip...) {
		if rel, err := filepath.Rel(s.tree.path, f); err == nil && filepath.IsLocal(rel) {
			own = append(own, filepath.ToSlash(rel))
		}
	}
	return own
}

func (f folders) hold(path string) bool {
	for _, folder := range f {
		if within(path, folder) {
			return true
		}
	}
	return false
}

func within(path, folder string) bool {
	return folder == "." || path == folder || strings.HasPrefix(path, folder) && path[len(folder)] == '/'
}

// revisit looks at paths that the walk may have left out: what bases cover, and
// what is covered although it is ignored.
func (c *scan) revisit(bases []string) error {
	if len(bases) == 0 && len(c.o.Also) == 0 {
		return nil
	}
	visited := make(map[string]bool, len(c.fresh))
	for i := range c.fresh {
		visited[c.fresh[i].path] = true
	}
	real := realFolders{look: c.look, known: map[string]bool{}}
	var f finds
	visit := func(path string) {
		if i, ok := c.old.at[path]; ok && c.seen[i] || visited[path] || !real.holds(path) {
			return
		}
		visited[path] = true
		c.visit(path, &f)
	}
	for _, id := range bases {
		if err := c.eachPath(id, visit); err != nil {
			return err
		}
	}
	for _, path := range c.o.Also {
		c.also(path, visit)
	}
	c.fresh = append(c.fresh, f.fresh...)
	return nil
}

// eachPath gives the paths that a snapshot has in this tree. Mostly it is the
// snapshot that the old index was made for, and nothing needs to be read.
func (c *scan) eachPath(id string, f func(path string)) error {
	snap, err := c.Find(id)
	if err != nil {
		return err
	}
	t, ok := snap.tree(c.tree)
	if !ok {
		return nil
	}
	if t.Manifest == c.old.manifest {
		for i := range c.old.records {
			f(c.old.records[i].path)
		}
		return nil
	}
	entries, err := c.entries(snap, c.tree)
	for path := range entries {
		f(path)
	}
	return err
}

// also visits a path that is covered although it is ignored, the folders above
// it and all below it.
func (c *scan) also(path string, visit func(string)) {
	path = filepath.ToSlash(filepath.Clean(path))
	if !filepath.IsLocal(path) || path == "." {
		return
	}
	for i := range path {
		if path[i] == '/' {
			visit(path[:i])
		}
	}
	visit(path)
	o := walk.Options{Hidden: true, Ignored: true, Folders: true}
	below, _ := walk.List(context.Background(), filepath.Join(c.tree.path, path), o) // a file has nothing below it
	for _, e := range below {
		visit(path + "/" + e.Path)
	}
}

// realFolders tells whether a path leads through folders only, never a link.
type realFolders struct {
	look  looker
	known map[string]bool
}

func (r realFolders) holds(path string) bool {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return true
	}
	dir := path[:i]
	ok, known := r.known[dir]
	if !known {
		st, err := r.look.look(dir)
		ok = err == nil && st.mode.IsDir() && r.holds(dir)
		r.known[dir] = ok
	}
	return ok
}

// read reads what is new and makes the new index.
func (c *scan) read(ctx context.Context, pack *packer) error {
	if pack != nil {
		if err := c.library.refresh(); err != nil {
			return err
		}
	}
	records := make([]record, 0, len(c.fresh)+len(c.old.records))
	var total int64
	for i, ok := range c.seen {
		if r := c.old.records[i]; ok {
			records = append(records, r)
			if r.kind == file {
				total += r.size
			}
		}
	}
	slices.SortFunc(c.fresh, func(a, b record) int { return strings.Compare(a.path, b.path) })
	for i := range c.fresh {
		c.admit(&c.fresh[i], &total)
	}
	if err := c.readAll(ctx, pack); err != nil {
		return err
	}
	for _, r := range c.fresh {
		if r.kind != absent {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b record) int { return strings.Compare(a.path, b.path) })
	c.index = newIndex(records)
	return nil
}

// admit decides what is covered before anything is read.
func (c *scan) admit(r *record, total *int64) {
	if r.kind == unreadable {
		return
	}
	r.settled = c.settledAt(r.stamp)
	if r.kind != file {
		return
	}
	switch {
	case r.size > c.o.MaxFile:
		r.refuse(large)
	case *total+r.size > c.o.MaxTotal:
		r.refuse(excess)
		r.settled = false // there may be room the next time
	default:
		*total += r.size
	}
}

// settledAt reports whether a later change must change the stamp: clocks of
// file systems tick slowly, and some keep whole seconds only.
func (c *scan) settledAt(s stamp) bool {
	tick := 100 * time.Millisecond
	if s.ctime%int64(time.Second) == 0 {
		tick = 2 * time.Second
	}
	return c.start.UnixNano()-s.ctime > int64(tick)
}

// describe stores the manifest of the index, as what is different from the last
// one where that is shorter.
func (c *scan) describe(pack *packer) error {
	if c.index == c.old {
		return nil
	}
	const deepest = 50 // a snapshot is read through that many manifests at most
	m := between(c.old.manifest, c.old.records, c.index.records)
	whole := c.old.manifest == (sum{}) || c.old.depth >= deepest || 4*(len(m.entries)+len(m.removed)) > len(c.index.records)
	if !whole && len(m.entries)+len(m.removed) == 0 {
		c.index.manifest, c.index.depth = c.old.manifest, c.old.depth
		return nil
	}
	if whole {
		m = between(sum{}, nil, c.index.records)
	} else {
		c.index.depth = c.old.depth + 1
	}
	var err error
	c.index.manifest, err = pack.keep(m.encode())
	return err
}

// entries is what a snapshot knows of a tree; nothing when it does not know the tree.
func (s *Store) entries(snap Snapshot, of *tree) (map[string]entry, error) {
	t, ok := snap.tree(of)
	if !ok {
		return nil, nil
	}
	if err := s.library.refresh(); err != nil {
		return nil, err
	}
	entries, err := s.library.manifest(t.Manifest)
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %s: %w", snap.ID, err)
	}
	return entries, nil
}

func (snap Snapshot) tree(of *tree) (Tree, bool) {
	i := slices.IndexFunc(snap.Trees, func(t Tree) bool { return t.Key == of.key })
	if i < 0 {
		return Tree{}, false
	}
	return snap.Trees[i], true
}

// outsideRules is a sum of the ignore files that count for the tree and are no
// part of it.
func outsideRules(root string, o walk.Options) sum {
	global := cmp.Or(o.Global, filepath.Join(o.Home, ".config", "git", "ignore"))
	if rest, ok := strings.CutPrefix(global, "~/"); ok {
		global = filepath.Join(o.Home, rest)
	}
	names := []string{global, filepath.Join(root, ".git", "info", "exclude")}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		names = append(names, filepath.Join(dir, ".git", "info", "exclude"))
		for _, n := range ignoreFiles {
			names = append(names, filepath.Join(dir, n))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	h := sha256.New()
	for _, name := range names {
		raw, _ := os.ReadFile(name) // as for the walk: one that cannot be read has no rules
		fmt.Fprintf(h, "%d\n", len(raw))
		h.Write(raw)
	}
	return sum(h.Sum(nil))
}

// ignoreFiles are the names of files with ignore rules, as walk knows them.
var ignoreFiles = []string{".gitignore", ".ignore", ".rgignore"}
