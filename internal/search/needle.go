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

// A needle is one text to look for. What is searched is its rarest part: one
// byte, with the loop of the standard library, or two neighbouring bytes, eight
// places at a time; the rest is compared where that was found. For two bytes
// case makes no difference to the price. Where case is ignored and there are no
// two such bytes, all forms of the rarest character are looked for.
type needle struct {
	exact []byte // the text when case counts
	at    int    // of its rarest part, in bytes

	before []rune // when case is ignored: what stands before the rarest part, folded, the last first
	after  []rune // and from there on
	forms  [][]byte

	pair *pair // nil when one byte or the forms are looked for
}

func newNeedle(w want) needle {
	if w.fold && hasCase(w.text) {
		return foldedNeedle([]rune(w.text))
	}
	n := needle{exact: []byte(w.text)}
	n.at = rarestOf(len(w.text), func(i int) int { return rarity(w.text[i]) })
	const rare = 36 // from here on the loop for one byte stops in vain less than once in a hundred bytes
	if len(w.text) > 1 && rarity(w.text[n.at]) < rare {
		n.byPair()
	}
	return n
}

// byPair makes an exact needle of two bytes at least be looked for by a pair.
func (n *needle) byPair() {
	n.at = rarestOf(len(n.exact)-1, func(i int) int { return rarity(n.exact[i]) + rarity(n.exact[i+1]) })
	n.pair = &pair{a: n.exact[n.at], b: n.exact[n.at+1]}
}

func newNeedles(texts []want) []needle {
	needles := make([]needle, len(texts))
	for i, w := range texts {
		needles[i] = newNeedle(w)
	}
	return needles
}

func foldedNeedle(text []rune) needle {
	at := rarestOf(len(text)-1, func(i int) int { return pairRarity(text[i], text[i+1]) })
	var n needle
	if len(text) > 1 && pairRarity(text[at], text[at+1]) > 0 {
		n.pair = foldedPair(text[at], text[at+1])
	} else {
		at = rarestOf(len(text), func(i int) int { return foldedRarity(text[i]) })
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
	for at := from + n.at; at < len(data); at++ {
		if at = n.rarePart(data, at, memo); at == len(data) {
			break
		}
		if start, end = n.around(data, from, at); start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// rarePart is the next place of the rarest part, or the end of data.
func (n *needle) rarePart(data []byte, at int, memo []int) int {
	switch {
	case n.pair != nil:
		return n.pair.index(data, at)
	case n.forms != nil:
		return n.anyForm(data, at, memo)
	}
	return indexFrom(data, at, n.exact[n.at:n.at+1])
}

// around compares the whole text where its rarest part was found.
func (n *needle) around(data []byte, from, at int) (start, end int) {
	if n.exact != nil {
		start, end = at-n.at, at-n.at+len(n.exact)
		if end > len(data) || string(data[start:end]) != string(n.exact) {
			return -1, -1
		}
		return start, end
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
	if step := bytes.Index(data[from:], text); step >= 0 {
		return from + step
	}
	return len(data)
}

// A pair is two neighbouring bytes to look for. A byte of the text is compared
// after its bits in the mask were set.
type pair struct{ a, b, maskA, maskB byte }

// foldedPair is the pair of two characters for which simple is true.
func foldedPair(a, b rune) *pair {
	p := &pair{a: lower(a), b: lower(b)}
	if isLetter(a) {
		p.maskA = 0x20
	}
	if isLetter(b) {
		p.maskB = 0x20
	}
	return p
}

// index is the next place of the pair, or the end of data. Eight places are
// compared at once: a byte of differ is zero where both halves fit, and the
// usual trick of borrowing finds the lowest such byte. Four times eight are
// passed over together where there is none.
func (p *pair) index(data []byte, i int) int {
	const ones = 0x0101010101010101
	k := pairKey{ones * uint64(p.a), ones * uint64(p.b), ones * uint64(p.maskA), ones * uint64(p.maskB)}
	for ; i+33 <= len(data); i += 32 {
		w := data[i : i+33 : i+33]
		if k.fits(w)|k.fits(w[8:])|k.fits(w[16:])|k.fits(w[24:]) != 0 {
			break
		}
	}
	for ; i+9 <= len(data); i += 8 {
		if zero := k.fits(data[i : i+9]); zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	for ; i+2 <= len(data); i++ {
		if data[i]|p.maskA == p.a && data[i+1]|p.maskB == p.b {
			return i
		}
	}
	return len(data)
}

// A pairKey is a pair eight times over.
type pairKey struct{ a, b, maskA, maskB uint64 }

// fits has the top bit of the first byte set at which the pair is, if it is at
// one of the first eight.
func (k *pairKey) fits(w []byte) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = w[8]
	differ := (binary.LittleEndian.Uint64(w)|k.maskA)^k.a | (binary.LittleEndian.Uint64(w[1:])|k.maskB)^k.b
	return (differ - ones) &^ differ & tops
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
