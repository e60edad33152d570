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
		to := min(from+each, len(list))
		group.Go(func() { tree.dates(ctx, list[from:to], all[from:to]) })
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(b.when, a.when) })
	sorted := make([]Entry, len(all))
	for i, d := range all {
		sorted[i] = *d.entry
	}
	return sorted, nil
}

// dated is an entry and when it changed.
type dated struct {
	when  int64
	entry *Entry
}

// dates fills in when each entry changed.
func (r *Root) dates(ctx context.Context, list []Entry, dates []dated) {
	at := r.station()
	defer at.leave()
	for i := range list {
		dates[i] = dated{math.MinInt64, &list[i]}
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
