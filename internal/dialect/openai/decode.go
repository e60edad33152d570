package openai

import (
	"bytes"
	"encoding/json"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response, streamed or whole.
type decoder struct {
	dialect.Stream
	chunk   chunk
	block   int           // the item in hand
	kind    llm.DeltaKind // of the item in hand
	calls   []call
	details details
	extra   json.RawMessage // what the whole message wants back
	refusal int             // the item that is a refusal, if there is one
	finish  string          // the finish reason, once it came
	call    int             // the call that the last piece was of
}

func newDecoder() dialect.Decoder {
	d := &decoder{}
	d.Message, d.Closing = d.message, d.closing
	return d
}

func (d *decoder) message(event, data []byte) error {
	if data[0] != '{' {
		if dialect.IsDone(data) {
			d.end()
		}
		return nil // a keep-alive of some kind
	}
	c := &d.chunk
	if s := d.Scan(data); !c.read(&s) {
		return d.Unreadable(data)
	}
	d.take(c)
	d.learn(c, data)
	if c.known && !c.failed && string(event) != "error" {
		return nil
	}
	if c.fault != nil {
		data = dialect.JSON(map[string]json.RawMessage{"error": c.fault})
	}
	err := d.Fail(event, data)
	if err != nil && d.finish != "" {
		d.end()
	}
	return err
}

// learn tells the stream of a message that says one thing.
func (d *decoder) learn(c *chunk, data []byte) {
	piece := c.only()
	if len(piece) == 0 {
		return
	}
	var gathered *[]byte
	if d.kind == llm.CallPart {
		gathered = &d.calls[d.call].args
	}
	d.Learn(data, piece, llm.Delta{Kind: d.kind, Block: d.block}, gathered)
}

// closing accepts a stream without [DONE] when its finish reason came: several
// servers never send it.
func (d *decoder) closing() {
	if d.finish != "" {
		d.end()
		return
	}
	d.keepThoughts()
	d.breakCalls()
}

// take emits what a chunk says.
func (d *decoder) take(c *chunk) {
	thought := d.details.add(c.details)
	switch {
	case len(c.reasoning) > 0:
		d.say(llm.Thinking, d.Texts.Of(c.reasoning))
	case thought != "" || len(d.details.list) > 0 && d.details.block == 0:
		d.say(llm.Thinking, thought)
	}
	if len(c.content) > 0 {
		d.say(llm.Text, d.Texts.Of(c.content))
	}
	if len(c.parts) > 0 {
		d.contentParts(c.parts)
	}
	if len(c.refusal) > 0 {
		if d.refusal == 0 {
			d.refusal = d.Block()
		}
		d.block = 0
		d.Emit(llm.Delta{Kind: llm.Text, Block: d.refusal, Text: d.Texts.Of(c.refusal), Refusal: true})
	}
	if len(c.extra) > 0 {
		d.extra = bytes.Clone(c.extra)
	}
	for i := range c.calls {
		d.callPiece(&c.calls[i])
	}
	if len(c.finish) > 0 {
		d.finish = dialect.Unquote(c.finish)
	}
	if u := readUsage(c.usage); u != nil && !c.failed {
		d.Emit(llm.Delta{Kind: llm.UsageDelta, Usage: u})
	}
}

// say emits a piece of text or thinking. Thinking that goes on after text is
// another block.
func (d *decoder) say(kind llm.DeltaKind, text string) {
	d.item(kind)
	if kind == llm.Thinking {
		d.details.block = d.block
	}
	d.Emit(llm.Delta{Kind: kind, Block: d.block, Text: text})
}

// item makes sure that the item in hand is of this kind.
func (d *decoder) item(kind llm.DeltaKind) {
	if d.block == 0 || d.kind != kind {
		d.kind, d.block = kind, d.Block()
	}
}

// contentParts reads content that is a list of typed parts, as Mistral's
// thinking models send it.
func (d *decoder) contentParts(raw []byte) {
	var parts []struct {
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		if thought := thinkingText(p.Thinking); thought != "" {
			d.say(llm.Thinking, thought)
		}
		if p.Text != "" {
			d.say(llm.Text, p.Text)
		}
	}
}

// thinkingText is a string, or a list of parts with a text each.
func thinkingText(raw json.RawMessage) string {
	var text string
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}

// end emits what stands at the end of a reply, once.
func (d *decoder) end() {
	d.keepThoughts()
	stop, known := stops[d.finish]
	switch {
	case !known:
		stop = llm.Other
	case d.refusal > 0 && stop == llm.EndTurn:
		stop = llm.Refused
	}
	if stop == llm.Length {
		d.breakCalls()
	}
	d.End(stop, d.finish)
}

// breakCalls says of calls that have no whole arguments that they were cut off:
// no arguments at all must not be taken for a call without any.
func (d *decoder) breakCalls() {
	for _, c := range d.calls {
		if !json.Valid(c.args) {
			d.Emit(llm.Delta{Kind: llm.CallPart, Block: c.block, Broken: true})
		}
	}
}

// keepThoughts hands on what must go back with the reply.
func (d *decoder) keepThoughts() {
	if k := d.details.keep(); k != nil {
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: d.details.block, Keep: k})
	}
	if d.extra != nil && len(d.calls) > 0 {
		first := &d.calls[0]
		first.kept.Message = d.extra
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: first.block, Keep: dialect.Keeping(name, first.kept)})
	}
}

// stops are the finish reasons. An end without one is [DONE] alone.
var stops = map[string]llm.Stop{
	"":               llm.EndTurn,
	"stop":           llm.EndTurn,
	"end_turn":       llm.EndTurn,
	"eos":            llm.EndTurn,
	"tool_calls":     llm.ToolUse,
	"function_call":  llm.ToolUse,
	"tool_use":       llm.ToolUse,
	"length":         llm.Length,
	"max_tokens":     llm.Length,
	"model_length":   llm.Length,
	"content_filter": llm.Filtered,
	"error":          llm.Broke,
}

// call is a call that was begun.
type call struct {
	index int // as the wire counts, or -1
	id    string
	block int
	args  []byte // only to see whether they are whole
	kept  kept
}

// callPiece emits a piece of a call.
func (d *decoder) callPiece(p *piece) {
	delta := llm.Delta{Kind: llm.CallPart}
	if d.call = d.callOf(p); d.call < 0 {
		d.call = len(d.calls)
		d.calls = append(d.calls, call{index: p.index, block: d.Block()})
		delta.Name = d.Texts.Of(p.name)
	}
	c := &d.calls[d.call]
	d.kind, d.block = llm.CallPart, c.block
	if c.id == "" && len(p.id) > 0 {
		c.id = d.Texts.Of(p.id)
		delta.ID = c.id
	}
	delta.Block = c.block
	delta.Text = p.text(&d.Texts)
	c.args = append(c.args, delta.Text...)
	if len(p.extra) > 0 {
		c.kept.Extra = bytes.Clone(p.extra)
		delta.Keep = dialect.Keeping(name, c.kept)
	}
	d.Emit(delta)
}

// callOf finds the call that p goes on with, or gives -1 when p begins one. The
// index decides where there is one, unless the server counts every call as the same.
func (d *decoder) callOf(p *piece) int {
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		switch {
		case p.index >= 0 && c.index != p.index:
			continue
		case p.index >= 0 && d.another(c, p), p.index < 0 && len(p.id) == 0 && len(p.name) > 0:
			return -1
		case p.index < 0 && len(p.id) > 0 && c.id != dialect.Unquote(p.id):
			continue
		}
		return i
	}
	return -1
}

// another reports whether p is a new call although c has its index.
func (d *decoder) another(c *call, p *piece) bool {
	if len(p.name) == 0 {
		return false
	}
	if len(p.id) > 0 && c.id != "" {
		return dialect.Unquote(p.id) != c.id
	}
	return len(p.args) > 0 && json.Valid(c.args)
}
