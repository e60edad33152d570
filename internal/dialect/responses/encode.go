package responses

import (
	"slices"
	"strconv"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

func newEncoder(q dialect.Quirks) dialect.Encoder {
	return dialect.NewEncoder(dialect.Grammar{
		Rules: dialect.Rules{Dialect: name, ID: dialect.Fit(64, dialect.Printable), Name: dialect.ToolName, Blind: q.Blind},
		Head:  head,
		Group: group,
		Tail:  tail,
	})
}

func head(b []byte, c dialect.Context) []byte {
	b = append(b, `{"model":`...)
	b = dialect.AppendString(b, c.Model)
	b = append(b, `,"stream":true,"store":false,"include":["reasoning.encrypted_content"]`...)
	b = dialect.AppendField(b, "instructions", c.System)
	b = dialect.AppendList(b, `,"tools":[`, c.Tools, func(b []byte, t tool.Spec) []byte {
		b = append(b, `{"type":"function","name":`...)
		b = dialect.AppendString(b, c.Thread.WireName(t.Name))
		b = dialect.AppendField(b, "description", t.Description)
		b = append(b, `,"parameters":`...)
		b = append(b, dialect.Rooted(t.Parameters.JSON())...)
		return append(b, `,"strict":false}`...)
	})
	return append(b, `,"input":[`...)
}

func group(b []byte, c dialect.Context, g dialect.Group) ([]byte, int) {
	from := len(b)
	next := func() {
		if len(b) > from {
			b = append(b, ',')
		}
	}
	switch g.Role {
	case dialect.User:
		b = dialect.AppendList(b, `{"type":"message","role":"user","content":[`, g.Said, appendPart)
		b = append(b, '}')
	case dialect.Model:
		items := slices.DeleteFunc(slices.Clone(g.Items), func(it dialect.Item) bool { return it.Kind == llm.Text && it.Text == "" })
		whole := reasoned(items)
		for _, it := range items {
			if it.Kind != llm.Thinking || whole {
				next()
				b = appendItem(b, it, whole)
			}
		}
	case dialect.Results:
		for _, a := range g.Answers {
			next()
			b = append(b, `{"type":"function_call_output","call_id":`...)
			b = dialect.AppendString(b, a.Call.Call.ID)
			b = append(b, `,"output":`...)
			b = append(dialect.AppendString(b, c.Result(a.Result)), '}')
		}
	}
	return b, 0
}

func appendPart(b []byte, p dialect.Part) []byte {
	if p.Image != nil {
		b = append(b, `{"type":"input_image","detail":"auto","image_url":`...)
		return append(dialect.AppendDataURL(b, *p.Image), '}')
	}
	b = append(b, `{"type":"input_text","text":`...)
	return append(dialect.AppendString(b, p.Text), '}')
}

// reasoned reports whether the reasoning of a reply can go back: all of it must
// be there, encrypted, and each must stand before an item that has its id too.
// Otherwise the server refuses it, so that reasoning and ids are left out alike.
func reasoned(items []dialect.Item) bool {
	for i, it := range items {
		k := readKept(it.Keep)
		if k.ID == "" || it.Kind == llm.Thinking && (k.Encrypted == "" || i == len(items)-1) {
			return false
		}
	}
	return true
}

// appendItem writes one item; with its id, where ids go back.
func appendItem(b []byte, it dialect.Item, ids bool) []byte {
	k := readKept(it.Keep)
	id := k.ID
	if !ids {
		id = ""
	}
	switch it.Kind {
	case llm.Text:
		b = append(b, `{"type":"message","role":"assistant"`...)
		b = dialect.AppendField(b, "id", id)
		b = dialect.AppendField(b, "phase", k.Phase)
		b = append(b, `,"status":"completed","content":[{"type":"output_text","text":`...)
		b = dialect.AppendString(b, it.Text)
		return append(b, `,"annotations":[]}]}`...)
	case llm.CallPart:
		b = append(b, `{"type":"function_call"`...)
		b = dialect.AppendField(b, "id", id)
		b = append(b, `,"call_id":`...)
		b = dialect.AppendString(b, it.Call.ID)
		b = append(b, `,"name":`...)
		b = dialect.AppendString(b, it.Call.Name)
		b = append(b, `,"arguments":`...)
		return append(dialect.AppendString(b, dialect.ArgsText(it.Call.Args)), '}')
	}
	return append(b, it.Keep...)
}

func tail(b []byte, c dialect.Context) []byte {
	b = append(b, ']')
	if len(c.Tools) > 0 {
		b = dialect.AppendField(b, "tool_choice", choices[c.Choice])
	}
	if c.MaxReply > 0 {
		b = strconv.AppendInt(append(b, `,"max_output_tokens":`...), int64(c.MaxReply), 10)
	}
	if c.Effort != "" {
		b = append(b, `,"reasoning":{"effort":`...)
		b = append(dialect.AppendString(b, string(c.Effort)), `,"summary":"auto"}`...)
	}
	return append(b, '}')
}

var choices = map[llm.Choice]string{llm.Auto: "auto", llm.NoTools: "none"}
