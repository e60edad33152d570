package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// writer writes requests.
type writer struct{ dialect.Quirks }

// cacheMark ends a prefix that the server shall keep. Four are allowed: ours
// stand behind the tools, the system prompt and the last two turns of the person.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

func newEncoder(q dialect.Quirks) dialect.Encoder {
	w := writer{q}
	return dialect.NewEncoder(dialect.Grammar{
		Rules: dialect.Rules{Dialect: name, ID: dialect.Fit(64, dialect.WordByte), Name: dialect.ToolName, Merge: true, Blind: w.Blind},
		Head:  w.head,
		Group: w.group,
		Tail:  w.tail,
		Mark:  cacheMark,
		Marks: 2,
	})
}

func (w writer) head(b []byte, c dialect.Context) []byte {
	b = append(b, `{"model":`...)
	b = dialect.AppendString(b, c.Model)
	b = append(b, `,"stream":true`...)
	tools := declared(c)
	b = dialect.AppendList(b, `,"tools":[`, tools, func(b []byte, t tool.Spec) []byte {
		b = append(b, `{"name":`...)
		b = dialect.AppendString(b, c.Thread.WireName(t.Name))
		b = dialect.AppendField(b, "description", t.Description)
		b = append(b, `,"input_schema":`...)
		b = appendSchema(b, dialect.Rooted(t.Parameters.JSON()))
		if t.Name == tools[len(tools)-1].Name {
			b = append(b, cacheMark...)
		}
		return append(b, '}')
	})
	if c.System != "" {
		b = append(b, `,"system":[{"type":"text","text":`...)
		b = dialect.AppendString(b, c.System)
		b = append(b, cacheMark...)
		b = append(b, `}]`...)
	}
	return append(b, `,"messages":[`...)
}

// declared are the tools to declare. A history with calls is refused without
// any: then those that were called stand for themselves.
func declared(c dialect.Context) []tool.Spec {
	if len(c.Tools) > 0 {
		return c.Tools
	}
	var tools []tool.Spec
	for _, name := range c.Thread.Called() {
		tools = append(tools, tool.Spec{Name: name})
	}
	return tools
}

// appendSchema appends a schema without the choices at its top, which are refused there.
func appendSchema(b, raw []byte) []byte {
	s := dialect.NewScan(raw)
	b = append(b, '{')
	from := len(b)
	for ok := s.Object(); ok && s.Field(); {
		key := s.Key
		value := s.Raw()
		if slices.Contains([]string{"anyOf", "oneOf", "allOf", "$schema"}, string(key)) {
			continue
		}
		if len(b) > from {
			b = append(b, ',')
		}
		b = dialect.AppendString(b, key)
		b = append(append(b, ':'), value...)
	}
	return append(b, '}')
}

func (w writer) group(b []byte, c dialect.Context, g dialect.Group) ([]byte, int) {
	mark := 0
	switch g.Role {
	case dialect.User:
		b = dialect.AppendList(b, `{"role":"user","content":[`, g.Said, func(b []byte, p dialect.Part) []byte {
			b = appendPart(b, p)
			mark = len(b) - 1
			return b
		})
	case dialect.Model:
		b = dialect.AppendList(b, `{"role":"assistant","content":[`, g.Items, appendItem)
	case dialect.Results:
		b = append(b, `{"role":"user","content":[`...)
		for _, a := range g.Answers {
			b = append(appendAnswer(b, c, a), ',')
		}
		for _, p := range g.Said {
			b = append(appendPart(b, p), ',')
		}
		mark = len(b) - len(`},`)
		b[len(b)-1] = ']'
	}
	return append(b, '}'), mark
}

func appendPart(b []byte, p dialect.Part) []byte {
	i := p.Image
	if i == nil {
		return appendText(b, p.Text)
	}
	b = append(b, `{"type":"image","source":{"type":"base64","media_type":`...)
	b = dialect.AppendString(b, i.Media)
	return append(dialect.AppendBase64(append(b, `,"data":`...), "", i.Data), `}}`...)
}

func appendText(b []byte, text string) []byte {
	b = append(b, `{"type":"text","text":`...)
	return append(dialect.AppendString(b, text), '}')
}

// appendItem writes a block: as it came, where it was kept whole.
func appendItem(b []byte, it dialect.Item) []byte {
	switch {
	case it.Keep != nil:
		return append(b, it.Keep...)
	case it.Kind == llm.Text:
		return appendText(b, strings.TrimRight(it.Text, " \t\r\n")) // the last message may not end in space
	}
	b = append(b, `{"type":"tool_use","id":`...)
	b = dialect.AppendString(b, it.Call.ID)
	b = append(b, `,"name":`...)
	b = dialect.AppendString(b, it.Call.Name)
	b = append(b, `,"input":`...)
	b = append(b, dialect.ArgsObject(it.Call.Args)...)
	return append(b, '}')
}

func appendAnswer(b []byte, c dialect.Context, a dialect.Answer) []byte {
	b = append(b, `{"type":"tool_result","tool_use_id":`...)
	b = dialect.AppendString(b, a.Call.Call.ID)
	b = dialect.AppendField(b, "content", string(c.Result(a.Result)))
	if !a.Result.OK() {
		b = append(b, `,"is_error":true`...)
	}
	return append(b, '}')
}

func (w writer) tail(b []byte, c dialect.Context) []byte {
	b = append(b, ']')
	budget := w.budget(c)
	limit := c.MaxReply
	if limit == 0 {
		limit = budget + defaultReply
	}
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(limit), 10)
	switch {
	case c.Effort != "" && w.AdaptiveThinking:
		b = append(b, `,"thinking":{"type":"adaptive"},"output_config":{"effort":`...)
		b = append(dialect.AppendString(b, string(c.Effort)), '}')
	case budget > 0:
		b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
		b = append(strconv.AppendInt(b, int64(budget), 10), '}')
	}
	switch {
	case len(c.Tools) > 0 && c.Choice == llm.Auto:
		b = append(b, `,"tool_choice":{"type":"auto"}`...)
	case len(declared(c)) > 0:
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	}
	return append(b, '}')
}

// defaultReply is the limit of a reply where nobody gave one: the field is
// required, and this is what all but the oldest models can do.
const defaultReply = 8192

var budgets = map[llm.Effort]int{llm.LowEffort: 2048, llm.MediumEffort: 8192, llm.HighEffort: 24576}

// budget is how many tokens the model may think, where that is asked as a
// number. Within a tool loop it must have thought from its beginning: the server
// refuses a switch in the middle of one.
func (w writer) budget(c dialect.Context) int {
	budget := budgets[c.Effort]
	if w.AdaptiveThinking || !thoughtSoFar(c.Rest) {
		return 0
	}
	const least = 1024
	if c.MaxReply > 0 {
		budget = min(budget, c.MaxReply/2)
	}
	if budget < least {
		return 0
	}
	return budget
}

// thoughtSoFar reports whether the turn before the last results, if the
// conversation ends in results, begins with thinking.
func thoughtSoFar(rest []dialect.Group) bool {
	n := len(rest)
	if n == 0 || rest[n-1].Role != dialect.Results || len(rest[n-1].Said) > 0 {
		return true
	}
	return n > 1 && rest[n-2].Items[0].Kind == llm.Thinking
}
