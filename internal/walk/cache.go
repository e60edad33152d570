package walk

import (
	"context"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Cache remembers what the folders of one tree hold, for as long as their
// times of change stay the same: a folder changes when a name in it comes, goes
// or is given to another file. Ignore files have marks of their own, since
// writing one does not change its folder, and what was chosen by other rules is
// chosen again. It is safe for concurrent use; a session has one for its root.
// How much it remembers is bounded; what does not fit is read every time.
type Cache struct {
	root  string
	now   func() time.Time
	times *times
	walks atomic.Int64 // how many there were

	mu      sync.RWMutex // guards all that follows
	dirs    map[view]*chosen
	entries int                             // in all of dirs
	swept   int64                           // the walk that last made room
	rules   map[string]remembered[*ruleSet] // by path, those outside the tree by absolute path
}

// A view is a folder as some options show it.
type view struct {
	path            string
	hidden, ignored bool
}

// chosen is what was chosen of a folder, and by which rules. But for used it is
// never changed.
type chosen struct {
	folder
	mark  Mark
	outer *rules       // of the folders above
	dots  []Entry      // the ignore files and repository of this folder, which may change apart
	used  atomic.Int64 // the last walk that came by
}

// NewCache makes an empty cache for the tree at root, an absolute path.
func NewCache(root string) *Cache {
	return &Cache{root: root, now: time.Now, times: newTimes(), dirs: map[view]*chosen{}, rules: map[string]remembered[*ruleSet]{}}
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

// A Mark tells one state of a file or folder from another. The time of the last
// change of any kind is there because the other can be set back.
type Mark struct {
	mtime, ctime, size int64
	inode              uint64
}

type remembered[T any] struct {
	value T
	mark  Mark
}

// Settled reports whether a mark that was taken at that time is old enough that a
// later change must change it: clocks of file systems tick slowly, and some keep
// whole seconds only.
func (m Mark) Settled(taken time.Time) bool {
	tick := 100 * time.Millisecond
	last := max(m.mtime, m.ctime)
	if last%int64(time.Second) == 0 {
		tick = 2 * time.Second
	}
	return taken.UnixNano()-last > int64(tick)
}

// folder gives what is remembered if nothing changed, and reads it otherwise.
// The mark is taken first, so a change in between is seen the next time.
func (c *Cache) folder(s *scan, path string, outer *rules) (folder, error) {
	key := view{path, s.o.Hidden, s.o.Ignored}
	c.mu.RLock()
	old := c.dirs[key]
	c.mu.RUnlock()
	if old != nil && c.holds(s, path, outer, old) {
		old.used.Store(s.number)
		return old.folder, nil
	}
	taken := c.now()
	entries, m, err := s.list(path)
	if err != nil {
		return folder{}, err
	}
	found := &chosen{mark: m, outer: outer, dots: dotted(entries)}
	found.folder = s.choose(entries, s.enter(path, outer, found.dots), entries[:0])
	found.used.Store(s.number)
	c.keep(key, found, m.Settled(taken))
	return found.folder, nil
}

// holds reports whether a folder and all rules for it are still as they were.
func (c *Cache) holds(s *scan, path string, outer *rules, old *chosen) bool {
	m, err := s.tree.glance(path)
	return err == nil && m == old.mark && old.outer.same(outer) && old.rules.same(s.enter(path, old.outer, old.dots))
}

func (c *Cache) keep(key view, found *chosen, settled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	if more := 1 + len(found.entries); settled && c.room(more, found.used.Load()) {
		c.dirs[key] = found
		c.entries += more
	}
}

// drop forgets a folder. The caller holds mu.
func (c *Cache) drop(key view) {
	if old := c.dirs[key]; old != nil {
		c.entries -= 1 + len(old.entries)
		delete(c.dirs, key)
	}
}

// room reports whether so many entries more can be remembered. Once in a walk
// folders are forgotten for it that no walk came by lately. The caller holds mu.
func (c *Cache) room(more int, walk int64) bool {
	const (
		most   = 100_000 // about 8 MB
		lately = 8
	)
	if c.entries+more > most && c.swept != walk {
		c.swept = walk
		for key, d := range c.dirs {
			if d.used.Load() < walk-lately {
				c.drop(key)
			}
		}
	}
	return c.entries+more <= most
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
	taken := c.now()
	m, err := r.glance(path)
	if err != nil {
		return nil
	}
	return c.recall(path, m, m.Settled(taken), func() *ruleSet { return r.readRules(path) })
}

func (c *Cache) outside(path string) *ruleSet {
	taken := c.now()
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	m := markOf(info)
	return c.recall(path, m, m.Settled(taken), func() *ruleSet { return readRules(path) })
}

// recall gives the rules that are remembered of a file if its mark is still the
// same, and reads and remembers them otherwise.
func (c *Cache) recall(path string, m Mark, settled bool, read func() *ruleSet) *ruleSet {
	const most = 10_000 // ignore files
	c.mu.RLock()
	old, ok := c.rules[path]
	c.mu.RUnlock()
	if ok && old.mark == m {
		return old.value
	}
	set := read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rules) >= most {
		clear(c.rules)
	}
	delete(c.rules, path)
	if settled {
		c.rules[path] = remembered[*ruleSet]{set, m}
	}
	return set
}
