package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response, streamed or whole.
type decoder struct {
	dialect.Stream
	open   map[int]*block
	count  counters
	reason string
}

// block is a content block that was begun.
type block struct {
	kind   string
	number int
	text   []byte // thinking, or the input of a call
	sign   string
	raw    map[string]json.RawMessage // a block we do not know, with its deltas put in
}

func newDecoder() dialect.Decoder {
	d := &decoder{open: map[int]*block{}}
	d.Message, d.Closing = d.message, d.closing
	return d
}

// event is what we read of one message: strings as they stand between their
// quotes, the rest as JSON.
type event struct {
	kind    []byte
	index   int
	delta   delta
	block   []byte // content_block
	message []byte
	usage   []byte
}

type delta struct {
	kind, text, thinking, json, signature, reason []byte
	raw                                           []byte
}

func (e *event) read(s *dialect.Scan) bool {
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "type":
			e.kind = s.Str()
		case "index":
			e.index, _ = s.Int()
		case "delta":
			e.delta.read(s)
		case "content_block":
			e.block = s.Raw()
		case "message":
			e.message = s.Raw()
		case "usage":
			e.usage = s.Raw()
		default:
			s.Skip()
		}
	}
	return s.OK()
}

func (d *delta) read(s *dialect.Scan) {
	here := s.Here()
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "type":
			d.kind = s.Str()
		case "text":
			d.text = s.Str()
		case "thinking":
			d.thinking = s.Str()
		case "partial_json":
			d.json = s.Str()
		case "signature":
			d.signature = s.Str()
		case "stop_reason":
			d.reason = s.Str()
		default:
			s.Skip()
		}
	}
	d.raw = s.Since(here)
}

func (d *decoder) message(name, data []byte) error {
	if data[0] != '{' {
		return nil
	}
	var e event
	if s := d.Scan(data); !e.read(&s) {
		return d.Unreadable(data)
	}
	switch string(e.kind) {
	case "content_block_delta":
		if b := d.open[e.index]; b != nil {
			d.grow(b, &e.delta, data)
		}
	case "content_block_start":
		d.begin(e.index, e.block)
	case "content_block_stop":
		d.stop(e.index)
	case "message_start":
		d.whole(e.message)
	case "message_delta":
		if len(e.delta.reason) > 0 {
			d.reason = dialect.Unquote(e.delta.reason)
		}
		d.usage(e.usage)
	case "message_stop":
		d.end()
	case "message":
		d.whole(data)
		d.end()
	default:
		if string(e.kind) == "error" || len(e.kind) == 0 || string(name) == "error" {
			return d.Fail(name, data)
		}
	}
	return nil
}

// begin opens a block; a server that counts two as one opens another.
func (d *decoder) begin(index int, raw []byte) {
	var c struct {
		Type, Text, Thinking, Signature, ID, Name string
		Input                                     json.RawMessage
	}
	if json.Unmarshal(raw, &c) != nil {
		return
	}
	d.stop(index)
	b := &block{kind: c.Type, number: d.Block()}
	d.open[index] = b
	switch c.Type {
	case "text":
		if c.Text != "" {
			d.Emit(llm.Delta{Kind: llm.Text, Block: b.number, Text: c.Text})
		}
	case "thinking":
		b.text, b.sign = []byte(c.Thinking), c.Signature
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: b.number, Text: c.Thinking})
	case "redacted_thinking":
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: b.number, Keep: dialect.Keeping(name, compact(raw))})
	case "tool_use":
		b.text = given(c.Input)
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: b.number, ID: c.ID, Name: c.Name, Text: string(b.text)})
	default:
		_ = json.Unmarshal(raw, &b.raw) // it was read just now
	}
}

// given is the input of a call that came whole; an empty one is filled by deltas.
func given(input json.RawMessage) []byte {
	if c := compact(input); string(c) != "{}" && string(c) != "null" {
		return c
	}
	return nil
}

func compact(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// grow adds a delta to its block.
func (d *decoder) grow(b *block, e *delta, data []byte) {
	switch string(e.kind) {
	case "text_delta":
		d.piece(b, llm.Text, e.text, data)
	case "thinking_delta":
		d.piece(b, llm.Thinking, e.thinking, data)
	case "signature_delta":
		b.sign += dialect.Unquote(e.signature)
	case "input_json_delta":
		if b.kind == "tool_use" {
			d.piece(b, llm.CallPart, e.json, data)
		} else {
			b.text = append(b.text, dialect.Unquote(e.json)...)
		}
	default:
		b.merge(e.raw)
	}
}

// piece emits a piece of a block and gathers what its end needs.
func (d *decoder) piece(b *block, kind llm.DeltaKind, raw, data []byte) {
	delta := llm.Delta{Kind: kind, Block: b.number, Text: d.Texts.Of(raw)}
	var gathered *[]byte
	if kind != llm.Text {
		b.text = append(b.text, delta.Text...)
		gathered = &b.text
	}
	d.Emit(delta)
	d.Learn(data, raw, delta, gathered)
}

// merge puts a delta that we do not know into a block that we do not know:
// strings grow, everything else is replaced.
func (b *block) merge(raw []byte) {
	var piece map[string]json.RawMessage
	if b.raw == nil || json.Unmarshal(raw, &piece) != nil {
		return
	}
	delete(piece, "type")
	for key, value := range piece {
		var was, more string
		if json.Unmarshal(value, &more) == nil && json.Unmarshal(b.raw[key], &was) == nil {
			value = dialect.AppendString(nil, was+more)
		}
		b.raw[key] = value
	}
}

// stop closes a block and hands on what must go back with it.
func (d *decoder) stop(index int) {
	b := d.open[index]
	if b == nil {
		return
	}
	delete(d.open, index)
	switch {
	case b.kind == "thinking" && b.sign != "":
		keep := append([]byte(`{"type":"thinking","thinking":`), dialect.AppendString(nil, b.text)...)
		keep = append(dialect.AppendField(keep, "signature", b.sign), '}')
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: b.number, Keep: dialect.Keeping(name, json.RawMessage(keep))})
	case b.raw != nil:
		if len(b.text) > 0 && json.Valid(b.text) {
			b.raw["input"] = b.text
		}
		d.Emit(llm.Delta{Kind: llm.Block, Block: b.number, Keep: dialect.Keeping(name, b.raw)})
	}
}

// whole reads a message that is not in pieces: the empty one at the start of a
// stream, or the answer to a request without one.
func (d *decoder) whole(raw []byte) {
	var m struct {
		Content []json.RawMessage `json:"content"`
		Reason  string            `json:"stop_reason"`
		Usage   json.RawMessage   `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	for i, block := range m.Content {
		d.begin(i, block)
		d.stop(i)
	}
	d.reason = m.Reason
	d.usage(m.Usage)
}

// closing says which calls were cut off: those that were never stopped, unless
// nothing can be missing.
func (d *decoder) closing() {
	for _, index := range slices.Sorted(maps.Keys(d.open)) {
		if b := d.open[index]; b.kind == "tool_use" && !json.Valid(b.text) {
			d.Emit(llm.Delta{Kind: llm.CallPart, Block: b.number, Broken: true})
		}
	}
}

func (d *decoder) end() {
	d.closing()
	stop, known := stops[d.reason]
	if !known {
		stop = llm.Other
	}
	d.End(stop, d.reason)
}

var stops = map[string]llm.Stop{
	"":                              llm.EndTurn,
	"end_turn":                      llm.EndTurn,
	"stop_sequence":                 llm.EndTurn,
	"tool_use":                      llm.ToolUse,
	"max_tokens":                    llm.Length,
	"model_context_window_exceeded": llm.Length,
	"refusal":                       llm.Refused,
	"pause_turn":                    llm.Pause,
}

// counters are the numbers of the last report, field by field.
type counters struct {
	Input  *int `json:"input_tokens"`
	Output *int `json:"output_tokens"`
	Read   *int `json:"cache_read_input_tokens"`
	Write  *int `json:"cache_creation_input_tokens"`
}

// usage hands on token numbers. The input of the wire leaves out what the cache
// read and wrote.
func (d *decoder) usage(raw []byte) {
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &d.count) != nil {
		return
	}
	in, out, read, write := num(d.count.Input), num(d.count.Output), num(d.count.Read), num(d.count.Write)
	in += read + write
	d.Emit(llm.Delta{Kind: llm.UsageDelta, Usage: &convo.Usage{Input: &in, Output: &out, CacheRead: &read, CacheWrite: &write}})
}

func num(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
