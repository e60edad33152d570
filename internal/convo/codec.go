package convo

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ikigai/internal/tool"
)

// ToolCall is a call as the model made it.
type ToolCall struct{ tool.Call }

// ToolResult is the one answer to a call.
type ToolResult struct{ tool.Result }

// callJSON is the data_json of a tool_call, as the first seed wrote it: the
// arguments are a string, verbatim.
type callJSON struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// MarshalJSON writes {id, type, function:{name, arguments}}.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	j := callJSON{ID: c.ID, Type: "function"}
	j.Function.Name, j.Function.Arguments = c.Name, string(c.Args)
	return tool.Encode(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *ToolCall) UnmarshalJSON(raw []byte) error {
	if c.quick(raw) {
		return nil
	}
	return c.slow(raw)
}

func (c *ToolCall) slow(raw []byte) error {
	var j callJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	c.Call = tool.Call{ID: j.ID, Name: j.Function.Name, Args: json.RawMessage(j.Function.Arguments)}
	return nil
}

// resultJSON is the data_json of a tool_result: the seed's four fields first.
type resultJSON struct {
	CallID    string          `json:"tool_call_id"`
	Name      string          `json:"name"`
	Output    string          `json:"output"`
	Success   bool            `json:"success"`
	ErrorType tool.ErrorType  `json:"error_type"`
	Failure   *failureJSON    `json:"failure,omitempty"`
	TookUS    int64           `json:"took_us"`
	At        int64           `json:"at_ms,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Limit     int             `json:"limit,omitempty"`
	Notes     []string        `json:"notes,omitempty"`
	Display   json.RawMessage `json:"display,omitempty"`
}

type failureJSON struct {
	Code     tool.Code `json:"code"`
	Message  string    `json:"message"`
	ExitCode *int      `json:"exit_code"`
	Stdout   string    `json:"stdout,omitempty"`
	Stderr   string    `json:"stderr,omitempty"`
}

// MarshalJSON writes {tool_call_id, name, output, success, ...}; output is the
// tool's own JSON as a string.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	code := r.Code()
	j := resultJSON{
		CallID: r.CallID, Name: r.Name, Output: string(r.Data), Success: code == "", ErrorType: code.Type(),
		TookUS: r.Took.Microseconds(), Truncated: r.Truncated, Limit: r.Limit, Notes: r.Notes, Display: r.Display,
	}
	if !r.At.IsZero() {
		j.At = r.At.UnixMilli()
	}
	if f := r.Failure; f != nil {
		j.Output = string(r.Envelope())
		j.Failure = &failureJSON{Code: f.Code, Message: f.Message, ExitCode: f.ExitCode, Stdout: f.Stdout, Stderr: f.Stderr}
	}
	return tool.Encode(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *ToolResult) UnmarshalJSON(raw []byte) error {
	if r.quick(raw) {
		return nil
	}
	return r.slow(raw)
}

func (r *ToolResult) slow(raw []byte) error {
	var j resultJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	r.Result = tool.Result{
		CallID: j.CallID, Name: j.Name, Took: time.Duration(j.TookUS) * time.Microsecond,
		Truncated: j.Truncated, Limit: j.Limit, Notes: j.Notes, Display: j.Display, At: moment(j.At),
	}
	if f := j.Failure; f != nil {
		r.Failure = &tool.Failure{Code: f.Code, Message: f.Message, ExitCode: f.ExitCode, Stdout: f.Stdout, Stderr: f.Stderr}
	} else {
		r.Data = json.RawMessage(j.Output)
	}
	return nil
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// eventJSON is an event as a line of JSON: exports, session show, debug encode.
type eventJSON struct {
	Seq     int64           `json:"seq,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	At      string          `json:"at,omitempty"`
	Kind    Kind            `json:"kind"`
	Content string          `json:"content"`
	Data    json.RawMessage `json:"data_json,omitempty"`
	Reply   string          `json:"reply,omitempty"`
	Keep    *Opaque         `json:"keep,omitempty"`
}

// MarshalJSON writes {seq, turn, at, kind, content, data_json, reply, keep}.
func (e Event) MarshalJSON() ([]byte, error) {
	data, err := e.Data()
	if err != nil {
		return nil, err
	}
	j := eventJSON{Seq: e.Seq, Turn: e.Turn, Kind: e.Kind, Content: e.Text, Data: data, Reply: e.Reply, Keep: e.Keep}
	if !e.At.IsZero() {
		j.At = e.At.UTC().Format(time.RFC3339Nano)
	}
	return tool.Encode(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. data_json may also be a string
// that holds the JSON.
func (e *Event) UnmarshalJSON(raw []byte) error {
	var j eventJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	var at time.Time
	if j.At != "" {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, j.At); err != nil {
			return fmt.Errorf("reading the time of an event: %w", err)
		}
	}
	*e = Event{Seq: j.Seq, Turn: j.Turn, At: at, Kind: j.Kind, Text: j.Content, Reply: j.Reply, Keep: j.Keep}
	return e.Read(unquoted(j.Data))
}

func unquoted(raw json.RawMessage) json.RawMessage {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return json.RawMessage(s)
	}
	return raw
}

// Data is the data_json of the event; nil where the kind is plain text.
func (e Event) Data() (json.RawMessage, error) {
	switch b := e.Body.(type) {
	case nil:
		return nil, nil
	case Unknown:
		return b.Data, nil
	default:
		raw, err := tool.Encode(b)
		if err != nil {
			return nil, fmt.Errorf("encoding a %s event: %w", e.Kind, err)
		}
		return raw, nil
	}
}

// Read sets the Body from its data_json, which Data wrote; Kind and Text must be
// there. It keeps nothing of raw, so that whoever lends it may change it.
func (e *Event) Read(raw json.RawMessage) error {
	body, err := decode(e.Kind, raw, e.Text)
	e.Body = body
	return err
}

// DecodeBody reads the data_json of an event of that kind. It keeps nothing of raw.
func DecodeBody(k Kind, raw json.RawMessage) (Body, error) { return decode(k, raw, "") }

func decode(k Kind, raw json.RawMessage, text string) (Body, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	read, ok := bodies[k]
	if !ok {
		return Unknown{Of: k, Data: slices.Clone(raw)}, nil
	}
	b, err := read(raw, text)
	if err != nil {
		return nil, fmt.Errorf("reading the data of a %s event: %w", k, err)
	}
	return b, nil
}

// bodies read the data of each kind that has some, and the text of its event.
var bodies = map[Kind]func(raw json.RawMessage, text string) (Body, error){
	KindUser:       readWords,
	KindToolCall:   readCall,
	KindToolResult: readResult,
	KindOpaque:     either[Opaque],
	KindDecision:   either[Decision],
	KindUsage:      either[Usage],
	KindDelta:      read[Delta],
	KindRunning:    read[Running],
	KindToolOutput: read[ToolOutput],
	KindAsk:        read[Ask],
	KindState:      read[State],
	KindNotice:     read[Notice],
	KindError:      read[Error],
	KindLimit:      read[Limit],
	KindCommand:    read[Command],
	KindUndo:       read[Undo],
	KindEnd:        read[End],
}

func readCall(raw json.RawMessage, _ string) (Body, error) {
	var c ToolCall
	err := c.UnmarshalJSON(raw) // directly: json.Unmarshal would scan it twice
	return c, err
}

// readResult gives the result its summary, which is stored once, as the text of
// the event.
func readResult(raw json.RawMessage, text string) (Body, error) {
	var r ToolResult
	err := r.UnmarshalJSON(raw)
	r.Summary = text
	return r, err
}

func read[B Body](raw json.RawMessage, _ string) (Body, error) {
	var b B
	err := json.Unmarshal(raw, &b)
	return b, err
}
