package walk

import (
	"context"
	"sync"
	"time"
)

// A Cache remembers what the folders of one tree hold, for as long as their
// times of change stay the same: a folder changes when a name in it comes, goes
// or is given to another file. Rules are applied afresh every time, and ignore
// files have marks of their own, since writing one does not change its folder.
// It is safe for concurrent use.
type Cache struct {
	root string
	now  func() time.Time

	mu    sync.RWMutex
	dirs  map[string]remembered[[]Entry]  // guarded by mu
	rules map[string]remembered[*ruleSet] // guarded by mu
}

// NewCache makes an empty cache for the tree at root, an absolute path.
func NewCache(root string) *Cache {
	return &Cache{
		root: root, now: time.Now,
		dirs:  map[string]remembered[[]Entry]{},
		rules: map[string]remembered[*ruleSet]{},
	}
}

// Each is as the function Each, for the tree of the cache.
func (c *Cache) Each(ctx context.Context, o Options, f func(worker int, e Entry)) error {
	return each(ctx, c.root, o, c, f)
}

// List is as the function List, for the tree of the cache.
func (c *Cache) List(ctx context.Context, o Options) ([]Entry, error) {
	return list(ctx, c.root, o, c)
}

// A mark tells one state of a file or folder from another.
type mark struct {
	mtime, size int64
	inode       uint64
}

type remembered[T any] struct {
	value T
	mark  mark
}

// settled reports whether a mark is old enough that a later change must change
// it: clocks of file systems tick slowly, and some keep whole seconds only.
func (c *Cache) settled(m mark) bool {
	tick := 100 * time.Millisecond
	if m.mtime%int64(time.Second) == 0 {
		tick = 2 * time.Second
	}
	return c.now().UnixNano()-m.mtime > int64(tick)
}

func (c *Cache) entries(r *Root, path string, buf []byte) ([]Entry, error) {
	return recall(c, c.dirs, r, path, func() ([]Entry, error) { return r.readDir(path, buf) })
}

func (c *Cache) ruleSet(r *Root, path string) *ruleSet {
	set, _ := recall(c, c.rules, r, path, func() (*ruleSet, error) { return r.readRules(path), nil })
	return set
}

// recall gives what is remembered of path if its mark is still the same, and
// makes and remembers it otherwise. The mark is taken before the value, so a
// change in between is seen the next time.
func recall[T any](c *Cache, in map[string]remembered[T], r *Root, path string, make func() (T, error)) (T, error) {
	m, err := r.changed(path)
	if err != nil {
		var none T
		return none, err
	}
	c.mu.RLock()
	old, ok := in[path]
	c.mu.RUnlock()
	if ok && old.mark == m {
		return old.value, nil
	}
	value, err := make()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.settled(m) {
		in[path] = remembered[T]{value, m}
	} else {
		delete(in, path)
	}
	return value, err
}
