// Package walk lists a project tree as git and ripgrep see it: without what the
// ignore files exclude, without hidden files unless they are asked for, never
// inside the folders of version control systems, and without following links.
//
// The rules of .gitignore files are those of git, byte for byte; .ignore and
// .rgignore files are read too and have the last word, as in ripgrep. Unlike
// ripgrep, .gitignore files count also where there is no repository.
//
// A tree is read through one descriptor of its root and no path that is opened
// may pass through a link, so nothing outside is reached even while somebody
// renames things.
package walk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// Options say what belongs to a tree. The zero value is the default of ripgrep.
type Options struct {
	Hidden  bool // also names that begin with a dot
	Ignored bool // also what ignore files exclude
	Folders bool // also the folders themselves

	// Global is the file of excludes for all repositories, git's
	// core.excludesFile; a leading ~/ stands for Home. Without it
	// .config/git/ignore in Home is read, and nothing when Home is empty too.
	Global string
	Home   string

	Workers int // as many as there are processors when zero
}

// An Entry is a file or, with Options.Folders, a folder of the tree.
type Entry struct {
	Path string      // relative to the root, with slashes
	Type fs.FileMode // the type bits; a link is a link
}

// Tree gives the entries in the order of their paths as bytes, which is git's:
// a folder's entries stand where its name followed by a slash would. What
// cannot be read is given with an error, and the rest follows.
func Tree(ctx context.Context, root string, o Options) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s, err := newScan(root, o, nil)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer s.close()
		s.inOrder(ctx, yield)
	}
}

// Each calls f for every entry from several goroutines at once, in no order;
// worker tells them apart, from zero. It ends early when ctx ends. The error
// joins all that could not be read; the rest was given all the same.
func Each(ctx context.Context, root string, o Options, f func(worker int, e Entry)) error {
	return each(ctx, root, o, nil, f)
}

func each(ctx context.Context, root string, o Options, c *Cache, f func(worker int, e Entry)) error {
	s, err := newScan(root, o, c)
	if err != nil {
		return err
	}
	defer s.close()
	return s.parallel(ctx, f)
}

// List gives all entries in the order of their paths as bytes.
func List(ctx context.Context, root string, o Options) ([]Entry, error) {
	return list(ctx, root, o, nil)
}

func list(ctx context.Context, root string, o Options, c *Cache) ([]Entry, error) {
	found := make([][]Entry, o.workers())
	err := each(ctx, root, o, c, func(worker int, e Entry) { found[worker] = append(found[worker], e) })
	all := slices.Concat(found...)
	slices.SortFunc(all, byPath)
	return all, err
}

// byPath puts folders where their entries begin.
func byPath(a, b Entry) int {
	if a.Type.IsDir() == b.Type.IsDir() {
		return cmp.Compare(a.Path, b.Path)
	}
	return cmp.Compare(a.sortKey(), b.sortKey())
}

func (e Entry) sortKey() string {
	if e.Type.IsDir() {
		return e.Path + "/"
	}
	return e.Path
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// inOrder goes depth first through sorted folders.
func (s *scan) inOrder(ctx context.Context, yield func(Entry, error) bool) {
	todo := []step{{dir: s.top}}
	var found folderEntries
	for len(todo) > 0 && ctx.Err() == nil {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next.give && !yield(next.entry, nil) {
			return
		}
		if next.dir == nil {
			continue
		}
		if err := s.read(next.dir, &found); err != nil && !yield(Entry{Path: next.dir.path, Type: fs.ModeDir}, err) {
			return
		}
		todo = s.push(todo, &found)
	}
	if err := ctx.Err(); err != nil {
		yield(Entry{}, err)
	}
}

// A step of inOrder is an entry to give, a folder to read, or both.
type step struct {
	entry Entry
	give  bool
	dir   *dir
}

// push adds what was found in a folder, last first.
func (s *scan) push(todo []step, found *folderEntries) []step {
	from := len(todo)
	for _, e := range found.files {
		todo = append(todo, step{entry: e, give: true})
	}
	for _, d := range found.dirs {
		todo = append(todo, step{entry: Entry{d.path, fs.ModeDir}, give: s.o.Folders, dir: d})
	}
	slices.SortFunc(todo[from:], func(a, b step) int { return byPath(b.entry, a.entry) })
	return todo
}

// parallel reads folders with several workers that share one stack. Last in,
// first out keeps the stack as short as the tree is deep.
func (s *scan) parallel(ctx context.Context, f func(worker int, e Entry)) error {
	q := &queue{dirs: []*dir{s.top}}
	q.wake.L = &q.mu
	stop := context.AfterFunc(ctx, q.end)
	defer stop()
	var group sync.WaitGroup
	for worker := range s.o.workers() {
		group.Go(func() { s.work(q, func(e Entry) { f(worker, e) }) })
	}
	group.Wait()
	return errors.Join(append(q.errs, ctx.Err())...)
}

func (s *scan) work(q *queue, f func(Entry)) {
	var found folderEntries
	for d := q.take(); d != nil; d = q.take() {
		err := s.read(d, &found)
		if s.o.Folders {
			for _, sub := range found.dirs {
				f(Entry{sub.path, fs.ModeDir})
			}
		}
		q.done(found.dirs, err) // before the files, so that the others have work
		for _, e := range found.files {
			f(e)
		}
	}
}

// A queue holds the folders still to be read. All fields are guarded by mu.
type queue struct {
	mu    sync.Mutex
	wake  sync.Cond
	dirs  []*dir
	busy  int
	ended bool
	errs  []error
}

// take waits for a folder; nil means that there will be none.
func (q *queue) take() *dir {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.dirs) == 0 && q.busy > 0 && !q.ended {
		q.wake.Wait()
	}
	if len(q.dirs) == 0 || q.ended {
		q.wake.Broadcast()
		return nil
	}
	last := len(q.dirs) - 1
	d := q.dirs[last]
	q.dirs = q.dirs[:last]
	q.busy++
	return d
}

// done gives back a folder that was taken, with what was found in it.
func (q *queue) done(more []*dir, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	q.dirs = append(q.dirs, more...)
	const most = 100 // a tree without permission must not fill the memory with errors
	if err != nil && len(q.errs) < most {
		q.errs = append(q.errs, err)
	}
	if len(more) > 0 || q.busy == 0 {
		q.wake.Broadcast()
	}
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake.Broadcast()
}
