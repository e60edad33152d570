package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Schema is the JSON Schema of the file of settings, made from the table: an
// editor that knows it completes the keys and marks what Load would refuse.
func Schema() ([]byte, error) {
	root := object("The settings of ikigai. Comments and trailing commas are allowed.")
	root.Draft = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "ikigai settings"
	root.put("$schema", &node{Type: "string", Description: "where this schema is, for editors"})
	for _, s := range table {
		root.place(s.Key, s.node())
		for _, old := range s.Old {
			alias := s.node()
			alias.Description, alias.Deprecated, alias.Default = "the same as "+s.Key, true, nil
			root.place(old, alias)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(root)
	return b.Bytes(), err
}

// A node is one schema within the schema.
type node struct {
	Draft       string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Type        any             `json:"type"` // a word or several
	Enum        []string        `json:"enum,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Minimum     *int            `json:"minimum,omitempty"`
	Items       *node           `json:"items,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Deprecated  bool            `json:"deprecated,omitempty"`
	Properties  *properties     `json:"properties,omitempty"`
	Additional  *bool           `json:"additionalProperties,omitempty"`
}

func object(description string) *node {
	no := false
	return &node{Type: "object", Description: description, Properties: &properties{nodes: map[string]*node{}}, Additional: &no}
}

// put adds a property; one that is there already stays.
func (n *node) put(name string, value *node) *node {
	p := n.Properties
	if have, ok := p.nodes[name]; ok {
		return have
	}
	p.names, p.nodes[name] = append(p.names, name), value
	return value
}

// place puts a setting where the dots of its key lead.
func (n *node) place(key string, value *node) {
	first, rest, nested := strings.Cut(key, ".")
	if !nested {
		n.put(key, value)
		return
	}
	n.put(first, object("")).place(rest, value)
}

// properties keep the order of the table.
type properties struct {
	names []string
	nodes map[string]*node
}

// MarshalJSON writes the properties in their order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range p.names {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(strconv.Quote(name)) // names of the table are plain words
		b.WriteByte(':')
		raw, err := json.Marshal(p.nodes[name])
		if err != nil {
			return nil, err
		}
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// durations are what time.ParseDuration takes, without a sign.
const durations = `^(\d+|0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`

// node is the schema of one setting's value.
func (s Setting) node() *node {
	n := &node{Description: s.Doc, Enum: s.Allowed, Default: s.written()}
	zero := 0
	switch s.Type() {
	case "yes or no (true, false)":
		n.Type = "boolean"
	case "whole number":
		n.Type, n.Minimum = "integer", &zero
	case "number":
		n.Type, n.Minimum = "number", &zero
	case "duration":
		n.Type, n.Pattern, n.Minimum = []string{"string", "integer"}, durations, &zero
		n.Description += " (such as 30s or 2m; a plain number is seconds)"
	case "list of strings":
		n.Type, n.Items = "array", &node{Type: "string"}
	default:
		n.Type = "string"
	}
	if len(n.Enum) > 0 && s.Default == "" {
		n.Enum = append([]string{""}, n.Enum...) // empty means: not set
	}
	return n
}

// written is the default as the file would write it.
func (s Setting) written() json.RawMessage {
	if s.Default == "" {
		return nil
	}
	in := new(Settings)
	if err := s.assign(in, s.Default); err != nil {
		return nil // Load says that the table is wrong
	}
	value := s.Value(in)
	if s.Type() == "duration" {
		value = s.Default
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}
