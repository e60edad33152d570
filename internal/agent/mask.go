package agent

import (
	"encoding/json"
	"slices"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// masked takes known secret values out of an event before it is recorded, told
// or sent: this is the one place they all pass. Files on disk are never touched.
func (a *Agent) masked(e convo.Event) convo.Event {
	r := a.parts.Redact
	if r == nil {
		return e
	}
	e.Text = r.Text(e.Text)
	switch b := e.Body.(type) {
	case convo.ToolCall:
		b.Args = maskArgs(r, b.Args)
		e.Body = b
	case convo.ToolResult:
		b.Result = maskResult(r, b.Result)
		e.Body = b
	case convo.Ask:
		e.Body = maskAsk(r, b)
	case convo.Error:
		b.Text, b.Hint = r.Text(b.Text), r.Text(b.Hint)
		e.Body = b
	}
	return e
}

// maskArgs masks arguments, which need not be JSON.
func maskArgs(r Redactor, args json.RawMessage) json.RawMessage {
	if json.Valid(args) {
		return r.JSON(args)
	}
	return json.RawMessage(r.Text(string(args)))
}

func maskResult(r Redactor, t tool.Result) tool.Result {
	t.Summary = r.Text(t.Summary)
	if len(t.Data) > 0 {
		t.Data = r.JSON(t.Data)
	}
	if len(t.Display) > 0 {
		t.Display = r.JSON(t.Display)
	}
	if f := t.Failure; f != nil {
		masked := *f
		masked.Message, masked.Stdout, masked.Stderr = r.Text(f.Message), r.Text(f.Stdout), r.Text(f.Stderr)
		t.Failure = &masked
	}
	return t
}

func maskAsk(r Redactor, q convo.Ask) convo.Ask {
	calls := make([]convo.Asked, len(q.Calls))
	for i, c := range q.Calls {
		c.Args, c.Summary, c.Preview = r.JSON(c.Args), r.Text(c.Summary), r.Text(c.Preview)
		c.Parts = slices.Clone(c.Parts)
		for j := range c.Parts {
			c.Parts[j].Command = r.Text(c.Parts[j].Command)
		}
		calls[i] = c
	}
	return convo.Ask{Calls: calls}
}
