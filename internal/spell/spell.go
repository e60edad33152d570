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
}

func (g guess) less(than guess) bool {
	return cmp.Or(cmp.Compare(g.cost, than.cost), cmp.Compare(g.distance, than.distance), cmp.Compare(g.apart, than.apart)) < 0
}

// part is the cost of a word that is a part of the other, whatever else is there.
const part = 2

func weigh(a, b string) guess {
	d := distance(a, b)
	switch {
	case len(a) > 2 && len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)):
		return guess{min(d, part), d, 0}
	case d >= max(len(a), len(b)): // not one letter in common
		return guess{d + len(a), d, 1}
	}
	return guess{d, d, 1}
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
