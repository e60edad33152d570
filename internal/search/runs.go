package search

import (
	"encoding/binary"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
)

// A runSet says of runs of bytes, without regard to case, whether they may be there:
// a bit for each of many that share it. The number of bits is a power of two, and
// larger for texts that have more runs.
type runSet struct {
	kind kind
	bits []uint64
}

// runSets are what is known of a text: one, or two of different kinds.
type runSets [2]runSet

const (
	fewestRuns = 1 << 8
	mostRuns   = 1 << 18
)

// A kind of runs is how long they are. Nearly every run of three bytes is in a long
// text, so runs of four tell more of those. Of a text that has few words and uses them
// over and over runs of eight tell which of them follow one another.
type kind uint8

const (
	threes kind = iota
	fours
	eights
	kinds
)

func (k kind) size() int { return [kinds]int{3, 4, 8}[k] }

// number is that of the run that the first bytes of a text are, if it is long enough.
func (k kind) number(text string) uint64 {
	var bytes [8]byte
	copy(bytes[:k.size()], text)
	w := binary.LittleEndian.Uint64(bytes[:])
	return [kinds]func(uint64) uint64{twoThrees, four, eight}[k](w) % mostRuns
}

// twoThrees numbers the runs that begin with the first and the fifth byte of w, in
// the lower 18 bits of both halves. Letters that differ in case only are the same.
func twoThrees(w uint64) uint64 {
	const bytes, cases = 0x00ffffff00ffffff, 0x0020202000202020
	product := (w&bytes | cases) * 181 // that of a half stays in it
	return product ^ product>>14       // the last bytes count in the lowest bits too
}

// four numbers the run of the four lowest bytes of w.
func four(w uint64) uint64 {
	const cases = 0x20202020
	return uint64(uint32(w)|cases) * 0x9e3779b1 >> 20
}

// eight numbers the run of all bytes of w.
func eight(w uint64) uint64 {
	const cases = 0x2020202020202020
	high, low := bits.Mul64(w|cases, 0x9e3779b97f4a7c15)
	return high ^ low
}

// A drawing is a runSet in the making. A byte of the table stands for a bit until
// the end: storing it needs no look at what was there.
type drawing struct {
	kind  kind
	bytes int // of the text, roughly
	size  int // how much of the table is in use
	*sheet
}

// A sheet is what is drawn on, one text after another.
type sheet struct {
	table [mostRuns]uint8
	words [mostRuns / 64]uint64
}

// sets are those of a text.
func (d *drawing) sets(text []byte) (all runSets) {
	const long, few = 32 << 10, 512
	kind := threes
	if len(text) >= long {
		kind = fours
	}
	all[0] = d.draw(kind, text)
	if runs := all[0].count(); runs <= few && 3*runs < len(text) {
		all[1] = d.draw(eights, text)
	}
	return all
}

func (d *drawing) draw(k kind, text []byte) runSet {
	d.blank(k, len(text))
	d.add(text)
	return d.set()
}

// blank begins a drawing of a text of so many bytes.
func (d *drawing) blank(k kind, bytes int) {
	if d.sheet == nil {
		d.sheet = new(sheet)
	}
	d.kind, d.bytes, d.size = k, bytes, min(max(fewestRuns, 1<<bits.Len(uint(bytes))), mostRuns)
	clear(d.table[:d.size])
}

// add draws a text, or some lines of it: no run that counts goes beyond a line.
func (d *drawing) add(text []byte) {
	switch d.kind {
	case threes:
		text = d.addThrees(text)
	case fours:
		text = d.addFours(text)
	case eights:
		text = d.addEights(text)
	}
	for end := string(text); len(end) >= d.kind.size(); end = end[1:] {
		d.table[d.kind.number(end)&d.mask()] = 1
	}
}

// mask has the bits of a place in the table; the compiler knows that it is in it.
func (d *drawing) mask() uint64 { return uint64(d.size-1) & (mostRuns - 1) }

// addThrees draws all but the end of a text, which it gives.
func (d *drawing) addThrees(text []byte) []byte {
	table, mask := &d.table, d.mask()
	for ; len(text) >= 10; text = text[8:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[2:])
		a, b, c, d := twoThrees(v), twoThrees(v>>8), twoThrees(w), twoThrees(w>>8)
		table[a&mask], table[a>>32&mask] = 1, 1
		table[b&mask], table[b>>32&mask] = 1, 1
		table[c&mask], table[c>>32&mask] = 1, 1
		table[d&mask], table[d>>32&mask] = 1, 1
	}
	return text
}

// addFours is as addThrees.
func (d *drawing) addFours(text []byte) []byte {
	table, mask := &d.table, d.mask()
	for ; len(text) >= 11; text = text[8:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[3:])
		table[four(v)&mask], table[four(v>>8)&mask] = 1, 1
		table[four(v>>16)&mask], table[four(w)&mask] = 1, 1
		table[four(v>>32)&mask], table[four(w>>16)&mask] = 1, 1
		table[four(w>>24)&mask], table[four(w>>32)&mask] = 1, 1
	}
	return text
}

// addEights is as addThrees.
func (d *drawing) addEights(text []byte) []byte {
	table, mask := &d.table, d.mask()
	for ; len(text) >= 9; text = text[2:] {
		v, w := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[1:])
		table[eight(v)&mask], table[eight(w)&mask] = 1, 1
	}
	return text
}

// set is what was drawn, as small as it can be while it still tells much.
func (d *drawing) set() runSet {
	set := runSet{d.kind, d.words[:d.size/64]}
	for i := range set.bits { // eight words of the table in one: bit i of byte k is byte k of the word i of the eight
		eight := d.table[64*i : 64*i+64]
		set.bits[i] = 0
		for k := range 8 {
			set.bits[i] |= binary.LittleEndian.Uint64(eight[8*k:]) << k
		}
	}
	for half := len(set.bits) / 2; 64*half >= fewestRuns && 10*set.count() <= d.tenths()*64*half; half /= 2 {
		for i, w := range set.bits[half:] {
			set.bits[i] |= w
		}
		set.bits = set.bits[:half]
	}
	set.bits = slices.Clone(set.bits)
	return set
}

// tenths is how many tenths of the bits may be set: fewer of a large file, since reading
// it in vain costs more, and more where whoever asks has many runs to ask for.
func (d *drawing) tenths() int {
	switch {
	case d.kind == eights:
		return 8
	case d.bytes >= 1<<20:
		return 2
	}
	return 4
}

// count is how many bits are set.
func (s runSet) count() (n int) {
	for _, w := range s.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s runSet) has(run uint64) bool {
	run &= uint64(64*len(s.bits) - 1)
	return s.bits[run/64]>>(run%8*8+run/8%8)&1 != 0
}

// A need is what a file must have to have a match: all runs of one of the texts.
// A nil need can be met by every file.
type need []runs

// runs are those of a text, of each kind. It has some of three bytes.
type runs [kinds][]uint64

func (r runs) and(s runs) runs {
	for k := range r {
		r[k] = slices.Concat(r[k], s[k])
	}
	return r
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
		if len(runs[threes]) == 0 {
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
	if len(all[threes]) == 0 {
		return nil
	}
	return need{all}
}

// runs are those that are in every form of a text.
func (w want) runs() (all runs) {
	for _, piece := range w.certain() {
		for ; piece != ""; piece = piece[1:] {
			for k := range kinds {
				if len(piece) >= k.size() {
					all[k] = append(all[k], k.number(piece))
				}
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

// in reports whether the need may be met by a text of which the sets are known.
func (n need) in(sets runSets) bool {
	return n == nil || slices.ContainsFunc(n, func(r runs) bool { return !sets[0].lacks(r) && !sets[1].lacks(r) })
}

// lacks reports whether one of the runs is not there. The set that is none lacks nothing.
func (s runSet) lacks(r runs) bool {
	return s.bits != nil && slices.ContainsFunc(r[s.kind], func(run uint64) bool { return !s.has(run) })
}
