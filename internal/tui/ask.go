package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/tui/draw"
	"ikigai/internal/view"
)

// A question asks for permission, one call after another. It dies with its turn:
// a late answer finds nobody.
type question struct {
	turn   int
	calls  []convo.Asked
	batch  []string  // the calls that were asked about together
	shown  time.Time // keys that come too soon after this were meant for the box
	asking string    // what is being typed about it, of typedAbout; empty for nothing
	rules  []string  // what to remember, as the person wrote it; none for what is offered

	split bool // the diff is shown side by side; kept from one to the next
}

// What is typed about a question, and what the person is told meanwhile.
const (
	reason = "reason"
	scope  = "scope"
)

var typedAbout = map[string]string{
	reason: "why not? enter denies with these words · esc back",
	scope:  "which calls shall 2 and 3 allow? one rule a line, as bash(go test *) · enter takes it · esc back",
}

// tooSoon is how long a question must stand before it takes an answer.
const tooSoon = 300 * time.Millisecond

// event keeps the question up with what happens. It reports whether a new call
// is asked about now.
func (q *question) event(e convo.Event, now time.Time) bool {
	first := q.first()
	switch b := e.Body.(type) {
	case convo.Ask:
		q.ask(e.Turn, b.Calls)
	case convo.Decision:
		q.drop(b.CallID)
	case convo.ToolResult:
		q.drop(b.CallID)
	case convo.End:
		*q = question{split: q.split}
	}
	return q.moved(first, now)
}

// moved begins anew when another call is asked about than before.
func (q *question) moved(before string, now time.Time) bool {
	id := q.first()
	if id == before {
		return false
	}
	q.shown, q.asking, q.rules = now, "", nil
	return id != ""
}

// ask begins a batch, or goes on with what is left of one.
func (q *question) ask(turn int, calls []convo.Asked) {
	if turn != q.turn || len(calls) == 0 || !slices.Contains(q.batch, calls[0].CallID) {
		q.batch = nil
		for _, c := range calls {
			q.batch = append(q.batch, c.CallID)
		}
	}
	q.turn, q.calls = turn, calls
}

func (q *question) open() bool { return len(q.calls) > 0 }

func (q *question) first() string {
	if !q.open() {
		return ""
	}
	return q.calls[0].CallID
}

func (q *question) drop(id string) {
	for i, c := range q.calls {
		if c.CallID == id {
			q.calls = append(q.calls[:i:i], q.calls[i+1:]...)
			return
		}
	}
}

// answers are the keys of the seed, and what they mean.
var answers = map[string]agent.Answer{
	"1":   {Allow: true, Scope: permit.Once},
	"2":   {Allow: true, Scope: permit.Session},
	"3":   {Allow: true, Scope: permit.Always},
	"4":   {},
	"esc": {},
}

// tooSoon reports whether a key was meant for the box.
func (q *question) tooSoon(now time.Time) bool { return now.Sub(q.shown) < tooSoon }

// key gives the answer that a key means, if it means one.
func (q *question) key(name string) (agent.Answer, bool) {
	a, ok := answers[name]
	return q.answer(a), ok
}

// answer is a for the call that is asked about.
func (q *question) answer(a agent.Answer) agent.Answer {
	a.Turn, a.CallID = q.turn, q.first()
	if a.Scope == permit.Session || a.Scope == permit.Always {
		a.Rules = q.rules
	}
	return a
}

// covers are the rules that would be remembered.
func (q *question) covers() []string {
	if len(q.rules) > 0 {
		return q.rules
	}
	return q.calls[0].Covers
}

// draft is what the person begins with who writes rules: those that would be
// remembered, else one for each simple command, else one for the tool.
func (q *question) draft() string {
	rules, c := q.covers(), q.calls[0]
	for _, p := range c.Parts {
		if len(q.covers()) == 0 && p.Rule == "" {
			rules = append(rules, c.Name+"("+p.Command+")")
		}
	}
	if len(rules) == 0 {
		return c.Name
	}
	return strings.Join(rules, "\n")
}

// write takes rules that the person wrote; none brings back what was offered.
func (q *question) write(text string) {
	q.asking, q.rules = "", nil
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			q.rules = append(q.rules, l)
		}
	}
}

// rows draws the question in at most height rows: what would be done, its risk,
// why it is asked, and the keys.
func (q *question) rows(width, height int, now time.Time) []view.Line {
	c := q.calls[0]
	head := view.Line{{Role: view.Warning, Text: "⚠ Permission request"}}
	if n := len(q.batch); n > 1 {
		head = append(head, view.Span{Role: view.Faint, Text: fmt.Sprintf("   %d of %d in this batch", slices.Index(q.batch, c.CallID)+1, n)})
	}
	args, body := view.Arguments(c.Args)
	call := append(view.Line{{Text: "  "}, {Role: view.Name, Text: clean.Line(c.Name)}, {Text: "  "}}, args...)
	if c.Preview != "" { // the diff below says the same, readably
		call = draw.Cut(call, width)
	}
	risk := view.Line{{Text: "  "}, {Role: riskRole(c.Risk), Text: "Risk: " + strings.ToUpper(c.Risk)}}
	if c.Preview != "" {
		added, removed := changed(c.Preview)
		risk = append(risk, view.Span{Role: view.Added, Text: fmt.Sprintf("   +%d", added)}, view.Span{Role: view.Removed, Text: fmt.Sprintf(" -%d", removed)})
	}
	why := item{Para: view.Para{Line: view.Line{{Role: view.Faint, Text: "asked because: " + clean.Line(c.Reason)}}, Hang: margin}, indent: margin}
	rows := append([]view.Line{head}, wrapped(call, width, 6)...)
	rows = append(append(rows, risk), q.simple(max(height/3, 1))...)
	foot := append(why.rows(width), q.choices(width, now)...)
	return append(append(rows, q.preview(body, width, height-len(rows)-len(foot))...), foot...)
}

// simple draws each simple command of a shell line with what it does, why, and
// which rule speaks of it.
func (q *question) simple(most int) []view.Line {
	var rows []view.Line
	for _, p := range q.calls[0].Parts {
		class := strings.ReplaceAll(clean.Line(p.Class), "_", " ")
		l := view.Line{{Role: view.Faint, Text: "  │ "}, {Text: clean.Line(p.Command)}, {Role: classRole(p.Class), Text: "  " + class}}
		if strings.ReplaceAll(p.Reason, "the ", "") != class { // which would say it twice
			l = append(l, view.Span{Role: view.Faint, Text: "  " + clean.Line(p.Reason)})
		}
		if p.Rule != "" {
			l = append(l, view.Span{Role: view.Good, Text: "  " + clean.Line(p.Rule)})
		}
		rows = append(rows, l)
	}
	if len(rows) > most {
		rows = append(rows[:most-1:most-1], view.Line{{Role: view.Faint, Text: fmt.Sprintf("  │ … %d more commands", len(q.calls[0].Parts)-most+1)}})
	}
	return rows
}

// classRole sets off what does more than read.
func classRole(class string) view.Role {
	if strings.HasPrefix(class, "read") {
		return view.Faint
	}
	return view.Warning
}

// flow puts pieces side by side, each whole on its row where it fits on one.
func flow(width int, pieces ...view.Span) []view.Line {
	var rows []view.Line
	var row view.Line
	for _, p := range pieces {
		if len(row) > 0 && draw.LineWidth(row)+draw.Width(p.Text) > width {
			rows, row = append(rows, row), nil
		}
		row = append(row, p)
	}
	rows = append(rows, row)
	var out []view.Line
	for _, r := range rows {
		out = append(out, wrapped(r, width, margin)...)
	}
	return out
}

func wrapped(l view.Line, width, hang int) []view.Line {
	return item{Para: view.Para{Line: l, Hang: hang}}.rows(width)
}

// changed counts the lines of a unified diff.
func changed(diff string) (added, removed int) {
	for l := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			added++
		case strings.HasPrefix(l, "-"):
			removed++
		}
	}
	return added, removed
}

// preview is the diff, or the arguments of several lines, as far as there is room.
func (q *question) preview(body []view.Line, width, room int) []view.Line {
	if diff := q.calls[0].Preview; diff != "" {
		if body = view.Hunks(diff); q.split {
			body = draw.Beside(body, width-4)
		} else {
			body = view.Numbered(body)
		}
	}
	if len(body) == 0 || room < 2 {
		return nil
	}
	rows := bars(body, room)
	if len(body) > room {
		rows[room-1] = view.Line{{Role: view.Faint, Text: fmt.Sprintf("  │ … %d more lines, f shows all", len(body)-room+1)}}
	}
	return rows
}

// choices are the keys, faint as long as they are not heard. What Session and
// Remember would cover is said exactly. While something is typed about the
// question, that is said instead.
func (q *question) choices(width int, now time.Time) []view.Line {
	if q.asking != "" {
		return wrapped(view.Line{{Role: view.Warning, Text: "  " + typedAbout[q.asking]}}, width, margin)
	}
	role := view.Plain
	if q.tooSoon(now) {
		role = view.Faint
	}
	choice := func(key, text string) view.Span {
		return view.Span{Role: role, Text: "  [" + key + "] " + text}
	}
	rows := flow(width, choice("1", "Allow Once"), choice("2", "Session"), choice("3", "Remember"), choice("4", "Deny"), choice("5", "Deny and say why"))
	rows = append(rows, wrapped(view.Line{{Text: "  "}, {Role: view.Faint, Text: "2 and 3 cover: "}, {Role: view.Code, Text: q.reach()}}, width, 4)...)
	return append(rows, wrapped(view.Line{{Role: view.Faint, Text: "  e edit scope · v editor · s split · f full · esc deny · ctrl-c stop the turn"}}, width, margin)...)
}

// reach is what would be remembered, in words.
func (q *question) reach() string {
	if text := clean.Line(strings.Join(q.covers(), " and ")); text != "" {
		return text
	}
	return "nothing narrow enough, so this once; e writes a rule"
}

// full is the whole question, for the pager.
func (q *question) full() []view.Line {
	c := q.calls[0]
	head, body := view.Arguments(c.Args)
	lines := []view.Line{append(view.Line{{Role: view.Name, Text: clean.Line(c.Name)}, {Text: "  "}}, head...)}
	lines = append(lines, body...)
	return append(lines, view.Diff(c.Preview)...)
}

// text is the question for an editor: the change by itself, which editors know
// how to draw, or everything the call was asked.
func (q *question) text() (name, text string) {
	c := q.calls[0]
	if c.Preview != "" {
		return "change.diff", c.Preview
	}
	var b strings.Builder
	for _, l := range q.full() {
		b.WriteString(l.String() + "\n")
	}
	return "call.txt", b.String()
}
