package search

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ikigai/internal/walk"
)

// Sketches are what a session knows of files it has read: of each, which runs of
// three bytes are not in it. A file that lacks a run of the text looked for and
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
	runs runSet
	used atomic.Int64 // the last search that came by
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
	drawing
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

// pass reports whether a file has no match because it lacks something, and draw
// whether it should be drawn when it is read.
func (v *visit) pass(path string) (pass, draw bool) {
	if v == nil {
		return false, false
	}
	key := v.key(path)
	v.mu.RLock()
	known := v.files[key]
	v.mu.RUnlock()
	if known == nil {
		return false, key%4 == uint64(v.number)%4
	}
	known.used.Store(v.number)
	if v.needs.in(known.runs) {
		return false, false
	}
	same := v.tree.Same(path, known.mark)
	return same, !same
}

// finish keeps what was drawn of a file that had the mark before it was read, and
// reports whether there may be a match in it.
func (v *visit) finish(path string, m walk.Mark) bool {
	found := &sketch{mark: m, runs: v.set()}
	found.used.Store(v.number)
	v.keep(v.key(path), found)
	return v.needs.in(found.runs)
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

// room reports whether so many bytes more can be kept. Once in a search files
// are forgotten for it that no search came by lately. The caller holds mu.
func (s *Sketches) room(more int, search int64) bool {
	const (
		most   = 16 << 20
		lately = 8
	)
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

func (s *sketch) bytes() int { return 128 + 8*len(s.runs) }

// A runSet says of runs of three bytes, without regard to case, whether they may
// be there: a bit for each of many that share it. Its length is a power of two,
// and larger for texts that have more of them.
type runSet []uint64

const (
	fewestRuns = 1 << 8
	mostRuns   = 1 << 18
)

// A drawing is a runSet in the making. A byte of the table stands for a bit until
// the end: storing it needs no look at what was there.
type drawing struct {
	bytes int // of the text, roughly
	size  int // how much of the table is in use
	*sheet
}

// A sheet is what is drawn on, one file after another.
type sheet struct {
	table [mostRuns]uint8
	words [mostRuns / 64]uint64
}

// blank begins a drawing of a text of so many bytes.
func (d *drawing) blank(bytes int) {
	if d.sheet == nil {
		d.sheet = new(sheet)
	}
	d.bytes, d.size = bytes, min(max(fewestRuns, 1<<bits.Len(uint(bytes))), mostRuns)
	clear(d.table[:d.size])
}

// add draws a text, or some lines of it: no run that counts goes beyond a line.
func (d *drawing) add(text []byte) {
	table, mask := &d.table, uint64(d.size-1)
	mask &= mostRuns - 1 // so that the compiler knows
	for ; len(text) >= 10; text = text[8:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[2:])
		a, b, c, d := twoRuns(v), twoRuns(v>>8), twoRuns(w), twoRuns(w>>8)
		table[a&mask], table[a>>32&mask] = 1, 1
		table[b&mask], table[b>>32&mask] = 1, 1
		table[c&mask], table[c>>32&mask] = 1, 1
		table[d&mask], table[d>>32&mask] = 1, 1
	}
	for ; len(text) >= 3; text = text[1:] {
		table[runAt(text)&mask] = 1
	}
}

// set is what was drawn, as small as it can be while it still tells much: the larger
// the file, the more reading it in vain costs, and the fewer bits may be set.
func (d *drawing) set() runSet {
	set := runSet(d.words[:d.size/64])
	for i := range set { // eight words of the table in one: bit i of byte k is byte k of the word i of the eight
		eight := d.table[64*i : 64*i+64]
		set[i] = 0
		for k := range 8 {
			set[i] |= binary.LittleEndian.Uint64(eight[8*k:]) << k
		}
	}
	for half := len(set) / 2; 64*half >= fewestRuns && 10*set.count() <= d.tenths()*64*half; half /= 2 {
		for i, w := range set[half:] {
			set[i] |= w
		}
		set = set[:half]
	}
	return slices.Clone(set)
}

// tenths is how many tenths of the bits may be set.
func (d *drawing) tenths() int {
	switch {
	case d.bytes >= 1<<20:
		return 1
	case d.bytes >= 32<<10:
		return 2
	}
	return 4
}

// count is how many bits are set.
func (s runSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// twoRuns numbers the runs that begin with the first and the fifth byte of w, in
// the lower bits of both halves. Letters that differ in case only are the same.
func twoRuns(w uint64) uint64 {
	const bytes, cases = 0x00ffffff00ffffff, 0x0020202000202020
	return (w&bytes | cases) * 181 >> 8 // the product of a half stays in it
}

// runAt is the number of the run that a text begins with.
func runAt[T string | []byte](text T) uint64 {
	return twoRuns(uint64(text[0])|uint64(text[1])<<8|uint64(text[2])<<16) % mostRuns
}

func (s runSet) has(run uint64) bool {
	run &= uint64(64*len(s) - 1)
	return s[run/64]>>(run%8*8+run/8%8)&1 != 0
}

// A need is what a file must have to have a match: all runs of one of the texts.
// A nil need can be met by every file.
type need [][]uint64

// needOf is what every match of an expression needs.
func needOf(tree *syntax.Regexp) need {
	if texts, ok := spelled(tree); ok {
		return anyOf(texts)
	}
	switch {
	case tree.Op == syntax.OpCapture, tree.Op == syntax.OpPlus, tree.Op == syntax.OpRepeat && tree.Min > 0:
		return needOf(tree.Sub[0])
	case tree.Op == syntax.OpConcat:
		var all need
		for _, sub := range tree.Sub {
			all = all.and(needOf(sub))
		}
		return all
	case tree.Op == syntax.OpAlternate:
		var any need
		for _, sub := range tree.Sub {
			n := needOf(sub)
			if any = append(any, n...); n == nil || len(any) > most {
				return nil
			}
		}
		return any
	}
	return nil
}

// and is the need for both, or for one of them where both were too much to ask.
func (n need) and(m need) need {
	switch {
	case n == nil:
		return m
	case m == nil || len(n)*len(m) > most:
		return n
	}
	var both need
	for _, a := range n {
		for _, b := range m {
			both = append(both, slices.Concat(a, b))
		}
	}
	return both
}

// anyOf is the need for any of several texts.
func anyOf(texts []want) need {
	if !findable(texts) {
		return nil
	}
	var n need
	for _, w := range texts {
		runs := w.runs()
		if len(runs) == 0 {
			return nil
		}
		n = append(n, runs)
	}
	return n
}

// allOf is the need for all of several texts.
func allOf(texts []want) need {
	var runs []uint64
	for _, w := range texts {
		runs = append(runs, w.runs()...)
	}
	if len(runs) == 0 {
		return nil
	}
	return need{runs}
}

// runs are those that are in every form of a text.
func (w want) runs() []uint64 {
	var all []uint64
	for _, piece := range w.certain() {
		for i := 0; i+3 <= len(piece); i++ {
			all = append(all, runAt(piece[i:]))
		}
	}
	return all
}

// certain are the parts of a text whose bytes are known but for case.
func (w want) certain() []string {
	if !w.fold {
		return []string{w.text}
	}
	return strings.FieldsFunc(w.text, func(r rune) bool { return !simple(r) })
}

// in reports whether the need may be met.
func (n need) in(s runSet) bool {
	return n == nil || slices.ContainsFunc(n, func(runs []uint64) bool {
		return !slices.ContainsFunc(runs, func(run uint64) bool { return !s.has(run) })
	})
}

// aMark is that of a file before it is read, if it can be relied on.
func aMark(f walk.Handle) (walk.Mark, bool) {
	taken := time.Now()
	m, ok := f.Mark()
	return m, ok && m.Settled(taken)
}
