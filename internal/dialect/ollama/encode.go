package ollama

import (
	"strconv"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// writer writes requests.
type writer struct{ dialect.Quirks }

func newEncoder(q dialect.Quirks) dialect.Encoder {
	w := writer{q}
	return dialect.NewEncoder(dialect.Grammar{
		Rules: dialect.Rules{Dialect: name, ID: dialect.Any, Name: dialect.ToolName, Blind: q.Blind},
		Head:  w.head,
		Group: w.group,
		Tail:  w.tail,
	})
}

func (w writer) head(b []byte, c dialect.Context) []byte {
	b = append(b, `{"model":`...)
	b = dialect.AppendString(b, c.Model)
	b = append(b, `,"stream":true`...)
	b = append(b, `,"messages":[`...)
	if c.System != "" {
		b = append(message(b, "system", c.System), '}')
	}
	return b
}

// message begins a message and leaves it open.
func message(b []byte, role, text string) []byte {
	b = append(b, `{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":`...)
	return dialect.AppendString(b, text)
}

func (w writer) group(b []byte, c dialect.Context, g dialect.Group) ([]byte, int) {
	switch g.Role {
	case dialect.User:
		b = message(b, "user", g.Text())
		if images := g.Images(); len(images) > 0 {
			b = dialect.AppendList(b, `,"images":[`, images, func(b []byte, i convo.Image) []byte {
				return dialect.AppendBase64(b, "", i.Data)
			})
		}
		b = append(b, '}')
	case dialect.Model:
		b = appendModel(b, g.Items)
	case dialect.Results:
		for i, a := range g.Answers {
			if i > 0 {
				b = append(b, ',')
			}
			b = message(b, "tool", string(c.Result(a.Result)))
			b = dialect.AppendField(b, "tool_name", a.Call.Call.Name)
			b = dialect.AppendField(b, "tool_call_id", a.Call.Call.ID)
			b = append(b, '}')
		}
	}
	return b, 0
}

func appendModel(b []byte, items []dialect.Item) []byte {
	var text, thinking strings.Builder
	var calls []dialect.Item
	for _, it := range items {
		switch it.Kind {
		case llm.Text:
			text.WriteString(it.Text)
		case llm.Thinking:
			thinking.WriteString(it.Text)
		case llm.CallPart:
			calls = append(calls, it)
		}
	}
	b = message(b, "assistant", text.String())
	b = dialect.AppendField(b, "thinking", thinking.String())
	b = dialect.AppendList(b, `,"tool_calls":[`, calls, func(b []byte, it dialect.Item) []byte {
		b = append(b, `{"id":`...)
		b = dialect.AppendString(b, it.Call.ID)
		b = append(b, `,"function":{"name":`...)
		b = dialect.AppendString(b, it.Call.Name)
		b = append(b, `,"arguments":`...)
		b = append(b, dialect.ArgsObject(it.Call.Args)...)
		return append(b, `}}`...)
	})
	return append(b, '}')
}

// tail has the tools too: there is no choice of tools on this wire, so that a
// model that must not call any is told of none.
func (w writer) tail(b []byte, c dialect.Context) []byte {
	b = append(b, ']')
	if c.Choice == llm.Auto {
		b = dialect.AppendList(b, `,"tools":[`, c.Tools, func(b []byte, t tool.Spec) []byte {
			b = append(b, `{"type":"function","function":{"name":`...)
			b = dialect.AppendString(b, c.Thread.WireName(t.Name))
			b = dialect.AppendField(b, "description", t.Description)
			b = append(b, `,"parameters":`...)
			b = appendParameters(b, t.Parameters.JSON())
			return append(b, `}}`...)
		})
	}
	b = dialect.AppendField(b, "think", string(c.Effort))
	b = append(b, `,"truncate":false`...) // a prompt that is too long is an error, not cut in silence
	if c.MaxReply == 0 && w.Window == 0 {
		return append(b, '}')
	}
	b = append(b, `,"options":{`...)
	if w.Window > 0 {
		b = strconv.AppendInt(append(b, `"num_ctx":`...), int64(w.Window), 10)
	}
	if c.MaxReply > 0 {
		if w.Window > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `"num_predict":`...), int64(c.MaxReply), 10)
	}
	return append(b, `}}`...)
}
