package search

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ikigai/internal/walk"
)

// Hits is what a search found, in the order of the files and in each by line.
type Hits struct {
	Lines     []Line
	Matches   int     // lines that match, of those in Lines
	Files     int     // files with a match
	Searched  int     // files that were searched
	Binary    int     // files passed over because they are not text: large ones and those with a match
	Truncated bool    // Limits.Max was reached and there is more
	Problems  []error // files and folders that could not be read, the first few
}

// Run searches the regular files of a tree below root, an absolute path, for
// instance those that walk.Tree gives. Whatever the machine does, the hits are
// the first ones in the order of the files, and the search ends soon after they
// are known. Files of which enough is known are not read; known may be nil. The
// error is that of ctx; what was found until then is returned.
func (q *Query) Run(ctx context.Context, root string, files iter.Seq2[walk.Entry, error], l Limits, known *Sketches) (Hits, error) {
	enough, stop := context.WithCancel(ctx)
	defer stop()
	number := known.begin()
	c := &crew{
		collector: collector{l: l, stop: stop, waiting: map[int]batchResult{}},
		reader: func() (*reader, error) {
			t, err := walk.OpenRoot(root) // one for each: the system counts who uses one, and they would wait for each other
			if err != nil {
				return nil, err
			}
			return newReader(q, l, t, known.visit(t, root, q.needs, number)), nil
		},
	}
	defer c.leave()
	if err := c.join(); err != nil {
		return Hits{}, err
	}
	c.feed(enough, files)
	c.wait()
	c.hits.Lines = slices.Concat(c.lines...)
	return c.hits, ctx.Err()
}

// A crew searches batches: the first few alone, since a small tree has no more and a
// search that wants little may be over, the others several at once.
type crew struct {
	collector
	reader  func() (*reader, error) // one more
	readers []*reader               // the first is there from the beginning
	work    chan *batch             // nil while that one is alone
	group   sync.WaitGroup
}

func (c *crew) join() error {
	r, err := c.reader()
	if err == nil {
		c.readers = append(c.readers, r)
	}
	return err
}

func (c *crew) leave() {
	for _, r := range c.readers {
		r.root.Close()
	}
}

// alone is how many batches are searched before there are others to help.
func (l Limits) alone() int {
	if l.Max > 0 {
		return 16
	}
	return 1
}

// do searches a batch, or lets another do so. It is false when the search is over.
func (c *crew) do(ctx context.Context, b *batch) bool {
	if b.number < c.l.alone() {
		c.search(ctx, c.readers[0], b)
		return ctx.Err() == nil
	}
	if c.work == nil {
		c.hire(ctx)
	}
	select {
	case c.work <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *crew) search(ctx context.Context, r *reader, b *batch) {
	c.add(b.number, r.batch(ctx, b))
	c.spare.Put(b)
}

// hire lets as many work as there are processors, or as many as can be had.
func (c *crew) hire(ctx context.Context) {
	c.work = make(chan *batch, runtime.GOMAXPROCS(0))
	for len(c.readers) < cap(c.work) && c.join() == nil {
	}
	for _, r := range c.readers {
		c.group.Go(func() {
			for b := range c.work {
				c.search(ctx, r, b)
			}
		})
	}
}

func (c *crew) wait() {
	if c.work != nil {
		close(c.work)
		c.group.Wait()
	}
}

// A batch is a few neighbouring files: few enough to stop soon, enough to make
// handing over cheap.
type batch struct {
	number int
	paths  []string
	errs   []error
}

const batchSize = 128

// sizeOf lets batches grow when the search may be over soon.
func (l Limits) sizeOf(number int) int {
	if l.Max > 0 {
		return min(2+number/4, batchSize)
	}
	return batchSize
}

func (c *crew) feed(ctx context.Context, files iter.Seq2[walk.Entry, error]) {
	b := c.batch(0)
	for e, err := range files {
		if err != nil {
			b.errs = append(b.errs, err)
		} else if e.Type.IsRegular() {
			b.paths = append(b.paths, e.Path)
		}
		if len(b.paths) == c.l.sizeOf(b.number) {
			next := b.number + 1
			if !c.do(ctx, b) {
				return
			}
			b = c.batch(next)
		}
		if ctx.Err() != nil {
			return
		}
	}
	c.do(ctx, b)
}

// batch gives an empty batch, used before if there is one.
func (c *collector) batch(number int) *batch {
	b, _ := c.spare.Get().(*batch)
	if b == nil {
		b = &batch{paths: make([]string, 0, batchSize)}
	}
	*b = batch{number: number, paths: b.paths[:0]}
	return b
}

// batchResult is what a batch adds to the hits.
type batchResult struct {
	searched int
	files    []outcome // those that are more than a number
	errs     []error
}

func (r *reader) batch(ctx context.Context, b *batch) batchResult {
	result := batchResult{errs: b.errs}
	r.visit.recall(b.paths)
	for i, path := range b.paths {
		if ctx.Err() != nil {
			break
		}
		result.searched++
		if o := r.file(i, path); o.matches > 0 || o.binary || o.err != nil {
			result.files = append(result.files, o)
		}
	}
	return result
}

// A collector puts results into order.
type collector struct {
	l     Limits
	stop  func()
	spare sync.Pool // of *batch

	mu      sync.Mutex // guards all that follows
	hits    Hits       // but for its lines
	lines   [][]Line
	next    int                 // the batch that comes next in order
	waiting map[int]batchResult // those that came too early
}

func (c *collector) add(number int, r batchResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[number] = r
	for !c.hits.Truncated {
		r, ok := c.waiting[c.next]
		if !ok {
			return
		}
		delete(c.waiting, c.next)
		c.next++
		c.take(r)
	}
	c.stop()
}

func (c *collector) take(r batchResult) {
	const mostProblems = 20
	h := &c.hits
	h.Searched += r.searched
	for _, o := range r.files {
		switch {
		case o.err != nil:
			r.errs = append(r.errs, o.err)
		case o.binary:
			h.Binary++
		case o.matches > 0:
			c.file(o)
		}
		if h.Truncated {
			break
		}
	}
	h.Problems = append(h.Problems, r.errs[:min(len(r.errs), mostProblems-len(h.Problems))]...)
}

// file adds the lines of one file, as many as are still wanted.
func (c *collector) file(o outcome) {
	h := &c.hits
	room := o.matches
	if c.l.Max > 0 {
		room = min(room, c.l.Max-h.Matches)
		h.Truncated = o.full || o.matches > room
	}
	if room == 0 {
		return
	}
	h.Files++
	h.Matches += room
	c.lines = append(c.lines, upTo(o.lines, room, c.l.After))
}

// upTo keeps the lines up to the given number of matches and the context behind the last.
func upTo(lines []Line, matches, after int) []Line {
	last := 0
	for i, line := range lines {
		if line.Match {
			matches--
		}
		if matches < 0 {
			return lines[:i]
		}
		if line.Match {
			last = line.Number
		} else if matches == 0 && line.Number > last+after {
			return lines[:i]
		}
	}
	return lines
}
