package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// Offline is a summary of events without a model: for each prompt what was
// called, with what and how it ended, and what was answered last.
func Offline(events []convo.Event) string {
	d := digest{ended: map[string]tool.Result{}}
	for _, e := range events {
		if r, ok := e.Body.(convo.ToolResult); ok {
			d.ended[r.CallID] = r.Result
		}
	}
	for _, e := range events {
		d.read(e)
	}
	d.close()
	return d.text()
}

// A digest is made turn by turn.
type digest struct {
	ended  map[string]tool.Result
	before string // an earlier summary
	turns  []string
	now    turn
}

type turn struct {
	prompt string
	tools  []string // in the order of their first call
	calls  map[string][]string
	answer string
}

func (d *digest) read(e convo.Event) {
	switch b := e.Body.(type) {
	case convo.ToolCall:
		d.now.called(b.Call, d.ended[b.ID])
		return
	}
	switch e.Kind {
	case convo.KindSummary:
		d.before = e.Text[:summaryOf(e).Digest]
	case convo.KindUser:
		if Said(e) {
			d.close()
			d.now.prompt = e.Text
		}
	case convo.KindAssistant:
		d.now.answer = e.Text
	}
}

func (t *turn) called(c tool.Call, r tool.Result) {
	if t.calls == nil {
		t.calls = map[string][]string{}
	}
	if !slices.Contains(t.tools, c.Name) {
		t.tools = append(t.tools, c.Name)
	}
	what := oneLine(object(c), 120)
	if how := outcome(r); how != "" {
		what += " (" + how + ")"
	}
	if !slices.Contains(t.calls[c.Name], what) {
		t.calls[c.Name] = append(t.calls[c.Name], what)
	}
}

// object is what a call is about: the argument that people would name.
func object(c tool.Call) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Args, &args) == nil {
		for _, name := range []string{"command", "path", "file_path", "file", "pattern", "query", "url", "name", "id"} {
			var s string
			if json.Unmarshal(args[name], &s) == nil && s != "" {
				return s
			}
		}
	}
	return strings.TrimSpace(string(c.Args))
}

// outcome is how a call ended, where that is worth a word.
func outcome(r tool.Result) string {
	if r.Failure != nil && r.Failure.ExitCode != nil {
		return fmt.Sprintf("%s, exit %d", r.Code(), *r.Failure.ExitCode)
	}
	var own struct {
		Exit *int `json:"exit_code"`
	}
	if json.Unmarshal(r.Data, &own) == nil && own.Exit != nil {
		return fmt.Sprintf("exit %d", *own.Exit)
	}
	return string(r.Code())
}

// close ends the turn in hand.
func (d *digest) close() {
	t := d.now
	d.now = turn{}
	if t.prompt == "" && t.calls == nil && t.answer == "" {
		return
	}
	const most = 12 // calls of one tool that are named
	var b strings.Builder
	fmt.Fprintf(&b, "- asked: %s\n", oneLine(t.prompt, 160))
	for _, name := range t.tools {
		calls := t.calls[name]
		fmt.Fprintf(&b, "  %s: %s", name, strings.Join(calls[:min(most, len(calls))], "; "))
		if more := len(calls) - most; more > 0 {
			fmt.Fprintf(&b, "; and %d more", more)
		}
		b.WriteByte('\n')
	}
	if t.answer != "" {
		fmt.Fprintf(&b, "  answered: %s\n", oneLine(t.answer, 400))
	}
	d.turns = append(d.turns, b.String())
}

// text is the digest: the earlier summary, shortened, and the last turns.
func (d *digest) text() string {
	const most, earlier = 8000, 2500
	from, size := len(d.turns), 0
	for from > 0 && size+len(d.turns[from-1]) <= most {
		from--
		size += len(d.turns[from])
	}
	var b strings.Builder
	if d.before != "" {
		b.WriteString(strings.TrimSpace(middleOut(d.before, earlier)) + "\n\n")
	}
	b.WriteString("What was done, without judgement:\n")
	if from > 0 {
		fmt.Fprintf(&b, "- %d earlier prompts are left out here\n", from)
	}
	for _, t := range d.turns[from:] {
		b.WriteString(t)
	}
	return b.String()
}

// oneLine is s on one line and no longer than most bytes.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = head(s, most) + "..."
	}
	return s
}
