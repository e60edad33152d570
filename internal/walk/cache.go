package walk

import (
	"context"
	"iter"
	"os"
	"sync"
	"time"
)

// A Cache remembers what the folders of one tree hold, for as long as their
// times of change stay the same: a folder changes when a name in it comes, goes
// or is given to another file. Ignore files have marks of their own, since
// writing one does not change its folder, and what was chosen by other rules is
// chosen again. It is safe for concurrent use; a session has one for its root.
type Cache struct {
	root string
	now  func() time.Time

	mu    sync.RWMutex
	dirs  map[view]*chosen                // guarded by mu
	rules map[string]remembered[*ruleSet] // guarded by mu; by path, those outside the tree by absolute path
}

// A view is a folder as some options show it.
type view struct {
	path            string
	hidden, ignored bool
}

// chosen is what was chosen of a folder, and by which rules. It is never changed.
type chosen struct {
	folder
	mark  mark
	outer *rules  // of the folders above
	dots  []Entry // the ignore files and repository of this folder, which may change apart
}

// NewCache makes an empty cache for the tree at root, an absolute path.
func NewCache(root string) *Cache {
	return &Cache{root: root, now: time.Now, dirs: map[view]*chosen{}, rules: map[string]remembered[*ruleSet]{}}
}

// Root is the tree of the cache.
func (c *Cache) Root() string { return c.root }

// Tree is as the function Tree, for the tree of the cache.
func (c *Cache) Tree(ctx context.Context, o Options) iter.Seq2[Entry, error] {
	return sequence(ctx, c.root, o, c)
}

// Each is as the function Each, for the tree of the cache.
func (c *Cache) Each(ctx context.Context, o Options, f func(worker int, e Entry)) error {
	return each(ctx, c.root, o, c, f)
}

// List is as the function List, for the tree of the cache.
func (c *Cache) List(ctx context.Context, o Options) ([]Entry, error) {
	return list(ctx, c.root, o, c)
}

// A mark tells one state of a file or folder from another. The time of the last
// change of any kind is there because the other can be set back.
type mark struct {
	mtime, ctime, size int64
	inode              uint64
}

type remembered[T any] struct {
	value T
	mark  mark
}

// settled reports whether a mark is old enough that a later change must change
// it: clocks of file systems tick slowly, and some keep whole seconds only.
func (c *Cache) settled(m mark) bool {
	tick := 100 * time.Millisecond
	last := max(m.mtime, m.ctime)
	if last%int64(time.Second) == 0 {
		tick = 2 * time.Second
	}
	return c.now().UnixNano()-last > int64(tick)
}

// folder gives what is remembered if nothing changed, and reads it otherwise.
// The mark is taken first, so a change in between is seen the next time.
func (c *Cache) folder(s *scan, path string, outer *rules) (folder, error) {
	m, err := s.tree.glance(path)
	if err != nil {
		return folder{}, err
	}
	key := view{path, s.o.Hidden, s.o.Ignored}
	c.mu.RLock()
	old := c.dirs[key]
	c.mu.RUnlock()
	if old != nil && old.mark == m && old.outer.same(outer) && old.rules.same(s.enter(path, old.outer, old.dots)) {
		return old.folder, nil
	}
	entries, err := s.list(path)
	if err != nil {
		return folder{}, err
	}
	found := &chosen{mark: m, outer: outer, dots: dotted(entries)}
	found.folder = s.choose(entries, s.enter(path, outer, found.dots), entries[:0])
	c.keep(key, found)
	return found.folder, nil
}

func (c *Cache) keep(key view, found *chosen) {
	const most = 200_000 // folders; those that are gone are still among them
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.dirs) >= most {
		clear(c.dirs)
	}
	if c.settled(found.mark) {
		c.dirs[key] = found
	} else {
		delete(c.dirs, key)
	}
}

// dotted are the entries that bring rules along.
func dotted(entries []Entry) (dots []Entry) {
	for _, e := range entries {
		name := base(e.Path)
		if _, rules := ruleFile(name); rules || name == ".git" {
			dots = append(dots, e)
		}
	}
	return dots
}

func (c *Cache) inside(r *Root, path string) *ruleSet {
	m, err := r.glance(path)
	if err != nil {
		return nil
	}
	return c.recall(path, m, func() *ruleSet { return r.readRules(path) })
}

func (c *Cache) outside(path string) *ruleSet {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return c.recall(path, markOf(info), func() *ruleSet { return readRules(path) })
}

// recall gives the rules that are remembered of a file if its mark is still the
// same, and reads and remembers them otherwise.
func (c *Cache) recall(path string, m mark, read func() *ruleSet) *ruleSet {
	c.mu.RLock()
	old, ok := c.rules[path]
	c.mu.RUnlock()
	if ok && old.mark == m {
		return old.value
	}
	set := read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settled(m) {
		c.rules[path] = remembered[*ruleSet]{set, m}
	} else {
		delete(c.rules, path)
	}
	return set
}
