// Package schema describes the parameters of tools, and reads the arguments of
// a call by that description.
//
// A description comes from a Go struct (Of), from the short form of the tool
// protocol or from JSON Schema (Parse); all three are an Object and go out as
// JSON Schema. Reading (Object.Read) is where text that a model wrote becomes a
// value that may run: it is strict about names and duplicates, mends only what
// has one meaning, says what it mended, and refuses the rest in words that the
// model can act on. What Read returns is the one value to show, judge and run.
package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An Object is a JSON Schema whose top is an object: the parameters of a tool.
// It may be copied and used by many goroutines. The zero Object has no parameters.
type Object struct{ plan *plan }

// A plan is an Object worked out on first use: a program that only lists its
// tools never pays for what reading needs.
type plan struct {
	source func() value // the normalised schema

	once sync.Once
	doc  value           // what source gave, as far as it is told to others
	wire json.RawMessage // as sent to a model
	root *node           // as used for reading
}

func newObject(source func() value) Object { return Object{&plan{source: source}} }

func (o Object) load() *plan {
	p := o.plan
	if p == nil {
		p = &plan{source: func() value { return topOf(value{kind: object}, value{}, nil) }}
	}
	p.once.Do(func() {
		whole := p.source()
		p.doc = told(whole)
		wire := mapSchemas(p.doc, forModel)
		p.wire = wire.appendTo(nil)
		p.root = compile(&whole)
	})
	return p
}

// JSON is the schema as a model gets it: type, properties and required, each in
// a fixed order, without what only we understand. It must not be changed.
func (o Object) JSON() json.RawMessage { return o.load().wire }

// Flat is the schema as --schema prints it: a map from the name of a parameter
// to its property, with required:true where it must be given. A schema that
// says more than such a map can is given as JSON Schema.
func (o Object) Flat() json.RawMessage {
	doc := o.load().doc
	flat := marked(doc)
	if again, err := normalise(flat); err != nil || !again.equal(&doc) {
		flat = doc
	}
	return flat.appendTo(nil)
}

// Empty reports whether there are no parameters.
func (o Object) Empty() bool {
	return o.plan == nil || len(o.load().doc.get("properties").members) == 0
}

// MarshalJSON writes all that the Object knows as JSON Schema; reading it again
// gives the same Object.
func (o Object) MarshalJSON() ([]byte, error) {
	doc := o.load().doc
	return doc.appendTo(nil), nil
}

// UnmarshalJSON is Parse; null leaves the Object as it is.
func (o *Object) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	parsed, err := Parse(raw)
	if err == nil {
		*o = parsed
	}
	return err
}

// A Property is one parameter of an Object.
type Property struct {
	Name        string
	Type        string // "string"; "integer|null" when several are allowed; empty when any is
	Description string
	Required    bool
	Format      string   // "path" and "command" mark what a permission must look at
	Enum        []string // the allowed values; those that are no strings as JSON
	Default     json.RawMessage
	Aliases     []string        // other names that are understood
	Schema      json.RawMessage // the property as a model gets it
}

// Properties are the parameters in the order they were written.
func (o Object) Properties() []Property {
	doc := o.load().doc
	var all []Property
	for _, m := range doc.get("properties").members {
		wire := mapSchemas(m.value, forModel)
		p := Property{
			Name:        m.name,
			Type:        strings.Join(m.value.get("type").words(), "|"),
			Description: strings.Join(m.value.get("description").words(), ""),
			Required:    requires(doc, m.name),
			Format:      strings.Join(m.value.get("format").words(), ""),
			Enum:        m.value.get("enum").words(),
			Aliases:     m.value.get("aliases").words(),
			Schema:      wire.appendTo(nil),
		}
		if d := m.value.get("default"); d != nil {
			p.Default = d.appendTo(nil)
		}
		all = append(all, p)
	}
	return all
}

// words are the strings of a string or of an array; other values as JSON.
func (v *value) words() []string {
	switch {
	case v == nil:
		return nil
	case v.kind == text:
		return []string{v.text}
	case v.kind != array:
		return []string{string(v.appendTo(nil))}
	}
	var all []string
	for i := range v.items {
		all = append(all, v.items[i].words()...)
	}
	return all
}

func requires(doc value, name string) bool {
	return slices.Contains(doc.get("required").words(), name)
}

// Parse reads a schema, either the short form of the tool protocol (a map from
// name to property) or JSON Schema. Which one it is follows from the kinds of
// the values, so a parameter may well be called "type" or "properties".
func Parse(raw []byte) (Object, error) {
	written, err := scanStrict(string(raw))
	if err != nil {
		return Object{}, fmt.Errorf("reading parameters: %w", err)
	}
	doc, err := normalise(written)
	if err != nil {
		return Object{}, fmt.Errorf("reading parameters: %w", err)
	}
	return newObject(func() value { return doc }), nil
}

// normalise brings both forms into one: type, properties and required first,
// required as a list wherever it was a mark on a property.
func normalise(written value) (value, error) {
	if written.kind != object {
		return value{}, fmt.Errorf("want an object, got %s", written.kind.name())
	}
	if !isJSONSchema(&written) {
		written = objectOf(member{"properties", written})
	}
	if t := written.get("type"); t != nil && !slices.Contains(t.words(), "object") {
		return value{}, fmt.Errorf(`the type at the top must be "object", got %s`, t.short())
	}
	if err := sound(&written); err != nil {
		return value{}, err
	}
	doc := mapSchemas(written, liftRequired)
	properties := value{kind: object}
	if p := doc.get("properties"); p != nil {
		properties = *p
	}
	required := doc.get("required").words()
	for _, name := range required {
		if properties.get(name) == nil { // what must be given is a parameter, described or not
			properties.set(name, value{kind: object})
		}
	}
	return topOf(properties, doc.without("type", "properties", "required", "$schema"), required), nil
}

// topOf puts a schema together in the order that JSON promises.
func topOf(properties, rest value, required []string) value {
	doc := objectOf(member{"type", textOf("object")}, member{"properties", properties})
	if len(required) > 0 {
		doc.members = append(doc.members, member{"required", listOf(required)})
	}
	doc.members = append(doc.members, rest.members...)
	return doc
}

func listOf(words []string) value {
	list := arrayOf()
	for _, w := range words {
		list.items = append(list.items, textOf(w))
	}
	return list
}

// isJSONSchema tells the two forms apart. In the short form every value is a
// property, hence an object; in JSON Schema the type is a string and each value
// below properties is a schema.
func isJSONSchema(v *value) bool {
	if t := v.get("type"); t != nil {
		return t.kind != object
	}
	if p := v.get("properties"); p != nil {
		return p.kind == object && !slices.ContainsFunc(p.members, func(m member) bool {
			return m.value.kind != object && m.value.kind != boolean
		})
	}
	return slices.ContainsFunc(v.members, func(m member) bool {
		return m.value.kind != object && slices.Contains(topKeywords(), m.name)
	})
}

// topKeywords make an object a JSON Schema though it names neither type nor
// properties, when their value is no object.
func topKeywords() []string {
	return []string{"$schema", "$ref", "allOf", "anyOf", "oneOf", "required", "additionalProperties"}
}

// sound looks for what no tool can have meant, so that a broken schema is
// refused when it is found and not when it is used.
func sound(schema *value) error {
	for _, m := range schema.get("properties").all() {
		if err := soundProperty(&m.value); err != nil {
			return fmt.Errorf("parameter %q: %w", m.name, err)
		}
	}
	if p := schema.get("properties"); p != nil && p.kind != object {
		return fmt.Errorf("properties must be an object, got %s", p.kind.name())
	}
	if r := schema.get("required"); r != nil && r.kind != boolean && !r.isStrings() {
		return fmt.Errorf("required must be a list of names or a boolean, got %s", r.short())
	}
	return nil
}

func soundProperty(p *value) error {
	if p.kind != object && p.kind != boolean {
		return fmt.Errorf("want an object that describes it, got %s", p.short())
	}
	for _, word := range p.get("type").words() {
		if kindOf(word) == 0 {
			return fmt.Errorf("unknown type %q", word)
		}
	}
	if d := p.get("description"); d != nil && d.kind != text {
		return fmt.Errorf("description must be a string, got %s", d.short())
	}
	return sound(p)
}

func (v *value) all() []member {
	if v == nil {
		return nil
	}
	return v.members
}

func (v *value) isStrings() bool {
	return v.is(array) && !slices.ContainsFunc(v.items, func(i value) bool { return i.kind != text })
}

// liftRequired makes the list of a schema from the marks on its properties, in
// the order of the properties.
func liftRequired(schema value) value {
	var listed, names []string
	if r := schema.get("required"); r.isStrings() {
		listed = r.words()
	}
	if properties := schema.get("properties"); properties.is(object) {
		lifted := value{kind: object}
		for _, m := range properties.members {
			mark := m.value.get("required")
			if mark.is(boolean) {
				m.value = m.value.without("required")
			}
			if mark.is(boolean) && mark.truth || slices.Contains(listed, m.name) {
				names = append(names, m.name)
			}
			lifted.members = append(lifted.members, m)
		}
		schema.set("properties", lifted)
	}
	for _, name := range listed {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return schema.without("required")
	}
	schema.set("required", listOf(names))
	return schema
}

// marked is the other way round: the properties of schema with a mark on each
// that is required.
func marked(schema value) value {
	properties := value{kind: object}
	for _, m := range schema.get("properties").all() {
		if requires(schema, m.name) {
			if m.value.get("required") != nil {
				m.value.set("properties", marked(m.value))
			}
			m.value.set("required", value{kind: boolean, truth: true})
		}
		properties.members = append(properties.members, m)
	}
	return properties
}

// told is schema without its hidden properties.
func told(schema value) value {
	all := schema.get("properties").all()
	if !slices.ContainsFunc(all, isHidden) {
		return schema
	}
	properties := value{kind: object}
	for _, m := range all {
		if !isHidden(m) {
			properties.members = append(properties.members, m)
		}
	}
	schema.members = slices.Clone(schema.members)
	schema.set("properties", properties)
	return schema
}

func isHidden(m member) bool {
	mark := m.value.get("hidden")
	return mark.is(boolean) && mark.truth
}

// forModel takes out what only we understand.
func forModel(schema value) value {
	out := schema.without("aliases")
	if f := out.get("format"); f.is(text) && (f.text == "path" || f.text == "command") {
		out = out.without("format")
	}
	return out
}

// mapSchemas gives schema with f done to it and then to every schema within it.
// Names of parameters are never taken for keywords.
func mapSchemas(schema value, f func(value) value) value {
	if schema.kind != object {
		return schema
	}
	schema = f(schema)
	schema.members = slices.Clone(schema.members)
	for i := range schema.members {
		v := &schema.members[i].value
		switch holds := holdersOf(schema.members[i].name); {
		case holds&holdsSchema != 0 && v.kind == object:
			*v = mapSchemas(*v, f)
		case holds&holdsList != 0 && v.kind == array:
			v.items = slices.Clone(v.items)
			for j := range v.items {
				v.items[j] = mapSchemas(v.items[j], f)
			}
		case holds&holdsMap != 0 && v.kind == object:
			v.members = slices.Clone(v.members)
			for j := range v.members {
				v.members[j].value = mapSchemas(v.members[j].value, f)
			}
		}
	}
	return schema
}

// Where a keyword keeps the schemas within it.
const (
	holdsSchema = 1 << iota
	holdsList
	holdsMap
)

func holdersOf(keyword string) int {
	switch keyword {
	case "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then":
		return holdsSchema
	case "items":
		return holdsSchema | holdsList
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return holdsList
	case "$defs", "definitions", "dependentSchemas", "patternProperties", "properties":
		return holdsMap
	}
	return 0
}
