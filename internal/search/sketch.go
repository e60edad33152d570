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
	runSet
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
	if v.needs.in(known.runSet) {
		return false, false
	}
	same := v.tree.Same(path, known.mark)
	return same, !same
}

// finish keeps what was drawn of a file that had the mark before it was read, and
// reports whether there may be a match in it.
func (v *visit) finish(path string, m walk.Mark) bool {
	found := &sketch{mark: m, runSet: v.set()}
	found.used.Store(v.number)
	v.keep(v.key(path), found)
	return v.needs.in(found.runSet)
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

func (s *sketch) bytes() int { return 128 + 8*len(s.bits) }

// A runSet says of runs of bytes, without regard to case, whether they may be there:
// a bit for each of many that share it. The number of bits is a power of two, and
// larger for texts that have more runs. Nearly every run of three bytes is in a long
// text, so runs of four tell more of those.
type runSet struct {
	bits []uint64
	long bool // runs of four bytes
}

const (
	fewestRuns = 1 << 8
	mostRuns   = 1 << 18
	longText   = 32 << 10
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

func (d *drawing) long() bool { return d.bytes >= longText }

// add draws a text, or some lines of it: no run that counts goes beyond a line.
func (d *drawing) add(text []byte) {
	if d.long() {
		d.addFours(text)
	} else {
		d.addThrees(text)
	}
}

func (d *drawing) addThrees(text []byte) {
	table, mask := &d.table, d.mask()
	for ; len(text) >= 10; text = text[8:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[2:])
		a, b, c, d := twoThrees(v), twoThrees(v>>8), twoThrees(w), twoThrees(w>>8)
		table[a&mask], table[a>>32&mask] = 1, 1
		table[b&mask], table[b>>32&mask] = 1, 1
		table[c&mask], table[c>>32&mask] = 1, 1
		table[d&mask], table[d>>32&mask] = 1, 1
	}
	for ; len(text) >= 3; text = text[1:] {
		table[threeAt(text)&mask] = 1
	}
}

func (d *drawing) addFours(text []byte) {
	table, mask := &d.table, d.mask()
	for ; len(text) >= 11; text = text[8:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[3:])
		table[four(v)&mask], table[four(v>>8)&mask] = 1, 1
		table[four(v>>16)&mask], table[four(w)&mask] = 1, 1
		table[four(v>>32)&mask], table[four(w>>16)&mask] = 1, 1
		table[four(w>>24)&mask], table[four(w>>32)&mask] = 1, 1
	}
	for ; len(text) >= 4; text = text[1:] {
		table[fourAt(text)&mask] = 1
	}
}

// mask has the bits of a place in the table; the compiler knows that it is in it.
func (d *drawing) mask() uint64 { return uint64(d.size-1) & (mostRuns - 1) }

// set is what was drawn, as small as it can be while it still tells much: the larger
// the file, the more reading it in vain costs, and the fewer bits may be set.
func (d *drawing) set() runSet {
	set := d.words[:d.size/64]
	for i := range set { // eight words of the table in one: bit i of byte k is byte k of the word i of the eight
		eight := d.table[64*i : 64*i+64]
		set[i] = 0
		for k := range 8 {
			set[i] |= binary.LittleEndian.Uint64(eight[8*k:]) << k
		}
	}
	for half := len(set) / 2; 64*half >= fewestRuns && 10*count(set) <= d.tenths()*64*half; half /= 2 {
		for i, w := range set[half:] {
			set[i] |= w
		}
		set = set[:half]
	}
	return runSet{slices.Clone(set), d.long()}
}

// tenths is how many tenths of the bits may be set.
func (d *drawing) tenths() int {
	if d.bytes >= 1<<20 {
		return 2
	}
	return 4
}

// count is how many bits are set.
func count(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// twoThrees numbers the runs that begin with the first and the fifth byte of w, in
// the lower bits of both halves. Letters that differ in case only are the same.
func twoThrees(w uint64) uint64 {
	const bytes, cases = 0x00ffffff00ffffff, 0x0020202000202020
	return (w&bytes | cases) * 181 >> 8 // the product of a half stays in it
}

// threeAt is the number of the run that a text begins with.
func threeAt[T string | []byte](text T) uint64 {
	return twoThrees(uint64(text[0])|uint64(text[1])<<8|uint64(text[2])<<16) % mostRuns
}

// four numbers the run of the four lowest bytes of w.
func four(w uint64) uint64 {
	return uint64(uint32(w)|0x20202020) * 0x9e3779b1 >> 20
}

func fourAt[T string | []byte](text T) uint64 {
	return four(uint64(text[0])|uint64(text[1])<<8|uint64(text[2])<<16|uint64(text[3])<<24) % mostRuns
}

func (s runSet) has(run uint64) bool {
	run &= uint64(64*len(s.bits) - 1)
	return s.bits[run/64]>>(run%8*8+run/8%8)&1 != 0
}

// A need is what a file must have to have a match: all runs of one of the texts.
// A nil need can be met by every file.
type need []runs

// runs are those of a text. The number of runs of four may be zero.
type runs struct{ threes, fours []uint64 }

func (r runs) and(s runs) runs {
	return runs{slices.Concat(r.threes, s.threes), slices.Concat(r.fours, s.fours)}
}

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
			both = append(both, a.and(b))
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
		if len(runs.threes) == 0 {
			return nil
		}
		n = append(n, runs)
	}
	return n
}

// allOf is the need for all of several texts.
func allOf(texts []want) need {
	var all runs
	for _, w := range texts {
		all = all.and(w.runs())
	}
	if len(all.threes) == 0 {
		return nil
	}
	return need{all}
}

// runs are those that are in every form of a text.
func (w want) runs() (all runs) {
	for _, piece := range w.certain() {
		for ; len(piece) >= 3; piece = piece[1:] {
			all.threes = append(all.threes, threeAt(piece))
			if len(piece) >= 4 {
				all.fours = append(all.fours, fourAt(piece))
			}
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
	return n == nil || slices.ContainsFunc(n, func(r runs) bool {
		asked := r.threes
		if s.long {
			asked = r.fours
		}
		return !slices.ContainsFunc(asked, func(run uint64) bool { return !s.has(run) })
	})
}

// aMark is that of a file before it is read, if it can be relied on.
func aMark(f walk.Handle) (walk.Mark, bool) {
	taken := time.Now()
	m, ok := f.Mark()
	return m, ok && m.Settled(taken)
}
