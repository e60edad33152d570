package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"ikigai/internal/llm"
)

// Rescue finds the calls that a model wrote into its text because it, or its
// server, knows no other way: in tags, in a fence, or as bare JSON at the end. A
// call counts only when its tool is known. rest is the text without them; calls
// are deltas with new ids and blocks from block on, marked as rescued.
//
// It is for replies that have no real call. A fence or bare JSON counts only
// where nothing but space follows it: anywhere else it may be an example.
func Rescue(text string, known []string, block int) (rest string, calls []llm.Delta) {
	r := rescuer{known: known}
	rest = r.tagged(text)
	if len(r.found) == 0 {
		rest = r.atEnd(text)
	}
	for _, f := range r.found {
		calls = append(calls, llm.Delta{
			Kind: llm.CallPart, Block: block, ID: llm.NewID(), Name: f.name, Text: string(f.args), Rescued: true,
		})
		block++
	}
	if len(calls) == 0 {
		return text, nil
	}
	return strings.TrimSpace(rest), calls
}

type rescuer struct {
	known []string
	found []foundCall
}

type foundCall struct {
	name string
	args json.RawMessage
}

// tags are what models write around a call. The end may be missing where the
// text ends.
var tags = []struct{ open, end string }{
	{"<tool_call>", "</tool_call>"},
	{"<tool_calls>", "</tool_calls>"},
	{"<function_call>", "</function_call>"},
	{"<|tool_call|>", "<|/tool_call|>"},
	{"<|python_tag|>", "<|eom_id|>"},
	{"[TOOL_CALLS]", "</s>"},
}

// tagged takes all calls out of their tags.
func (r *rescuer) tagged(text string) string {
	for _, tag := range tags {
		for from := 0; ; {
			i := strings.Index(text[from:], tag.open)
			if i < 0 {
				break
			}
			begin := from + i
			inner, after, _ := strings.Cut(text[begin+len(tag.open):], tag.end)
			if !r.take(inner, false) {
				from = begin + len(tag.open)
				continue
			}
			text, from = text[:begin]+after, begin
		}
	}
	return text
}

// atEnd takes the fences or JSON values with which the text ends.
func (r *rescuer) atEnd(text string) string {
	var found []foundCall
	for {
		trimmed := strings.TrimRight(text, " \t\r\n")
		begin, inner := lastFence(trimmed)
		if begin < 0 {
			begin, inner = lastValue(trimmed)
		}
		r.found = nil
		if begin < 0 || !r.take(inner, true) {
			r.found = found
			return text
		}
		found = append(r.found, found...)
		text = trimmed[:begin]
	}
}

// lastFence finds a fenced block at the end of text.
func lastFence(text string) (begin int, inner string) {
	const fence = "```"
	body, ok := strings.CutSuffix(text, fence)
	if !ok {
		return -1, ""
	}
	begin = strings.LastIndex(body, fence)
	if begin < 0 {
		return -1, ""
	}
	_, inner, ok = strings.Cut(body[begin:], "\n")
	if !ok {
		return -1, ""
	}
	return begin, inner
}

// lastValue finds a JSON object or array that begins a line and ends the text.
func lastValue(text string) (begin int, inner string) {
	if !strings.HasSuffix(text, "}") && !strings.HasSuffix(text, "]") {
		return -1, ""
	}
	const mostTries = 200 // lines of JSON that no call has
	for at, try := len(text), 0; at > 0 && try < mostTries; try++ {
		at = strings.LastIndexByte(text[:at], '\n')
		line := strings.TrimLeft(text[at+1:], " \t")
		if (line[0] == '{' || line[0] == '[') && json.Valid([]byte(line)) {
			return at + 1, line
		}
	}
	return -1, ""
}

// take reads calls from text that holds nothing else: one or more values. Where
// the surroundings do not say that it is a call, its arguments must.
func (r *rescuer) take(text string, strict bool) bool {
	d := json.NewDecoder(strings.NewReader(text))
	var found []foundCall
	for d.More() {
		var raw json.RawMessage
		if d.Decode(&raw) != nil || !r.value(raw, strict, &found) {
			return false
		}
	}
	r.found = append(r.found, found...)
	return len(found) > 0
}

// value reads one call or a list of calls.
func (r *rescuer) value(raw json.RawMessage, strict bool, found *[]foundCall) bool {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return false
		}
		for _, v := range list {
			if !r.value(v, strict, found) {
				return false
			}
		}
		return len(list) > 0
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return false
	}
	if list, ok := m["tool_calls"]; ok && len(m) == 1 {
		return r.value(list, strict, found)
	}
	if inner := bytes.TrimSpace(m["function"]); len(inner) > 0 && inner[0] == '{' {
		return r.value(json.RawMessage(inner), strict, found)
	}
	c, ok := r.call(m, strict)
	if ok {
		*found = append(*found, c)
	}
	return ok
}

// The words models use for the two halves of a call.
var (
	nameKeys = []string{"name", "tool", "tool_name", "function", "function_name"}
	argsKeys = []string{"arguments", "parameters", "args", "input", "tool_input", "params"}
)

func (r *rescuer) call(m map[string]json.RawMessage, strict bool) (foundCall, bool) {
	var c foundCall
	for _, key := range nameKeys {
		var s string
		if json.Unmarshal(m[key], &s) == nil && slices.Contains(r.known, s) {
			c.name = s
			break
		}
	}
	for _, key := range argsKeys {
		if args, ok := objectOf(m[key]); ok {
			c.args = args
			break
		}
	}
	if c.args == nil && !strict {
		c.args = json.RawMessage("{}")
	}
	return c, c.name != "" && c.args != nil
}

// objectOf is an object, also one that is written as a string.
func objectOf(raw json.RawMessage) (json.RawMessage, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(s)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil, false
	}
	return raw, true
}
