package edit

import (
	"slices"
	"sort"
	"strings"
)

const mark = "\ufeff" // the byte order mark

// A text is the file, with the other views of it that lower rungs need. They
// are made when first asked for: most edits end on the first rung.
type text struct {
	raw  string
	body int // where the text begins, behind a byte order mark

	unix    string // raw with LF for every CR LF
	dropped []int  // offsets in unix of the LFs that lost their CR
	lines   []line
}

// A line is [start, end) of the raw text without its line end, which reaches to next.
type line struct{ start, end, next int }

func newText(raw string) *text {
	t := &text{raw: raw}
	if strings.HasPrefix(raw, mark) {
		t.body = len(mark)
	}
	return t
}

// unixView fills unix and dropped.
func (t *text) unixView() string {
	if t.unix != "" || t.raw == "" {
		return t.unix
	}
	var b strings.Builder
	b.Grow(len(t.raw))
	for rest := t.raw; ; {
		before, after, found := strings.Cut(rest, "\r\n")
		b.WriteString(before)
		if !found {
			break
		}
		t.dropped = append(t.dropped, b.Len())
		b.WriteByte('\n')
		rest = after
	}
	t.unix = b.String()
	return t.unix
}

// rawOffset is where offset i of the unix view lies in the raw text. An offset
// at a line end is before its CR, so that no span ever cuts a CR LF in two.
func (t *text) rawOffset(i int) int {
	return i + sort.SearchInts(t.dropped, i)
}

func (t *text) lineView() []line {
	if t.lines == nil {
		t.lines = split(t.raw, t.body)
	}
	return t.lines
}

// split cuts s[from:] into lines; nothing follows a last line end.
func split(s string, from int) []line {
	lines := make([]line, 0, strings.Count(s, "\n")+1)
	for at := from; at < len(s); {
		l := line{start: at, end: len(s), next: len(s)}
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			l.end, l.next = at+i, at+i+1
			if i > 0 && s[l.end-1] == '\r' {
				l.end--
			}
		}
		lines = append(lines, l)
		at = l.next
	}
	return lines
}

// place makes a change of a match: the mark stays, no CR LF is cut, and the
// line ends of new become those that the file has there.
func (t *text) place(edit, start, end int, new string) change {
	if start < t.body {
		start, end = t.body, max(end, t.body)
		new = strings.TrimPrefix(new, mark)
	} else if start == t.body && t.body > 0 {
		new = strings.TrimPrefix(new, mark)
	}
	if t.insideCRLF(start) {
		start--
	}
	if t.insideCRLF(end) {
		end--
		new = strings.TrimSuffix(new, "\r")
	}
	return change{edit: edit, start: start, end: max(start, end), new: t.withLineEnds(new, start, max(start, end))}
}

func (t *text) insideCRLF(i int) bool {
	return i > 0 && i < len(t.raw) && t.raw[i] == '\n' && t.raw[i-1] == '\r'
}

// withLineEnds gives the line ends of new the form they have in the file: the
// first takes that of the first line end replaced, and so on; further ones
// take the last of these. Where none is replaced the line at hand decides, and
// in a file of one unfinished line the text stays as it was sent.
func (t *text) withLineEnds(new string, start, end int) string {
	if !strings.Contains(new, "\n") {
		return new
	}
	forms := lineEnds(t.raw[start:end])
	if len(forms) == 0 {
		forms = t.lineEndNear(end)
	}
	if len(forms) == 0 {
		return new
	}
	var b strings.Builder
	pieces := strings.Split(strings.ReplaceAll(new, "\r\n", "\n"), "\n")
	for i, p := range pieces {
		b.WriteString(p)
		if i < len(pieces)-1 {
			b.WriteString(forms[min(i, len(forms)-1)])
		}
	}
	return b.String()
}

// lineEndNear is the end of the line that offset i is in, or of the one before
// when that line is the last and has none.
func (t *text) lineEndNear(i int) []string {
	if j := strings.IndexByte(t.raw[i:], '\n'); j >= 0 {
		return lineEnds(t.raw[max(0, i+j-1) : i+j+1])
	}
	if j := strings.LastIndexByte(t.raw[:i], '\n'); j >= 0 {
		return lineEnds(t.raw[max(0, j-1) : j+1])
	}
	return nil
}

// lineEnds lists the line ends in s, each LF or CR LF.
func lineEnds(s string) []string {
	var forms []string
	for i := range len(s) {
		switch {
		case s[i] != '\n':
		case i > 0 && s[i-1] == '\r':
			forms = append(forms, "\r\n")
		default:
			forms = append(forms, "\n")
		}
	}
	return slices.Clip(forms)
}
