package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ikigai/internal/diff"
	"ikigai/internal/tool"
)

// A Change is what one call did to one file.
type Change struct {
	Path           string
	Added, Removed int    // lines
	Diff           string // unified
}

// ChangeOf reads the change out of a call and its result, by shape: the diff
// that the result has to be drawn, or the texts that the call replaced. A call
// that failed changed nothing.
func ChangeOf(c tool.Call, r tool.Result) (Change, bool) {
	if !r.OK() {
		return Change{}, false
	}
	text := drawn(r.Display)
	if text == "" {
		text = replaced(c.Args)
	}
	if text == "" {
		return Change{}, false
	}
	change := Change{Path: headerPath(text), Diff: text}
	if change.Path == "" {
		change.Path = pathOf(fields(c.Args))
	}
	change.Added, change.Removed = count(text)
	return change, true
}

// drawn is the diff that a tool asked to have drawn.
func drawn(display json.RawMessage) string {
	var d struct {
		Diff string `json:"diff"`
	}
	if json.Unmarshal(display, &d) != nil {
		return ""
	}
	return d.Diff
}

// replaced is a diff of the pieces of text that a call names as old and new,
// alone or in a list. Where in the file they stand is not known.
func replaced(args json.RawMessage) string {
	top := fields(args)
	path := pathOf(top)
	if path == "" {
		return ""
	}
	var b strings.Builder
	for _, pair := range append([]object{top}, lists(top)...) {
		if old, fresh, ok := oldAndNew(pair); ok {
			b.WriteString(piece(old, fresh))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n%s", path, path, b.String())
}

type object = map[string]json.RawMessage

func fields(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// lists are the objects in the lists among the fields, in order of their names.
func lists(o object) []object {
	var all []object
	for _, k := range slices.Sorted(maps.Keys(o)) {
		var list []object
		if json.Unmarshal(o[k], &list) == nil {
			all = append(all, list...)
		}
	}
	return all
}

// pathOf is the text of the first field that is named like a path.
func pathOf(o object) string {
	for _, k := range []string{"path", "file_path", "filePath", "filename", "file"} {
		if text, ok := stringOf(o[k]); ok && !strings.Contains(text, "\n") {
			return text
		}
	}
	return ""
}

// oldAndNew are two texts named alike but for old and new: old_text and
// new_text, oldString and newString.
func oldAndNew(o object) (old, fresh string, ok bool) {
	for k, v := range o {
		rest, isOld := strings.CutPrefix(k, "old")
		if !isOld {
			continue
		}
		a, isText := stringOf(v)
		b, too := stringOf(o["new"+rest])
		if isText && too {
			return a, b, true
		}
	}
	return "", "", false
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// piece is the diff of one replacement without names and line numbers: they
// would be those within the piece.
func piece(old, fresh string) string {
	_, text, _ := strings.Cut(diff.Unified("a", "b", []byte(old), []byte(fresh), 3), "\n")
	_, text, _ = strings.Cut(text, "\n")
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch line[0] {
		case '@':
			b.WriteString("@@\n")
		case '\\': // that a piece has no newline at its end says nothing
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// headerPath is the name of the file in the header of a diff.
func headerPath(text string) string {
	for _, mark := range []string{"+++ ", "--- "} {
		_, rest, ok := strings.Cut("\n"+text, "\n"+mark)
		name, _, _ := strings.Cut(rest, "\n")
		if name = strings.TrimSpace(name); ok && name != "/dev/null" {
			return strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
		}
	}
	return ""
}

// count counts the lines that came and went. Two lines that begin as the header
// of a file does are its header.
func count(text string) (added, removed int) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.HasPrefix(lines[i], "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			i++
		case strings.HasPrefix(lines[i], "+"):
			added++
		case strings.HasPrefix(lines[i], "-"):
			removed++
		}
	}
	return added, removed
}
