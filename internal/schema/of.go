package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Of is the schema of the struct T, worked out on first use. Fields come in
// their order, under the names that encoding/json uses, and are required unless
// they say omitempty or omitzero. Further tags:
//
//	doc      the description
//	min max  bounds of a number; of the length of a string or a list
//	maxlen   most characters of a string
//	enum     allowed words, with commas between; of a list, those of its items
//	format   path or command mark what a permission must look at
//	default  what the tool takes when nothing is given
//	alias    other names that are understood, with commas between
//	hidden   true: understood, but told to nobody
//
// A type that cannot be described, or a tag that makes no sense, is a mistake
// of the programmer and panics.
func Of[T any]() Object {
	t := reflect.TypeFor[T]()
	return newObject(func() value {
		if t.Kind() != reflect.Struct {
			panic(fmt.Sprintf("schema: parameters must be a struct, not %s", t))
		}
		s := structOf(t, nil)
		return topOf(*s.get("properties"), value{}, s.get("required").words())
	})
}

// typeOf is the schema of a type. The structs around it are known, so that one
// which holds itself comes to an end.
func typeOf(t reflect.Type, around []reflect.Type) value {
	switch word := typeWord(t); {
	case t == reflect.TypeFor[time.Time]():
		return objectOf(member{"type", textOf("string")}, member{"format", textOf("date-time")})
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return objectOf() // anything: the type reads it by itself
	case word != "":
		return objectOf(member{"type", textOf(word)})
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem(), around)
	case reflect.Interface:
		return objectOf()
	case reflect.Slice, reflect.Array:
		return objectOf(member{"type", textOf("array")}, member{"items", typeOf(t.Elem(), around)})
	case reflect.Map:
		return objectOf(member{"type", textOf("object")}, member{"additionalProperties", typeOf(t.Elem(), around)})
	case reflect.Struct:
		if slices.Contains(around, t) {
			return objectOf(member{"type", textOf("object")})
		}
		return structOf(t, around)
	}
	panic(fmt.Sprintf("schema: no JSON for the type %s", t))
}

// typeWord is the type keyword of what needs no more than that, or empty.
func typeWord(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.String, reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "string"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string" // base64
	case k == reflect.Bool:
		return "boolean"
	case reflect.Int <= k && k <= reflect.Uint64:
		return "integer"
	case k == reflect.Float32, k == reflect.Float64:
		return "number"
	}
	return ""
}

// structOf is the schema of a struct.
func structOf(t reflect.Type, around []reflect.Type) value {
	s := objectOf(member{"type", textOf("object")}, member{"properties", objectOf()})
	var required []string
	properties := s.get("properties")
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		properties.set(name, fieldOf(f, append(slices.Clone(around), t)))
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		s.set("required", listOf(required))
	}
	return s
}

// fieldsOf are the fields that encoding/json would read, embedded ones included.
func fieldsOf(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag := f.Tag.Get("json")
			switch {
			case tag == "-" || !f.IsExported() && !f.Anonymous:
				continue
			case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
				for inner := range fieldsOf(f.Type) {
					if !yield(inner) {
						return
					}
				}
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// fieldOf is the schema of a field: that of its type, and what its tags add.
func fieldOf(f reflect.StructField, around []reflect.Type) value {
	s := typeOf(f.Type, around)
	if doc := f.Tag.Get("doc"); doc != "" {
		s.set("description", textOf(doc))
	}
	s.bound(f)
	if words := listTag(f, "enum"); words != nil {
		s.setEnum(f, words)
	}
	if format := f.Tag.Get("format"); format != "" {
		s.set("format", textOf(format))
	}
	if d, given := f.Tag.Lookup("default"); given {
		s.set("default", s.literal(f, d))
	}
	if words := listTag(f, "alias"); words != nil {
		s.set("aliases", listOf(words))
	}
	if f.Tag.Get("hidden") == "true" {
		s.set("hidden", value{kind: boolean, truth: true})
	}
	return s
}

func listTag(f reflect.StructField, tag string) []string {
	if f.Tag.Get(tag) == "" {
		return nil
	}
	return strings.Split(f.Tag.Get(tag), ",")
}

// bound adds the limits of a field: those of its Go type, then those of its tags.
func (v *value) bound(f reflect.StructField) {
	least, most := "minimum", "maximum"
	switch strings.Join(v.get("type").words(), "") {
	case "string":
		least, most = "minLength", "maxLength"
	case "array":
		least, most = "minItems", "maxItems"
	case "integer":
		v.boundInteger(f.Type)
	}
	for _, b := range [...]struct{ tag, keyword string }{{"min", least}, {"max", most}, {"maxlen", "maxLength"}} {
		if limit := f.Tag.Get(b.tag); limit != "" {
			v.set(b.keyword, numberOf(f, limit))
		}
	}
}

// boundInteger says what a small or unsigned integer can hold, so that what is
// valid can be decoded.
func (v *value) boundInteger(t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	k, bits := t.Kind(), t.Bits()
	if k >= reflect.Uint {
		v.set("minimum", value{kind: number, text: "0"})
	}
	if bits > 32 {
		return
	}
	most := int64(math.MaxUint32) >> (32 - bits)
	if k < reflect.Uint {
		most >>= 1
		v.set("minimum", value{kind: number, text: strconv.FormatInt(-most-1, 10)})
	}
	v.set("maximum", value{kind: number, text: strconv.FormatInt(most, 10)})
}

// setEnum puts the allowed words on a field, or on the items of a list.
func (v *value) setEnum(f reflect.StructField, words []string) {
	if items := v.get("items"); items != nil {
		inner := *items
		inner.setEnum(f, words)
		v.set("items", inner)
		return
	}
	list := arrayOf()
	for _, w := range words {
		list.items = append(list.items, v.literal(f, w))
	}
	v.set("enum", list)
}

// literal reads a value from a tag: text for a string, JSON for anything else.
func (v *value) literal(f reflect.StructField, s string) value {
	if t := v.get("type"); t.is(text) && t.text == "string" {
		return textOf(s)
	}
	literal, err := scanStrict(s)
	if err != nil {
		panic(fmt.Sprintf("schema: tag of the field %s: %s: %v", f.Name, s, err))
	}
	return literal
}

func numberOf(f reflect.StructField, s string) value {
	n, err := scanStrict(s)
	if err != nil || n.kind != number {
		panic(fmt.Sprintf("schema: tag of the field %s: %q is no number", f.Name, s))
	}
	return n
}
