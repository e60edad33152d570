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
	return sequence(ctx, root, o, nil)
}

func sequence(ctx context.Context, root string, o Options, c *Cache) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s, err := newScan(root, o, c)
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
	_, err = s.parallel(ctx, f)
	return err
}

// List gives all entries in the order of their paths as bytes.
func List(ctx context.Context, root string, o Options) ([]Entry, error) {
	return list(ctx, root, o, nil)
}

func list(ctx context.Context, root string, o Options, c *Cache) ([]Entry, error) {
	s, err := newScan(root, o, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	top, err := s.parallel(ctx, nil)
	return top.flatten(make([]Entry, 0, top.size(o.Folders)), o.Folders), err
}

// byPath puts folders where their entries begin: as if a slash followed.
func byPath(a, b Entry) int {
	n := min(len(a.Path), len(b.Path))
	if c := cmp.Compare(a.Path[:n], b.Path[:n]); c != 0 {
		return c
	}
	return cmp.Compare(a.byteAt(n), b.byteAt(n))
}

func (e Entry) byteAt(i int) int {
	switch {
	case i < len(e.Path):
		return int(e.Path[i])
	case e.Type.IsDir():
		return '/'
	}
	return -1
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// inOrder goes depth first through sorted folders.
func (s *scan) inOrder(ctx context.Context, yield func(Entry, error) bool) {
	if s.below(ctx, "", s.top, yield) && ctx.Err() != nil {
		yield(Entry{}, ctx.Err())
	}
}

// below gives what is in one folder; false ends the walk.
func (s *scan) below(ctx context.Context, path string, outer *rules, yield func(Entry, error) bool) bool {
	f, err := s.read(path, outer)
	if err != nil {
		return yield(Entry{Path: path, Type: fs.ModeDir}, err)
	}
	for _, e := range f.entries {
		if ctx.Err() != nil {
			return true
		}
		if folder := e.Type.IsDir(); (!folder || s.o.Folders) && !yield(e, nil) || folder && !s.below(ctx, e.Path, f.rules, yield) {
			return false
		}
	}
	return true
}

// A node is a folder of the tree, to be read or read.
type node struct {
	path  string
	outer *rules // of the folders above it
	files []Entry
	below []node // its folders, in order
}

// size is how many entries there are.
func (n *node) size(folders bool) int {
	size := len(n.files)
	if !folders {
		size -= len(n.below)
	}
	for i := range n.below {
		size += n.below[i].size(folders)
	}
	return size
}

// flatten adds all entries in order.
func (n *node) flatten(list []Entry, folders bool) []Entry {
	next := 0
	for _, e := range n.files {
		if !e.Type.IsDir() {
			list = append(list, e)
			continue
		}
		if folders {
			list = append(list, e)
		}
		list = n.below[next].flatten(list, folders)
		next++
	}
	return list
}

// parallel reads folders with several workers that share one stack. Last in,
// first out keeps the stack as short as the tree is deep. Each entry is given
// to f, if there is one.
func (s *scan) parallel(ctx context.Context, f func(worker int, e Entry)) (*node, error) {
	top := &node{outer: s.top}
	q := &queue{nodes: []*node{top}}
	q.wake.L = &q.mu
	stop := context.AfterFunc(ctx, q.end)
	defer stop()
	var group sync.WaitGroup
	for worker := range s.o.workers() {
		group.Go(func() { s.work(q, worker, f) })
	}
	group.Wait()
	return top, errors.Join(append(q.errs, ctx.Err())...)
}

func (s *scan) work(q *queue, worker int, f func(int, Entry)) {
	for n := q.take(); n != nil; n = q.take() {
		found, err := s.read(n.path, n.outer)
		n.add(found)
		q.done(n.below, err) // before the files, so that the others have work
		for _, e := range n.files {
			if f != nil && (s.o.Folders || !e.Type.IsDir()) {
				f(worker, e)
			}
		}
		if f != nil {
			n.files, n.below = nil, nil // nobody will ask
		}
	}
}

func (n *node) add(f folder) {
	n.files = f.entries
	n.below = make([]node, 0, f.folders)
	for _, e := range f.entries {
		if e.Type.IsDir() {
			n.below = append(n.below, node{path: e.Path, outer: f.rules})
		}
	}
}

// A queue holds the folders still to be read. All fields are guarded by mu.
type queue struct {
	mu    sync.Mutex
	wake  sync.Cond
	nodes []*node
	busy  int
	ended bool
	errs  []error
}

// take waits for a folder; nil means that there will be none.
func (q *queue) take() *node {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.nodes) == 0 && q.busy > 0 && !q.ended {
		q.wake.Wait()
	}
	if len(q.nodes) == 0 || q.ended {
		q.wake.Broadcast()
		return nil
	}
	last := len(q.nodes) - 1
	n := q.nodes[last]
	q.nodes = q.nodes[:last]
	q.busy++
	return n
}

// done gives back a folder that was taken, with what was found in it.
func (q *queue) done(more []node, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	for i := len(more) - 1; i >= 0; i-- {
		q.nodes = append(q.nodes, &more[i])
	}
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
