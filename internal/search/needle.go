package search

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commonest are the printable characters of 230 MB of source and documentation
// from the most to the least frequent. All other bytes count as rarer still.
const commonest = " etnsirao\n_cldpf\tu,0Shm()/EgxT.*CIObAyRNLP1\"k:=-v2DMwF>#3<4;56{}B9GU8'XV7H\\[]KYjzW`&q$+|!%@QJZ?~^"

// rarity is higher the more seldom a byte is.
func rarity(c byte) int {
	if at := strings.IndexByte(commonest, c); at >= 0 {
		return at
	}
	return len(commonest)
}

// A needle is one text to look for. What is searched is its rarest byte, with
// the loop of the standard library, and the rest is compared where that was
// found. Where that byte turns out to be everywhere two bytes are searched, many
// places at a time; for two bytes case makes no difference to the price. Where case
// is ignored all forms of a rare character are looked for, or else two bytes.
type needle struct {
	exact []byte // the text when case counts
	at    int    // of its rarest byte
	guard int    // of another one that is compared first
	rare  bool   // the byte is rare enough to try

	before []rune // when case is ignored: what stands before the rarest part, folded, the last first
	after  []rune // and from there on
	forms  [][]byte

	pair *pair // nil for an exact text of one byte, or when forms are looked for
}

func newNeedle(w want) needle {
	if w.fold && hasCase(w.text) {
		return foldedNeedle([]rune(w.text))
	}
	n := needle{exact: []byte(w.text)}
	n.at = rarestOf(len(w.text), func(i int) int { return rarity(w.text[i]) })
	n.rare = rarity(w.text[n.at]) > 24
	if len(w.text) > 1 {
		n.guard = rarestBut(n.at, w.text)
		n.pair = pairIn(w.text, min(n.at, n.guard), max(n.at, n.guard))
	}
	return n
}

// rarestBut is where in a text the rarest byte is, but for the place that is left out
// and those too far from it to be looked for together.
func rarestBut(out int, text string) int {
	const far = 32
	return rarestOf(len(text), func(i int) int {
		if i == out || max(i-out, out-i) > far {
			return -1
		}
		return rarity(text[i])
	})
}

func newNeedles(texts []want) []needle {
	needles := make([]needle, len(texts))
	for i, w := range texts {
		needles[i] = newNeedle(w)
	}
	return needles
}

func foldedNeedle(text []rune) needle {
	const rare = 60 // from here on two loops for one byte are quicker than one for two
	at := rarestOf(len(text), func(i int) int { return foldedRarity(text[i]) })
	both := rarestOf(len(text)-1, func(i int) int { return pairRarity(text[i], text[i+1]) })
	var n needle
	if len(text) > 1 && pairRarity(text[both], text[both+1]) > 0 && foldedRarity(text[at]) < rare {
		n.pair = foldedPair(text[both], text[both+1])
		at = both
	} else {
		n.forms = formsOf(text[at])
	}
	for i, r := range text {
		if i < at {
			n.before = append([]rune{folded(r)}, n.before...)
		} else {
			n.after = append(n.after, folded(r))
		}
	}
	return n
}

// rarestOf gives the first of n places with the highest value.
func rarestOf(n int, value func(int) int) int {
	best := 0
	for i := 1; i < n; i++ {
		if value(i) > value(best) {
			best = i
		}
	}
	return best
}

func hasCase(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.SimpleFold(r) != r })
}

// folded is the smallest of the characters that differ from r in case only.
func folded(r rune) rune {
	if r < utf8.RuneSelf && (r < 'A' || r > 'z') {
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// formsOf are all characters that differ from r in case only, r too.
func formsOf(r rune) [][]byte {
	forms := [][]byte{utf8.AppendRune(nil, r)}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		forms = append(forms, utf8.AppendRune(nil, next))
	}
	return forms
}

// foldedRarity is how rare all forms of a character are together; the fewer
// forms, the better.
func foldedRarity(r rune) int {
	least := len(commonest) + 1
	forms := formsOf(r)
	for _, f := range forms {
		least = min(least, rarity(f[0]))
	}
	return least - 8*(len(forms)-1)
}

// pairRarity is how rare two characters are next to each other, or zero when
// they are not two bytes whose forms differ in the case bit alone. The letters
// k and s are not: each has a form outside ASCII.
func pairRarity(a, b rune) int {
	if !simple(a) || !simple(b) {
		return 0
	}
	return 1 + rarity(lower(a)) + rarity(lower(b))
}

func simple(r rune) bool { return r < utf8.RuneSelf && (!isLetter(r) || len(formsOf(r)) == 2) }

func isLetter(r rune) bool { return 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' }

func lower(r rune) byte {
	if isLetter(r) {
		r |= 0x20
	}
	return byte(r)
}

// slots is how many places a needle remembers.
func (n *needle) slots() int { return len(n.forms) }

// in looks in a short text.
func (n *needle) in(line []byte, from int) (start, end int) {
	memo := [4]int{-1, -1, -1, -1} // no character has more than four forms
	return n.next(line, from, memo[:len(n.forms)])
}

// next gives the bounds of the first match that begins at or after from, or -1.
func (n *needle) next(data []byte, from int, memo []int) (start, end int) {
	switch {
	case n.exact != nil && (n.pair == nil || n.rare):
		return n.nextByte(data, from)
	case n.forms != nil:
		return n.nextForm(data, from, memo)
	}
	return n.nextPair(data, from)
}

// nextByte looks for the rarest byte of an exact text, for as long as it is rare.
func (n *needle) nextByte(data []byte, from int) (start, end int) {
	const patience, gap = 16, 64 // stops in vain, and bytes between two that make them worth it
	c, guard, size := n.exact[n.at], n.exact[n.guard], len(n.exact)
	for at, stops := from+n.at, 1; at < len(data); at, stops = at+1, stops+1 {
		step := bytes.IndexByte(data[at:], c)
		at += step
		start, end = at-n.at, at-n.at+size
		if step < 0 || end > len(data) {
			break
		}
		if data[start+n.guard] == guard && string(data[start:end]) == string(n.exact) {
			return start, end
		}
		if stops > patience && start-from < gap*stops && n.pair != nil {
			return n.nextPair(data, start+1)
		}
	}
	return -1, -1
}

// nextForm looks for all forms of the rarest character.
func (n *needle) nextForm(data []byte, from int, memo []int) (start, end int) {
	for at := from; at < len(data); at++ {
		if at = n.anyForm(data, at, memo); at == len(data) {
			break
		}
		if start, end = n.around(data, from, at); start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// nextPair looks for two bytes.
func (n *needle) nextPair(data []byte, from int) (start, end int) {
	for at := from + n.pair.at; at < len(data); at++ {
		if at = n.pair.index(data, at); at == len(data) {
			break
		}
		if start, end = n.around(data, from, at-n.pair.at); start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// around compares the whole text: an exact one that would begin at a place, or
// another whose pair or rarest character is there.
func (n *needle) around(data []byte, from, at int) (start, end int) {
	if n.exact != nil {
		if end = at + len(n.exact); end > len(data) || string(data[at:end]) != string(n.exact) {
			return -1, -1
		}
		return at, end
	}
	size := forward(data[at:], n.after)
	if size < 0 {
		return -1, -1
	}
	if start = backward(data[from:at], n.before); start < 0 {
		return -1, -1
	}
	return from + start, at + size
}

// anyForm brings memo up to date and gives the place of the form that comes first.
func (n *needle) anyForm(data []byte, at int, memo []int) int {
	first := len(data)
	for i, form := range n.forms {
		if memo[i] < at {
			memo[i] = indexFrom(data, at, form)
		}
		first = min(first, memo[i])
	}
	return first
}

// indexFrom is the next place of text, or the end of data.
func indexFrom(data []byte, from int, text []byte) int {
	var step int
	if len(text) == 1 {
		step = bytes.IndexByte(data[from:], text[0])
	} else {
		step = bytes.Index(data[from:], text)
	}
	if step < 0 {
		return len(data)
	}
	return from + step
}

// A pair is two bytes to look for. A byte of the text is compared after its bits in
// the mask were set.
type pair struct {
	a, b, maskA, maskB byte

	at  int // where the first is in an exact text
	gap int // from the first to the second
}

// pairIn is the pair of two bytes of an exact text.
func pairIn(text string, a, b int) *pair {
	return &pair{a: text[a], b: text[b], at: a, gap: b - a}
}

// foldedPair is the pair of two neighbouring characters for which simple is true.
func foldedPair(a, b rune) *pair {
	p := &pair{a: lower(a), b: lower(b), gap: 1}
	if isLetter(a) {
		p.maskA = 0x20
	}
	if isLetter(b) {
		p.maskB = 0x20
	}
	return p
}

// index is the next place of the pair, or the end of data. What the processor's
// wide registers leave is done eight places at once: a byte of differ is zero where
// both bytes fit, and the usual trick of borrowing finds the lowest such byte. Four
// times eight are passed over together where there is none.
func (p *pair) index(data []byte, i int) int {
	const ones = 0x0101010101010101
	i = p.skim(data, i)
	k := pairKey{ones * uint64(p.a), ones * uint64(p.b), ones * uint64(p.maskA), ones * uint64(p.maskB)}
	for ; i+32+p.gap <= len(data); i += 32 {
		v, w := data[i:i+32:i+32], data[i+p.gap:][:32:32]
		if k.fits(v, w)|k.fits(v[8:], w[8:])|k.fits(v[16:], w[16:])|k.fits(v[24:], w[24:]) != 0 {
			break
		}
	}
	for ; i+8+p.gap <= len(data); i += 8 {
		if zero := k.fits(data[i:], data[i+p.gap:]); zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	for ; i+p.gap < len(data); i++ {
		if data[i]|p.maskA == p.a && data[i+p.gap]|p.maskB == p.b {
			return i
		}
	}
	return len(data)
}

// A pairKey is a pair eight times over.
type pairKey struct{ a, b, maskA, maskB uint64 }

// fits has the top bit of the first byte set at which the pair is, if it is at
// one of the first eight.
func (k pairKey) fits(v, w []byte) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	a, b := binary.LittleEndian.Uint64(v)|k.maskA, binary.LittleEndian.Uint64(w)|k.maskB
	differ := (a ^ k.a) | (b ^ k.b)
	return (differ - ones) &^ differ & tops
}

// neighbours are two bytes by which the needle is known that stand next to each
// other, or nil.
func (n *needle) neighbours() *pair {
	if n.pair == nil || n.exact == nil {
		return n.pair
	}
	at := rarestOf(len(n.exact)-1, func(i int) int { return rarity(n.exact[i]) + rarity(n.exact[i+1]) })
	return pairIn(string(n.exact), at, at+1)
}

// forward compares the beginning of data with folded characters and gives how
// many bytes they took, or -1.
func forward(data []byte, text []rune) int {
	i := 0
	for _, want := range text {
		if i >= len(data) {
			return -1
		}
		got, size := rune(data[i]), 1
		if got >= utf8.RuneSelf {
			got, size = utf8.DecodeRune(data[i:])
		}
		if !sameLetter(got, want) {
			return -1
		}
		i += size
	}
	return i
}

// backward compares the end of data, from the last character on, and gives
// where the text begins, or -1.
func backward(data []byte, text []rune) int {
	i := len(data)
	for _, want := range text {
		if i == 0 {
			return -1
		}
		got, size := rune(data[i-1]), 1
		if got >= utf8.RuneSelf {
			got, size = utf8.DecodeLastRune(data[:i])
		}
		if !sameLetter(got, want) {
			return -1
		}
		i -= size
	}
	return i
}

func sameLetter(got, want rune) bool {
	if got < utf8.RuneSelf {
		if 'a' <= got && got <= 'z' {
			got -= 'a' - 'A'
		}
		return got == want
	}
	return folded(got) == want
}

// findAny makes finders for texts any of which may be there.
func findAny(texts []want) func() finder {
	if slices.ContainsFunc(texts, func(w want) bool { return w.text == "" }) {
		return findEvery
	}
	needles, slots := newNeedles(texts), 0
	for i := range needles {
		slots += 1 + needles[i].slots()
	}
	if c := newChoice(needles); c != nil {
		return func() finder { return c }
	}
	return func() finder { return &anyNeedle{needles, make([]int, slots)} }
}

// anyNeedle looks for several needles and points out whichever comes first. Of
// each it remembers the next place, so that a rare one is looked for once.
type anyNeedle struct {
	needles []needle
	memo    []int // for each needle the next place and its slots
}

func (a *anyNeedle) begin() {
	for i := range a.memo {
		a.memo[i] = -1
	}
}

func (a *anyNeedle) next(data []byte, from int) int {
	first, memo := len(data), a.memo
	for i := range a.needles {
		n := &a.needles[i]
		place, rest := &memo[0], memo[1:1+n.slots()]
		memo = memo[1+len(rest):]
		if *place < from {
			start, _ := n.next(data, from, rest)
			if *place = start; start < 0 {
				*place = len(data)
			}
		}
		first = min(first, *place)
	}
	if first == len(data) {
		return -1
	}
	return first
}
