package openai

import (
	"bytes"
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response, streamed or whole.
type decoder struct {
	dialect.Faults
	frames dialect.Frames
	texts  dialect.Strings
	each   dialect.Each
	emit   func(llm.Delta)

	chunk   chunk
	block   int           // the last number given to an item
	kind    llm.DeltaKind // of the item in hand
	calls   []call
	details details
	extra   json.RawMessage // what the whole message wants back
	refused bool
	finish  string // the finish reason, once it came
	begun   bool   // something of the reply was emitted
	over    bool   // the end signal was emitted
}

func newDecoder() dialect.Decoder {
	d := &decoder{}
	d.each = d.message
	return d
}

func (d *decoder) Feed(p []byte, emit func(llm.Delta)) error {
	d.emit = emit
	return d.frames.Feed(p, d.each)
}

// Close accepts a stream without [DONE] when its finish reason came: several
// servers never send it.
func (d *decoder) Close(emit func(llm.Delta)) error {
	d.emit = emit
	if err := d.frames.Close(d.each); err != nil {
		return err
	}
	if d.finish != "" {
		d.end()
	}
	if !d.over {
		d.keepThoughts()
		return dialect.Cut(d.begun)
	}
	return nil
}

func (d *decoder) message(event, data []byte) error {
	switch {
	case d.over:
		return nil
	case data[0] != '{':
		if dialect.IsDone(data) {
			d.end()
		}
		return nil // a keep-alive of some kind
	}
	c := &d.chunk
	if !c.read(data) {
		return dialect.Unreadable(data, d.begun)
	}
	d.take(c)
	if !c.failed && !(len(event) > 0 && string(event) == "error") && c.known {
		return nil
	}
	e := dialect.Complaint(event, data)
	if e == nil {
		return nil
	}
	if d.finish != "" {
		d.end()
	}
	e.Partial = d.begun
	return e
}

// take emits what a chunk says.
func (d *decoder) take(c *chunk) {
	if len(c.details) > 0 {
		d.details.add(c.details)
	}
	switch {
	case len(c.reasoning) > 0:
		d.say(llm.Thinking, d.texts.Of(c.reasoning))
	case len(c.details) > 0:
		if text := d.details.fresh; text != "" || d.kind != llm.Thinking {
			d.say(llm.Thinking, text)
		}
	}
	if len(c.content) > 0 {
		d.say(llm.Text, d.texts.Of(c.content))
	}
	if len(c.parts) > 0 {
		d.contentParts(c.parts)
	}
	if len(c.refusal) > 0 {
		d.refused = true
		d.item(llm.Text)
		d.emit(llm.Delta{Kind: llm.Text, Block: d.block, Text: d.texts.Of(c.refusal), Refusal: true})
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
		d.emit(llm.Delta{Kind: llm.UsageDelta, Usage: u})
	}
}

// say emits a piece of text or thinking. Thinking that goes on after text is
// another block.
func (d *decoder) say(kind llm.DeltaKind, text string) {
	d.item(kind)
	if kind == llm.Thinking {
		d.details.block = d.block
	}
	d.emit(llm.Delta{Kind: kind, Block: d.block, Text: text})
}

// item makes sure that the item in hand is of this kind.
func (d *decoder) item(kind llm.DeltaKind) {
	if !d.begun || d.kind != kind {
		d.block++
		d.kind, d.begun = kind, true
	}
}

// contentParts reads content that is a list of typed parts, as Mistral's
// thinking models send it.
func (d *decoder) contentParts(raw []byte) {
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		switch {
		case p.Type == "thinking":
			d.say(llm.Thinking, thinkingText(p.Thinking))
		case p.Text != "":
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
	if d.over {
		return
	}
	d.over = true
	d.keepThoughts()
	stop, known := stops[d.finish]
	switch {
	case !known:
		stop = llm.Other
	case d.refused && stop == llm.EndTurn:
		stop = llm.Refused
	}
	d.emit(llm.Delta{Kind: llm.Done, Stop: stop, Native: d.finish})
}

// keepThoughts hands on what must go back with the reply.
func (d *decoder) keepThoughts() {
	if k := d.details.keep(); k != nil {
		d.emit(llm.Delta{Kind: llm.Thinking, Block: d.details.block, Keep: k})
	}
	if d.extra != nil && len(d.calls) > 0 {
		first := &d.calls[0]
		first.kept.Message = d.extra
		d.emit(llm.Delta{Kind: llm.CallPart, Block: first.block, Keep: opaque(first.kept)})
	}
}

func opaque(k kept) *convo.Opaque {
	return &convo.Opaque{Dialect: name, Data: dialect.JSON(k)}
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
	c := d.callOf(p)
	delta := llm.Delta{Kind: llm.CallPart}
	if c == nil {
		d.block++
		d.kind, d.begun = llm.CallPart, true
		d.calls = append(d.calls, call{index: p.index, block: d.block})
		c = &d.calls[len(d.calls)-1]
		delta.Name = d.texts.Of(p.name)
	}
	if c.id == "" && len(p.id) > 0 {
		c.id = d.texts.Of(p.id)
		delta.ID = c.id
	}
	delta.Block = c.block
	delta.Text = p.text(&d.texts)
	c.args = append(c.args, delta.Text...)
	if len(p.extra) > 0 {
		c.kept.Extra = bytes.Clone(p.extra)
		delta.Keep = opaque(c.kept)
	}
	d.emit(delta)
}

// callOf finds the call that p goes on with, or nil when p begins one. The index
// decides where there is one, unless the server counts every call as the same.
func (d *decoder) callOf(p *piece) *call {
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		switch {
		case p.index >= 0:
			if c.index != p.index {
				continue
			}
			if d.another(c, p) {
				return nil
			}
			return c
		case len(p.id) > 0:
			if c.id == dialect.Unquote(p.id) {
				return c
			}
		case len(p.name) > 0:
			return nil
		default:
			return c
		}
	}
	return nil
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
