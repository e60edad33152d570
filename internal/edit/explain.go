package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ikigai/internal/tool"
)

// ambiguous says where the matches are.
func (t *text) ambiguous(edit int, spans []span, rung Rung) error {
	var at []string
	for _, s := range spans {
		at = append(at, strconv.Itoa(t.lineOf(s.start)))
	}
	at = slices.Compact(at)
	more := ""
	if len(at) > enough/2 {
		at, more = at[:enough/2], " and more"
	}
	how := ""
	if rung > Letter {
		how = " (" + rung.String() + ")"
	}
	return tool.Errorf(Ambiguous, "edit %d: old_text matches more than once%s, at line %s%s: quote more of the lines around it, or set replace_all",
		edit+1, how, strings.Join(at, ", "), more)
}

// notFound says what the file has instead.
func (t *text) notFound(edit int, e Edit, mode Mode) error {
	head := fmt.Sprintf("edit %d: old_text was not found", edit+1)
	if t.body == len(t.raw) {
		return tool.Errorf(NotFound, "%s: the file is empty", head)
	}
	for _, h := range hints() {
		if h.applies(t, e, mode) {
			head += "; " + h.says
			break
		}
	}
	if near := t.nearest(e.OldText); near != "" {
		return tool.Errorf(NotFound, "%s. Nearest lines of the file:\n%s", head, near)
	}
	return tool.Errorf(NotFound, "%s. No line of the file resembles it: read the file again", head)
}

// A hint names a usual mistake.
type hint struct {
	applies func(*text, Edit, Mode) bool
	says    string
}

// hints lists the mistakes; the first that applies is told.
func hints() []hint {
	return []hint{
		{numbered, "it seems to carry the line numbers of a listing: leave them out"},
		{onlyLoose, "replace_all takes exact matches only"},
		{loosened(strings.ToLower), "it differs in upper and lower case"},
		{loosened(squeeze), "it differs in blanks or line breaks: copy them as the file has them"},
		{elided, "a line of dots stands for itself, not for lines left out"},
	}
}

// numbered: every line begins with a number and a separator.
func numbered(_ *text, e Edit, _ Mode) bool {
	for l := range strings.Lines(strings.TrimRight(e.OldText, "\r\n")) {
		rest := strings.TrimLeft(strings.TrimLeft(l, blanks), "0123456789")
		if len(rest) == len(strings.TrimLeft(l, blanks)) || rest == "" || !strings.ContainsRune(":|\t→", []rune(rest)[0]) {
			return false
		}
	}
	return true
}

// loosened: the texts meet when both are looked at through view.
func loosened(view func(string) string) func(*text, Edit, Mode) bool {
	return func(t *text, e Edit, _ Mode) bool {
		old := view(e.OldText)
		return old != "" && strings.Contains(view(t.raw), old)
	}
}

// squeeze drops all white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func elided(_ *text, e Edit, _ Mode) bool {
	return strings.Contains(e.OldText, "...") || strings.Contains(e.OldText, "…")
}

func onlyLoose(t *text, e Edit, mode Mode) bool {
	if !e.ReplaceAll {
		return false
	}
	e.ReplaceAll = false
	return slices.ContainsFunc(ladder(e, mode), func(s step) bool { return len(s.find(t, e.OldText, false)) > 0 })
}

const (
	nearLines = 8   // lines shown
	nearWidth = 160 // characters shown of each
	nearScore = 0.5 // likeness below which a line is no help
)

// nearest shows the lines of the file most like old, with their numbers: those
// around the line most like the longest line of old.
func (t *text) nearest(old string) string {
	p := t.pattern(old)
	anchor, k := "", 0
	for i, l := range p.lines {
		if s := strings.TrimSpace(l.in(p.text)); len(s) > len(anchor) {
			anchor, k = s, i
		}
	}
	best, score := 0, 0.0
	like := likeness(anchor)
	for i, l := range t.lineView() {
		if s := like(strings.TrimSpace(l.in(t.raw))); s > score {
			best, score = i, s
		}
	}
	if score < nearScore {
		return ""
	}
	first := max(0, best-min(k, nearLines/2))
	return t.listing(first, min(first+max(len(p.lines), 1), first+nearLines, len(t.lineView())))
}

func (t *text) listing(first, end int) string {
	var b strings.Builder
	for i, l := range t.lineView()[first:end] {
		fmt.Fprintf(&b, "%d: %s\n", first+i+1, clip(l.in(t.raw)))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > nearWidth {
			return s[:i] + "…"
		}
	}
	return s
}

// likeness compares lines with a by the pairs of neighbouring bytes they share:
// 1 for equal ones, 0 for nothing in common. It keeps to a table so that large
// files cost one pass.
func likeness(a string) func(string) float64 {
	var pairs [1 << 16]bool
	for i := 1; i < len(a); i++ {
		pairs[int(a[i-1])<<8|int(a[i])] = true
	}
	return func(b string) float64 {
		if a == b {
			return 1
		}
		shared := 0
		for i := 1; i < len(b); i++ {
			if pairs[int(b[i-1])<<8|int(b[i])] {
				shared++
			}
		}
		return 2 * float64(min(shared, len(a)-1)) / float64(max(1, len(a)+len(b)-2))
	}
}
