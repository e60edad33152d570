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
	saying bool      // the reason of a denial is being typed

	split bool          // the diff is shown side by side; kept from one to the next
	parts []permit.Part // of the shell line that is asked about, once they are known
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

// next goes on to the next call; it reports whether there is one.
func (q *question) next(now time.Time) bool {
	first := q.first()
	q.drop(first)
	return q.moved(first, now)
}

// moved begins anew when another call is asked about than before.
func (q *question) moved(before string, now time.Time) bool {
	id := q.first()
	if id == before {
		return false
	}
	q.shown, q.saying, q.parts = now, false, nil
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

// key gives the answer that a key means. Too soon, or another key, means none.
func (q *question) key(name string, now time.Time) (agent.Answer, bool) {
	a, ok := answers[name]
	if !ok || now.Sub(q.shown) < tooSoon {
		return a, false
	}
	return q.answer(a), true
}

// answer is a for the call that is asked about.
func (q *question) answer(a agent.Answer) agent.Answer {
	a.Turn, a.CallID = q.turn, q.first()
	return a
}

// rows draws the question in at most height rows: what would be done, its risk,
// why it is asked, and the keys.
func (q *question) rows(width, height int) []view.Line {
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
	foot := append(why.rows(width), q.choices(width)...)
	return append(append(rows, q.preview(body, width, height-len(rows)-len(foot))...), foot...)
}

// simple draws each simple command of a shell line with what it does, why, and
// which rule speaks of it.
func (q *question) simple(most int) []view.Line {
	var rows []view.Line
	for _, p := range q.parts {
		l := view.Line{{Role: view.Faint, Text: "  │ "}, {Text: clean.Line(p.Command)}, {Role: classRole(p.Class), Text: "  " + strings.ReplaceAll(clean.Line(p.Class), "_", " ")}}
		if p.Reason != "" && p.Reason != p.Class {
			l = append(l, view.Span{Role: view.Faint, Text: "  " + clean.Line(p.Reason)})
		}
		if p.Rule != "" {
			l = append(l, view.Span{Role: view.Good, Text: "  " + clean.Line(p.Rule)})
		}
		rows = append(rows, l)
	}
	if len(rows) > most {
		rows = append(rows[:most-1:most-1], view.Line{{Role: view.Faint, Text: fmt.Sprintf("  │ … %d more commands", len(q.parts)-most+1)}})
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
		body = view.Hunks(diff)
		if q.split {
			body = draw.Beside(body, width-4)
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

// choices are the keys. What Session and Remember would cover is said exactly.
func (q *question) choices(width int) []view.Line {
	covers := clean.Line(strings.Join(q.calls[0].Covers, " and "))
	choice := func(key, text string) view.Span {
		return view.Span{Text: "  [" + key + "] " + text}
	}
	if covers == "" {
		covers = "nothing narrow enough; this once"
	}
	rows := wrapped(view.Line{choice("1", "Allow Once"), choice("2", "Session"), choice("3", "Remember"), choice("4", "Deny"), choice("5", "Deny and say why")}, width, margin)
	rows = append(rows, wrapped(view.Line{{Role: view.Faint, Text: "  2 and 3 cover: " + covers}}, width, 4)...)
	return append(rows, view.Line{{Role: view.Faint, Text: "  f full · s split · esc deny · ctrl-c stop the turn"}})
}

// full is the whole question, for the pager.
func (q *question) full() []view.Line {
	c := q.calls[0]
	head, body := view.Arguments(c.Args)
	lines := []view.Line{append(view.Line{{Role: view.Name, Text: clean.Line(c.Name)}, {Text: "  "}}, head...)}
	lines = append(lines, body...)
	return append(lines, view.Diff(c.Preview)...)
}
