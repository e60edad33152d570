package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// TestValidatorAgreesWithAnotherOne compares our verdicts with those of
// google/jsonschema-go on schemas and values made at random.
func TestValidatorAgreesWithAnotherOne(t *testing.T) {
	valid, invalid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		schema := someSchema(t, 3)
		schema["$defs"] = map[string]any{"d": someSchema(t, 1)}
		raw := must(json.Marshal(schema))
		judge := judgeOf(t, raw)
		doc := must(scanStrict(string(raw)))
		root := compile(&doc)
		for range 10 {
			text := must(json.Marshal(someValue(t, 3)))
			var plain any
			if err := json.Unmarshal(text, &plain); err != nil {
				t.Fatal(err)
			}
			theirs := judge.Validate(plain)
			v := must(scanStrict(string(text)))
			r := &reader{fuel: 1 << 20}
			r.check(root, &v)
			if r.failed != (theirs != nil) {
				t.Fatalf("schema %s\nvalue %s\nours %q\ntheirs %v", raw, text, r.problems, theirs)
			}
			if r.failed {
				invalid++
			} else {
				valid++
			}
		}
	})
	t.Logf("%d valid, %d invalid", valid, invalid)
	if valid == 0 || invalid == 0 {
		t.Error("the random values were all of one kind")
	}
}

func judgeOf(tb interface{ Fatalf(string, ...any) }, raw []byte) *jsonschema.Resolved {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		tb.Fatalf("reading %s: %v", raw, err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		tb.Fatalf("resolving %s: %v", raw, err)
	}
	return resolved
}

func someValue(t *rapid.T, depth int) any {
	kinds := []string{"null", "boolean", "integer", "number", "string", "array", "object"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "integer":
		return rapid.IntRange(-3, 6).Draw(t, "integer")
	case "number":
		return float64(rapid.IntRange(-6, 12).Draw(t, "halves")) / 2
	case "string":
		return rapid.SampledFrom([]string{"", "a", "b", "ab", "ä", "😀b", "aab"}).Draw(t, "string")
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, someValue(t, depth-1))
		}
		return list
	case "object":
		m := map[string]any{}
		for _, name := range someNames(t) {
			m[name] = someValue(t, depth-1)
		}
		return m
	}
	return nil
}

func someNames(t *rapid.T) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "ab", "c"}), 0, 3, rapid.ID[string]).Draw(t, "names")
}

// someSchema draws each keyword now and then.
func someSchema(t *rapid.T, depth int) map[string]any {
	count := rapid.IntRange(0, 3)
	bound := rapid.Custom(func(t *rapid.T) any { return float64(rapid.IntRange(-4, 8).Draw(t, "halves")) / 2 })
	types := rapid.SampledFrom([]string{"null", "boolean", "integer", "number", "string", "array", "object"})
	keywords := map[string]func() any{
		"type":             func() any { return types.Draw(t, "type") },
		"enum":             func() any { return []any{someValue(t, 1), someValue(t, 1), someValue(t, 0)} },
		"const":            func() any { return someValue(t, 1) },
		"minimum":          func() any { return bound.Draw(t, "minimum") },
		"maximum":          func() any { return bound.Draw(t, "maximum") },
		"exclusiveMinimum": func() any { return bound.Draw(t, "above") },
		"exclusiveMaximum": func() any { return bound.Draw(t, "below") },
		"multipleOf":       func() any { return rapid.SampledFrom([]float64{0.5, 1, 1.5, 2}).Draw(t, "step") },
		"minLength":        func() any { return count.Draw(t, "minLength") },
		"maxLength":        func() any { return count.Draw(t, "maxLength") },
		"pattern":          func() any { return rapid.SampledFrom([]string{"a", "^a", "b$", "^.$"}).Draw(t, "pattern") },
		"minItems":         func() any { return count.Draw(t, "minItems") },
		"maxItems":         func() any { return count.Draw(t, "maxItems") },
		"uniqueItems":      func() any { return rapid.Bool().Draw(t, "unique") },
		"required":         func() any { return someNames(t) },
		"minProperties":    func() any { return count.Draw(t, "minProperties") },
		"maxProperties":    func() any { return count.Draw(t, "maxProperties") },
	}
	if depth > 0 {
		sub := func() any { return someSubschema(t, depth-1) }
		list := func() any { return []any{sub(), sub()} }
		keywords["items"], keywords["additionalProperties"], keywords["not"] = sub, sub, sub
		keywords["prefixItems"], keywords["anyOf"], keywords["oneOf"], keywords["allOf"] = list, list, list, list
		keywords["properties"] = func() any { return map[string]any{"a": sub(), "b": sub()} }
		keywords["patternProperties"] = func() any { return map[string]any{"^a": sub()} }
	}
	if depth > 1 {
		keywords["$ref"] = func() any { return "#/$defs/d" }
	}
	schema := map[string]any{}
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(sortedNames(keywords)), 0, 3, rapid.ID[string]).Draw(t, "keywords")
	for _, k := range chosen {
		schema[k] = keywords[k]()
	}
	return schema
}

func someSubschema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 9).Draw(t, "boolean schema") == 0 {
		return rapid.Bool().Draw(t, "allowed")
	}
	return someSchema(t, depth)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
