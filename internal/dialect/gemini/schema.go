package gemini

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"ikigai/internal/dialect"
)

// appendParameters appends the parameters of a function in the subset of
// OpenAPI that the server takes. A function without any has no such field.
func appendParameters(b, raw []byte) []byte {
	raw = dialect.Inline(raw)
	if len(members(fields(raw)["properties"])) == 0 {
		return b
	}
	var f fitter
	return f.append(append(b, `,"parameters":`...), raw, 0)
}

// fitter rewrites JSON Schema into the subset: one type in capitals, choices as
// anyOf, and nothing that would be refused. What it cannot say it leaves out, so
// that the server accepts more than the tool does.
type fitter struct {
	count int // schemas written so far
}

// deepest and most are where a schema without measure is cut.
const (
	deepest = 12
	most    = 2000
)

func (f *fitter) append(b, raw []byte, depth int) []byte {
	if f.count++; f.count > most {
		depth = deepest
	}
	m := f.whole(fields(raw), depth)
	kind, nullable := typeOf(m)
	b = append(b, '{')
	from := len(b)
	add := func(name string, value []byte) {
		if len(value) == 0 {
			return
		}
		if len(b) > from {
			b = append(b, ',')
		}
		b = append(append(dialect.AppendString(b, name), ':'), value...)
	}
	if kind != "" {
		add("type", dialect.AppendString(nil, strings.ToUpper(kind)))
	}
	if nullable {
		add("nullable", []byte("true"))
	}
	for _, key := range textKeys {
		add(key, words(m[key]))
	}
	for _, key := range countKeys {
		add(key, count(m[key]))
	}
	add("default", m["default"])
	add("format", format(kind, m["format"]))
	add("enum", enum(kind, m))
	add("minimum", first(m["minimum"], m["exclusiveMinimum"]))
	add("maximum", first(m["maximum"], m["exclusiveMaximum"]))
	if depth < deepest {
		add("properties", f.properties(m["properties"], depth))
		add("required", required(m))
		add("items", f.items(kind, m["items"], depth))
		add("anyOf", f.choices(m, depth))
	}
	return append(b, '}')
}

// textKeys are taken as they are, and countKeys as whole numbers.
var (
	textKeys  = []string{"title", "description", "pattern"}
	countKeys = []string{"minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"}
)

// words is a value if it is text.
func words(raw json.RawMessage) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	return raw
}

// count is a value if it is a whole number, however it is written.
func count(raw json.RawMessage) []byte {
	var n float64
	if first(raw) == nil || json.Unmarshal(raw, &n) != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// whole puts all parts of a schema into one.
func (f *fitter) whole(m map[string]json.RawMessage, depth int) map[string]json.RawMessage {
	if parts := list(m["allOf"]); len(parts) > 0 && depth < deepest {
		delete(m, "allOf")
		for _, p := range parts {
			m = merged(m, f.whole(fields(p), depth+1))
		}
	}
	return m
}

// merged adds the fields of more to m; properties and required are joined.
func merged(m, more map[string]json.RawMessage) map[string]json.RawMessage {
	for key, value := range more {
		old := m[key]
		switch {
		case old == nil:
		case key == "properties":
			value = joined('{', old, value, '}')
		case key == "required":
			value = joined('[', old, value, ']')
		}
		m[key] = value
	}
	return m
}

// joined puts two objects or two arrays into one.
func joined(open byte, a, b json.RawMessage, end byte) json.RawMessage {
	inner := func(raw json.RawMessage) string {
		s := strings.TrimSpace(string(raw))
		if s[0] != open {
			return "" // not what it should be: as if it were empty
		}
		return strings.TrimSpace(s[1 : len(s)-1])
	}
	x, y := inner(a), inner(b)
	if x != "" && y != "" {
		x += ","
	}
	return json.RawMessage(string(open) + x + y + string(end))
}

// typeOf is the one type of a schema, and whether it may be null as well.
func typeOf(m map[string]json.RawMessage) (kind string, nullable bool) {
	kinds := []string{text(m["type"])}
	if several := list(m["type"]); several != nil {
		kinds = nil
		for _, k := range several {
			kinds = append(kinds, text(k))
		}
	}
	for _, k := range kinds {
		if k == "null" {
			nullable = true
		} else if kind == "" {
			kind = k
		}
	}
	switch {
	case kind != "":
	case m["properties"] != nil:
		kind = "object"
	case m["items"] != nil:
		kind = "array"
	case m["enum"] != nil || m["const"] != nil:
		kind = "string"
	}
	return kind, nullable || text(m["nullable"]) == "true" || string(m["nullable"]) == "true"
}

var formats = map[string][]string{
	"number":  {"float", "double"},
	"integer": {"int32", "int64"},
	"string":  {"enum", "date-time"},
}

func format(kind string, raw json.RawMessage) []byte {
	if slices.Contains(formats[kind], text(raw)) {
		return raw
	}
	return nil
}

// enum are the allowed values; only strings can be said.
func enum(kind string, m map[string]json.RawMessage) []byte {
	values := list(m["enum"])
	if c := m["const"]; c != nil {
		values = []json.RawMessage{c}
	}
	if kind != "string" || len(values) == 0 {
		return nil
	}
	for _, v := range values {
		if len(v) == 0 || v[0] != '"' {
			return nil
		}
	}
	return dialect.JSON(values)
}

// first is the first value that is a number.
func first(values ...json.RawMessage) []byte {
	for _, v := range values {
		if len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
			return v
		}
	}
	return nil
}

// properties keeps their order. An empty list of them is refused.
func (f *fitter) properties(raw json.RawMessage, depth int) []byte {
	var b []byte
	seen := map[string]bool{}
	for _, p := range members(raw) {
		if seen[p.name] {
			continue
		}
		seen[p.name] = true
		b = append(b, ',')
		b = append(dialect.AppendString(b, p.name), ':')
		b = f.append(b, p.value, depth+1)
	}
	if len(b) == 0 {
		return nil
	}
	b[0] = '{'
	return append(b, '}')
}

// required may only name properties that there are.
func required(m map[string]json.RawMessage) []byte {
	there := map[string]bool{}
	for _, p := range members(m["properties"]) {
		there[p.name] = true
	}
	var names []string
	for _, n := range list(m["required"]) {
		if name := text(n); there[name] {
			there[name] = false
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return dialect.JSON(names)
}

// items of an array must be said; those of a tuple are all like its first.
func (f *fitter) items(kind string, raw json.RawMessage, depth int) []byte {
	if tuple := list(raw); len(tuple) > 0 {
		raw = tuple[0]
	}
	switch {
	case len(fields(raw)) > 0:
		return f.append(nil, raw, depth+1)
	case kind == "array":
		return []byte(`{"type":"STRING"}`)
	}
	return nil
}

// choices are the alternatives of a schema, whichever way it says them.
func (f *fitter) choices(m map[string]json.RawMessage, depth int) []byte {
	var all []json.RawMessage
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, c := range list(m[key]) {
			if kind, _ := typeOf(fields(c)); kind != "" {
				all = append(all, f.append(nil, c, depth+1))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return dialect.JSON(all)
}

type member struct {
	name  string
	value json.RawMessage
}

// members are the fields of an object in their order.
func members(raw json.RawMessage) []member {
	var out []member
	s := dialect.NewScan(raw)
	for ok := len(raw) > 0 && s.Object(); ok && s.Field(); {
		name := string(s.Key)
		out = append(out, member{name, s.Raw()})
	}
	return out
}

func fields(raw json.RawMessage) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for _, f := range members(raw) {
		m[f.name] = f.value
	}
	return m
}

func list(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything but a string is no text
	return s
}
