package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestReferencesArePutInPlace(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"none", `{"type": "object"}`, `{"type": "object"}`},
		{"one", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}}}`},
		{"of the older name", `{"properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}}}`},
		{"beside other fields", `{"properties":{"a":{"description":"here","$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string","description":"there"}}}`, `{"properties":{"a":{"type":"string","description":"here"}}}`},
		{"one to another", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"$ref":"#/$defs/e","title":"d"},"e":{"type":"string"}}}`, `{"properties":{"a":{"type":"string","title":"d"}}}`},
		{"in lists and choices", `{"properties":{"a":{"items":{"$ref":"#/$defs/d"}},"b":{"anyOf":[{"$ref":"#/$defs/d"},true]}},"$defs":{"d":{"type":"string"}}}`, `{"properties":{"a":{"items":{"type":"string"}},"b":{"anyOf":[{"type":"string"},true]}}}`},
		{"at the top", `{"type":"object","properties":{},"$ref":"#/$defs/d","$defs":{"d":{"properties":{"x":{"type":"string"}},"required":["x"]}},"required":["y"]}`, `{"properties":{"x":{"type":"string"}},"required":["x","y"],"type":"object"}`},
		{
			"to any place", `{"properties":{"a~/b":{"type":"string"},"b":{"$ref":"#/properties/a~0~1b"},"c":{"anyOf":[{"type":"null"},{"title":"x y"}]},"d":{"$ref":"#/properties/c/anyOf/1"},"e":{"$ref":"#/%70roperties/b"}}}`,
			`{"properties":{"a~/b":{"type":"string"},"b":{"type":"string"},"c":{"anyOf":[{"type":"null"},{"title":"x y"}]},"d":{"title":"x y"},"e":{"type":"string"}}}`,
		},
		{"nowhere", `{"properties":{"a":{"$ref":"#/$defs/gone","title":"a"},"b":{"$ref":"https://example.org/s.json"}}}`, `{"properties":{"a":{"title":"a"},"b":{}}}`},
		{"to itself", `{"properties":{"n":{"$ref":"#/$defs/node"}},"$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}}}}}`, `{"properties":{"n":{"properties":{"next":{"type":"object"},"v":{"type":"integer"}}}}}`},
		{"in a circle", `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"properties":{"a":{"type":"object"}}}`},
		{"to the whole", `{"title":"t","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, `{"title":"t","properties":{"kids":{"type":"array","items":{"type":"object"}}}}`},
		{"twice, which is no circle", `{"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"a parameter of that name", `{"properties":{"$ref":{"type":"string"},"definitions":{"$ref":"#/$defs/d"}},"$defs":{"d":{}}}`, `{"properties":{"$ref":{"type":"string"},"definitions":{}}}`},
		{"a value that looks like one", `{"properties":{"a":{"default":{"$ref":"#/x"},"enum":[{"$ref":"#/x"}]}}}`, `{"properties":{"a":{"default":{"$ref":"#/x"},"enum":[{"$ref":"#/x"}]}}}`},
	} {
		if got := string(Inline([]byte(c.schema))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestReferencesStayWhereTheyAreUnderstood(t *testing.T) {
	const below = `{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string"}}}`
	if got := string(Rooted([]byte(below))); got != below {
		t.Errorf("became %s", got)
	}
	const top = `{"type":"object","properties":{},"$ref":"#/$defs/d","$defs":{"d":{"properties":{"x":{"type":"string"}}}}}`
	if got := string(Rooted([]byte(top))); got != `{"properties":{"x":{"type":"string"}},"type":"object"}` {
		t.Errorf("became %s", got)
	}
}

func TestASchemaThatDoublesAtEachStepEnds(t *testing.T) {
	var defs []string
	for i := range 60 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1))
	}
	got := Inline([]byte(`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`))
	if !json.Valid(got) || len(got) > 4*mostInlined {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzInlinedSchemasAreJSONWithoutReferences(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/$defs/d","x":1}},"$defs":{"d":{"items":[{"$ref":"#"}]}}}`))
	f.Add([]byte(`{"$ref":"#/a","a":{"$ref":"#/b/0"},"b":[{"required":["x"],"$ref":"#/a"}]}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) || len(schema) > 2000 {
			return
		}
		got := Inline(schema)
		if !json.Valid(got) {
			t.Fatalf("%s became %s", schema, got)
		}
		d := json.NewDecoder(bytes.NewReader(got))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil || refersStill(v) {
			t.Fatalf("%s became %s, %v", schema, got, err)
		}
	})
}

func refersStill(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if refersStill(e) {
				return true
			}
		}
	case map[string]any:
		if _, is := v["$ref"].(string); is {
			return true
		}
		for name, e := range v {
			if !literal[name] && refersStill(e) {
				return true
			}
		}
	}
	return false
}
