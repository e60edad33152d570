package walk

import (
	"sync"
	"time"
)

// times are when the files of a tree changed, for as long as the system tells of
// every change: it watches their folders, so that asking for the times of all files
// again can be left out. They are kept from the second question on, and only of
// trees that are large enough; who asks once pays nothing.
//
// A watch sees what is done through the names in its folder. So a file with a
// second name is asked for every time. What is not seen, a name given to a file later from
// elsewhere and a mapping into memory that nobody closes, is seen after a while: nothing is
// kept for long. It can put a file in the wrong place of an order, and do nothing else.
//
// A nil *times keeps nothing. Otherwise all is guarded by mu, which is held while a
// list is put in order.
type times struct {
	now   func() time.Time
	least int // files that a list must have for watches to be worth their price

	mu      sync.Mutex
	asked   int      // how often
	watcher *watcher // nil: not needed yet, or there is none
	folders map[string]*watched
	ids     map[int32]*watched // by the number of the watch; some are in folders no more
	entries int                // in all folders, those forgotten included
}

// watched is a folder that the system watches, with the times of its files.
type watched struct {
	dir  string
	mark Mark // when the watch began
	from time.Time
	when map[string]int64
}

const (
	longEnough = 5 * time.Minute // for what is kept
	mostTimes  = 200_000         // about 16 MB
)

func newTimes() *times { return &times{now: time.Now, least: 1000} }

func (t *times) lock() {
	if t != nil {
		t.mu.Lock()
	}
}

func (t *times) unlock() {
	if t != nil {
		t.mu.Unlock()
	}
}

// recall fills in what is known and gives the rest of the list. Watches begin
// before anybody asks for the times that will be kept.
func (t *times) recall(tree *Root, list []Entry, dates []dated) (unknown []run) {
	all := runs(list)
	if t == nil {
		return all
	}
	if t.asked++; t.asked < 2 || len(list) < t.least {
		return all
	}
	if t.watcher == nil {
		t.folders, t.ids, t.watcher = map[string]*watched{}, map[int32]*watched{}, newWatcher()
	}
	t.drain()
	for _, r := range all {
		if r.folder = t.folder(tree, r); r.folder == nil {
			unknown = append(unknown, r)
			continue
		}
		for i := r.first; i < r.end; i++ {
			_, name := split(list[i].Path)
			if when, ok := r.folder.when[name]; ok {
				dates[i] = dated{when: when, place: int32(i)}
			} else if last := len(unknown) - 1; last >= 0 && unknown[last].end == i && unknown[last].folder == r.folder {
				unknown[last].end++
			} else {
				unknown = append(unknown, run{r.dir, i, i + 1, r.folder})
			}
		}
	}
	return unknown
}

// folder is that of a run; nil when it is not watched.
func (t *times) folder(tree *Root, r run) *watched {
	if f := t.folders[r.dir]; f != nil && t.now().Sub(f.from) < longEnough && tree.Same(r.dir, f.mark) {
		return f
	}
	if t.watcher == nil {
		return nil
	}
	id, m, ok := t.watcher.add(tree, r.dir)
	if !ok {
		return nil
	}
	if old := t.ids[id]; old != nil { // it had another name, or its time was up
		t.drop(old)
	} else if len(t.ids) >= t.watcher.most {
		t.watcher.end(id)
		return nil
	}
	f := &watched{r.dir, m, t.now(), make(map[string]int64, r.end-r.first)}
	t.folders[r.dir], t.ids[id] = f, f
	return f
}

// keep remembers the times of files that were asked for. Of a folder that lies in
// the list the time is that of what happens in it, which its own watch would see.
func (t *times) keep(list []Entry, runs []run, dates []dated) {
	for _, r := range runs {
		for i := r.first; i < r.end && r.folder != nil; i++ {
			if d := dates[i]; d.alone && list[i].Type.IsRegular() {
				_, name := split(list[i].Path)
				r.folder.when[name] = d.when
				t.entries++
			}
		}
	}
	if t != nil && t.entries > mostTimes {
		t.forget()
	}
}

// drain forgets the folders in which something happened.
func (t *times) drain() {
	if t.watcher == nil {
		return
	}
	whole := t.watcher.changes(func(id int32, ended bool) {
		if f := t.ids[id]; f != nil {
			t.drop(f)
		}
		if ended {
			delete(t.ids, id)
		}
	})
	if !whole {
		t.forget()
	}
}

func (t *times) drop(f *watched) {
	if t.folders[f.dir] == f {
		delete(t.folders, f.dir)
	}
}

// forget keeps nothing of what was kept. The watches go on.
func (t *times) forget() {
	clear(t.folders)
	t.entries = 0
}
