package openai

import (
	"encoding/json"
	"strconv"
	"strings"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// writer writes requests, in the way a server with these quirks wants them.
type writer struct{ dialect.Quirks }

func newEncoder(q dialect.Quirks) dialect.Encoder {
	w := writer{q}
	g := dialect.Grammar{
		Rules: dialect.Rules{
			Dialect: name, ID: dialect.Fit(40, dialect.Printable), Name: dialect.ToolName,
			Thinking: q.EchoReasoning, Bridge: q.Bridge, Blind: q.Blind,
		},
		Head:  w.head,
		Group: w.group,
		Tail:  w.tail,
	}
	if q.ShortIDs {
		g.Rules.ID = dialect.Exactly(9)
	}
	if q.CacheMarks {
		g.Mark, g.Marks = cacheMark, 2
	}
	return dialect.NewEncoder(g)
}

func (w writer) head(b []byte, c dialect.Context) []byte {
	b = append(b, `{"model":`...)
	b = dialect.AppendString(b, c.Model)
	b = append(b, `,"stream":true`...)
	if !w.NoStreamOptions {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	b = dialect.AppendList(b, `,"tools":[`, c.Tools, func(b []byte, t tool.Spec) []byte {
		b = append(b, `{"type":"function","function":{"name":`...)
		b = dialect.AppendString(b, c.Thread.WireName(t.Name))
		b = dialect.AppendField(b, "description", t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, dialect.Rooted(t.Parameters.JSON())...)
		return append(b, `}}`...)
	})
	b = append(b, `,"messages":[`...)
	if c.System == "" {
		return b
	}
	role := "system"
	if w.Developer {
		role = "developer"
	}
	b, _ = w.message(b, role, c.System, cacheMark)
	return append(b, '}')
}

const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// message begins a message of one text and leaves it open. Where the server
// takes cache marks, it gets this one, and place is where another may be put.
func (w writer) message(b []byte, role, text, mark string) (out []byte, place int) {
	b = append(b, `{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":`...)
	if !w.CacheMarks {
		return dialect.AppendString(b, text), 0
	}
	b = append(b, `[{"type":"text","text":`...)
	b = dialect.AppendString(b, text)
	b = append(b, mark...)
	return append(b, `}]`...), len(b)
}

func (w writer) group(b []byte, c dialect.Context, g dialect.Group) ([]byte, int) {
	switch g.Role {
	case dialect.User:
		return w.user(b, g)
	case dialect.Model:
		return w.model(b, g.Items), 0
	}
	mark := 0
	for i, a := range g.Answers {
		if i > 0 {
			b = append(b, ',')
		}
		b, mark = w.message(b, "tool", string(c.Result(a.Result)), "")
		b = dialect.AppendField(b, "tool_call_id", a.Call.Call.ID)
		if w.NameInResult {
			b = dialect.AppendField(b, "name", a.Call.Call.Name)
		}
		b = append(b, '}')
	}
	return b, mark
}

// user writes what the person said: one text, or parts where there are pictures.
func (w writer) user(b []byte, g dialect.Group) (out []byte, mark int) {
	if len(g.Images()) == 0 {
		b, mark = w.message(b, "user", g.Text(), "")
		return append(b, '}'), mark
	}
	b = dialect.AppendList(b, `{"role":"user","content":[`, g.Said, func(b []byte, p dialect.Part) []byte {
		if p.Image != nil {
			b = append(b, `{"type":"image_url","image_url":{"url":`...)
			return append(dialect.AppendDataURL(b, *p.Image), `}}`...)
		}
		b = append(b, `{"type":"text","text":`...)
		b = append(dialect.AppendString(b, p.Text), '}')
		mark = len(b) - 1
		return b
	})
	if !w.CacheMarks {
		mark = 0
	}
	return append(b, '}'), mark
}

// kept is what this format keeps with an item: the reasoning of a gateway, or
// the signature that Gemini's own endpoint hangs on a call or on the message.
type kept struct {
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
	Extra   json.RawMessage   `json:"extra_content,omitempty"`
	Message json.RawMessage   `json:"message_extra_content,omitempty"`
}

// model writes one assistant message: its texts as one, and all its calls.
func (w writer) model(b []byte, items []dialect.Item) []byte {
	var texts, thoughts []string
	var calls []dialect.Item
	var whole kept
	for _, it := range items {
		var k kept
		_ = json.Unmarshal(it.Keep, &k) // ours, or absent
		whole.Details = append(whole.Details, k.Details...)
		if k.Message != nil {
			whole.Message = k.Message
		}
		switch it.Kind {
		case llm.Text:
			texts = append(texts, it.Text)
		case llm.Thinking:
			thoughts = append(thoughts, it.Text)
		case llm.CallPart:
			calls = append(calls, it)
		}
	}
	b = append(b, `{"role":"assistant","content":`...)
	if text := strings.Join(texts, ""); text != "" {
		b = dialect.AppendString(b, text)
	} else {
		b = append(b, "null"...)
	}
	if w.EchoReasoning && (len(calls) > 0 || len(thoughts) > 0) {
		b = append(b, `,"reasoning_content":`...)
		b = dialect.AppendString(b, strings.Join(thoughts, ""))
	}
	b = dialect.AppendList(b, `,"reasoning_details":[`, whole.Details, func(b []byte, d json.RawMessage) []byte {
		return append(b, d...)
	})
	if whole.Message != nil {
		b = append(append(b, `,"extra_content":`...), whole.Message...)
	}
	b = dialect.AppendList(b, `,"tool_calls":[`, calls, appendCall)
	return append(b, '}')
}

func appendCall(b []byte, it dialect.Item) []byte {
	var k kept
	_ = json.Unmarshal(it.Keep, &k) // ours, or absent
	b = append(b, `{"id":`...)
	b = dialect.AppendString(b, it.Call.ID)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = dialect.AppendString(b, it.Call.Name)
	b = append(b, `,"arguments":`...)
	b = dialect.AppendString(b, dialect.ArgsText(it.Call.Args))
	b = append(b, '}')
	if k.Extra != nil {
		b = append(append(b, `,"extra_content":`...), k.Extra...)
	}
	return append(b, '}')
}

func (w writer) tail(b []byte, c dialect.Context) []byte {
	b = append(b, ']')
	if len(c.Tools) > 0 {
		b = dialect.AppendField(b, "tool_choice", choices[c.Choice])
	}
	if c.MaxReply > 0 {
		field := w.MaxTokensField
		if field == "" {
			field = "max_tokens"
		}
		b = dialect.AppendString(append(b, ','), field)
		b = strconv.AppendInt(append(b, ':'), int64(c.MaxReply), 10)
	}
	b = dialect.AppendField(b, "reasoning_effort", string(c.Effort))
	return append(b, '}')
}

var choices = map[llm.Choice]string{llm.Auto: "auto", llm.NoTools: "none"}
