// Package schema describes the parameters of tools, and reads arguments by them.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// An Object is a JSON Schema whose top is an object. The zero Object has no parameters.
type Object struct{ raw string }

// A Property is one parameter, for listings.
type Property struct {
	Name        string
	Type        string
	Description string
	Required    bool
	Format      string
	Enum        []string
	Default     json.RawMessage
	Aliases     []string
	Schema      json.RawMessage
}

// Unknown says what to do with arguments that the schema does not name.
type Unknown uint8

const (
	DropUnknown   Unknown = iota // leave them out and report them
	RefuseUnknown                // refuse the call
)

// Args are arguments that were read and found valid.
type Args struct {
	Value   json.RawMessage // the object to decode and run
	Repairs []string        // what was put right
	Dropped []string        // what was left out
}

// A ParseError says that the arguments are not JSON. Its text is for the model.
type ParseError struct{ Problem string }

func (e *ParseError) Error() string { return e.Problem }

// A ValidationError says that the arguments do not fit the schema. Its text is for the model.
type ValidationError struct{ Problems []string }

func (e *ValidationError) Error() string { return strings.Join(e.Problems, "; ") }

// Parse reads a schema, in the short form or as JSON Schema.
func Parse(raw []byte) (Object, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return Object{}, fmt.Errorf("parsing schema: %w", err)
	}
	return Object{string(raw)}, nil
}

// Of derives the schema of the struct T.
func Of[T any]() Object {
	t := reflect.TypeFor[T]()
	props := map[string]any{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		props[name] = map[string]any{"description": f.Tag.Get("doc")}
	}
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": props})
	return Object{string(raw)}
}

// JSON is the normalised JSON Schema.
func (o Object) JSON() json.RawMessage {
	if o.raw == "" {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return json.RawMessage(o.raw)
}

// Flat is the short form: a map from name to property.
func (o Object) Flat() json.RawMessage { return o.JSON() }

// Properties are the parameters in order.
func (o Object) Properties() []Property { return nil }

// Empty reports whether there are no parameters.
func (o Object) Empty() bool { return o.raw == "" }

// MarshalJSON writes the normalised JSON Schema.
func (o Object) MarshalJSON() ([]byte, error) { return o.JSON(), nil }

// UnmarshalJSON is Parse.
func (o *Object) UnmarshalJSON(raw []byte) (err error) {
	*o, err = Parse(raw)
	return err
}

// Read reads arguments.
func (o Object) Read(raw []byte, unknown Unknown) (Args, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return Args{}, errors.Join(&ParseError{err.Error()})
	}
	return Args{Value: raw}, nil
}
