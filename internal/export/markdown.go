package export

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/view"
)

// Markdown writes a session as Markdown. Text keeps its formatting, but what a
// reader's program would fetch, run or follow stands there as plain letters:
// HTML, images and links. Code and the output of tools are in fences of our own.
func Markdown(w io.Writer, s Session, events Events) error {
	p := &paper{out: bufio.NewWriter(w)}
	p.line("# " + inert(clean.Line(title(s))))
	for _, fact := range append(facts(s), s.Facts...) {
		p.line("- " + inert(clean.Line(fact)))
	}
	for t, err := range turns(events) {
		if err != nil {
			return err
		}
		if t.number > 0 {
			p.line(fmt.Sprintf("\n## Turn %d", t.number))
		}
		for _, e := range t.entries {
			p.entry(e)
		}
	}
	return p.out.Flush()
}

// A paper writes Markdown.
type paper struct {
	out *bufio.Writer // keeps its error for Flush
}

func (p *paper) line(s string) { p.out.WriteString(s + "\n") }

func (p *paper) entry(e entry) {
	switch {
	case e.step != nil:
		p.step(e.step)
	case e.event.Said():
		p.line("")
		for line := range strings.Lines(clean.Block(e.event.Text)) {
			p.line("> " + inert(strings.TrimRight(line, "\n")))
		}
	case e.event.Kind == convo.KindAssistant, e.event.Kind == convo.KindSummary:
		p.line("")
		p.prose(clean.Block(e.event.Text))
	case e.event.Kind == convo.KindSystem:
		p.line("\nSystem prompt:")
		p.fence("", clean.Block(e.event.Text))
	case e.event.Kind == convo.KindThinking:
		p.line("\nThinking:")
		p.fence("", clean.Block(e.event.Text))
	case e.event.Kind == convo.KindUndo, e.event.Kind == convo.KindJob:
		p.fence("", clean.Block(e.event.Text))
	default:
		p.fence("", joined(view.Event(e.event)))
	}
}

// step writes a call, its change and its answer.
func (p *paper) step(s *step) {
	if s.result == nil {
		p.line("\n**" + inert(view.Call(s.call).String()) + "** (no answer is recorded)")
		return
	}
	p.line("\n**" + inert(view.Outcome(s.call, *s.result).String()) + "**")
	if d := s.decision; d != nil {
		p.line(inert(clean.Line(fmt.Sprintf("%s by %s: %s", d.Word(), d.By, d.Reason))))
	}
	if change, ok := ChangeOf(s.call, *s.result); ok {
		p.fence("diff", joined(view.Diff(change.Diff)))
	} else {
		_, long := view.Arguments(s.call.Args) // the short ones stand in the outcome
		p.fence("", joined(long))
	}
	plain := *s.result
	if drawn(plain.Display) != "" {
		plain.Display = nil
	}
	p.fence("", joined(view.Output(plain)))
}

func joined(lines []view.Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.String())
	}
	return b.String()
}

// fence writes text that nothing in it can end: the fence is longer than any run
// of its kind.
func (p *paper) fence(language, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	marks := strings.Repeat("`", max(3, longestRun(text)+1))
	p.line("\n" + marks + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + marks)
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, c := range []byte(text) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// prose writes formatted text anew: its code in fences of ours, everything else
// line by line as inert text. So a program that reads it cannot take for text
// what we took for code.
func (p *paper) prose(text string) {
	var code []string
	open, language := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		mark, info := fenceOf(line)
		switch {
		case open == "" && mark != "":
			open, language, code = mark, info, nil
		case open != "" && closes(line, open):
			p.fence(language, strings.Join(code, "\n"))
			open = ""
		case open != "":
			code = append(code, line)
		default:
			p.line(inert(line))
		}
	}
	if open != "" {
		p.fence(language, strings.Join(code, "\n"))
	}
}

// fenceOf is the marks that a line opens a fence with, and the language behind them.
func fenceOf(line string) (marks, language string) {
	m := openFence().FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	if word := strings.ToLower(m[2]); plainLanguages[word] {
		language = word
	}
	return m[1], language
}

// plainLanguages are shown as letters everywhere. Others are left out: some
// programs draw maps and pictures of a block in theirs, and ask the net for it.
var plainLanguages = map[string]bool{
	"bash": true, "c": true, "cpp": true, "css": true, "diff": true, "go": true, "html": true, "java": true, "javascript": true, "js": true,
	"json": true, "kotlin": true, "make": true, "markdown": true, "python": true, "ruby": true, "rust": true, "sh": true, "sql": true,
	"swift": true, "text": true, "toml": true, "ts": true, "tsx": true, "typescript": true, "xml": true, "yaml": true,
}

func closes(line, open string) bool {
	bare := strings.TrimSpace(line)
	return strings.HasPrefix(bare, open) && strings.Trim(bare, open[:1]) == ""
}

// inert is a line in which nothing is a tag, an image, a link or a fence: what
// would begin or join one is written as an entity, which shows it and does nothing.
func inert(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		n := active(line[i:])
		for range n {
			fmt.Fprintf(&b, "&#%d;", line[i])
		}
		if n == 0 {
			b.WriteByte(line[i])
		} else {
			i += n - 1
		}
	}
	return b.String()
}

// active is how many of the same bytes at the beginning of s mean more than
// themselves.
func active(s string) int {
	follows := func(any string) bool { return len(s) > 1 && strings.IndexByte(any, s[1]) >= 0 }
	switch c := s[0]; {
	case c == '`' || c == '~':
		if run := len(s) - len(strings.TrimLeft(s, s[:1])); run > 2 {
			return run
		}
	case c == '<' && len(s) > 1 && (isLetter(s[1]) || follows("/!?")), c == '!' && follows("["), c == ']' && follows("([:"):
		return 1
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// openFence is how a line opens a fence: its marks, and the language behind them.
var openFence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^ {0,3}(```+|~~~+) *([A-Za-z+#-]*)[^`]*$")
})
