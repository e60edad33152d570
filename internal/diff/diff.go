// Package diff shows what changed between two texts, as git would.
//
// It is meant for eyes and for patch programs, so it must be right always and
// shortest mostly: lines that occur once in both texts are paired first, and
// only what lies between such pairs is searched, with bounded effort. The cost
// grows little faster than the size of the texts, however different they are.
package diff

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// maxSize is the size of a text up to which it is compared line by line. It is
// a little below the largest file that tools accept.
const maxSize = 8 << 20

// Unified is the difference of a and b with that many lines of context, or the
// empty string when they are equal. Binary and very large texts get the header
// and one line that says so.
func Unified(oldName, newName string, a, b []byte, context int) string {
	if bytes.Equal(a, b) {
		return ""
	}
	if isBinary(a) || isBinary(b) {
		return fmt.Sprintf("Binary files %s and %s differ\n", quoted(oldName), quoted(newName))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", headed(oldName), headed(newName))
	if len(a) > maxSize || len(b) > maxSize {
		fmt.Fprintf(&out, "Too large to compare: %d and %d bytes\n", len(a), len(b))
		return out.String()
	}
	old, new := lines(a), lines(b)
	for _, h := range hunks(changes(old, new), max(context, 0)) {
		h.write(&out, old, new, max(context, 0))
	}
	return out.String()
}

// Stat counts the lines of b that are new and the lines of a that are gone. Of
// binary and very large texts it counts all.
func Stat(a, b []byte) (added, removed int) {
	if bytes.Equal(a, b) {
		return 0, 0
	}
	if len(a) > maxSize || len(b) > maxSize || isBinary(a) || isBinary(b) {
		return lineCount(b), lineCount(a)
	}
	for _, c := range changes(lines(a), lines(b)) {
		added += c.newEnd - c.newStart
		removed += c.oldEnd - c.oldStart
	}
	return added, removed
}

// isBinary looks where git looks: for a NUL byte near the start.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// lines cuts b into lines, each with its line end.
func lines(b []byte) []string {
	out := make([]string, 0, lineCount(b))
	for l := range strings.Lines(string(b)) {
		out = append(out, l)
	}
	return out
}

func lineCount(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// headed is a name as it stands in a header. Patch programs take a name to end
// at a blank unless a tab follows.
func headed(name string) string {
	if q := quoted(name); q != name || !strings.Contains(name, " ") {
		return q
	}
	return name + "\t"
}

// quoted is a name that cannot be mistaken for anything else on its line.
func quoted(name string) string {
	special := func(r rune) bool { return r < ' ' || r == 0x7F || r == '"' || r == '\\' }
	if strings.ContainsFunc(name, special) {
		return strconv.Quote(name)
	}
	return name
}

// A change replaces lines [oldStart, oldEnd) by lines [newStart, newEnd).
type change struct{ oldStart, oldEnd, newStart, newEnd int }

// A hunk is a group of changes that share their context. It is never empty.
type hunk []change

func hunks(all []change, context int) []hunk {
	var out []hunk
	for _, c := range all {
		if n := len(out); n > 0 {
			if h := out[n-1]; c.oldStart-h[len(h)-1].oldEnd <= 2*context {
				out[n-1] = append(h, c)
				continue
			}
		}
		out = append(out, hunk{c})
	}
	return out
}

func (h hunk) write(out *strings.Builder, old, new []string, context int) {
	first, last := h[0], h[len(h)-1]
	before := min(context, first.oldStart)
	after := min(context, len(old)-last.oldEnd)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		extent(first.oldStart-before, last.oldEnd+after), extent(first.newStart-before, last.newEnd+after))
	at := first.oldStart - before
	for _, c := range h {
		writeLines(out, ' ', old[at:c.oldStart])
		writeLines(out, '-', old[c.oldStart:c.oldEnd])
		writeLines(out, '+', new[c.newStart:c.newEnd])
		at = c.oldEnd
	}
	writeLines(out, ' ', old[at:last.oldEnd+after])
}

// extent is "first line,count" of the lines [start, end), as patches write it:
// a count of one is left out, and an empty extent names the line before.
func extent(start, end int) string {
	switch n := end - start; n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return strconv.Itoa(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

func writeLines(out *strings.Builder, sign byte, lines []string) {
	for _, l := range lines {
		out.WriteByte(sign)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
