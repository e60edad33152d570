package ollama

import (
	"encoding/json"
	"testing"
)

func TestSchemasAreFittedToTheServersTypes(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"nothing to change", `{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "string"}}}`},
		{"properties", `{"properties":{"a":true,"b":false,"c":{"type":"string","default":"true"}}}`, `{"properties":{"a":{},"b":{},"c":{"type":"string","default":"true"}}}`},
		{"further down", `{"properties":{"a":{"properties":{"b":true}}}}`, `{"properties":{"a":{"properties":{"b":{}}}}}`},
		{"choices", `{"properties":{"a":{"anyOf":[{"type":"string"},true]}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"},{}]}}}`},
		{"values that are none", `{"properties":{"a":{"enum":[true,1],"default":false,"items":true}},"additionalProperties":false}`, `{"properties":{"a":{"enum":[true,1],"default":false,"items":true}},"additionalProperties":false}`},
		{"references", `{"properties":{"a":{"$ref":"#/$defs/d","description":"here"},"l":{"type":"array","items":{"$ref":"#/$defs/d"}}},"$defs":{"d":{"type":"object","properties":{"x":true}}}}`, `{"properties":{"a":{"type":"object","properties":{"x":{}},"description":"here"},"l":{"type":"array","items":{"type":"object","properties":{"x":true}}}}}`},
		{"a parameter called properties", `{"properties":{"properties":true,"anyOf":{"type":"boolean"}}}`, `{"properties":{"properties":{},"anyOf":{"type":"boolean"}}}`},
	} {
		if got := string(appendParameters(nil, []byte(c.schema))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The server's own types, as far as they refuse.
type property struct {
	AnyOf      []property          `json:"anyOf"`
	Properties map[string]property `json:"properties"`
}

func FuzzWhatTheServerReadsItReadsStill(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":true,"b":{"anyOf":[false,{"properties":{"true":true}}]}}}`))
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"properties":{"b":{"$ref":"#/$defs/d"}}}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) || len(schema) > 2000 {
			return
		}
		got := appendParameters(nil, schema)
		var p property
		if !json.Valid(got) || json.Unmarshal(schema, &p) == nil && json.Unmarshal(got, &p) != nil {
			t.Fatalf("%s became %s", schema, got)
		}
	})
}
