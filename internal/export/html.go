package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
	"ikigai/internal/view"
)

//go:embed page.css
var style string

// HTML writes a session as one page: the conversation, beside it where the time
// of each turn went, and at the end every change of a file. The page has no
// script and its policy allows no request; it follows the reader's choice of
// light or dark.
func HTML(w io.Writer, s Session, events Events) error {
	p := &page{out: bufio.NewWriter(w)}
	p.head(s)
	for t, err := range turns(events) {
		if err != nil {
			return err
		}
		p.turn(t)
	}
	p.changes()
	p.raw("<footer>written by ikigai; this page is complete and asks for nothing outside itself</footer>\n</body>\n</html>\n")
	return p.out.Flush()
}

// A page writes HTML. What is not our own goes through text.
type page struct {
	out  *bufio.Writer // keeps its error for Flush
	made []made
}

// A made is a change and the call that made it.
type made struct {
	Change
	call int64
	tool string
}

// markup is HTML that we wrote ourselves: only constants become it.
type markup string

func (p *page) raw(m markup) { p.out.WriteString(string(m)) }

// text writes what others wrote.
func (p *page) text(s string) { p.out.WriteString(html.EscapeString(s)) }

func (p *page) number(n int64) { p.out.WriteString(strconv.FormatInt(n, 10)) }

func (p *page) percent(part float64) {
	p.out.WriteString(strconv.FormatFloat(100*part, 'f', 2, 64))
	p.out.WriteByte('%')
}

// within writes one line of text inside an element.
func (p *page) within(open markup, text string, shut markup) {
	p.raw(open)
	p.text(clean.Line(text))
	p.raw(shut)
}

// head begins the page. Its policy is told by the page itself, since a file has
// no server to tell it: nothing is loaded, and the one style is known by its hash.
func (p *page) head(s Session) {
	sum := sha256.Sum256([]byte(style))
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.raw(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-`)
	p.text(base64.StdEncoding.EncodeToString(sum[:]))
	p.raw("'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	p.within("<title>", title(s), "</title>\n<style>")
	p.raw(markup(style))
	p.within("</style>\n</head>\n<body>\n<header>\n<h1>", title(s), "</h1>\n")
	for _, fact := range append(facts(s), s.Facts...) {
		p.within("<p>", fact, "</p>\n")
	}
	p.raw("<nav><a href=\"#changes\">changes</a><span class=\"model\">model</span><span class=\"tool\">tool</span>")
	p.raw("<span class=\"failed\">failed</span><span class=\"you\">waiting for you</span></nav>\n</header>\n")
}

func title(s Session) string {
	if s.Title == "" {
		return "session " + s.ID
	}
	return s.Title
}

// facts are the lines that say which session this is.
func facts(s Session) []string {
	line := "session " + s.ID
	if !s.Created.IsZero() {
		line += ", " + s.Created.UTC().Format(time.RFC1123)
	}
	where := "in " + s.Dir
	if s.Branch != "" {
		where += " on " + s.Branch
	}
	if s.Model != "" {
		where += " with " + s.Model
	}
	if s.Dir == "" {
		return []string{line}
	}
	return []string{line, where}
}

func (p *page) turn(t turn) {
	bars := timeline(t)
	p.raw("<section id=\"t")
	p.number(int64(t.number))
	p.raw("\">\n<h2>")
	if t.number > 0 {
		p.within("", fmt.Sprintf("turn %d", t.number), "")
	} else {
		p.raw("before the first turn")
	}
	if len(bars) > 0 {
		first, last := span(bars)
		p.within("<span class=\"when\">", first.UTC().Format("15:04:05")+", "+view.Duration(last.Sub(first)), "</span>")
	}
	p.raw("</h2>\n<div class=\"cols\">\n<div>\n")
	for _, e := range t.entries {
		p.entry(e)
	}
	p.raw("</div>\n<div>\n")
	p.timeline(bars)
	p.raw("</div>\n</div>\n</section>\n")
}

func (p *page) entry(e entry) {
	switch {
	case e.step != nil:
		p.step(e.step)
	case e.event.Said():
		p.raw("<div class=\"person\">")
		p.lines(view.Text(view.Plain, e.event.Text))
		p.raw("</div>\n")
	case e.event.Kind == convo.KindAssistant, e.event.Kind == convo.KindSummary:
		p.prose(e.event.Text)
	case e.event.Kind == convo.KindSystem:
		p.folded("system prompt", view.Text(view.Plain, e.event.Text))
	case e.event.Kind == convo.KindThinking:
		p.folded("thinking", view.Text(view.Thought, e.event.Text))
	case e.event.Kind == convo.KindUndo, e.event.Kind == convo.KindJob:
		p.block(view.Text(view.Faint, e.event.Text))
	default:
		if lines := view.Event(e.event); len(lines) > 0 {
			p.block(lines)
		}
	}
}

// prose writes formatted text.
func (p *page) prose(text string) {
	var m view.Markdown
	p.raw("<div class=\"prose\">\n")
	var code []view.Line
	for _, para := range append(m.Feed(text), m.Close()...) {
		if para.Rigid {
			code = append(code, para.Line)
			continue
		}
		p.block(code)
		code = nil
		p.para(para)
	}
	p.block(code)
	p.raw("</div>\n")
}

func (p *page) para(para view.Para) {
	switch {
	case len(para.Line) == 0:
		return
	case para.Hang > 0:
		p.raw("<p class=\"hang\">")
	default:
		p.raw("<p>")
	}
	p.line(para.Line)
	p.raw("</p>\n")
}

func (p *page) folded(name markup, lines []view.Line) {
	p.raw("<details><summary class=\"faint\">")
	p.raw(name)
	p.raw("</summary>")
	p.block(lines)
	p.raw("</details>\n")
}

// step writes a call: its outcome in one line, and folded below it everything
// that is known. One that changed a file is open.
func (p *page) step(s *step) {
	change, changed := Change{}, false
	outcome := append(view.Line{{Role: view.Warning, Text: "… "}}, view.Call(s.call)...)
	if s.result != nil {
		change, changed = ChangeOf(s.call, *s.result)
		outcome = view.Outcome(s.call, *s.result)
	}
	p.raw("<details id=\"c")
	p.number(s.seq)
	p.raw("\"")
	if changed {
		p.made = append(p.made, made{change, s.seq, s.call.Name})
		p.raw(" open")
	}
	p.raw("><summary>")
	p.line(outcome)
	p.raw("</summary>\n")
	p.why(s.decision)
	if changed {
		p.diff(change.Diff)
	} else {
		_, long := view.Arguments(s.call.Args) // the short ones stand in the outcome
		p.block(long)
	}
	p.result(s.result, changed)
	p.raw("</details>\n")
}

// diff draws a change. The names of the file stand above it already.
func (p *page) diff(text string) {
	if i := strings.Index(text, "@@"); i > 0 && strings.HasPrefix(text, "--- ") {
		text = text[i:]
	}
	p.raw("<pre class=\"diff\">")
	p.lines(view.Diff(text))
	p.raw("</pre>\n")
}

func (p *page) why(d *convo.Decision) {
	if d == nil {
		return
	}
	p.within("<p class=\"why\">", fmt.Sprintf("%s by %s: %s (risk %s) %s", d.Word(), d.By, d.Reason, d.Risk, d.Rule), "</p>\n")
}

// result writes what a tool answered; of a change the diff says it all.
func (p *page) result(r *tool.Result, changed bool) {
	if r == nil {
		p.raw("<p class=\"why\">no answer is recorded</p>\n")
		return
	}
	for _, n := range r.Notes {
		p.within("<p class=\"why\">", n, "</p>\n")
	}
	if changed {
		return
	}
	plain := *r
	if drawn(r.Display) != "" {
		plain.Display = nil // it is no change, so it is no diff either
	}
	p.block(view.Output(plain))
}

// changes lists every change with a way back to its call.
func (p *page) changes() {
	p.raw("<section id=\"changes\">\n<h2>changes</h2>\n")
	if len(p.made) == 0 {
		p.raw("<p class=\"faint\">no change of a file is recorded</p>\n")
	}
	for _, m := range p.made {
		p.raw("<details open><summary>")
		p.within("", fmt.Sprintf("%s  +%d -%d  ", m.Path, m.Added, m.Removed), "")
		p.raw("<a href=\"#c")
		p.number(m.call)
		p.within("\">", m.tool, "</a></summary>\n")
		p.diff(m.Diff)
		p.raw("</details>\n")
	}
	p.raw("</section>\n")
}

func (p *page) timeline(bars []bar) {
	if len(bars) == 0 {
		return
	}
	first, last := span(bars)
	p.raw("<table>\n")
	for _, b := range bars {
		p.raw("<tr><th>")
		p.named(b)
		p.raw("</th><td><svg><rect height=\"10\" class=\"")
		p.text(string(b.who))
		at, wide := b.place(first, last)
		p.raw("\" x=\"")
		p.percent(at)
		p.raw("\" width=\"")
		p.percent(wide)
		p.raw("\"/></svg></td>")
		p.within("<td class=\"took\">", b.took(), "</td>")
		p.within("<td class=\"note\">", b.note, "</td></tr>\n")
	}
	p.raw("</table>\n")
}

func (p *page) named(b bar) {
	if b.call == 0 {
		p.within("", b.name, "")
		return
	}
	p.raw("<a href=\"#c")
	p.number(b.call)
	p.within("\">", b.name, "</a>")
}

func (p *page) block(lines []view.Line) {
	if len(lines) == 0 {
		return
	}
	p.raw("<pre>")
	p.lines(lines)
	p.raw("</pre>\n")
}

func (p *page) lines(lines []view.Line) {
	for i, l := range lines {
		if i > 0 {
			p.raw("\n")
		}
		p.line(l)
	}
}

// line writes the pieces of a line, which view has made harmless.
func (p *page) line(l view.Line) {
	for _, s := range l {
		class, ok := classes[s.Role]
		if !ok {
			p.text(s.Text)
			continue
		}
		p.raw("<span class=\"")
		p.raw(class)
		p.raw("\">")
		p.text(s.Text)
		p.raw("</span>")
	}
}

// classes are the roles that look different from plain text.
var classes = map[view.Role]markup{
	view.Person: "strong", view.Thought: "thought", view.Name: "name", view.Good: "good", view.Bad: "bad", view.Faint: "faint",
	view.Added: "added", view.Removed: "removed", view.Warning: "warning", view.Heading: "heading", view.Strong: "strong",
	view.Emphasis: "emphasis", view.Code: "code", view.Link: "link", view.Keyword: "keyword", view.Quoted: "quoted", view.Comment: "comment",
}
