package walk

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Newest gives entries of the tree at root, an absolute path, in the order of
// their time of change, the last one first, and where that is the same in the
// order of the list. What is gone meanwhile comes last. It is quickest for a
// list in the order of List, where neighbours share a folder.
func Newest(ctx context.Context, root string, list []Entry) ([]Entry, error) {
	tree, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	all := make([]dated, len(list))
	var group sync.WaitGroup
	each := max(256, len(list)/runtime.GOMAXPROCS(0)+1)
	for from := 0; from < len(list); from += each {
		end := min(from+each, len(list))
		group.Go(func() { tree.dates(ctx, list, from, end, all) })
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b dated) int { return cmp.Or(cmp.Compare(b.when, a.when), a.place-b.place) })
	sorted := make([]Entry, len(all))
	for i, d := range all {
		sorted[i] = list[d.place]
	}
	return sorted, nil
}

// dated is the place of an entry in a list and when it changed.
type dated struct {
	when  int64
	place int
}

// dates fills in when the entries from first to before end changed.
func (r *Root) dates(ctx context.Context, list []Entry, first, end int, dates []dated) {
	at := r.station()
	defer at.leave()
	for i := first; i < end; i++ {
		dates[i] = dated{math.MinInt64, i}
		if ctx.Err() != nil {
			return
		}
		dir, name := "", list[i].Path
		if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
			dir, name = name[:slash], name[slash+1:]
		}
		if m, err := at.changed(dir, name); err == nil {
			dates[i].when = m.mtime
		}
	}
}
