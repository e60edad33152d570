package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// kind is the type of a JSON value, as a bit so that a schema can name several.
type kind uint8

const (
	null kind = 1 << iota
	boolean
	integer // in schemas only: a value is a number
	number
	text
	array
	object
)

// A value is one JSON value. Members keep their order, and no name comes twice.
type value struct {
	kind    kind
	truth   bool     // of a boolean
	text    string   // of a string, decoded; of a number, its digits as written
	items   []value  // of an array
	members []member // of an object
}

type member struct {
	name  string
	value value
}

func textOf(s string) value            { return value{kind: text, text: s} }
func objectOf(members ...member) value { return value{kind: object, members: members} }
func arrayOf(items ...value) value     { return value{kind: array, items: items} }

// get is the member of that name, or nil.
func (v *value) get(name string) *value {
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

// is reports whether v is there and of kind k.
func (v *value) is(k kind) bool { return v != nil && v.kind == k }

// set replaces or adds a member. It never changes a list that a copy shares.
func (v *value) set(name string, to value) {
	members := slices.Clone(v.members)
	for i := range members {
		if members[i].name == name {
			members[i].value = to
			v.members = members
			return
		}
	}
	v.members = append(members, member{name, to})
}

// without is v less the named members.
func (v value) without(names ...string) value {
	v.members = slices.DeleteFunc(slices.Clone(v.members), func(m member) bool {
		return slices.Contains(names, m.name)
	})
	return v
}

// clone is a copy that shares nothing which fitting may change.
func (v value) clone() value {
	v.items = slices.Clone(v.items)
	for i := range v.items {
		v.items[i] = v.items[i].clone()
	}
	v.members = slices.Clone(v.members)
	for i := range v.members {
		v.members[i].value = v.members[i].value.clone()
	}
	return v
}

// size is the number of values in v, itself included.
func (v *value) size() int {
	n := 1
	for i := range v.items {
		n += v.items[i].size()
	}
	for i := range v.members {
		n += v.members[i].value.size()
	}
	return n
}

// equal compares as JSON Schema does: numbers by their value, members in any order.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || v.truth != w.truth || len(v.items) != len(w.items) || len(v.members) != len(w.members) {
		return false
	}
	if v.kind == number {
		return decimalOf(v.text).compare(decimalOf(w.text)) == 0
	}
	for i := range v.items {
		if !v.items[i].equal(&w.items[i]) {
			return false
		}
	}
	for i := range v.members {
		other := w.get(v.members[i].name)
		if other == nil || !v.members[i].value.equal(other) {
			return false
		}
	}
	return v.text == w.text
}

// key is the same text for values that are equal, so that many can be compared by a map.
func (v *value) key() string {
	sorted := v.sorted()
	return string(sorted.appendTo(nil))
}

// sorted is v in one form of its own: members by name, numbers without needless digits.
func (v value) sorted() value {
	v = v.clone()
	if v.kind == number {
		v.text = decimalOf(v.text).String()
	}
	for i := range v.items {
		v.items[i] = v.items[i].sorted()
	}
	for i := range v.members {
		v.members[i].value = v.members[i].value.sorted()
	}
	slices.SortFunc(v.members, func(a, b member) int {
		if a.name < b.name {
			return -1
		}
		return 1 // no two names are the same
	})
	return v
}

// appendTo writes v as compact JSON.
func (v *value) appendTo(b []byte) []byte {
	switch v.kind {
	case boolean:
		return strconv.AppendBool(b, v.truth)
	case number:
		return append(b, v.text...)
	case text:
		return appendQuoted(b, v.text)
	case array:
		b = append(b, '[')
		for i := range v.items {
			b = v.items[i].appendTo(separate(b, i))
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i := range v.members {
			b = append(appendQuoted(separate(b, i), v.members[i].name), ':')
			b = v.members[i].value.appendTo(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func separate(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	return append(b, ',')
}

const hex = "0123456789abcdef"

// appendQuoted writes a JSON string. Only what must be escaped is.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		if s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		if short := shortEscape(s[i]); short != 0 {
			b = append(b, '\\', short)
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[s[i]>>4], hex[s[i]&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}

// short is v for a message: JSON, cut to a length that a model reads without cost.
func (v *value) short() string {
	const most = 60
	s := string(v.appendTo(nil))
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// name is the kind in words, with its article.
func (k kind) name() string {
	switch k {
	case null:
		return "null"
	case boolean:
		return "a boolean"
	case integer:
		return "an integer"
	case number:
		return "a number"
	case text:
		return "a string"
	case array:
		return "an array"
	case object:
		return "an object"
	}
	return "nothing"
}
