package view

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"ikigai/internal/clean"
)

// A Para is a line that may be longer than a row of the screen, and how it
// breaks there.
type Para struct {
	Line  Line
	Hang  int  // blanks in front of its further rows
	Rigid bool // code and the like: left as it is
}

// Markdown draws a text while it arrives. What it has given back is final: a
// block is held until it is known to be over, code only until the end of its
// line. The zero Markdown is ready to use.
type Markdown struct {
	filter *clean.Filter
	line   string // the line at hand, without its end

	fence string // the marker that ends the code at hand
	code  *Highlighter
	words []string // of the paragraph at hand
	head  Line     // in front of it: the mark of a list item
	hang  int
	table [][]string
	blank bool // the last line was one
	said  bool // something was given back
}

// maxBlock is how much of a block is held; a longer one is given back in parts.
const maxBlock = 16 << 10

// Feed takes the next piece and gives what is final by it.
func (m *Markdown) Feed(piece string) []Para {
	if m.filter == nil {
		m.filter = clean.NewBlock()
	}
	return m.take(m.filter.Feed(piece))
}

func (m *Markdown) take(text string) []Para {
	var out []Para
	for {
		line, rest, whole := strings.Cut(text, "\n")
		m.line += line
		if !whole {
			return out
		}
		out = append(out, m.whole(m.line)...)
		m.line, text = "", rest
	}
}

// Close gives what was held back. The Markdown is then as new.
func (m *Markdown) Close() []Para {
	var out []Para
	if m.filter != nil {
		out = m.take(m.filter.Close())
	}
	if m.line != "" {
		out = append(out, m.whole(m.line)...)
	}
	out = append(out, m.flush()...)
	*m = Markdown{}
	return out
}

// Rest draws what is held back as if the text ended here.
func (m *Markdown) Rest() []Para {
	c := *m
	c.filter = nil
	c.words = append([]string(nil), m.words...)
	c.table = append([][]string(nil), m.table...)
	if m.code != nil {
		code := *m.code
		c.code = &code
	}
	return c.Close()
}

// whole takes a line that has come to its end.
func (m *Markdown) whole(line string) []Para {
	if m.fence != "" {
		return m.inCode(line)
	}
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	switch {
	case text == "":
		return m.gap()
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		return m.beginCode(text)
	case strings.HasPrefix(text, "|"):
		return m.row(text)
	case level(text) > 0:
		return m.alone(Para{Line: recolour(inline(strings.TrimSpace(strings.Trim(text, "#"))), Heading)})
	case isRule(text):
		return m.alone(Para{Line: Line{{Faint, "———"}}})
	case strings.HasPrefix(text, ">"):
		return m.alone(Para{Line: append(Line{{Faint, "│ "}}, inline(strings.TrimSpace(text[1:]))...), Hang: 2})
	}
	if mark, rest := bullet(text); mark != "" {
		return m.item(mark, rest, min(indent, 16))
	}
	return m.prose(line, text)
}

// prose adds a line to the paragraph at hand. Two blanks at its end end it.
func (m *Markdown) prose(line, text string) []Para {
	out := m.flushTable()
	m.words = append(m.words, text)
	if strings.HasSuffix(line, "  ") || size(m.words) > maxBlock {
		return append(out, m.flush()...)
	}
	return out
}

func size(words []string) int {
	n := 0
	for _, w := range words {
		n += len(w)
	}
	return n
}

// alone gives a line that is a block of its own, after what came before it.
func (m *Markdown) alone(p Para) []Para {
	return m.say(append(m.flush(), p)...)
}

// gap ends the block at hand and gives one blank line for any number of them.
func (m *Markdown) gap() []Para {
	out := m.flush()
	if m.blank || !m.said {
		return out
	}
	m.blank = true
	return append(out, Para{})
}

func (m *Markdown) say(p ...Para) []Para {
	if len(p) > 0 {
		m.said, m.blank = true, false
	}
	return p
}

// flush ends the block at hand.
func (m *Markdown) flush() []Para {
	out := m.flushTable()
	if len(m.words) > 0 || m.head != nil {
		line := append(m.head, inline(strings.Join(m.words, " "))...)
		out = append(out, Para{Line: line, Hang: m.hang})
	}
	m.words, m.head, m.hang = nil, nil, 0
	return m.say(out...)
}

func (m *Markdown) item(mark, rest string, indent int) []Para {
	out := m.flush()
	blanks := strings.Repeat(" ", indent)
	m.head = Line{{Plain, blanks}, {Faint, mark + " "}}
	m.hang = indent + displaywidth.String(mark) + 1
	m.words = []string{rest}
	return out
}

// bullet reads the mark of a list item.
func bullet(text string) (mark, rest string) {
	first, rest, ok := strings.Cut(text, " ")
	if !ok {
		return "", ""
	}
	rest = strings.TrimSpace(rest)
	switch first {
	case "-", "*", "+":
		for box, sign := range map[string]string{"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"} {
			if done, ok := strings.CutPrefix(rest, box); ok {
				return sign, done
			}
		}
		return "•", rest
	}
	digits := strings.TrimRight(first, ".)")
	if len(digits) == len(first)-1 && digits != "" && len(digits) < 5 && strings.Trim(digits, "0123456789") == "" {
		return first, rest
	}
	return "", ""
}

// level is the level of a heading, 0 when it is none.
func level(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n > 0 && n <= 6 && len(text) > n && text[n] == ' ' {
		return n
	}
	return 0
}

func isRule(text string) bool {
	bare := strings.ReplaceAll(text, " ", "")
	return len(bare) >= 3 && (strings.Trim(bare, "-") == "" || strings.Trim(bare, "*") == "" || strings.Trim(bare, "_") == "")
}

func (m *Markdown) beginCode(text string) []Para {
	out := m.flush()
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	m.fence = text[:n]
	m.code = NewHighlighter(strings.TrimSpace(text[n:]))
	return out
}

func (m *Markdown) inCode(line string) []Para {
	text := strings.TrimSpace(line)
	if strings.HasPrefix(text, m.fence) && strings.Trim(text, m.fence[:1]) == "" {
		m.fence, m.code = "", nil
		return nil
	}
	return m.say(Para{Line: m.code.Line(line), Rigid: true})
}

// row adds a row to the table at hand.
func (m *Markdown) row(text string) []Para {
	var out []Para
	if len(m.table) == 0 {
		out = m.flush()
	}
	cells := strings.Split(strings.Trim(text, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	m.table = append(m.table, cells)
	if len(m.table) > 500 {
		out = append(out, m.flushTable()...)
	}
	return out
}

// flushTable draws the table at hand with its columns below one another.
func (m *Markdown) flushTable() []Para {
	rows := m.table
	m.table = nil
	drawn := make([][]Line, len(rows))
	var widths []int
	for i, cells := range rows {
		for j, c := range cells {
			l := inline(c)
			if i == 0 {
				l = recolour(l, Strong)
			}
			drawn[i] = append(drawn[i], l)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			if !isDivider(cells) {
				widths[j] = max(widths[j], lineWidth(l))
			}
		}
	}
	var out []Para
	for i, cells := range rows {
		if !isDivider(cells) {
			out = append(out, Para{Line: tableRow(drawn[i], widths), Rigid: true})
		}
	}
	return m.say(out...)
}

func tableRow(cells []Line, widths []int) Line {
	var row Line
	for j, c := range cells {
		row = append(row, c...)
		if j < len(cells)-1 {
			row = append(row, Span{Plain, strings.Repeat(" ", widths[j]-lineWidth(c)+2)})
		}
	}
	return row
}

func isDivider(cells []string) bool {
	for _, c := range cells {
		if c == "" || strings.Trim(c, ":-") != "" {
			return false
		}
	}
	return true
}

func lineWidth(l Line) int { return displaywidth.String(l.String()) }

// recolour gives the plain pieces of a line another role.
func recolour(l Line, r Role) Line {
	for i := range l {
		if l[i].Role == Plain {
			l[i].Role = r
		}
	}
	return l
}
