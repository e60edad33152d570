package diff

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// changes lists what turns old into new, in order; no two touch.
func changes(old, new []string) []change {
	head, tail := commonEnds(old, new)
	var m merger
	at := pair{head, head}
	for _, p := range append(anchors(old[head:len(old)-tail], new[head:len(new)-tail]), pair{len(old) - tail - head, len(new) - tail - head}) {
		p = pair{p.old + head, p.new + head}
		m.between(old, new, at, p)
		at = pair{p.old + 1, p.new + 1}
	}
	return m.changes
}

// A pair says that a line of old and a line of new are the same.
type pair struct{ old, new int }

// commonEnds counts the equal lines at the start and, of the rest, at the end.
func commonEnds(old, new []string) (head, tail int) {
	n := min(len(old), len(new))
	for head < n && old[head] == new[head] {
		head++
	}
	for tail < n-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	return head, tail
}

// anchors pairs lines that occur exactly once on each side, as many as can be
// without crossing.
func anchors(old, new []string) []pair {
	const many = -1
	inNew := make(map[string]int, len(new))
	for i, l := range new {
		if _, ok := inNew[l]; ok {
			i = many
		}
		inNew[l] = i
	}
	inOld := make(map[string]int, len(old))
	for _, l := range old {
		inOld[l]++
	}
	var pairs []pair
	for i, l := range old {
		if j, ok := inNew[l]; ok && j != many && inOld[l] == 1 {
			pairs = append(pairs, pair{i, j})
		}
	}
	return rising(pairs)
}

// rising is a longest part of pairs, which rise in old, that rises in new too.
// Piles hold the best end so far of a part of each length (patience sorting).
func rising(pairs []pair) []pair {
	var piles []int // indexes into pairs
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(piles, p.new, func(i, new int) int { return pairs[i].new - new })
		before[i] = -1
		if k > 0 {
			before[i] = piles[k-1]
		}
		if k == len(piles) {
			piles = append(piles, i)
		}
		piles[k] = i
	}
	out := make([]pair, len(piles))
	if len(piles) == 0 {
		return out
	}
	for i, k := piles[len(piles)-1], len(piles)-1; k >= 0; i, k = before[i], k-1 {
		out[k] = pairs[i]
	}
	return out
}

// A merger collects changes and joins those that touch.
type merger struct{ changes []change }

// between adds the changes of the lines from one pair to before the next.
func (m *merger) between(old, new []string, from, to pair) {
	a, b := old[from.old:to.old], new[from.new:to.new]
	head, tail := commonEnds(a, b)
	from = pair{from.old + head, from.new + head}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a) == 0 || len(b) == 0 {
		m.add(change{from.old, from.old + len(a), from.new, from.new + len(b)})
		return
	}
	for _, d := range lcs.DiffLines(a, b) {
		m.add(change{from.old + d.Start, from.old + d.End, from.new + d.ReplStart, from.new + d.ReplEnd})
	}
}

func (m *merger) add(c change) {
	if c.oldStart == c.oldEnd && c.newStart == c.newEnd {
		return
	}
	if n := len(m.changes); n > 0 {
		if last := &m.changes[n-1]; last.oldEnd == c.oldStart && last.newEnd == c.newStart {
			last.oldEnd, last.newEnd = c.oldEnd, c.newEnd
			return
		}
	}
	m.changes = append(m.changes, c)
}
