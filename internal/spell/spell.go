// Package spell finds the word a person probably meant.
package spell

import (
	"cmp"
	"strings"
)

// Nearest is the known word closest to what was written: the one with the
// fewest letters to add, drop, change or swap, or one that contains it or is
// contained in it. A slip of the finger counts less than a missing half, so that
// gpt-5-mnii is gpt-5-mini rather than gpt-5. It is empty when even the closest
// is too far away to have been meant.
func Nearest(written string, known []string) string {
	word := strings.ToLower(written)
	best, least := "", guess{cost: max(1, len(word)/2) + 1}
	for _, k := range known {
		if g := weigh(word, strings.ToLower(k)); g.less(least) {
			best, least = k, g
		}
	}
	return best
}

// DidYouMean is a question with the nearest word, or empty when there is none.
func DidYouMean(written string, known []string) string {
	if n := Nearest(written, known); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}

// A guess is how far a word is from what was written: what decides first, then
// what decides between equals.
type guess struct {
	cost     int
	distance int
	apart    int // 0 when one contains the other
	start    int // 0 when they begin with the same letter, where few slip
	longer   int // by how many letters one is longer
}

func (g guess) less(than guess) bool {
	return cmp.Or(
		cmp.Compare(g.cost, than.cost), cmp.Compare(g.distance, than.distance),
		cmp.Compare(g.apart, than.apart), cmp.Compare(g.start, than.start), cmp.Compare(g.longer, than.longer),
	) < 0
}

// part is the cost of a word that is a part of the other, whatever else is there.
const part = 2

func weigh(a, b string) guess {
	d := distance(a, b)
	g := guess{cost: d, distance: d, apart: 1, start: 1, longer: max(len(a)-len(b), len(b)-len(a))}
	if a != "" && b != "" && a[0] == b[0] {
		g.start = 0
	}
	switch {
	case len(a) > 2 && len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)):
		g.cost, g.apart = min(d, part), 0
	case d >= max(len(a), len(b)): // not one letter in common
		g.cost += len(a)
	}
	return g
}

// distance counts the letters to add, drop, change, or swap with their neighbour.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
