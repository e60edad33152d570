package edit

import "strings"

// A span is a match: [start, end) of the raw text. reshape turns the new text
// of the edit into what goes there; nil leaves it as it is.
type span struct {
	start, end int
	reshape    func(string) string
}

// A step looks for old on one rung.
type step struct {
	rung Rung
	find func(t *text, old string, all bool) []span
}

// ladder lists the steps that an edit may take, top rung first.
func ladder(e Edit, mode Mode) []step {
	steps := []step{{Letter, (*text).findLetter}, {LineEnds, (*text).findLineEnds}}
	if mode == Fuzzy && !e.ReplaceAll && !blank(e.OldText) {
		steps = append(steps, step{Trailing, (*text).findTrailing}, step{Indent, (*text).findIndent})
	}
	return steps
}

// blank reports whether s has nothing that a person would see: such text must
// be found by its letters or not at all.
func blank(s string) bool { return strings.TrimSpace(strings.TrimPrefix(s, mark)) == "" }

// find gives the changes of one edit and the rung they were found on.
func (t *text) find(i int, e Edit, mode Mode) (Rung, []change, error) {
	for _, s := range ladder(e, mode) {
		spans := s.find(t, e.OldText, e.ReplaceAll)
		if len(spans) == 0 {
			continue
		}
		if len(spans) > 1 && !e.ReplaceAll {
			return s.rung, nil, t.ambiguous(i, spans, s.rung)
		}
		return s.rung, t.changes(i, e.NewText, spans), nil
	}
	return 0, nil, t.notFound(i, e, mode)
}

func (t *text) changes(edit int, new string, spans []span) []change {
	out := make([]change, len(spans))
	for i, s := range spans {
		text := new
		if s.reshape != nil {
			text = s.reshape(new)
		}
		out[i] = t.place(edit, s.start, s.end, text)
	}
	return out
}

// enough is how many matches of an ambiguous text are looked for.
const enough = 20

// offsets finds old in s: with all, every match, none sharing a byte with the
// one before; else some, sharing or not, since two that share are two readings.
func offsets(s, old string, all bool) []int {
	var found []int
	for at := 0; all || len(found) < enough; {
		i := strings.Index(s[at:], old)
		if i < 0 {
			break
		}
		found = append(found, at+i)
		at += i + 1
		if all {
			at += len(old) - 1
		}
	}
	return found
}

func (t *text) findLetter(old string, all bool) []span {
	var spans []span
	for _, i := range offsets(t.raw, old, all) {
		spans = append(spans, span{start: i, end: i + len(old)})
	}
	return spans
}

func (t *text) findLineEnds(old string, all bool) []span {
	if !strings.Contains(t.raw, "\r\n") && !strings.Contains(old, "\r\n") {
		return nil
	}
	old = strings.ReplaceAll(old, "\r\n", "\n")
	var spans []span
	for _, i := range offsets(t.unixView(), old, all) {
		spans = append(spans, span{start: t.rawOffset(i), end: t.rawOffset(i + len(old))})
	}
	return spans
}

// findTrailing compares whole lines without the blanks at their ends.
func (t *text) findTrailing(old string, _ bool) []span {
	p := t.pattern(old)
	file := keys(t.raw, t.lineView(), trimRight)
	var spans []span
	for _, i := range windows(file, keys(p.text, p.lines, trimRight)) {
		spans = append(spans, t.lineSpan(p, i, nil))
	}
	return spans
}

// findIndent compares whole lines without the blanks at their ends, allowing
// for one common change of indent: each line of old begins with the same
// blanks, and has other blanks there in the file.
//
// Instead of the indent itself, the step from the line before is compared: it
// is the same on both sides exactly when one common change explains all lines.
// So one linear search does for all possible changes. The first line has no
// step inside the pattern; of it only the words are compared.
func (t *text) findIndent(old string, _ bool) []span {
	p := t.pattern(old)
	file, want := shapes(t.raw, t.lineView()), shapes(p.text, p.lines)
	first := 0
	for want[first].words == "" {
		first++
	}
	var spans []span
	for _, i := range windows(file, want[first+1:]) {
		start := i - 1 - first
		if start < 0 || !sameWords(file[start:i], want[:first+1]) {
			continue
		}
		l := t.lineView()[i-1]
		from, to := shift(indentOf(p.lines[first].in(p.text)), indentOf(l.in(t.raw)))
		spans = append(spans, t.lineSpan(p, start, func(new string) string { return reindent(new, from, to) }))
	}
	return spans
}

// A pattern is the old text in lines.
type pattern struct {
	text   string
	lines  []line
	closed bool // it ends in a line end
}

func (t *text) pattern(old string) pattern {
	if t.body > 0 {
		old = strings.TrimPrefix(old, mark)
	}
	return pattern{text: old, lines: split(old, 0), closed: strings.HasSuffix(old, "\n")}
}

// lineSpan is the span of the lines from first on that p matched. A last line
// end that p has and the file has not is missing in the result too.
func (t *text) lineSpan(p pattern, first int, reshape func(string) string) span {
	lines := t.lineView()[first : first+len(p.lines)]
	last := lines[len(lines)-1]
	s := span{start: lines[0].start, end: last.end, reshape: reshape}
	if !p.closed {
		return s
	}
	if last.next > last.end {
		s.end = last.next
		return s
	}
	s.reshape = func(new string) string {
		if reshape != nil {
			new = reshape(new)
		}
		if cut, ok := strings.CutSuffix(new, "\n"); ok {
			new = strings.TrimSuffix(cut, "\r")
		}
		return new
	}
	return s
}

func (l line) in(s string) string { return s[l.start:l.end] }

const blanks = " \t"

func trimRight(s string) string { return strings.TrimRight(s, blanks) }

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, blanks))] }

func keys(s string, lines []line, key func(string) string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = key(l.in(s))
	}
	return out
}

// A shape is a line as findIndent sees it: its words, and how its indent comes
// from that of the last line with words. A blank line has the zero shape.
type shape struct{ words, lost, gained string }

func shapes(s string, lines []line) []shape {
	out := make([]shape, len(lines))
	before := ""
	for i, l := range lines {
		words := strings.Trim(l.in(s), blanks)
		if words == "" {
			continue
		}
		indent := indentOf(l.in(s))
		n := commonPrefix(before, indent)
		out[i] = shape{words: words, lost: before[n:], gained: indent[n:]}
		before = indent
	}
	return out
}

func sameWords(a, b []shape) bool {
	for i := len(a) - 1; i >= 0; i-- { // the blank lines in front last: most fail at once
		if a[i].words != b[i].words {
			return false
		}
	}
	return true
}

// shift is the least change that turns indent a into b: from becomes to in
// front of what both end in.
func shift(a, b string) (from, to string) {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return a[:len(a)-n], b[:len(b)-n]
}

// reindent changes the indent of each line of s. A blank line stays as it is,
// and so does a line that lies further out than from; where the indent is only
// taken away, such a line loses what it has of it.
func reindent(s, from, to string) string {
	lines := strings.SplitAfter(s, "\n")
	for i, l := range lines {
		n := commonPrefix(l, from)
		if strings.TrimSpace(l) != "" && (n == len(from) || to == "") {
			lines[i] = to + l[n:]
		}
	}
	return strings.Join(lines, "")
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// windows lists where want occurs in have, in time linear in both (Knuth,
// Morris and Pratt). An empty want occurs everywhere.
func windows[T comparable](have, want []T) []int {
	border := make([]int, len(want)+1) // of each prefix of want
	border[0] = -1
	for i, k := 0, -1; i < len(want); {
		for k >= 0 && want[i] != want[k] {
			k = border[k]
		}
		i, k = i+1, k+1
		border[i] = k
	}
	var found []int
	if len(want) == 0 {
		found = append(found, 0)
	}
	for i, k := 0, 0; i < len(have); {
		for k >= 0 && (k == len(want) || have[i] != want[k]) {
			k = border[k]
		}
		i, k = i+1, k+1
		if k == len(want) {
			found = append(found, i-k)
		}
	}
	return found
}
