// Package view draws an event as lines of text whose pieces have a role: what
// they are, not what colour. Every face draws through it, live and replayed, so
// a session looks the same everywhere. It knows shapes of results, never names
// of tools: an external tool in any language looks as good as a built-in one.
//
// Whatever it returns is safe to write to a terminal: all text that we did not
// write ourselves has gone through clean.
package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// Role is what a piece of text is.
type Role uint8

const (
	Plain Role = iota
	Person
	Thought
	Name // of a tool
	Good
	Bad
	Faint
	Added
	Removed
	Warning

	// Of formatted text.
	Heading
	Strong
	Emphasis
	Code
	Link
	Keyword
	Quoted
	Comment

	// Of what a person is about to do.
	Cursor
	Chosen
)

// A Span is a piece of one line.
type Span struct {
	Role Role
	Text string
}

// A Line is what stands on one line, without its end.
type Line []Span

// String is the line without roles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Event draws a durable or live event. What needs no line gives none.
func Event(e convo.Event) []Line {
	switch b := e.Body.(type) {
	case nil, convo.Unknown:
		return words(e)
	case convo.ToolCall:
		return nil // drawn with its result, or while it runs
	case convo.ToolResult:
		return Result(b.Result)
	case convo.Decision:
		return decision(b)
	case convo.Notice:
		return advice(Warning, "note: ", e.Text, b.Hint)
	case convo.Error:
		return advice(Bad, "error: ", b.Text, b.Hint)
	case convo.Limit:
		return []Line{{{Warning, clean.Line(e.Text)}}}
	case convo.Command:
		return block(Plain, e.Text)
	case convo.End:
		return ended(b)
	}
	return nil
}

func words(e convo.Event) []Line {
	switch e.Kind {
	case convo.KindUser:
		if !e.Said() {
			return advice(Faint, "to the model: ", e.Text, "")
		}
		lines := block(Person, e.Text)
		for i, l := range lines {
			mark := "  "
			if i == 0 {
				mark = "> "
			}
			lines[i] = append(Line{{Person, mark}}, l...)
		}
		return lines
	case convo.KindAssistant, convo.KindSummary:
		return block(Plain, e.Text)
	case convo.KindThinking:
		return block(Thought, e.Text)
	}
	return nil
}

// block splits text into lines of one role.
func block(r Role, text string) []Line {
	text = strings.TrimRight(clean.Block(text), "\n")
	if text == "" {
		return nil
	}
	var lines []Line
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Line{{r, l}})
	}
	return lines
}

func advice(r Role, head, text, hint string) []Line {
	lines := []Line{{{r, head + clean.Line(text)}}}
	if hint != "" {
		lines = append(lines, Line{{Faint, "  " + clean.Line(hint)}})
	}
	return lines
}

func decision(d convo.Decision) []Line {
	if d.Allowed {
		return nil // the call itself is drawn
	}
	return []Line{{{Warning, "denied "}, {Name, clean.Line(d.Name)}, {Faint, "  " + clean.Line(d.Reason)}}}
}

func ended(e convo.End) []Line {
	switch e.Stop {
	case convo.StopCancelled:
		return []Line{{{Warning, "stopped"}}}
	case convo.StopLimit:
		return []Line{{{Warning, "stopped at a limit"}}}
	}
	return nil
}

// Call is a call in one line: the tool's name first, then what it was asked.
func Call(c tool.Call) Line {
	return Line{{Name, clean.Line(c.Name)}, {Plain, " " + clean.Line(arguments(c))}}
}

// arguments is the part of a call's summary between the brackets.
func arguments(c tool.Call) string {
	s := strings.TrimPrefix(c.Summary(), c.Name+"(")
	return strings.TrimSuffix(s, ")")
}

// Result draws the result of a call: a line with its mark, name, summary and
// time, then what a person should see of a failure.
func Result(r tool.Result) []Line {
	code := r.Code()
	mark, role := "✓ ", Good
	if code != "" {
		mark, role = "✗ ", Bad
	}
	head := Line{{role, mark}, {Name, clean.Line(r.Name)}, {Plain, "  " + clean.Line(shortened(r.Summary))}}
	if code != "" {
		head = append(head, Span{Bad, fmt.Sprintf("  [%s]", clean.Line(string(code.Type())))})
	}
	if r.Took > 0 {
		head = append(head, Span{Faint, "  " + duration(r.Took)})
	}
	lines := []Line{head}
	for _, n := range r.Notes {
		lines = append(lines, Line{{Faint, "  " + clean.Line(n)}})
	}
	return append(lines, display(r.Display)...)
}

func shortened(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// display draws what a tool asked for: {"text"}, {"diff"}.
func display(raw json.RawMessage) []Line {
	var d struct {
		Text string `json:"text"`
		Diff string `json:"diff"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil {
		return nil
	}
	return append(block(Plain, d.Text), Diff(d.Diff)...)
}

// Diff draws a unified diff.
func Diff(text string) []Line {
	roles := map[byte]Role{'+': Added, '-': Removed, '@': Faint}
	lines := block(Plain, text)
	for _, l := range lines {
		if l[0].Text != "" {
			l[0].Role = roles[l[0].Text[0]]
		}
	}
	return lines
}
