package search

import "encoding/binary"

// A choice looks for many needles in one pass. Each has two neighbouring bytes
// by which it is known; a small table tells of any two bytes whether a needle
// may be there. Looking everything up costs more than a few quick passes and
// less than many.
type choice struct {
	needles []needle
	may     [1 << 12]uint8 // by slot: 1 when a pair of a needle falls there
}

// passes is how many needles are better looked for one by one.
const passes = 12

// newChoice is nil when there are few needles, or some without a pair.
func newChoice(needles []needle) *choice {
	if len(needles) <= passes {
		return nil
	}
	c := &choice{needles: needles}
	for i := range needles {
		n := &c.needles[i]
		if n.pair == nil {
			return nil
		}
		for _, a := range []byte{n.pair.a, n.pair.a &^ n.pair.maskA} {
			for _, b := range []byte{n.pair.b, n.pair.b &^ n.pair.maskB} {
				c.may[slot(uint64(a)|uint64(b)<<8)] = 1
			}
		}
	}
	return c
}

// slot is where in the table the two lowest bytes of w fall; no bit of the others counts.
func slot(w uint64) uint64 { return (w ^ w>>4) & (1<<12 - 1) }

func (*choice) begin() {}

func (c *choice) next(data []byte, from int) int {
	i := from
	for ; i+8 <= len(data); i += 7 {
		w := binary.LittleEndian.Uint64(data[i:])
		if c.may[slot(w)]|c.may[slot(w>>8)]|c.may[slot(w>>16)]|c.may[slot(w>>24)]|
			c.may[slot(w>>32)]|c.may[slot(w>>40)]|c.may[slot(w>>48)] == 0 {
			continue
		}
		for k := i; k < i+7; k++ {
			if hit := c.at(data, from, k); hit >= 0 {
				return hit
			}
		}
	}
	for ; i+2 <= len(data); i++ {
		if hit := c.at(data, from, i); hit >= 0 {
			return hit
		}
	}
	return -1
}

// at gives the first needle whose pair is at i, or -1.
func (c *choice) at(data []byte, from, i int) int {
	a, b := data[i], data[i+1]
	if c.may[slot(uint64(a)|uint64(b)<<8)] == 0 {
		return -1
	}
	for k := range c.needles {
		n := &c.needles[k]
		if a|n.pair.maskA == n.pair.a && b|n.pair.maskB == n.pair.b && i-n.pairAt >= from {
			if start, _ := n.around(data, from, i); start >= 0 {
				return start
			}
		}
	}
	return -1
}
