package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Envelope is what the model sees of a result: {"tool_success":true,"result":{...}},
// or {"tool_success":false,"error","error_code","exit_code","stdout","stderr"} where
// the wrapper speaks. A tool that ran and reports its own error is a success of
// the wrapper, so the model reads {"tool_success":true,"result":{"error":...}}.
func (r Result) Envelope() json.RawMessage {
	if r.Failure != nil {
		return r.Failure.envelope(r.Limit)
	}
	var b bytes.Buffer
	b.WriteString(`{"tool_success":true,"result":`)
	b.Write(withLimit(r.Data, r.Limit))
	b.WriteByte('}')
	return b.Bytes()
}

func (f *Failure) envelope(limit int) json.RawMessage {
	raw, err := Encode(struct {
		Success  bool   `json:"tool_success"`
		Error    string `json:"error"`
		Code     Code   `json:"error_code"`
		ExitCode *int   `json:"exit_code"`
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
	}{Error: f.Message, Code: f.Code, ExitCode: f.ExitCode, Stdout: f.Stdout, Stderr: f.Stderr})
	if err != nil {
		panic("encoding a failure: " + err.Error()) // strings and a number always encode
	}
	return withLimit(raw, limit)
}

// withLimit adds the seed's two fields to an object when the loop limit was
// reached with this result. Data that is no object is wrapped as output.
func withLimit(data json.RawMessage, limit int) json.RawMessage {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		data = json.RawMessage("{}")
	case data[0] != '{':
		data = append(append([]byte(`{"output":`), data...), '}')
	}
	if limit == 0 {
		return data
	}
	body := bytes.TrimSpace(data[1 : len(data)-1])
	out := append([]byte{'{'}, body...)
	if len(body) > 0 {
		out = append(out, ',')
	}
	return fmt.Appendf(out, `"limit_reached":true,"limit_message":"Tool call limit reached (%d). Stopping tool loop."}`, limit)
}

// Summary shows a call as a person reads it: glob(pattern="*.c", path="src/").
func (c Call) Summary() string {
	pairs, ok := orderedPairs(c.Args)
	if !ok {
		return c.Name + "(" + strings.TrimSpace(string(c.Args)) + ")"
	}
	return c.Name + "(" + strings.Join(pairs, ", ") + ")"
}

// orderedPairs gives key=value of a JSON object in the order it was written.
func orderedPairs(raw json.RawMessage) ([]string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var pairs []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		pairs = append(pairs, fmt.Sprintf("%v=%s", key, value))
	}
	return pairs, true
}

// Encode is json.Marshal without the escapes for HTML and without a final line
// end: models and people read these bytes.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
