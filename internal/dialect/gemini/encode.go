package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

func newEncoder(q dialect.Quirks) dialect.Encoder {
	return dialect.NewEncoder(dialect.Grammar{
		Rules: dialect.Rules{Dialect: name, ID: dialect.Any, Name: dialect.ToolName, Blind: q.Blind},
		Head:  head,
		Group: group,
		Tail:  tail,
	})
}

func head(b []byte, c dialect.Context) []byte {
	b = append(b, '{')
	if c.System != "" {
		b = append(b, `"systemInstruction":{"parts":[{"text":`...)
		b = dialect.AppendString(b, c.System)
		b = append(b, `}]},`...)
	}
	if len(c.Tools) > 0 {
		b = dialect.AppendList(b, `"tools":[{"functionDeclarations":[`, c.Tools, func(b []byte, t tool.Spec) []byte {
			b = append(b, `{"name":`...)
			b = dialect.AppendString(b, c.Thread.WireName(t.Name))
			b = dialect.AppendField(b, "description", t.Description)
			b = appendParameters(b, t.Parameters.JSON())
			return append(b, '}')
		})
		b = append(b, `}],`...)
	}
	return append(b, `"contents":[`...)
}

func group(b []byte, c dialect.Context, g dialect.Group) ([]byte, int) {
	switch g.Role {
	case dialect.User:
		b = dialect.AppendList(b, `{"role":"user","parts":[`, g.Said, appendPart)
	case dialect.Model:
		return appendModel(b, c, g.Items), 0
	case dialect.Results:
		b = dialect.AppendList(b, `{"role":"user","parts":[`, g.Answers, func(b []byte, a dialect.Answer) []byte {
			b = append(b, `{"functionResponse":{`...)
			if id := readKept(a.Call.Keep).ID; id != "" {
				b = append(dialect.AppendString(append(b, `"id":`...), id), ',')
			}
			b = append(b, `"name":`...)
			b = dialect.AppendString(b, a.Call.Call.Name)
			b = append(b, `,"response":`...)
			b = appendResponse(b, c.Result(a.Result), a.Result.OK())
			return append(b, `}}`...)
		})
	}
	return append(b, '}'), 0
}

func appendPart(b []byte, p dialect.Part) []byte {
	if i := p.Image; i != nil {
		b = append(b, `{"inlineData":{"mimeType":`...)
		b = dialect.AppendString(b, i.Media)
		return append(dialect.AppendBase64(append(b, `,"data":`...), "", i.Data), `}}`...)
	}
	b = append(b, `{"text":`...)
	return append(dialect.AppendString(b, p.Text), '}')
}

// appendResponse appends a result as the object that it must be.
func appendResponse(b, result []byte, ok bool) []byte {
	if s := dialect.NewScan(result); s.Kind() == '{' && json.Valid(result) {
		return append(b, result...)
	}
	field := `{"output":`
	if !ok {
		field = `{"error":`
	}
	b = append(b, field...)
	return append(dialect.AppendString(b, result), '}')
}

// appendModel writes the parts of one reply, each with what came on it. The
// first call of a step must be signed from the third generation on; the value
// that stands in for the signature of another model's call is documented.
func appendModel(b []byte, c dialect.Context, items []dialect.Item) []byte {
	signed := generation(c.Model) < 3
	b = dialect.AppendList(b, `{"role":"model","parts":[`, items, func(b []byte, it dialect.Item) []byte {
		k := readKept(it.Keep)
		switch it.Kind {
		case llm.Block:
			return append(b, it.Keep...)
		case llm.CallPart:
			if k.Signature == "" && !signed {
				k.Signature = "skip_thought_signature_validator"
			}
			signed = true
			b = appendCall(b, it.Call, k.ID)
		default:
			b = append(b, `{"text":`...)
			b = dialect.AppendString(b, it.Text)
		}
		if k.Thought {
			b = append(b, `,"thought":true`...)
		}
		b = dialect.AppendField(b, "thoughtSignature", k.Signature)
		return append(b, '}')
	})
	return append(b, '}')
}

func appendCall(b []byte, c tool.Call, id string) []byte {
	b = append(b, `{"functionCall":{`...)
	if id != "" {
		b = append(dialect.AppendString(append(b, `"id":`...), id), ',')
	}
	b = append(b, `"name":`...)
	b = dialect.AppendString(b, c.Name)
	b = append(b, `,"args":`...)
	b = append(b, dialect.ArgsObject(c.Args)...)
	return append(b, '}')
}

// generation is the number in the name of a model, such as 2 in gemini-2.5-pro;
// zero when the name has none.
func generation(model string) int {
	_, rest, ok := strings.Cut(model, "gemini-")
	if !ok {
		return 0
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	g, _ := strconv.Atoi(rest[:n]) // no number is zero
	return g
}

func tail(b []byte, c dialect.Context) []byte {
	b = append(b, ']')
	if len(c.Tools) > 0 {
		b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":"`...)
		b = append(b, modes[c.Choice]...)
		b = append(b, `"}}`...)
	}
	var config [][]byte
	if c.MaxReply > 0 {
		config = append(config, strconv.AppendInt([]byte(`"maxOutputTokens":`), int64(c.MaxReply), 10))
	}
	if c.Effort != "" {
		config = append(config, thinking(generation(c.Model), c.Effort))
	}
	if len(config) > 0 {
		b = append(b, `,"generationConfig":{`...)
		for i, field := range config {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, field...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

var modes = map[llm.Choice]string{llm.Auto: "AUTO", llm.NoTools: "NONE"}

var budgets = map[llm.Effort]int{llm.LowEffort: 1024, llm.MediumEffort: 8192, llm.HighEffort: 24576}

// thinking asks for an effort: a number of tokens in the second generation, a
// level from the third on. Not every model there has a medium: that is left to
// its own default.
func thinking(generation int, e llm.Effort) []byte {
	b := []byte(`"thinkingConfig":{"includeThoughts":true`)
	switch {
	case generation < 3:
		b = strconv.AppendInt(append(b, `,"thinkingBudget":`...), int64(budgets[e]), 10)
	case e != llm.MediumEffort:
		b = dialect.AppendField(b, "thinkingLevel", strings.ToUpper(string(e)))
	}
	return append(b, '}')
}
