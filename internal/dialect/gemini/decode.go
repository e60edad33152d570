package gemini

import (
	"bytes"
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response: a stream of events, a JSON array, or one object.
type decoder struct {
	dialect.Stream
	parts  []part
	block  int           // the item in hand
	kind   llm.DeltaKind // of the item in hand
	call   *pieces       // a call whose arguments come in pieces
	count  counters
	reason string
}

func newDecoder() dialect.Decoder {
	d := &decoder{}
	d.Message, d.Closing = d.message, d.closing
	return d
}

// chunk is what we read of one message: strings as they stand between their
// quotes, the rest as JSON.
type chunk struct {
	reason   []byte
	usage    []byte
	feedback []byte
	known    bool // there is something in it that only such a message has
	failed   bool
}

type part struct {
	text, signature []byte
	isText, thought bool
	call            []byte
	raw             []byte
}

func (d *decoder) message(event, data []byte) error {
	if data[0] != '{' {
		return nil
	}
	var c chunk
	d.parts = d.parts[:0]
	if s := d.Scan(data); !d.read(&c, &s) {
		return d.Unreadable(data)
	}
	for i := range d.parts {
		d.part(&d.parts[i])
	}
	if p := d.parts; len(p) == 1 && d.block > 0 && p[0].call == nil && len(c.reason)+len(c.usage)+len(c.feedback) == 0 && !c.failed {
		d.Learn(data, p[0].text, llm.Delta{Kind: d.kind, Block: d.block}, nil)
	}
	if len(c.reason) > 0 {
		d.reason = dialect.Unquote(c.reason)
	}
	d.usage(c.usage)
	if e := blocked(c.feedback); e != nil {
		e.Partial = d.Begun
		return e
	}
	if c.known && !c.failed {
		return nil
	}
	return d.Fail(event, data)
}

func (d *decoder) read(c *chunk, s *dialect.Scan) bool {
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "candidates":
			c.known = true
			d.candidates(c, s)
		case "usageMetadata":
			c.known = true
			c.usage = s.Raw()
		case "promptFeedback":
			c.known = true
			c.feedback = s.Raw()
		case "error":
			c.failed = string(s.Raw()) != "null"
		default:
			s.Skip()
		}
	}
	return s.OK()
}

// candidates reads the first candidate; we never ask for more.
func (d *decoder) candidates(c *chunk, s *dialect.Scan) {
	ok := s.Array()
	for n := 0; ok && s.Element(); n++ {
		if n > 0 {
			s.Skip()
			continue
		}
		for ok := s.Object(); ok && s.Field(); {
			switch string(s.Key) {
			case "content":
				d.content(s)
			case "finishReason":
				c.reason = s.Str()
			default:
				s.Skip()
			}
		}
	}
}

func (d *decoder) content(s *dialect.Scan) {
	for ok := s.Object(); ok && s.Field(); {
		if string(s.Key) != "parts" {
			s.Skip()
			continue
		}
		for ok := s.Array(); ok && s.Element(); {
			d.parts = append(d.parts, readPart(s))
		}
	}
}

func readPart(s *dialect.Scan) part {
	var p part
	here := s.Here()
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "text":
			p.isText = s.Kind() == '"'
			p.text = s.Str()
		case "thought":
			p.thought = s.True()
		case "thoughtSignature":
			p.signature = s.Str()
		case "functionCall":
			p.call = s.Raw()
		default:
			s.Skip()
		}
	}
	p.raw = s.Since(here)
	return p
}

// part emits one part. Parts of one kind are one item until one is signed: what
// is signed stays a part of its own, since the signature must go back on it.
func (d *decoder) part(p *part) {
	var keep *convo.Opaque
	if len(p.signature) > 0 {
		keep = dialect.Keeping(name, kept{Signature: dialect.Unquote(p.signature), Thought: p.thought})
	}
	switch {
	case p.call != nil:
		d.function(p)
	case p.isText && (len(p.text) > 0 || keep != nil):
		kind := llm.Text
		if p.thought || len(p.text) == 0 {
			kind = llm.Thinking
		}
		if d.block == 0 || d.kind != kind || keep != nil {
			d.kind, d.block = kind, d.Block()
		}
		d.Emit(llm.Delta{Kind: kind, Block: d.block, Text: d.Texts.Of(p.text), Keep: keep})
		if keep != nil {
			d.block = 0
		}
	case !p.isText && string(bytes.TrimSpace(p.raw)) != "{}":
		d.block = 0
		d.Emit(llm.Delta{Kind: llm.Block, Block: d.Block(), Keep: dialect.Keeping(name, json.RawMessage(bytes.Clone(p.raw)))})
	}
}

// function emits a call: whole, or the begin or a piece of one in pieces.
func (d *decoder) function(p *part) {
	var f struct {
		Name    string          `json:"name"`
		ID      string          `json:"id"`
		Args    json.RawMessage `json:"args"`
		Partial []partialArg    `json:"partialArgs"`
		More    bool            `json:"willContinue"`
	}
	if json.Unmarshal(p.call, &f) != nil {
		return
	}
	d.block = 0
	if f.Name == "" && d.call != nil {
		d.call.add(f.Partial)
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: d.call.block}) // the stream is alive
		if !f.More {
			d.finishCall(false)
		}
		return
	}
	d.finishCall(false)
	delta := llm.Delta{Kind: llm.CallPart, Block: d.Block(), ID: f.ID, Name: f.Name}
	if k := (kept{ID: f.ID, Signature: dialect.Unquote(p.signature)}); k != (kept{}) {
		delta.Keep = dialect.Keeping(name, k)
	}
	if f.More || f.Partial != nil {
		d.call = &pieces{block: delta.Block, args: json.RawMessage(f.Args)}
		d.call.add(f.Partial)
		d.Emit(delta)
		if !f.More {
			d.finishCall(false)
		}
		return
	}
	if string(f.Args) != "null" {
		delta.Text = string(f.Args)
	}
	d.Emit(delta)
}

// finishCall emits the arguments that came in pieces.
func (d *decoder) finishCall(broken bool) {
	if c := d.call; c != nil {
		d.call = nil
		d.Emit(llm.Delta{Kind: llm.CallPart, Block: c.block, Text: c.text(), Broken: broken})
	}
}

// closing accepts the end once a finish reason came: the server says it with the
// last message, and older ones with each.
func (d *decoder) closing() {
	d.finishCall(true)
	if d.reason == "" {
		return
	}
	stop, known := stops[d.reason]
	if !known {
		stop = llm.Other
	}
	d.End(stop, d.reason)
}

var stops = map[string]llm.Stop{
	"STOP":                    llm.EndTurn,
	"MAX_TOKENS":              llm.Length,
	"SAFETY":                  llm.Filtered,
	"RECITATION":              llm.Filtered,
	"BLOCKLIST":               llm.Filtered,
	"PROHIBITED_CONTENT":      llm.Filtered,
	"SPII":                    llm.Filtered,
	"IMAGE_SAFETY":            llm.Filtered,
	"MALFORMED_FUNCTION_CALL": llm.Broke,
	"UNEXPECTED_TOOL_CALL":    llm.Broke,
	"TOO_MANY_TOOL_CALLS":     llm.Broke,
}

// blocked is the error of a prompt that the filter refused.
func blocked(feedback []byte) *llm.Error {
	if len(feedback) == 0 {
		return nil
	}
	var f struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	}
	if json.Unmarshal(feedback, &f) != nil || f.Reason == "" {
		return nil
	}
	e := &llm.Error{Class: llm.Blocked, Code: f.Reason, Message: "the provider's filter refused the prompt: " + f.Reason}
	if f.Message != "" {
		e.Message += " (" + f.Message + ")"
	}
	e.Hint = "say it in other words"
	return e
}

// counters are the numbers of the last report, field by field.
type counters struct {
	Prompt     *int `json:"promptTokenCount"`
	Tools      *int `json:"toolUsePromptTokenCount"`
	Candidates *int `json:"candidatesTokenCount"`
	Thoughts   *int `json:"thoughtsTokenCount"`
	Cached     *int `json:"cachedContentTokenCount"`
}

func (d *decoder) usage(raw []byte) {
	if len(raw) == 0 || json.Unmarshal(raw, &d.count) != nil {
		return
	}
	c := d.count
	u := &convo.Usage{Input: sum(c.Prompt, c.Tools), Output: sum(c.Candidates, c.Thoughts), CacheRead: c.Cached, Reasoning: c.Thoughts}
	if u.Input != nil || u.Output != nil {
		d.Emit(llm.Delta{Kind: llm.UsageDelta, Usage: u})
	}
}

// sum adds what was reported, and is nil when nothing was.
func sum(numbers ...*int) *int {
	var total *int
	for _, n := range numbers {
		if n != nil {
			if total == nil {
				total = new(int)
			}
			*total += *n
		}
	}
	return total
}
