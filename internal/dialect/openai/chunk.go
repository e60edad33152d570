package openai

import (
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
)

// chunk is what we read of one message, as slices of it: strings as they stand
// between their quotes, all else as JSON. It is used again for every message, so
// that reading one costs no memory.
type chunk struct {
	content, refusal, reasoning []byte
	parts                       []byte // content that is a list
	details                     []byte // reasoning_details
	extra                       []byte // extra_content of the message
	calls                       []piece
	finish                      []byte
	usage                       []byte
	fault                       []byte // an error that stands in the choice
	failed                      bool   // there is an error in it
	known                       bool   // there is something in it that only a chunk has
}

// piece is a piece of a call.
type piece struct {
	index    int // -1 when there is none
	id, name []byte
	args     []byte // a string, or any other value as JSON
	quoted   bool   // args is a string
	extra    []byte
}

func (p *piece) text(m *dialect.Strings) string {
	if p.quoted {
		return m.Of(p.args)
	}
	return m.Copy(p.args)
}

// read reports whether what it reads is JSON.
func (c *chunk) read(s *dialect.Scan) bool {
	*c = chunk{calls: c.calls[:0]}
	if s.Object() {
		for s.Field() {
			switch string(s.Key) {
			case "choices":
				c.known = true
				c.choices(s)
			case "usage":
				c.usage = keepObject(c.usage, s)
			case "x_groq":
				c.groq(s)
			case "error":
				c.failed = string(s.Raw()) != "null"
			default:
				s.Skip()
			}
		}
	}
	c.known = c.known || c.usage != nil
	return s.OK()
}

// only is the one piece of text, thinking or arguments that the chunk has, when
// it says nothing else.
func (c *chunk) only() []byte {
	if c.failed || len(c.refusal)+len(c.parts)+len(c.details)+len(c.extra)+len(c.finish)+len(c.usage) > 0 {
		return nil
	}
	switch {
	case len(c.calls) == 0 && len(c.reasoning) == 0:
		return c.content
	case len(c.calls) == 0 && len(c.content) == 0:
		return c.reasoning
	case len(c.calls) == 1 && len(c.reasoning)+len(c.content) == 0:
		if p := c.calls[0]; p.quoted && len(p.id)+len(p.name)+len(p.extra) == 0 {
			return p.args
		}
	}
	return nil
}

// keepObject takes the next value if it is an object, and keeps old otherwise.
func keepObject(old []byte, s *dialect.Scan) []byte {
	if s.Kind() != '{' {
		s.Skip()
		return old
	}
	return s.Raw()
}

func (c *chunk) groq(s *dialect.Scan) {
	if s.Object() {
		for s.Field() {
			if string(s.Key) == "usage" && c.usage == nil {
				c.usage = keepObject(nil, s)
			} else {
				s.Skip()
			}
		}
	}
}

// choices reads the first choice; we never ask for more.
func (c *chunk) choices(s *dialect.Scan) {
	if !s.Array() {
		return
	}
	for n := 0; s.Element(); n++ {
		switch {
		case n > 0:
			s.Skip()
		case s.Object():
			c.choice(s)
		}
	}
}

func (c *chunk) choice(s *dialect.Scan) {
	for s.Field() {
		switch string(s.Key) {
		case "delta", "message":
			if s.Object() {
				c.delta(s)
			}
		case "finish_reason":
			c.finish = s.Str()
		case "usage":
			c.usage = keepObject(c.usage, s)
		case "error":
			c.fault = keepObject(nil, s)
			c.failed = c.failed || c.fault != nil
		default:
			s.Skip()
		}
	}
}

func (c *chunk) delta(s *dialect.Scan) {
	for s.Field() {
		switch string(s.Key) {
		case "content":
			if s.Kind() == '[' {
				c.parts = s.Raw()
			} else {
				c.content = s.Str()
			}
		case "reasoning_content", "reasoning", "reasoning_text":
			if text := s.Str(); len(text) > 0 {
				c.reasoning = text
			}
		case "reasoning_details":
			if s.Kind() == '[' {
				c.details = s.Raw()
			} else {
				s.Skip()
			}
		case "refusal":
			c.refusal = s.Str()
		case "tool_calls":
			if s.Array() {
				for s.Element() {
					c.call(s)
				}
			}
		case "extra_content":
			c.extra = keepObject(c.extra, s)
		default:
			s.Skip()
		}
	}
}

func (c *chunk) call(s *dialect.Scan) {
	if !s.Object() {
		return
	}
	p := piece{index: -1}
	for s.Field() {
		switch string(s.Key) {
		case "index":
			if n, ok := s.Int(); ok {
				p.index = n
			}
		case "id":
			p.id = s.Str()
		case "function":
			if s.Object() {
				p.function(s)
			}
		case "extra_content":
			p.extra = keepObject(nil, s)
		default:
			s.Skip()
		}
	}
	c.calls = append(c.calls, p)
}

func (p *piece) function(s *dialect.Scan) {
	for s.Field() {
		switch string(s.Key) {
		case "name":
			p.name = s.Str()
		case "arguments":
			switch s.Kind() {
			case '"':
				p.args, p.quoted = s.Str(), true
			case '{':
				p.args, p.quoted = s.Raw(), false
			default:
				s.Skip()
			}
		default:
			s.Skip()
		}
	}
}

// readUsage reads token numbers in all the ways they are reported.
func readUsage(raw []byte) *convo.Usage {
	if len(raw) == 0 {
		return nil
	}
	var w struct {
		Prompt     *int     `json:"prompt_tokens"`
		Completion *int     `json:"completion_tokens"`
		Total      *int     `json:"total_tokens"`
		Cached     *int     `json:"cached_tokens"`
		Hit        *int     `json:"prompt_cache_hit_tokens"`
		Cost       *float64 `json:"cost"`
		In         struct {
			Cached *int `json:"cached_tokens"`
			Write  *int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning *int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if json.Unmarshal(raw, &w) != nil || w.Prompt == nil && w.Completion == nil {
		return nil
	}
	u := &convo.Usage{Input: w.Prompt, Output: w.Completion, Reasoning: w.Out.Reasoning, CostUSD: w.Cost}
	for _, n := range []*int{w.In.Cached, w.Hit, w.Cached} {
		if u.CacheRead == nil {
			u.CacheRead = n
		}
	}
	if w.In.Write != nil && *w.In.Write > 0 {
		u.CacheWrite = w.In.Write
	}
	u.Output = withReasoning(w.Prompt, w.Completion, u.Reasoning, w.Total)
	return u
}

// withReasoning adds the reasoning tokens to the output where the total shows
// that the server counts them apart.
func withReasoning(in, out, reasoning, total *int) *int {
	if in == nil || out == nil || reasoning == nil || total == nil || *reasoning == 0 || *total != *in+*out+*reasoning {
		return out
	}
	sum := *out + *reasoning
	return &sum
}
