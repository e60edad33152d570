package tui

import (
	"fmt"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
	"ikigai/internal/tui/draw"
	"ikigai/internal/view"
)

// margin is how far everything but the person's own words is set in.
const margin = 2

// An item is finished text: a paragraph and how far it is set in.
type item struct {
	view.Para
	indent int
	prompt bool // the first line of the person's words: terminals can jump to it
}

// transcript turns events into finished text, and draws what is not finished.
type transcript struct {
	fold int
	now  func() time.Time
	out  []item // finished and not yet written

	text    view.Markdown
	reply   string // whose text is being streamed
	begun   bool   // of that reply something was streamed
	thought thought

	calls  []*running // without a result, in order
	latest *running   // the last one with a result
}

// running is a call on its way.
type running struct {
	tool.Call
	risk    string
	since   time.Time // zero until it runs
	tail    tail
	result  tool.Result
	allowed string // what a person said
}

// thought is what the model thinks while it thinks.
type thought struct {
	tail
	since time.Time
}

func newTranscript(fold int, now func() time.Time) *transcript {
	return &transcript{fold: fold, now: now}
}

// event takes note of something that happened.
func (t *transcript) event(e convo.Event) {
	switch b := e.Body.(type) {
	case nil:
		t.words(e)
	case convo.Delta:
		t.delta(e, b)
	case convo.ToolCall:
		t.settle()
		t.calls = append(t.calls, &running{Call: b.Call})
	case convo.Decision:
		t.decision(b)
	case convo.Running:
		if c := t.call(b.CallID); c != nil {
			c.since = e.At
		}
	case convo.ToolOutput:
		if c := t.call(b.CallID); c != nil {
			c.tail.add(e.Text)
		}
	case convo.ToolResult:
		t.result(b.Result)
	case convo.Command:
		t.command(e.Text, b)
	case convo.Error:
		t.settle()
		t.lines(margin, view.Event(e))
	case convo.End:
		t.settle()
		t.lines(margin, view.Event(e))
		t.calls = nil
	case convo.Notice, convo.Limit:
		t.lines(margin, view.Event(e))
	}
}

func (t *transcript) words(e convo.Event) {
	switch e.Kind {
	case convo.KindUser:
		t.settle()
		t.gap()
		t.person(view.Event(e))
	case convo.KindAssistant:
		if e.Reply != "" && e.Reply == t.reply && t.begun {
			t.settle() // it was shown while it came
			return
		}
		var m view.Markdown
		t.paras(append(m.Feed(e.Text), m.Close()...))
	case convo.KindThinking:
		if e.Reply == "" || e.Reply != t.reply {
			t.lines(margin, []view.Line{{{Role: view.Thought, Text: "thought: " + clean.Line(firstLine(e.Text))}}})
		}
	case convo.KindSummary:
		t.lines(margin, view.Event(e))
	}
}

// mostSaid is how many lines of the person's own words are shown again.
const mostSaid = 20

// person draws the person's words; much of a paste is left out.
func (t *transcript) person(lines []view.Line) {
	head, tail, left := view.Fold(lines, mostSaid)
	for i, l := range head {
		t.out = append(t.out, item{Para: view.Para{Line: l, Hang: margin}, prompt: i == 0})
	}
	if left > 0 {
		t.lines(margin, []view.Line{{{Role: view.Faint, Text: fmt.Sprintf("… %d more lines", left)}}})
	}
	for _, l := range tail {
		t.out = append(t.out, item{Para: view.Para{Line: l, Hang: margin}})
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// delta takes a piece of a reply.
func (t *transcript) delta(e convo.Event, d convo.Delta) {
	if e.Reply != t.reply {
		t.settle()
		t.reply, t.begun = e.Reply, false
	}
	if d.Thinking {
		if t.thought.since.IsZero() {
			t.thought.since = e.At
		}
		t.thought.add(e.Text)
		return
	}
	t.endThought(e.At)
	t.begun = true
	t.paras(t.text.Feed(e.Text))
}

// settle ends whatever was being streamed.
func (t *transcript) settle() {
	t.endThought(t.now())
	t.paras(t.text.Close())
}

func (t *transcript) endThought(at time.Time) {
	if t.thought.since.IsZero() {
		return
	}
	line := "thought for " + view.Duration(at.Sub(t.thought.since))
	t.lines(margin, []view.Line{{{Role: view.Thought, Text: line}}})
	t.thought = thought{}
}

func (t *transcript) call(id string) *running {
	for _, c := range t.calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// decision notes the risk, and what a person said.
func (t *transcript) decision(d convo.Decision) {
	c := t.call(d.CallID)
	if c == nil {
		return
	}
	c.risk = d.Risk
	if d.By != convo.ByPerson || !d.Allowed {
		return
	}
	c.allowed = "you allowed it once"
	if d.Scope != "" && d.Scope != "once" {
		c.allowed = fmt.Sprintf("you allowed it (%s): %s", d.Scope, clean.Line(strings.Trim(d.Rule, "[]")))
	}
}

// result draws a call that is over, with everything it was asked.
func (t *transcript) result(r tool.Result) {
	c := t.call(r.CallID)
	if c == nil {
		c = &running{Call: tool.Call{ID: r.CallID, Name: r.Name}}
	}
	c.result = r
	t.latest = c
	for i := range t.calls {
		if t.calls[i] == c {
			t.calls = append(t.calls[:i:i], t.calls[i+1:]...)
			break
		}
	}
	t.out = append(t.out, item{Para: view.Para{Line: view.Outcome(c.Call, r), Hang: margin}, indent: margin})
	change := view.Change(r)
	if _, body := view.Arguments(c.Args); len(change) == 0 { // which says the same, readably
		t.folded(body, t.fold)
	}
	for _, n := range append(c.notes(), r.Notes...) {
		t.lines(margin, []view.Line{{{Role: view.Faint, Text: "│ " + clean.Line(n)}}})
	}
	if len(change) > 0 {
		t.folded(change, foldChange*t.fold)
		return
	}
	t.folded(output(r), t.fold)
}

// foldChange is how much more of a change is shown than of other output.
const foldChange = 4

// notes are what a person said about the call.
func (c *running) notes() []string {
	if c.allowed == "" {
		return nil
	}
	return []string{c.allowed}
}

// output is what is shown below a result; one line that the head says already
// is not said again.
func output(r tool.Result) []view.Line {
	lines := view.Output(r)
	if len(lines) == 1 && lines[0].String() == clean.Line(r.Summary) {
		return nil
	}
	return lines
}

// folded shows lines behind a bar, the middle left out where they are many.
func (t *transcript) folded(lines []view.Line, most int) {
	head, tail, left := view.Fold(lines, most)
	t.barred(head)
	if left > 0 {
		t.lines(margin, []view.Line{foldLine(left)})
	}
	t.barred(tail)
}

func foldLine(left int) view.Line {
	return view.Line{{Role: view.Faint, Text: fmt.Sprintf("│ … %d more lines, ctrl-o shows all", left)}}
}

func (t *transcript) barred(lines []view.Line) {
	for _, l := range lines {
		l = append(view.Line{{Role: view.Faint, Text: "│ "}}, l...)
		t.out = append(t.out, item{Para: view.Para{Line: l, Rigid: true}, indent: margin})
	}
}

func (t *transcript) command(text string, c convo.Command) {
	t.gap()
	line, program := strings.TrimSpace(c.Name+" "+c.Args), strings.HasPrefix(c.Name, "!")
	if !program {
		line = "/" + line
	}
	t.out = append(t.out, item{Para: view.Para{Line: view.Line{{Role: view.Person, Text: "> " + clean.Line(line)}}}})
	for _, l := range view.Text(view.Plain, text) {
		t.out = append(t.out, item{Para: view.Para{Line: l, Hang: hangOf(l.String()), Rigid: program}, indent: margin})
	}
}

// hangOf is where the rest of a line that is too long goes on: below its last
// column, when that begins early, else a little further in than the line itself.
func hangOf(line string) int {
	in := len(line) - len(strings.TrimLeft(line, " "))
	if i := strings.LastIndex(line, "  "); i >= in && i < 40 {
		return draw.Width(line[:i+2])
	}
	return in + margin
}

// lines adds finished lines.
func (t *transcript) lines(indent int, lines []view.Line) {
	for _, l := range lines {
		t.out = append(t.out, item{Para: view.Para{Line: l, Hang: margin}, indent: indent})
	}
}

func (t *transcript) paras(all []view.Para) {
	for _, p := range all {
		t.out = append(t.out, item{Para: p, indent: margin})
	}
}

func (t *transcript) gap() { t.out = append(t.out, item{}) }

// live draws what is not finished: the text that comes, and the calls that run.
func (t *transcript) live(width, height int) []view.Line {
	var rows []view.Line
	if !t.thought.since.IsZero() {
		rows = append(rows, t.thinking()...)
	}
	for _, p := range t.text.Rest() {
		rows = append(rows, item{Para: p, indent: margin}.rows(width)...)
	}
	for _, c := range t.calls {
		rows = append(rows, t.open(c, width)...)
	}
	if over := len(rows) - height; over > 0 {
		rows = rows[over:]
	}
	return rows
}

func (t *transcript) thinking() []view.Line {
	lines, _ := t.thought.last(3)
	head := view.Line{{Role: view.Thought, Text: "  thinking " + elapsed(t.now().Sub(t.thought.since))}}
	return append([]view.Line{head}, bars(lines, 3)...)
}

// open draws a call without a result. Its risk and its clock are always seen; of
// the arguments as much as fits, for they come whole with the result.
func (t *transcript) open(c *running, width int) []view.Line {
	head, body := view.Arguments(c.Args)
	line := append(view.Line{{Role: view.Warning, Text: "  ● "}, {Role: view.Name, Text: clean.Line(c.Name)}, {Text: "  "}}, head...)
	facts := c.facts(t.now())
	line = append(draw.Cut(line, max(width-draw.LineWidth(facts), 1)), facts...)
	rows := []view.Line{line}
	if c.since.IsZero() {
		return rows
	}
	if len(body) > 0 && c.tail.lines == 0 {
		rows = append(rows, bars(body, 3)...)
	}
	most := t.fold
	if most <= 0 || most > 10 {
		most = 10
	}
	shown, left := c.tail.last(most)
	if left > 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: fmt.Sprintf("  │ … %d lines before", left)}})
	}
	return append(rows, bars(shown, most)...)
}

// facts are the risk of a call and how long it runs.
func (c *running) facts(now time.Time) view.Line {
	var l view.Line
	if c.risk != "" {
		l = append(l, view.Span{Role: riskRole(c.risk), Text: "  " + strings.ToUpper(c.risk) + " risk"})
	}
	if c.since.IsZero() {
		return append(l, view.Span{Role: view.Faint, Text: "  waiting"})
	}
	return append(l, view.Span{Role: view.Faint, Text: "  " + elapsed(now.Sub(c.since))})
}

func bars(lines []view.Line, most int) []view.Line {
	var rows []view.Line
	for _, l := range lines[:min(len(lines), most)] {
		rows = append(rows, append(view.Line{{Role: view.Faint, Text: "  │ "}}, l...))
	}
	return rows
}

func riskRole(risk string) view.Role {
	return map[string]view.Role{"safe": view.Faint, "low": view.Faint, "medium": view.Warning, "high": view.Bad}[strings.ToLower(risk)]
}

// elapsed is a time that still runs.
func elapsed(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Truncate(time.Second).String()
}

// busy reports whether something is shown whose time runs.
func (t *transcript) busy() bool { return len(t.calls) > 0 || !t.thought.since.IsZero() }

// rows breaks an item into rows for a terminal of that width.
func (i item) rows(width int) []view.Line {
	line := i.Line
	for n := range line {
		line[n].Text = draw.Tabs(line[n].Text)
	}
	rows := []view.Line{line}
	if !i.Rigid {
		rows = draw.Wrap(line, max(width-i.indent, 1), i.Hang)
	}
	if i.indent > 0 {
		for n, r := range rows {
			if len(r) > 0 {
				rows[n] = append(view.Line{{Text: strings.Repeat(" ", i.indent)}}, r...)
			}
		}
	}
	return rows
}

// tail keeps the last lines of what a call prints.
type tail struct {
	text  string
	lines int // line ends seen, in all
}

// tailBytes is how much of the output of a running call is kept for the screen.
const tailBytes = 16 << 10

func (t *tail) add(text string) {
	t.lines += strings.Count(text, "\n")
	t.text += text
	if n := len(t.text); n > 2*tailBytes {
		t.text = t.text[n-tailBytes:]
	}
}

// last are the last lines, and how many came before them.
func (t *tail) last(most int) ([]view.Line, int) {
	text := strings.TrimRight(t.text, "\n")
	cut := len(text)
	for range most {
		i := strings.LastIndexByte(text[:cut], '\n')
		if i < 0 {
			cut = -1
			break
		}
		cut = i
	}
	lines := view.Text(view.Plain, text[cut+1:])
	total := t.lines
	if !strings.HasSuffix(t.text, "\n") && t.text != "" {
		total++
	}
	return lines, max(0, total-len(lines))
}
