// Package edit replaces pieces of a text by what a model asked for, and
// refuses rather than guesses.
//
// All edits look at the original text and are applied together or not at all.
// Each looks for its old text on a ladder of rungs, from the letter of the text
// to its looks; a later rung is tried only when the earlier ones found nothing,
// and a match must be the only one of its rung. Line ends and the byte order
// mark of the file stay as they are, whatever the model sent.
package edit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// The codes of this package, besides tool.BinaryFile and tool.InvalidUTF8.
const (
	NotFound     tool.Code = "NOT_FOUND"
	Ambiguous    tool.Code = "AMBIGUOUS"
	EmptyOldText tool.Code = "EMPTY_OLD_TEXT"
	NoChange     tool.Code = "NO_CHANGE"
	Overlap      tool.Code = "OVERLAP"
	NoEdits      tool.Code = "NO_EDITS"
)

// An Edit asks for one replacement, or for all of the same text.
type Edit struct {
	OldText    string
	NewText    string
	ReplaceAll bool
}

// Mode says how far down the ladder a search may go.
type Mode uint8

const (
	Exact Mode = iota // letters as they are; line ends may differ
	Fuzzy             // also trailing blanks and one common shift of indent
)

// Rung is a step of the ladder.
type Rung uint8

const (
	Letter   Rung = iota + 1 // byte for byte
	LineEnds                 // CR LF and LF are the same
	Trailing                 // blanks at the ends of lines do not count
	Indent                   // and all lines may be shifted by one common indent
)

var rungNames = [...]string{
	Letter:   "exact",
	LineEnds: "line ends differ",
	Trailing: "trailing blanks differ",
	Indent:   "indent differs",
}

// String says in a few words what was overlooked on this rung.
func (r Rung) String() string { return rungNames[r] }

// Loose names an edit that matched on a rung below Letter.
type Loose struct {
	Edit int // its index
	Rung Rung
}

// Outcome is the new text and how it came about.
type Outcome struct {
	Text         []byte
	Replacements int
	Fuzzy        []Loose // in the order of the edits
}

// Apply makes all edits or none. The error is a *tool.Error whose text tells a
// model what to do next; file is never changed.
func Apply(file []byte, edits []Edit, mode Mode) (Outcome, error) {
	if err := checkEdits(edits); err != nil {
		return Outcome{}, err
	}
	if err := checkFile(file); err != nil {
		return Outcome{}, err
	}
	t := newText(string(file))
	var out Outcome
	var all []change
	for i, e := range edits {
		rung, found, err := t.find(i, e, mode)
		if err != nil {
			return Outcome{}, err
		}
		if rung > Letter {
			out.Fuzzy = append(out.Fuzzy, Loose{Edit: i, Rung: rung})
		}
		all = append(all, found...)
	}
	if err := t.sortApart(all); err != nil {
		return Outcome{}, err
	}
	out.Replacements = len(all)
	out.Text = t.rewrite(all)
	if bytes.Equal(out.Text, file) {
		return Outcome{}, tool.Errorf(NoChange, "the edits leave the file as it is (line ends and byte order mark are kept as the file has them)")
	}
	return out, nil
}

func checkEdits(edits []Edit) error {
	if len(edits) == 0 {
		return tool.Errorf(NoEdits, "no edits given: pass at least one old_text and new_text")
	}
	for i, e := range edits {
		switch {
		case e.OldText == "":
			return tool.Errorf(EmptyOldText, "edit %d: old_text is empty: quote the lines to replace, or write the whole file", i+1)
		case e.OldText == e.NewText:
			return tool.Errorf(NoChange, "edit %d: old_text and new_text are the same", i+1)
		case !utf8.ValidString(e.NewText):
			return tool.Errorf(tool.InvalidUTF8, "edit %d: new_text is not valid UTF-8", i+1)
		}
	}
	return nil
}

func checkFile(file []byte) error {
	if i := bytes.IndexByte(file, 0); i >= 0 {
		return tool.Errorf(tool.BinaryFile, "the file is binary: NUL byte at offset %d", i)
	}
	if i := invalidAt(file); i >= 0 {
		line := bytes.Count(file[:i], []byte("\n")) + 1
		return tool.Errorf(tool.InvalidUTF8, "the file is not valid UTF-8: byte 0x%02x in line %d; an edit could damage it", file[i], line)
	}
	return nil
}

// invalidAt is the offset of the first byte that is not UTF-8, or -1.
func invalidAt(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}

// A change puts new in the place of [start, end) of the original.
type change struct {
	edit       int
	start, end int
	new        string
}

// sortApart brings changes into the order of the text. Two may touch, but none
// may share a byte with another.
func (t *text) sortApart(all []change) error {
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(a.start-b.start, a.end-b.end)
	})
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if b.start < a.end || (b.start == a.start && b.end == a.end) {
			return tool.Errorf(Overlap, "edits %d and %d overlap at line %d: all edits look at the original text; make them one edit",
				min(a.edit, b.edit)+1, max(a.edit, b.edit)+1, t.lineOf(b.start))
		}
	}
	return nil
}

func (t *text) rewrite(all []change) []byte {
	var b bytes.Buffer
	b.Grow(len(t.raw))
	last := 0
	for _, c := range all {
		b.WriteString(t.raw[last:c.start])
		b.WriteString(c.new)
		last = c.end
	}
	b.WriteString(t.raw[last:])
	return b.Bytes()
}

func (t *text) lineOf(offset int) int { return strings.Count(t.raw[:offset], "\n") + 1 }
