package walk

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Newest gives entries of the tree at root, an absolute path, in the order of
// their time of change, the last one first, and where that is the same in the
// order of the list. What is gone meanwhile comes last. It is quickest for a
// list in the order of List, where neighbours share a folder.
func Newest(ctx context.Context, root string, list []Entry) ([]Entry, error) {
	return newest(ctx, root, list, nil)
}

// Newest is as the function Newest, for the tree of the cache.
func (c *Cache) Newest(ctx context.Context, list []Entry) ([]Entry, error) {
	return newest(ctx, c.root, list, c.times)
}

func newest(ctx context.Context, root string, list []Entry, known *times) ([]Entry, error) {
	tree, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	known.lock()
	defer known.unlock()
	all := make([]dated, len(list))
	unknown := known.recall(tree, list, all)
	tree.dates(ctx, list, unknown, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	known.keep(list, unknown, all)
	slices.SortFunc(all, laterFirst)
	sorted := make([]Entry, len(all))
	for i, d := range all {
		sorted[i] = list[d.place]
	}
	return sorted, nil
}

// dated is the place of an entry in a list and when it changed.
type dated struct {
	when  int64
	place int32
	alone bool // nothing else leads to the file: no other name and no mount
}

func laterFirst(a, b dated) int {
	if a.when == b.when {
		return cmp.Compare(a.place, b.place)
	}
	return cmp.Compare(b.when, a.when)
}

// never is the time of what is not there.
const never = math.MinInt64

// A run is a part of a list whose entries are in one folder.
type run struct {
	dir        string
	first, end int
	folder     *watched // where the times are kept, or nil
}

// runs takes a list apart.
func runs(list []Entry) (all []run) {
	for i := 0; i < len(list); {
		r := run{first: i}
		r.dir, _ = split(list[i].Path)
		for ; i < len(list); i++ {
			if dir, _ := split(list[i].Path); dir != r.dir {
				break
			}
		}
		r.end = i
		all = append(all, r)
	}
	return all
}

// dates fills in when the entries of the runs changed.
func (r *Root) dates(ctx context.Context, list []Entry, runs []run, dates []dated) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(runs)) {
		group.Go(func() {
			at := r.station()
			defer at.leave()
			for i := next.Add(1) - 1; i < int64(len(runs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				at.dates(list, runs[i], dates)
			}
		})
	}
	group.Wait()
}

func (s *station) dates(list []Entry, r run, dates []dated) {
	for i := r.first; i < r.end; i++ {
		d := &dates[i]
		_, name := split(list[i].Path)
		var err error
		if d.when, d.alone, err = s.asked(r.dir, name); err != nil {
			d.when = never
		}
		d.place = int32(i)
	}
}

// split takes a path apart into its folder and its name there.
func split(path string) (dir, name string) {
	slash := strings.LastIndexByte(path, '/')
	return path[:max(slash, 0)], path[slash+1:]
}
