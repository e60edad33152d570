package ollama

import (
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// decoder reads one response, streamed or whole.
type decoder struct {
	dialect.Stream
	line  line
	block int           // the item in hand
	kind  llm.DeltaKind // of the item in hand
}

func newDecoder() dialect.Decoder {
	d := &decoder{}
	d.Message = d.message
	return d
}

// line is what we read of one line: strings as they stand between their quotes.
type line struct {
	content, thinking []byte
	calls             []call
	done, known       bool
	reason            []byte
	input, output     *int
	failed            bool
}

// call is a call; the server sends each whole.
type call struct {
	id, name []byte
	args     []byte // a value as JSON, or a string
	quoted   bool
}

func (d *decoder) message(event, data []byte) error {
	l := &d.line
	if s := d.Scan(data); !l.read(&s) {
		return d.Unreadable(data)
	}
	if l.failed || !l.known {
		return d.Fail(event, data)
	}
	if len(l.thinking) > 0 {
		d.say(llm.Thinking, l.thinking)
	}
	if len(l.content) > 0 {
		d.say(llm.Text, l.content)
	}
	for _, c := range l.calls {
		d.block = 0
		delta := llm.Delta{Kind: llm.CallPart, Block: d.Block(), ID: d.Texts.Of(c.id), Name: d.Texts.Of(c.name)}
		if delta.Text = d.Texts.Copy(c.args); c.quoted {
			delta.Text = d.Texts.Of(c.args)
		}
		d.Emit(delta)
	}
	switch {
	case l.done:
		d.end(l)
	case len(l.calls) > 0:
	case len(l.content) == 0:
		d.Learn(data, l.thinking, llm.Delta{Kind: d.kind, Block: d.block}, nil)
	case len(l.thinking) == 0:
		d.Learn(data, l.content, llm.Delta{Kind: d.kind, Block: d.block}, nil)
	}
	return nil
}

func (d *decoder) say(kind llm.DeltaKind, raw []byte) {
	if d.block == 0 || d.kind != kind {
		d.kind, d.block = kind, d.Block()
		if kind == llm.Thinking { // our own thinking goes back; that of others does not
			d.Emit(llm.Delta{Kind: kind, Block: d.block, Keep: dialect.Keeping(name, json.RawMessage(`{}`))})
		}
	}
	d.Emit(llm.Delta{Kind: kind, Block: d.block, Text: d.Texts.Of(raw)})
}

func (d *decoder) end(l *line) {
	if l.input != nil || l.output != nil {
		d.Emit(llm.Delta{Kind: llm.UsageDelta, Usage: &convo.Usage{Input: l.input, Output: l.output}})
	}
	reason := dialect.Unquote(l.reason)
	stop, known := stops[reason]
	if !known {
		stop = llm.Other
	}
	d.End(stop, reason)
}

var stops = map[string]llm.Stop{"": llm.EndTurn, "stop": llm.EndTurn, "load": llm.EndTurn, "length": llm.Length}

// read reports whether what it reads is JSON.
func (l *line) read(s *dialect.Scan) bool {
	*l = line{calls: l.calls[:0]}
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "message":
			l.known = true
			l.message(s)
		case "done":
			l.known = true
			l.done = s.True()
		case "done_reason":
			l.reason = s.Str()
		case "prompt_eval_count":
			l.input = number(s)
		case "eval_count":
			l.output = number(s)
		case "error":
			l.failed = string(s.Raw()) != "null"
		default:
			s.Skip()
		}
	}
	return s.OK()
}

func number(s *dialect.Scan) *int {
	if n, ok := s.Int(); ok {
		return &n
	}
	return nil
}

func (l *line) message(s *dialect.Scan) {
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "content":
			l.content = s.Str()
		case "thinking":
			l.thinking = s.Str()
		case "tool_calls":
			for ok := s.Array(); ok && s.Element(); {
				l.call(s)
			}
		default:
			s.Skip()
		}
	}
}

func (l *line) call(s *dialect.Scan) {
	var c call
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "id":
			c.id = s.Str()
		case "function":
			c.function(s)
		default:
			s.Skip()
		}
	}
	l.calls = append(l.calls, c)
}

func (c *call) function(s *dialect.Scan) {
	for ok := s.Object(); ok && s.Field(); {
		switch string(s.Key) {
		case "name":
			c.name = s.Str()
		case "arguments":
			switch s.Kind() {
			case '"':
				c.args, c.quoted = s.Str(), true
			case 'n':
				s.Skip()
			default:
				c.args = s.Raw()
			}
		default:
			s.Skip()
		}
	}
}
