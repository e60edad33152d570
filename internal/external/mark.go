package external

import (
	"encoding/json"

	"ikigai/internal/schema"
)

// A marker finds the arguments that a permission must look at: the strings
// whose schema says "format": "path" or "command", however deep they lie.
type marker struct {
	format   string
	fallback any               // what the tool takes when nothing is given
	members  map[string]marker // of an object
	items    []marker          // that every item of a list may be
	others   []marker          // further descriptions of the same value
}

// node is the part of a JSON Schema that says where values lie.
type node struct {
	Format     string          `json:"format"`
	Default    any             `json:"default"`
	Properties map[string]node `json:"properties"`
	Items      json.RawMessage `json:"items"` // a schema, or a list of them
	Prefix     []node          `json:"prefixItems"`
	Additional json.RawMessage `json:"additionalProperties"` // a schema or a boolean
	AnyOf      []node          `json:"anyOf"`
	OneOf      []node          `json:"oneOf"`
	AllOf      []node          `json:"allOf"`
}

// anyMember stands for the members of an object that have no name of their own.
const anyMember = ""

func markerOf(o schema.Object) marker {
	var top node
	raw, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &top)
	}
	if err != nil {
		return marker{} // keywords of a kind that no validator takes: nothing is marked
	}
	return top.marker()
}

func (n node) marker() marker {
	m := marker{format: n.Format, fallback: n.Default, members: map[string]marker{}}
	for name, p := range n.Properties {
		m.members[name] = p.marker()
	}
	var extra node
	if json.Unmarshal(n.Additional, &extra) == nil {
		m.members[anyMember] = extra.marker()
	}
	for _, item := range append(n.items(), n.Prefix...) {
		m.items = append(m.items, item.marker())
	}
	for _, list := range [][]node{n.AnyOf, n.OneOf, n.AllOf} {
		for _, other := range list {
			m.others = append(m.others, other.marker())
		}
	}
	return m
}

func (n node) items() []node {
	var one node
	if json.Unmarshal(n.Items, &one) == nil {
		return []node{one}
	}
	var many []node
	_ = json.Unmarshal(n.Items, &many) // neither: there is nothing to mark
	return many
}

// has reports whether anything is marked with that format.
func (m marker) has(format string) bool {
	if m.format == format {
		return true
	}
	for _, c := range m.members {
		if c.has(format) {
			return true
		}
	}
	for _, list := range [][]marker{m.items, m.others} {
		for _, c := range list {
			if c.has(format) {
				return true
			}
		}
	}
	return false
}

// find gives the marked strings of args by their format, in a fixed order.
func (m marker) find(args json.RawMessage) map[string][]string {
	var v any
	_ = json.Unmarshal(args, &v) // arguments that were read are valid JSON
	found := map[string][]string{}
	m.walk(v, found)
	return found
}

func (m marker) walk(v any, found map[string][]string) {
	for _, other := range m.others {
		other.walk(v, found)
	}
	switch v := v.(type) {
	case nil:
		if m.fallback != nil {
			m.walk(m.fallback, found)
		}
	case string:
		if m.format == "path" || m.format == "command" {
			found[m.format] = append(found[m.format], v)
		}
	case []any:
		m.walkItems(v, found)
	case map[string]any:
		m.walkMembers(v, found)
	}
}

// walkItems also takes a mark on the list itself for one on its items.
func (m marker) walkItems(list []any, found map[string][]string) {
	kinds := m.items
	if m.format != "" {
		kinds = append(kinds[:len(kinds):len(kinds)], marker{format: m.format})
	}
	for _, item := range list {
		for _, k := range kinds {
			k.walk(item, found)
		}
	}
}

func (m marker) walkMembers(given map[string]any, found map[string][]string) {
	for _, name := range sortedKeys(m.members) {
		if name != anyMember {
			m.members[name].walk(given[name], found)
		}
	}
	for _, name := range sortedKeys(given) {
		if _, named := m.members[name]; !named {
			m.members[anyMember].walk(given[name], found)
		}
	}
}
