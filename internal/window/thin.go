package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// small is the size up to which a field is left as it is: exit codes, counts,
// paths and error codes stay readable.
const small = 200

// thinned is an event whose long output is replaced by a note that says where
// it is; keep bytes of it stay, half from each end. What is no result stays as it is.
func thinned(e convo.Event, keep int) convo.Event {
	r, ok := e.Body.(convo.ToolResult)
	if !ok || size(e) <= small+keep {
		return e
	}
	shorten := func(s string) string { return shortened(s, keep, e.Seq) }
	r.Notes, r.Display = nil, nil // neither is sent
	if f := r.Failure; f != nil {
		cut := *f
		cut.Message, cut.Stdout, cut.Stderr = shorten(f.Message), shorten(f.Stdout), shorten(f.Stderr)
		r.Failure = &cut
	}
	r.Data = thinnedData(r.Data, keep, e.Seq)
	e.Body = r
	return e
}

func shortened(s string, keep int, seq int64) string {
	if len(s) <= small+keep {
		return s
	}
	note := fmt.Sprintf("[output of %d bytes thinned; event %d has all of it]", len(s), seq)
	if keep == 0 {
		return note
	}
	return head(s, keep/2) + "\n" + note + "\n" + end(s, keep/2)
}

// head is the first bytes of s, whole characters only; end the last.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func end(s string, n int) string {
	from := max(0, len(s)-n)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// thinnedData shortens the long fields of an object, in place: a reader of the
// result finds every field where the tool put it.
func thinnedData(data json.RawMessage, keep int, seq int64) json.RawMessage {
	if len(data) <= small+keep {
		return data
	}
	fields, ok := fieldsOf(data)
	if !ok {
		return encoded(shortened(string(data), keep, seq))
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(encoded(f.name))
		out.WriteByte(':')
		out.Write(f.thinned(keep, seq))
	}
	out.WriteByte('}')
	return out.Bytes()
}

type field struct {
	name  string
	value json.RawMessage
}

func (f field) thinned(keep int, seq int64) json.RawMessage {
	if len(f.value) <= small+keep {
		return f.value
	}
	var s string
	if json.Unmarshal(f.value, &s) != nil {
		s = string(f.value) // a list or an object
	}
	return encoded(shortened(s, keep, seq))
}

// fieldsOf are the fields of a JSON object in the order they were written.
func fieldsOf(raw json.RawMessage) ([]field, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		fields = append(fields, field{name.(string), value})
	}
	return fields, true
}

func encoded(s string) json.RawMessage {
	raw, err := tool.Encode(s)
	if err != nil {
		panic("encoding a string: " + err.Error()) // a string always encodes
	}
	return raw
}
