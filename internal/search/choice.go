package search

import "encoding/binary"

// A choice looks for several needles in one pass. Each has two neighbouring bytes
// by which it is known. Where the processor has wide registers they look at many
// places at once; elsewhere a small table tells of any two bytes whether a needle
// may be there, which costs more than a few quick passes and less than many.
type choice struct {
	needles []needle
	pairs   []*pair        // by which they are known
	may     [1 << 12]uint8 // by slot: 1 when a pair falls there
	nibbles *nibbles       // nil without wide registers
}

// newChoice is nil when there are so few needles that they are better looked for one
// by one, or some without a pair.
func newChoice(needles []needle) *choice {
	if len(needles) <= passes() {
		return nil
	}
	c := &choice{needles: needles, nibbles: newNibbles()}
	for i := range needles {
		n := &c.needles[i]
		p := n.neighbours()
		if p == nil {
			return nil
		}
		for _, a := range spellings(p.a, p.maskA) {
			for _, b := range spellings(p.b, p.maskB) {
				c.may[slot(uint64(a)|uint64(b)<<8)] = 1
			}
		}
		c.pairs = append(c.pairs, p)
		c.nibbles.add(i, n, p)
	}
	return c
}

// passes is how many needles are better looked for one by one.
func passes() int {
	if wide() {
		return 2
	}
	return 12
}

// spellings are the bytes that are c once the bits of the mask are set; c has them set.
func spellings(c, mask byte) []byte { return []byte{c, c &^ mask} }

// slot is where in the table the two lowest bytes of w fall; no bit of the others counts.
func slot(w uint64) uint64 { return (w ^ w>>4) & (1<<12 - 1) }

func (*choice) begin() {}

func (c *choice) next(data []byte, from int) int {
	for i := c.skim(data, from); i+2 <= len(data); i = c.skim(data, i+1) {
		if hit := c.at(data, from, i); hit >= 0 {
			return hit
		}
	}
	return -1
}

// skim passes over places at which no pair is. It gives one at which a pair may be,
// or one near the end.
func (c *choice) skim(data []byte, i int) int {
	i = c.nibbles.skim(data, i)
	for ; i+8 <= len(data); i += 7 {
		w := binary.LittleEndian.Uint64(data[i:])
		if c.may[slot(w)]|c.may[slot(w>>8)]|c.may[slot(w>>16)]|c.may[slot(w>>24)]|
			c.may[slot(w>>32)]|c.may[slot(w>>40)]|c.may[slot(w>>48)] == 0 {
			continue
		}
		for c.may[slot(w)] == 0 {
			i, w = i+1, w>>8
		}
		break
	}
	return i
}

// at gives the first needle whose pair is at i, or -1.
func (c *choice) at(data []byte, from, i int) int {
	for k, p := range c.pairs {
		if data[i]|p.maskA == p.a && data[i+1]|p.maskB == p.b && i-p.at >= from {
			if start, _ := c.needles[k].around(data, from, i-p.at); start >= 0 {
				return start
			}
		}
	}
	return -1
}
