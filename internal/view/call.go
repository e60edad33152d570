package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
)

// Arguments draws every argument of a call: what fits on a line beside the name
// of the tool, and below it the values of several lines, each with its name.
func Arguments(args json.RawMessage) (head Line, body []Line) {
	pairs, ok := members(args)
	if !ok {
		return Line{{Plain, clean.Line(string(bytes.TrimSpace(args)))}}, nil
	}
	bare := true // the first string stands without its name
	for _, p := range pairs {
		text, isText := p.text()
		switch {
		case strings.Contains(text, "\n"):
			body = append(body, Line{{Faint, clean.Line(p.key) + ":"}})
			body = append(body, block(Plain, text)...)
		case nested(p.value) && len(p.value) > maxNested:
			body = append(body, Line{{Faint, clean.Line(p.key) + ":"}})
			body = append(body, structure(p.value)...)
		case isText && bare:
			head = append(head, Span{Plain, joint(head) + clean.Line(text)})
			bare = false
		default:
			head = append(head, Span{Faint, joint(head) + clean.Line(p.key) + "="}, Span{Plain, clean.Line(text)})
		}
	}
	return head, body
}

// maxNested is how long a list or object may be to stand in the line of a call.
const maxNested = 40

func nested(v json.RawMessage) bool { return len(v) > 0 && (v[0] == '[' || v[0] == '{') }

// structure draws a list or an object below a call. A change of text, in any of
// the usual forms, is drawn as one.
func structure(v json.RawMessage) []Line {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	var lines []Line
	for _, one := range list {
		if change, ok := replacement(one); ok {
			lines = append(lines, change...)
			continue
		}
		var b bytes.Buffer
		if json.Indent(&b, one, "", "  ") != nil {
			b.Reset()
			b.Write(one)
		}
		lines = append(lines, block(Plain, b.String())...)
	}
	return lines
}

// replacement draws an object that says which text becomes which.
func replacement(v json.RawMessage) ([]Line, bool) {
	var c map[string]json.RawMessage
	if json.Unmarshal(v, &c) != nil {
		return nil, false
	}
	for _, names := range [][2]string{{"old_text", "new_text"}, {"old_string", "new_string"}, {"old", "new"}} {
		var before, after string
		if json.Unmarshal(c[names[0]], &before) == nil && json.Unmarshal(c[names[1]], &after) == nil {
			return append(marked(Removed, "-", before), marked(Added, "+", after)...), true
		}
	}
	return nil, false
}

func marked(r Role, mark, text string) []Line {
	lines := block(r, text)
	for i := range lines {
		lines[i][0].Text = mark + lines[i][0].Text
	}
	return lines
}

func joint(l Line) string {
	if len(l) == 0 {
		return ""
	}
	return " "
}

// Output draws what a tool answered, whole, by its shape: a diff or text the
// tool wants drawn, its texts, or the object itself.
func Output(r tool.Result) []Line {
	if lines := display(r.Display); len(lines) > 0 {
		return lines
	}
	if f := r.Failure; f != nil {
		return append(block(Plain, f.Stdout), block(Bad, f.Stderr)...)
	}
	pairs, ok := members(r.Data)
	if !ok {
		return block(Plain, string(r.Data))
	}
	if lines, ok := texts(pairs); ok {
		return lines
	}
	var b bytes.Buffer
	if json.Indent(&b, r.Data, "", "  ") != nil {
		return block(Plain, string(r.Data))
	}
	return block(Plain, b.String())
}

// texts draws an object whose members are texts and plain values. Those with a
// line end, and the usual names for output, are drawn as they are.
func texts(pairs []member) ([]Line, bool) {
	var lines []Line
	known := false
	for _, p := range pairs {
		text, isText := p.text()
		role, usual := outputs[p.key]
		switch {
		case isText && (usual || strings.Contains(text, "\n")):
			lines = append(lines, block(role, text)...)
			known = true
		case p.value[0] == '{' || p.value[0] == '[':
			return nil, false
		}
	}
	return lines, known
}

var outputs = map[string]Role{"output": Plain, "stdout": Plain, "stderr": Bad, "content": Plain, "text": Plain, "error": Bad}

// Outcome is the line of a call that is over: its mark, its name, what it was
// asked, what came of it and how long it took.
func Outcome(c tool.Call, r tool.Result) Line {
	code := r.Code()
	mark, role := "✓ ", Good
	if code != "" {
		mark, role = "✗ ", Bad
	}
	head, _ := Arguments(c.Args)
	l := append(Line{{role, mark}, {Name, clean.Line(c.Name)}, {Plain, "  "}}, head...)
	if code != "" {
		l = append(l, Span{Bad, fmt.Sprintf("  %s: ", clean.Line(string(code.Type())))}, Span{Plain, clean.Line(shortened(r.Summary))})
	} else if r.Summary != "" && !repeats(r) {
		l = append(l, Span{summaryRole(r), "  " + clean.Line(shortened(r.Summary))})
	}
	if r.Took > 0 {
		l = append(l, Span{Faint, "  " + strings.ReplaceAll(Duration(r.Took), " ", "\u00a0")}) // never broken
	}
	return l
}

// summaryRole sets off a program that worked and ended badly.
func summaryRole(r tool.Result) Role {
	var d struct {
		Exit int `json:"exit_code"`
	}
	if json.Unmarshal(r.Data, &d) == nil && d.Exit != 0 {
		return Warning
	}
	return Faint
}

// repeats reports whether the summary is just the first line of the output.
func repeats(r tool.Result) bool {
	var d struct{ Output string }
	if json.Unmarshal(r.Data, &d) != nil {
		return false
	}
	first, _, more := strings.Cut(d.Output, "\n")
	return more && strings.HasPrefix(first, strings.TrimSuffix(r.Summary, "…"))
}

// Change is the diff that a result wants drawn, numbered, without the names at its
// head, which the call has already; none when it has none.
func Change(r tool.Result) []Line {
	var d struct {
		Diff string `json:"diff"`
	}
	if len(r.Display) == 0 || json.Unmarshal(r.Display, &d) != nil {
		return nil
	}
	return Numbered(Hunks(d.Diff))
}

// Hunks are the lines of a unified diff from its first hunk on.
func Hunks(diff string) []Line {
	lines := Diff(diff)
	for i, l := range lines {
		if strings.HasPrefix(l.String(), "@@") {
			return lines[i:]
		}
	}
	return nil
}

// Numbered puts the number of its line before every line of hunks: of the old
// file where it goes, of the new one else. Between hunks stands a mark.
func Numbered(hunks []Line) []Line {
	var lines []Line
	var old, now, wide int
	for _, l := range hunks {
		if n, err := fmt.Sscanf(strings.NewReplacer("-", "", "+", "").Replace(ranges(l.String())), "%d %d", &old, &now); n == 2 && err == nil {
			wide = max(wide, len(fmt.Sprint(now))+1)
			if len(lines) > 0 {
				lines = append(lines, Line{{Faint, "⋮"}})
			}
			continue
		}
		number := now
		switch {
		case len(l) > 0 && l[0].Role == Removed:
			number = old
			old++
		case len(l) > 0 && l[0].Role == Added:
			now++
		default:
			old, now = old+1, now+1
		}
		lines = append(lines, append(Line{{Faint, fmt.Sprintf("%*d ", wide, number)}}, l...))
	}
	return lines
}

// ranges are the first lines of a hunk, such as -2 +2 of @@ -2,7 +2,11 @@; empty
// when a line is no such head.
func ranges(head string) string {
	f := strings.Fields(head)
	if len(f) < 4 || f[0] != "@@" {
		return ""
	}
	old, _, _ := strings.Cut(f[1], ",")
	now, _, _ := strings.Cut(f[2], ",")
	return old + " " + now
}

// Fold leaves out the middle of more than most lines; 0 keeps them all. It
// gives the number of lines left out.
func Fold(lines []Line, most int) (head, tail []Line, left int) {
	if most <= 0 || len(lines) <= most+1 { // the line that says so takes one itself
		return lines, nil, 0
	}
	h := (most + 1) / 2
	return lines[:h], lines[len(lines)-(most-h):], len(lines) - most
}

// Duration is a length of time as a person reads it.
func Duration(d time.Duration) string { return duration(d) }

// Text cuts text into lines of one role, made harmless.
func Text(r Role, text string) []Line { return block(r, text) }

// A member is one member of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// text is the value as text, and whether it is a string.
func (m member) text() (string, bool) {
	var s string
	if len(m.value) > 0 && m.value[0] == '"' && json.Unmarshal(m.value, &s) == nil {
		return s, true
	}
	return string(m.value), false
}

// members are the members of an object, in the order in which they stand.
func members(raw json.RawMessage) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var all []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := member{key: fmt.Sprint(key)}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		m.value = bytes.TrimSpace(m.value)
		all = append(all, m)
	}
	return all, true
}
