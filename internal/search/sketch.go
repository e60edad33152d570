package search

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"ikigai/internal/walk"
)

// Sketches are what a session knows of files it has read: of each, which runs of a
// few bytes are not in it. A file that lacks a run of the text looked for and
// still has the mark it had need not be read again; looking at a mark costs a
// quarter of that. They are drawn from the second search on, a quarter of the files
// in each, so that a session that searches once pays nothing and no search pays
// much. What they take is bounded. They are safe for concurrent use.
//
// As everything that goes by the times of files they do not see a change through
// a memory mapping before the system has noted it.
type Sketches struct {
	seed maphash.Seed
	runs atomic.Int64 // searches so far

	mu    sync.RWMutex // guards all that follows
	files map[uint64]*sketch
	size  int   // in bytes, roughly
	swept int64 // the search that last made room
}

// A sketch is a file as it was. But for used it is never changed.
type sketch struct {
	mark walk.Mark
	sets runSets
	used atomic.Int64 // the last search that came by, or one soon before it
}

// NewSketches knows nothing yet.
func NewSketches() *Sketches {
	return &Sketches{seed: maphash.MakeSeed(), files: map[uint64]*sketch{}}
}

// begin gives the number of a new search.
func (s *Sketches) begin() int64 {
	if s == nil {
		return 0
	}
	return s.runs.Add(1)
}

// A visit is one search through files of which sketches are known, by one
// goroutine. A nil *visit knows nothing.
type visit struct {
	*Sketches
	tree   *walk.Root
	root   string
	needs  need
	number int64
	batch  []memory
	drawing
}

// A memory is what is known of one file.
type memory struct {
	key    uint64
	sketch *sketch // nil: nothing
}

// visit begins a search; nil when there is nothing to know and nothing to draw.
func (s *Sketches) visit(tree *walk.Root, root string, needs need, number int64) *visit {
	if s == nil || number < 2 {
		return nil
	}
	return &visit{Sketches: s, tree: tree, root: root, needs: needs, number: number}
}

// key stands for a path. Should two be the same, their marks are not.
func (v *visit) key(path string) uint64 {
	var h maphash.Hash
	h.SetSeed(v.seed)
	h.WriteString(v.root)
	h.WriteByte('/')
	h.WriteString(path)
	return h.Sum64()
}

// recall brings to mind what is known of the files of a batch, all of them at once so
// that nobody waits for somebody else at each.
func (v *visit) recall(paths []string) {
	if v == nil {
		return
	}
	v.batch = v.batch[:0]
	for _, path := range paths {
		v.batch = append(v.batch, memory{key: v.key(path)})
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i := range v.batch {
		v.batch[i].sketch = v.files[v.batch[i].key]
	}
}

// pass reports whether a file of the batch has no match because it lacks something,
// and draw whether it should be drawn when it is read.
func (v *visit) pass(i int, path string) (pass, draw bool) {
	if v == nil {
		return false, false
	}
	key, known := v.batch[i].key, v.batch[i].sketch
	if known == nil {
		return false, key%4 == uint64(v.number)%4
	}
	if known.used.Load() < v.number-lately/2 {
		known.used.Store(v.number)
	}
	if v.needs.in(known.sets) {
		return false, false
	}
	same := v.tree.Same(path, known.mark)
	return same, !same
}

// learn keeps what was drawn of a file that had the mark before it was read, and
// reports whether there may be a match in it.
func (v *visit) learn(path string, m walk.Mark, sets runSets) bool {
	found := &sketch{mark: m, sets: sets}
	found.used.Store(v.number)
	v.keep(v.key(path), found)
	return v.needs.in(sets)
}

func (s *Sketches) keep(key uint64, found *sketch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
	if s.room(found.bytes(), found.used.Load()) {
		s.files[key] = found
		s.size += found.bytes()
	}
}

// drop forgets a file. The caller holds mu.
func (s *Sketches) drop(key uint64) {
	if old := s.files[key]; old != nil {
		s.size -= old.bytes()
		delete(s.files, key)
	}
}

const lately = 8 // searches

// room reports whether so many bytes more can be kept. Once in a search files
// are forgotten for it that no search came by lately. The caller holds mu.
func (s *Sketches) room(more int, search int64) bool {
	const most = 24 << 20
	if s.size+more > most && s.swept != search {
		s.swept = search
		for key, known := range s.files {
			if known.used.Load() < search-lately {
				s.drop(key)
			}
		}
	}
	return s.size+more <= most
}

func (s *sketch) bytes() int {
	n := 96
	for _, set := range s.sets {
		n += 32 + 8*len(set.bits)
	}
	return n
}

// aMark is that of a file before it is read, if it can be relied on.
func aMark(f walk.Handle) (walk.Mark, bool) {
	taken := time.Now()
	m, ok := f.Mark()
	return m, ok && m.Settled(taken)
}
