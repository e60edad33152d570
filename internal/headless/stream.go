package headless

import (
	"encoding/json"
	"io"
	"time"

	"ikigai/internal/convo"
)

// linePrinter writes one JSON object per line. The order is the order of things.
type linePrinter struct {
	out     io.Writer
	session string
	seq     int64
}

// line has what every line has, first.
type line struct {
	V       int    `json:"v"`
	Seq     int64  `json:"seq"`
	TS      string `json:"ts"`
	Session string `json:"session_id"`
	Type    string `json:"type"`
}

func (p *linePrinter) head(kind string, at time.Time) line {
	p.seq++
	return line{V: 1, Seq: p.seq, TS: at.UTC().Format("2006-01-02T15:04:05.000Z"), Session: p.session, Type: kind}
}

func (p *linePrinter) begin(o Options) {
	var i Init
	if o.Init != nil {
		i = o.Init()
	}
	writeJSON(p.out, struct {
		line
		Init
	}{p.head("init", time.Now()), i})
}

func (p *linePrinter) end(o Outcome) {
	writeJSON(p.out, struct {
		line
		Ending
	}{p.head("done", time.Now()), o.Ending})
}

type (
	textLine struct {
		line
		Text string `json:"text"`
	}
	adviceLine struct {
		line
		Class string `json:"class,omitempty"`
		Text  string `json:"text"`
		Hint  string `json:"hint"`
	}
	startLine struct {
		line
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Raw       string          `json:"arguments_raw,omitempty"` // when they are no object
	}
	permissionLine struct {
		line
		CallID   string   `json:"call_id"`
		Decision string   `json:"decision"`
		By       convo.By `json:"by"`
		Rule     string   `json:"rule"`
		Reason   string   `json:"reason"`
		Risk     string   `json:"risk"`
	}
	runLine struct {
		line
		CallID string `json:"call_id"`
		Name   string `json:"name"`
	}
	outputLine struct {
		line
		CallID string `json:"call_id"`
		Text   string `json:"text"`
	}
	endLine struct {
		line
		CallID     string          `json:"call_id"`
		Name       string          `json:"name"`
		Envelope   json.RawMessage `json:"envelope"`
		ErrorType  string          `json:"error_type"`
		DurationMS int64           `json:"duration_ms"`
	}
	usageLine struct {
		line
		tokens
		CostUSD *float64 `json:"cost_usd"`
	}
	limitLine struct {
		line
		Kind  string  `json:"kind"`
		Scope string  `json:"scope,omitempty"` // session or day; none for one prompt
		Value float64 `json:"value"`
		Max   float64 `json:"max"`
	}
)

func (p *linePrinter) event(e convo.Event) {
	if v := p.lineOf(e); v != nil {
		writeJSON(p.out, v)
	}
}

// lineOf is the line of an event, or nil when the stream has none for it.
func (p *linePrinter) lineOf(e convo.Event) any {
	switch b := e.Body.(type) {
	case convo.Delta:
		kind := "delta"
		if b.Thinking {
			kind = "thinking"
		}
		return textLine{p.head(kind, e.At), e.Text}
	case convo.ToolCall:
		l := startLine{line: p.head("tool_call_start", e.At), CallID: b.ID, Name: b.Name, Arguments: b.Args}
		if !isObject(b.Args) {
			l.Arguments, l.Raw = json.RawMessage("{}"), string(b.Args)
		}
		return l
	case convo.Decision:
		return permissionLine{p.head("permission", e.At), b.CallID, b.Word(), b.By, b.Rule, b.Reason, b.Risk}
	case convo.Running:
		return runLine{p.head("tool_executing", e.At), b.CallID, b.Name}
	case convo.ToolOutput:
		return outputLine{p.head("tool_output", e.At), b.CallID, e.Text}
	case convo.ToolResult:
		return endLine{p.head("tool_call_end", e.At), b.CallID, b.Name, b.Envelope(), string(b.Code().Type()), b.Took.Milliseconds()}
	case convo.Usage:
		l := usageLine{line: p.head("usage", e.At), CostUSD: b.CostUSD}
		l.add(b)
		return l
	case convo.Limit:
		return limitLine{p.head("limit", e.At), b.Which, b.Scope, b.Value, b.Max}
	case convo.Notice:
		return adviceLine{line: p.head("notice", e.At), Text: e.Text, Hint: b.Hint}
	case convo.Error:
		return adviceLine{p.head("error", e.At), b.Class, b.Text, b.Hint}
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}
