package draw

import (
	"strings"

	"ikigai/internal/view"
)

// Paint says whether lines get colours.
type Paint bool

const (
	Plain Paint = false
	Color Paint = true
)

// sgr are the looks of the roles: the sixteen colours of the terminal's own
// palette, so that they suit light and dark alike.
var sgr = map[view.Role]string{
	view.Person: "1", view.Thought: "2;3", view.Name: "1", view.Good: "32", view.Bad: "31", view.Faint: "2",
	view.Added: "32", view.Removed: "31", view.Warning: "33", view.Heading: "1;36", view.Strong: "1",
	view.Emphasis: "3", view.Code: "36", view.Link: "4", view.Keyword: "35", view.Quoted: "32", view.Comment: "2",
	view.Cursor: "7", view.Chosen: "7",
}

// Line is a line with its escape sequences. Without colours only what must be
// seen to type and choose stands out.
func (p Paint) Line(l view.Line) string {
	var b strings.Builder
	for _, s := range l {
		code := sgr[s.Role]
		if !p && s.Role != view.Cursor && s.Role != view.Chosen {
			code = ""
		}
		if code == "" || s.Text == "" {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + p.linked(s) + "\x1b[m")
	}
	return b.String()
}

// linked makes an address one that can be clicked. Its text is the address
// itself, so that nobody is led elsewhere.
func (p Paint) linked(s view.Span) string {
	if s.Role != view.Link || !strings.HasPrefix(s.Text, "http") {
		return s.Text
	}
	return "\x1b]8;;" + s.Text + "\x1b\\" + s.Text + "\x1b]8;;\x1b\\"
}

// Chosen decides about colours: NO_COLOR comes first, then the flag, then
// CLICOLOR_FORCE and CLICOLOR, then whether there is a terminal at all.
func Chosen(getenv func(string) string, flag string, terminal bool) Paint {
	switch {
	case getenv("NO_COLOR") != "" || flag == "never":
		return Plain
	case flag == "always":
		return Color
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return Color
	case getenv("CLICOLOR") == "0" || getenv("TERM") == "dumb":
		return Plain
	}
	return Paint(terminal)
}
