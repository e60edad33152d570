package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type form struct{ name, in, schema, flat string }

// forms are schemas as written, the JSON Schema they stand for and their short
// form; a missing third is the JSON Schema itself.
func forms() []form {
	return []form{
		{"nothing", `{}`, `{"type":"object","properties":{}}`, `{}`},
		{
			"short form",
			`{"x":{"type":"string","description":"d","required":true},"a":{"type":"integer","required":false,"minimum":1}}`,
			`{"type":"object","properties":{"x":{"type":"string","description":"d"},"a":{"type":"integer","minimum":1}},"required":["x"]}`,
			`{"x":{"type":"string","description":"d","required":true},"a":{"type":"integer","minimum":1}}`,
		},
		{
			"JSON Schema",
			`{"$schema":"s","required":["b","a","b"],"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a","b"]}`,
			`{"a":{"type":"string","required":true},"b":{"type":["integer","null"],"required":true}}`,
		},
		{
			"JSON Schema without a type",
			`{"properties":{"a":{"type":"string"}},"required":[]}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`,
			`{"a":{"type":"string"}}`,
		},
		{
			"JSON Schema with parameters called type, properties and required",
			`{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object"},"required":{"type":"boolean"}},"required":["type"]}`,
			`{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object"},"required":{"type":"boolean"}},"required":["type"]}`,
			`{"type":{"type":"string","required":true},"properties":{"type":"object"},"required":{"type":"boolean"}}`,
		},
		{
			"short form with parameters called type, properties and required",
			`{"type":{"type":"string"},"properties":{"type":"array","required":true},"required":{"type":"string"}}`,
			`{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"array"},"required":{"type":"string"}},"required":["properties"]}`,
			`{"type":{"type":"string"},"properties":{"type":"array","required":true},"required":{"type":"string"}}`,
		},
		{
			"short form with a parameter called properties only",
			`{"properties":{"type":"object","description":"d"}}`,
			`{"type":"object","properties":{"properties":{"type":"object","description":"d"}}}`,
			`{"properties":{"type":"object","description":"d"}}`,
		},
		{
			"marks on nested properties",
			`{"o":{"type":"object","required":true,"properties":{"a":{"type":"string","required":true},"b":{}}},"l":{"type":"array","items":{"type":"object","properties":{"c":{"required":true}}}}}`,
			`{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"]},"l":{"type":"array","items":{"type":"object","properties":{"c":{}},"required":["c"]}}},"required":["o"]}`,
			`{"o":{"type":"object","properties":{"a":{"type":"string","required":true},"b":{}},"required":true},"l":{"type":"array","items":{"type":"object","properties":{"c":{}},"required":["c"]}}}`,
		},
		{
			"what only we understand",
			`{"p":{"type":"string","format":"path","aliases":["file"]},"u":{"type":"string","format":"uri"},"aliases":{"type":"array"}}`,
			`{"type":"object","properties":{"p":{"type":"string"},"u":{"type":"string","format":"uri"},"aliases":{"type":"array"}}}`,
			`{"p":{"type":"string","format":"path","aliases":["file"]},"u":{"type":"string","format":"uri"},"aliases":{"type":"array"}}`,
		},
		{
			"more than the short form can say",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"additionalProperties":false,"$defs":{"d":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"additionalProperties":false,"$defs":{"d":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"additionalProperties":false,"$defs":{"d":{"type":"string"}}}`,
		},
		{
			"required but not described",
			`{"type":"object","required":["a"]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`,
			`{"a":{"required":true}}`,
		},
	}
}

func TestBothFormsBecomeOneSchema(t *testing.T) {
	for _, row := range forms() {
		t.Run(row.name, func(t *testing.T) {
			o, err := Parse([]byte(row.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.schema, string(o.JSON())); diff != "" {
				t.Errorf("JSON: %s", diff)
			}
			if diff := cmp.Diff(row.flat, string(o.Flat())); diff != "" {
				t.Errorf("Flat: %s", diff)
			}
		})
	}
}

func TestWhatIsNoSchemaIsRefused(t *testing.T) {
	rows := map[string]string{
		``:                                     "cut off",
		`null`:                                 "want an object, got null",
		`[]`:                                   "want an object, got an array",
		`"x"`:                                  "want an object, got a string",
		`{"a":{"type":"string"},}`:             "trailing comma",
		`{"a":{},"a":{}}`:                      "comes twice",
		`{"a":"string"}`:                       `parameter "a"`,
		`{"type":"string"}`:                    `must be "object"`,
		`{"type":5}`:                           `must be "object"`,
		`{"type":"object","properties":[]}`:    "properties must be an object",
		`{"type":"object","required":["a",1]}`: "required must be",
		`{"a":{"type":"string","required":"yes"}}`: `parameter "a": required must be`,
		`{"a":{"type":"strng"}}`:                   `unknown type "strng"`,
		`{"a":{"description":5}}`:                  "description must be a string",
		`{"a":{"properties":{"b":{"type":"x"}}}}`:  `parameter "a": parameter "b"`,
	}
	for in, want := range rows {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want %q", in, err, want)
		}
	}
}

func TestZeroObjectHasNoParameters(t *testing.T) {
	var o Object
	if got := string(o.JSON()); !o.Empty() || got != `{"type":"object","properties":{}}` || string(o.Flat()) != `{}` || o.Properties() != nil {
		t.Errorf("the zero Object is %s", got)
	}
	args, err := o.Read([]byte(`{"x":1}`), DropUnknown)
	if err != nil || string(args.Value) != `{}` {
		t.Errorf("Read = %s, %v", args.Value, err)
	}
	if err := json.Unmarshal([]byte(`null`), &o); err != nil || !o.Empty() {
		t.Errorf("null: %v", err)
	}
}

func TestMarshalKeepsAliasesAndFormats(t *testing.T) {
	type spec struct{ Parameters Object }
	in := `{"Parameters":{"type":"object","properties":{"p":{"type":"string","format":"path","aliases":["file"]}}}}`
	var s spec
	if err := json.Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	if got := string(must(json.Marshal(s))); got != in {
		t.Errorf("got %s", got)
	}
}

func TestPropertiesAreListedInOrder(t *testing.T) {
	o := must(Parse([]byte(`{"p":{"type":"string","description":"d","required":true,"format":"path","aliases":["f"]},"n":{"type":["integer","null"],"enum":[1,null],"default":1}}`)))
	want := []Property{
		{Name: "p", Type: "string", Description: "d", Required: true, Format: "path", Aliases: []string{"f"}, Schema: json.RawMessage(`{"type":"string","description":"d"}`)},
		{Name: "n", Type: "integer|null", Enum: []string{"1", "null"}, Default: json.RawMessage(`1`), Schema: json.RawMessage(`{"type":["integer","null"],"enum":[1,null],"default":1}`)},
	}
	if diff := cmp.Diff(want, o.Properties()); diff != "" {
		t.Error(diff)
	}
	if o.Empty() {
		t.Error("not empty")
	}
}
