package draw

import (
	"strings"

	"ikigai/internal/view"
)

// Paint says whether lines get colours, and on which background.
type Paint uint8

const (
	Plain Paint = iota
	Dark
	Light
)

// sgr are the looks of the roles: of the sixteen colours of the terminal's own
// palette, those that can be read on a dark background.
var sgr = map[view.Role]string{
	view.Person: "1", view.Thought: "2;3", view.Name: "1", view.Good: "32", view.Bad: "31", view.Faint: "2",
	view.Added: "32", view.Removed: "31", view.Warning: "33", view.Heading: "1;36", view.Strong: "1",
	view.Emphasis: "3", view.Code: "36", view.Link: "4", view.Keyword: "35", view.Quoted: "32", view.Comment: "2",
	view.Cursor: "7", view.Chosen: "7",
}

// light are the looks that differ on a light background, where yellow and cyan
// are hard to see.
var light = map[view.Role]string{view.Warning: "35", view.Heading: "1;34", view.Code: "34"}

// look is how a role looks. Without colours only what must be seen to type and
// choose stands out.
func (p Paint) look(r view.Role) string {
	if p == Plain && r != view.Cursor && r != view.Chosen {
		return ""
	}
	if code, ok := light[r]; ok && p == Light {
		return code
	}
	return sgr[r]
}

// On is the same paint on another background.
func (p Paint) On(background Paint) Paint {
	if p == Plain {
		return Plain
	}
	return background
}

// Line is a line with its escape sequences.
func (p Paint) Line(l view.Line) string {
	var b strings.Builder
	for _, s := range l {
		code := p.look(s.Role)
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
// CLICOLOR_FORCE and CLICOLOR, then whether there is a terminal at all. The
// background is dark until somebody says otherwise.
func Chosen(getenv func(string) string, flag string, terminal bool) Paint {
	switch {
	case getenv("NO_COLOR") != "" || flag == "never":
		return Plain
	case flag == "always":
		return background(getenv)
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return background(getenv)
	case getenv("CLICOLOR") == "0" || getenv("TERM") == "dumb" || !terminal:
		return Plain
	}
	return background(getenv)
}

// background is what a terminal said in COLORFGBG when it was started: the
// numbers of its colours, as 15;0 or 0;default;15.
func background(getenv func(string) string) Paint {
	said := getenv("COLORFGBG")
	switch said[strings.LastIndexByte(said, ';')+1:] {
	case "7", "15":
		return Light
	}
	return Dark
}
