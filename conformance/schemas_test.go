package conformance

import (
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
	"ikigai/internal/tools"
)

// asking is a question with tools.
func asking(specs ...tool.Spec) question {
	return question{"tools", variants["openai"][""], llm.Request{Model: signed, Events: []convo.Event{{Kind: convo.KindUser, Text: "Well?"}}, Tools: specs}}
}

func TestTheBuiltInToolsFitEveryClient(t *testing.T) {
	var specs []tool.Spec
	for _, each := range tools.All() {
		specs = append(specs, each.Spec())
	}
	for _, p := range peers() {
		body := encode(t, p, asking(specs...))
		if found := p.unexpected(differences(t, body, resend(t, p, signed, body).body)); len(found) > 0 {
			t.Errorf("%s: %q", p.format, found)
		}
	}
	t.Logf("%d tools", len(specs))
}

// Schemas of other people's tools say all that JSON Schema can.
func TestSchemasOfAllKindsFitEveryClient(t *testing.T) {
	for name, raw := range foreign {
		parameters, err := schema.Parse([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range peers() {
			t.Run(name+" for "+p.format, func(t *testing.T) {
				body := encode(t, p, asking(tool.Spec{Name: "foreign", Parameters: parameters}))
				if found := p.unexpected(differences(t, body, resend(t, p, signed, body).body)); len(found) > 0 {
					t.Errorf("%q\n%s", found, body)
				}
			})
		}
	}
}

var foreign = map[string]string{
	"none":              `{}`,
	"no properties":     `{"type":"object"}`,
	"anything goes":     `{"type":"object","properties":{"any":true,"none":{}},"additionalProperties":true}`,
	"nested":            `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"c":{"type":"number"}}}}}}}}`,
	"limits":            `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9,"exclusiveMinimum":0,"multipleOf":2,"default":4},"s":{"type":"string","minLength":1,"maxLength":8,"pattern":"^a","format":"date-time"},"l":{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true,"items":{"type":"string"}}}}`,
	"several types":     `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["integer","string"]},"c":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`,
	"enums":             `{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"integer","enum":[1,2]},"c":{"const":"z"},"d":{"type":["string","null"],"enum":["x",null]}}}`,
	"references":        `{"type":"object","properties":{"p":{"$ref":"#/$defs/point"},"l":{"type":"array","items":{"$ref":"#/$defs/point"}}},"$defs":{"point":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}}}`,
	"itself":            `{"type":"object","properties":{"n":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}}}}}`,
	"all of":            `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"properties":{"b":{"allOf":[{"type":"string"},{"minLength":2}]}}}`,
	"one of at the top": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
	"a tuple":           `{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]},"u":{"type":"array","items":[{"type":"string"}]},"v":{"type":"array"}}}`,
	"a map":             `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}},"e":{"type":"object","patternProperties":{"^x":{"type":"string"}}}}}`,
	"strange names":     `{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":{}},"$ref":{"type":"string"},"a b":{"type":"string","title":"A","examples":["q"]}},"required":["type"]}`,
	"an old dialect":    `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true},"d":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"string"}}}`,
	"true in a choice":  `{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},true]},"y":{"type":"array","items":true},"z":{"not":{"type":"string"}}}}`,
	"nullable at top":   `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`,
	"big numbers":       `{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807,"minimum":-1e18},"l":{"type":"array","items":{"type":"string"},"maxItems":1e3}}}`,
}
