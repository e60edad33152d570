// Package spell finds the word a person probably meant.
package spell

import "strings"

// Nearest is the known word closest to what was written: the one with the
// fewest letters to add, drop or change, or one that contains it or is contained
// in it. It is empty when even the closest is too far away to have been meant.
func Nearest(written string, known []string) string {
	word := strings.ToLower(written)
	best, least := "", len(word)/2+2
	for _, k := range known {
		if d := distance(word, strings.ToLower(k)); d < least {
			best, least = k, d
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

func distance(a, b string) int {
	if len(a) > 2 && len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
