package openai

import (
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
)

// details gathers the reasoning_details of a stream: a gateway wants the list
// back unchanged and in order, with the pieces of each text put together.
type details struct {
	list  []map[string]json.RawMessage
	block int // the item they belong to
}

// add takes the pieces of one chunk and gives their text.
func (d *details) add(raw []byte) (text string) {
	if len(raw) == 0 {
		return ""
	}
	var pieces []map[string]json.RawMessage
	if json.Unmarshal(raw, &pieces) != nil {
		return ""
	}
	for _, p := range pieces {
		text += str(p["text"]) + str(p["summary"])
		if n := len(d.list); n > 0 && goesOn(d.list[n-1], p) {
			join(d.list[n-1], p)
		} else if p != nil {
			d.list = append(d.list, p)
		}
	}
	return text
}

// goesOn reports whether p is a further piece of last. Encrypted ones are whole.
func goesOn(last, p map[string]json.RawMessage) bool {
	same := func(key string) bool { return string(last[key]) == string(p[key]) }
	return same("type") && same("index") && str(p["type"]) != "reasoning.encrypted"
}

func join(last, p map[string]json.RawMessage) {
	for key, value := range p {
		switch {
		case key == "text" || key == "summary":
			value = dialect.AppendString(nil, str(last[key])+str(value))
		case string(value) == "null" && last[key] != nil:
			continue
		}
		last[key] = value
	}
}

func str(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything but a string is no text
	return s
}

// keep is what must go back, or nil.
func (d *details) keep() *convo.Opaque {
	if len(d.list) == 0 {
		return nil
	}
	var k kept
	for _, p := range d.list {
		k.Details = append(k.Details, dialect.JSON(p))
	}
	return dialect.Keeping(name, k)
}
