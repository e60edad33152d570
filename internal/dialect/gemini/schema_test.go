package gemini

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSchemasAreFittedToTheSubset(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"no parameters", `{"type":"object","properties":{}}`, ``},
		{"types in capitals, in order", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}`, `{"type":"OBJECT","properties":{"z":{"type":"STRING"},"a":{"type":"INTEGER"}},"required":["z"]}`},
		{"a type that may be null", `{"properties":{"a":{"type":["string","null"]}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}`},
		{"a constant", `{"properties":{"a":{"const":"x"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"]}}}`},
		{"an enumeration of numbers", `{"properties":{"a":{"type":"integer","enum":[1,2]}}}`, `{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}}}`},
		{"one of several", `{"properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"type":"OBJECT","properties":{"a":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}}}`},
		{"all of several", `{"properties":{"a":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}}},{"properties":{"y":{"type":"string"}},"required":["y"]}]}}}`, `{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"x":{"type":"STRING"},"y":{"type":"STRING"}},"required":["y"]}}}`},
		{"a reference", `{"properties":{"a":{"$ref":"#/$defs/d","description":"here"}},"$defs":{"d":{"type":"string","description":"there"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"here"}}}`},
		{"what is refused", `{"$schema":"x","type":"object","additionalProperties":false,"properties":{"a":{"type":"number","exclusiveMinimum":0,"format":"float","not":{}},"b":{"type":"string","format":"uri"}},"required":["a","gone"]}`, `{"type":"OBJECT","properties":{"a":{"type":"NUMBER","format":"float","minimum":0},"b":{"type":"STRING"}},"required":["a"]}`},
		{"arrays", `{"properties":{"a":{"type":"array"},"b":{"type":"array","items":{"type":"boolean"},"minItems":1},"c":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`, `{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"STRING"}},"b":{"type":"ARRAY","minItems":1,"items":{"type":"BOOLEAN"}},"c":{"type":"ARRAY","items":{"type":"STRING"}}}}`},
		{"limits", `{"properties":{"a":{"type":"string","minLength":1.0,"maxLength":1e2,"minimum":"x","maximum":2.5,"title":5},"b":{"type":"array","minItems":0.5,"maxItems":null}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":1,"maxLength":100,"maximum":2.5},"b":{"type":"ARRAY","items":{"type":"STRING"}}}}`},
		{"an object without properties", `{"properties":{"a":{"type":"object","properties":{}}}}`, `{"type":"OBJECT","properties":{"a":{"type":"OBJECT"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.TrimPrefix(string(appendParameters(nil, []byte(c.schema))), `,"parameters":`)
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestASchemaThatRefersToItselfEnds(t *testing.T) {
	got := appendParameters(nil, []byte(`{"properties":{"n":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"a":{"$ref":"#/$defs/node"},"b":{"$ref":"#/$defs/node"},"c":{"$ref":"#/$defs/node"}},"allOf":[{"$ref":"#/$defs/node"},{"properties":5}]}}}`))
	if raw := strings.TrimPrefix(string(got), `,"parameters":`); !json.Valid([]byte(raw)) || strings.Contains(raw, "$ref") || len(raw) > 1<<20 {
		t.Errorf("%d bytes: %.300s", len(raw), raw)
	}
}

func FuzzFittedSchemasAreJSONWithoutWhatIsRefused(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}},"$defs":{"x":{"type":"integer"}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) || len(schema) > 2000 {
			return
		}
		got := append([]byte(`{"name":"f"`), appendParameters(nil, schema)...)
		if got = append(got, '}'); !json.Valid(got) {
			t.Fatalf("%s became %s", schema, got)
		}
	})
}
