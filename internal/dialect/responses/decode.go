package responses

import (
	"bytes"
	"encoding/json"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response, streamed or whole.
type decoder struct {
	dialect.Stream
	items   map[int]*item // by output index, which every event carries
	order   []*item
	refused bool
}

func newDecoder() dialect.Decoder {
	d := &decoder{items: map[int]*item{}}
	d.Message, d.Closing = d.message, d.breakCalls
	return d
}

// item is an output item that was begun.
type item struct {
	kind   string
	block  int
	said   []byte // its text, or the arguments of the call, as emitted so far
	closed bool
}

// event is what we read of one message: strings as they stand between their
// quotes, the rest as JSON.
type event struct {
	kind           []byte
	output, nth    int
	delta          []byte
	args           []byte
	item, response []byte
	object         []byte
}

func (e *event) read(s *dialect.Scan) bool {
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "type":
			e.kind = s.Str()
		case "object":
			e.object = s.Str()
		case "output_index":
			e.output, _ = s.Int()
		case "summary_index":
			e.nth, _ = s.Int()
		case "delta":
			e.delta = s.Str()
		case "arguments":
			e.args = s.Str()
		case "item":
			e.item = s.Raw()
		case "response":
			e.response = s.Raw()
		default:
			s.Skip()
		}
	}
	return s.OK()
}

func (d *decoder) message(name, data []byte) error {
	if data[0] != '{' {
		return nil // [DONE] of a gateway: the end was said before
	}
	var e event
	if s := d.Scan(data); !e.read(&s) {
		return d.Unreadable(data)
	}
	switch string(e.kind) {
	case "response.output_text.delta":
		d.piece(&e, "message", llm.Text, data)
	case "response.function_call_arguments.delta":
		d.piece(&e, "function_call", llm.CallPart, data)
	case "response.function_call_arguments.done":
		d.complete(d.items[e.output], llm.CallPart, dialect.Unquote(e.args))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.piece(&e, "reasoning", llm.Thinking, data)
	case "response.reasoning_summary_part.added":
		if e.nth > 0 {
			d.say(e.output, "reasoning", llm.Delta{Kind: llm.Thinking, Text: "\n\n"})
		}
	case "response.refusal.delta":
		d.refused = true
		d.say(e.output, "message", llm.Delta{Kind: llm.Text, Text: d.Texts.Of(e.delta), Refusal: true})
	case "response.output_item.added":
		d.begin(e.output, e.item)
	case "response.output_item.done":
		d.finish(e.output, e.item)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return d.end(e.response, strings.TrimPrefix(string(e.kind), "response."))
	case "error":
		return d.failure(data)
	case "":
		if string(e.object) == "response" {
			return d.end(data, "completed")
		}
		return d.Fail(name, data)
	}
	return nil
}

// piece emits what a delta event says.
func (d *decoder) piece(e *event, item string, kind llm.DeltaKind, data []byte) {
	it := d.say(e.output, item, llm.Delta{Kind: kind, Text: d.Texts.Of(e.delta)})
	d.Learn(data, e.delta, llm.Delta{Kind: kind, Block: it.block}, &it.said)
}

// say emits a piece of the item at index; one that was never begun begins with it.
func (d *decoder) say(index int, kind string, delta llm.Delta) *item {
	it := d.items[index]
	if it == nil || it.kind != kind {
		it = d.open(index, kind)
	}
	it.said = append(it.said, delta.Text...)
	delta.Block = it.block
	d.Emit(delta)
	return it
}

func (d *decoder) open(index int, kind string) *item {
	it := &item{kind: kind, block: d.Block()}
	d.items[index] = it
	d.order = append(d.order, it)
	return it
}

// outputItem is an item as a whole.
type outputItem struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Status    string     `json:"status"`
	Phase     string     `json:"phase"`
	CallID    string     `json:"call_id"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"`
	Content   []textPart `json:"content"`
	Summary   []textPart `json:"summary"`
}

type textPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// begin opens an item. Each opens one of its own, also at an index that was
// used before: there are servers that count so.
func (d *decoder) begin(index int, raw []byte) {
	var o outputItem
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	it := d.open(index, o.Type)
	switch o.Type {
	case "function_call":
		it.said = []byte(o.Arguments)
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: it.block, ID: o.CallID, Name: o.Name, Text: o.Arguments, Keep: keepItem(o)})
	case "reasoning":
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: it.block})
	}
}

// finish closes an item: what its pieces left out is emitted, and what must go
// back is kept.
func (d *decoder) finish(index int, raw []byte) {
	var o outputItem
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	it := d.items[index]
	if it == nil || it.kind != o.Type || it.closed {
		d.begin(index, raw)
		it = d.items[index]
	}
	it.closed = true
	switch o.Type {
	case "message":
		d.finishMessage(it, o)
	case "function_call":
		d.complete(it, llm.CallPart, o.Arguments)
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: it.block, Keep: keepItem(o), Broken: o.Status == "incomplete"})
	case "reasoning":
		d.complete(it, llm.Thinking, joinTexts(o.Summary, o.Content))
		d.Emit(llm.Delta{Kind: llm.Thinking, Block: it.block, Keep: keepWhole(raw)})
	default:
		d.Emit(llm.Delta{Kind: llm.Block, Block: it.block, Keep: keepWhole(raw)})
	}
}

func (d *decoder) finishMessage(it *item, o outputItem) {
	if len(it.said) == 0 {
		for _, p := range o.Content {
			d.refused = d.refused || p.Refusal != ""
			d.Emit(llm.Delta{Kind: llm.Text, Block: it.block, Text: p.Text + p.Refusal, Refusal: p.Refusal != ""})
			it.said = append(it.said, p.Text...)
		}
	}
	if keep := keepItem(o); keep != nil && !d.refused {
		d.Emit(llm.Delta{Kind: llm.Text, Block: it.block, Keep: keep})
	}
}

// joinTexts joins the parts of a summary by a blank line; without a summary
// there may be the reasoning itself.
func joinTexts(summary, content []textPart) string {
	if len(summary) == 0 {
		summary = content
	}
	var texts []string
	for _, p := range summary {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// keepItem keeps of an item what cannot be told from its words.
func keepItem(o outputItem) *convo.Opaque {
	k := kept{ID: o.ID, Phase: o.Phase}
	if k == (kept{}) {
		return nil
	}
	return dialect.Keeping(name, k)
}

func keepWhole(raw []byte) *convo.Opaque {
	return dialect.Keeping(name, json.RawMessage(bytes.Clone(raw)))
}

// complete emits what whole has beyond the pieces that came. Arguments that are
// not what the pieces said cannot be trusted: such a call is broken.
func (d *decoder) complete(it *item, kind llm.DeltaKind, whole string) {
	if it == nil || whole == "" || whole == string(it.said) {
		return
	}
	if rest, ok := strings.CutPrefix(whole, string(it.said)); ok {
		it.said = []byte(whole)
		d.Emit(llm.Delta{Kind: kind, Block: it.block, Text: rest})
	} else if kind == llm.CallPart {
		d.Emit(llm.Delta{Kind: kind, Block: it.block, Broken: true})
	}
}

// breakCalls says which calls were cut off: those that were not closed, unless
// nothing can be missing.
func (d *decoder) breakCalls() {
	for _, it := range d.order {
		if it.kind == "function_call" && !it.closed && !json.Valid(it.said) {
			d.Emit(llm.Delta{Kind: llm.CallPart, Block: it.block, Broken: true})
		}
	}
}

// end reads the response as a whole, which is the last thing a stream says. The
// event has its status too, where a gateway leaves it out.
func (d *decoder) end(raw []byte, status string) error {
	var r struct {
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Usage      json.RawMessage   `json:"usage"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return d.Unreadable(raw)
	}
	if r.Status == "" {
		r.Status = status
	}
	if len(d.order) == 0 {
		for i, o := range r.Output {
			d.finish(i, o)
		}
	}
	if u := readUsage(r.Usage); u != nil {
		d.Emit(llm.Delta{Kind: llm.UsageDelta, Usage: u})
	}
	if r.Status == "failed" {
		return d.failure(raw)
	}
	d.breakCalls()
	native := r.Status
	if r.Incomplete.Reason != "" {
		native += ":" + r.Incomplete.Reason
	}
	d.End(d.stop(r.Status, r.Incomplete.Reason), native)
	return nil
}

func (d *decoder) stop(status, reason string) llm.Stop {
	switch {
	case status == "incomplete" && reason == "max_output_tokens":
		return llm.Length
	case status == "incomplete" && reason == "content_filter":
		return llm.Filtered
	case status != "completed":
		return llm.Other
	case d.refused:
		return llm.Refused
	}
	return llm.EndTurn
}

// failure is the error of an error event or of a response that failed; a stream
// says it both ways, and the first ends it.
func (d *decoder) failure(data []byte) error {
	var w struct {
		report
		Error *report `json:"error"`
	}
	_ = json.Unmarshal(data, &w) // it was read before
	if w.Error == nil {
		w.Error = &w.report
	}
	return d.Fail(nil, dialect.JSON(map[string]*report{"error": w.Error}))
}

type report struct {
	Code    *string `json:"code,omitempty"`
	Message string  `json:"message"`
}

func readUsage(raw json.RawMessage) *convo.Usage {
	var w struct {
		Input  *int `json:"input_tokens"`
		Output *int `json:"output_tokens"`
		In     struct {
			Cached *int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Out struct {
			Reasoning *int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &w) != nil || w.Input == nil && w.Output == nil {
		return nil
	}
	return &convo.Usage{Input: w.Input, Output: w.Output, CacheRead: w.In.Cached, Reasoning: w.Out.Reasoning}
}
