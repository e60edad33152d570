//go:build goexperiment.simd && !go1.27

package search

import (
	"math/bits"
	"simd/archsimd"
)

// The standard library's vectors are an experiment of Go 1.26: make builds with it,
// and what is built without does the same in more steps (wide_other.go). Other
// versions of Go may have other names for it, so they are left out until somebody
// has looked.

// wide reports whether there are registers that hold 32 bytes.
func wide() bool { return archsimd.X86.AVX2() }

// skim passes over places at which the pair is not. It gives one at which it is, or
// one near the end.
func (p *pair) skim(data []byte, i int) int {
	if i+64+p.gap > len(data) || !wide() {
		return i
	}
	a, b := archsimd.BroadcastUint8x32(p.a), archsimd.BroadcastUint8x32(p.b)
	maskA, maskB := archsimd.BroadcastUint8x32(p.maskA), archsimd.BroadcastUint8x32(p.maskB)
	for ; i+64+p.gap <= len(data); i += 64 {
		v, w := data[i:i+64:i+64], data[i+p.gap:][:64:64]
		low := load(v).Or(maskA).Equal(a).And(load(w).Or(maskB).Equal(b))
		high := load(v[32:]).Or(maskA).Equal(a).And(load(w[32:]).Or(maskB).Equal(b))
		if low.Or(high).ToBits() != 0 {
			i += bits.TrailingZeros64(uint64(low.ToBits()) | uint64(high.ToBits())<<32)
			break
		}
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func load(w []byte) archsimd.Uint8x32 { return archsimd.LoadUint8x32Slice(w) }

// nibbles tell of 32 places at once which of eight groups of needles may be there.
// A needle is known by three bytes, each of them looked up in two tables, by its
// lower and by its upper half; an entry has a bit for each group. A table is there
// twice because a register looks things up in each of its halves.
type nibbles struct{ low, high [3][32]uint8 }

// newNibbles is nil where there are no wide registers.
func newNibbles() *nibbles {
	if !wide() {
		return nil
	}
	return &nibbles{}
}

// add makes a needle known by two neighbours and what comes after them.
func (t *nibbles) add(number int, n *needle, p *pair) {
	if t == nil {
		return
	}
	group := uint8(1) << (number % 8)
	t.mark(0, group, spellings(p.a, p.maskA))
	t.mark(1, group, spellings(p.b, p.maskB))
	if c, mask, ok := n.third(p); ok {
		t.mark(2, group, spellings(c, mask))
		return
	}
	for c := range 256 {
		t.mark(2, group, []byte{byte(c)})
	}
}

// third is the byte that comes after neighbours, if it is known but for the bits of
// the mask.
func (n *needle) third(p *pair) (c, mask byte, ok bool) {
	switch {
	case n.exact == nil && len(n.after) > 2 && simple(n.after[2]):
		p := foldedPair(n.after[1], n.after[2])
		return p.b, p.maskB, true
	case p.at+2 < len(n.exact):
		return n.exact[p.at+2], 0, true
	}
	return 0, 0, false
}

func (t *nibbles) mark(at int, group uint8, bytes []byte) {
	for _, c := range bytes {
		for _, half := range []byte{0, 16} {
			t.low[at][half+c&15] |= group
			t.high[at][half+c>>4] |= group
		}
	}
}

// skim passes over places at which no needle is. It gives one at which one may be,
// or one near the end.
func (t *nibbles) skim(data []byte, i int) int {
	if t == nil || i+34 > len(data) {
		return i
	}
	low0, low1, low2 := load(t.low[0][:]), load(t.low[1][:]), load(t.low[2][:])
	high0, high1, high2 := load(t.high[0][:]), load(t.high[1][:]), load(t.high[2][:])
	half, none := archsimd.BroadcastUint8x32(15), archsimd.BroadcastUint8x32(0)
	sixteenth := archsimd.BroadcastUint16x16(1 << 12) // the upper half of the product is one of 16 parts
	for ; i+34 <= len(data); i += 32 {
		w := data[i : i+34 : i+34]
		groups := groupsOf(load(w), low0, high0, half, sixteenth).And(groupsOf(load(w[1:]), low1, high1, half, sixteenth)).And(groupsOf(load(w[2:]), low2, high2, half, sixteenth))
		if without := groups.Equal(none).ToBits(); without != 1<<32-1 {
			i += bits.TrailingZeros32(^without)
			break
		}
	}
	archsimd.ClearAVXUpperBits()
	return i
}

// groupsOf looks up 32 bytes in the tables of their halves.
func groupsOf(w, low, high, half archsimd.Uint8x32, sixteenth archsimd.Uint16x16) archsimd.Uint8x32 {
	lower := w.And(half).AsInt8x32()
	upper := w.AsUint16x16().MulHigh(sixteenth).AsUint8x32().And(half).AsInt8x32()
	return low.PermuteOrZeroGrouped(lower).And(high.PermuteOrZeroGrouped(upper))
}
