package dialect

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Inline puts the schema that a $ref names in the place of the $ref, for a
// provider that follows none. What stands beside a $ref counts more than the
// schema it names, but that properties and required are joined. A schema that
// contains itself is a plain object where it would begin again, as is every
// further one of a document that grows beyond all measure; a $ref that leads
// nowhere, or out of the document, is left out.
func Inline(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("$ref")) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	in := inliner{doc: raw, open: []string{"#"}, seen: map[string][]byte{}}
	fields := in.resolve(members(raw))
	if fields == nil {
		return []byte(plainObject)
	}
	fields = slices.DeleteFunc(fields, func(m member) bool { return m.name == "$defs" || m.name == "definitions" })
	return in.object(nil, fields)
}

// Rooted is Inline for a provider that follows references, but wants to see an
// object at the top.
func Rooted(raw []byte) []byte {
	if slices.ContainsFunc(members(raw), member.refers) {
		return Inline(raw)
	}
	return raw
}

type inliner struct {
	doc  []byte
	seen map[string][]byte // what references name
	open []string          // the references that are being put in place
	size int               // what was put in place so far
}

// mostInlined is where a schema is no longer one that a person wrote.
const mostInlined = 256 << 10

// plainObject stands for what would have no end.
const plainObject = `{"type":"object"}`

func (in *inliner) value(b, raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return append(b, "null"...) // it was no JSON
	case raw[0] == '{':
		return in.schema(b, raw)
	case raw[0] == '[':
		return in.list(b, raw)
	}
	return append(b, raw...)
}

func (in *inliner) list(b, raw []byte) []byte {
	b = append(b, '[')
	from := len(b)
	s := NewScan(raw)
	for ok := s.Array(); ok && s.Element(); {
		if len(b) > from {
			b = append(b, ',')
		}
		b = in.value(b, s.Raw())
	}
	return append(b, ']')
}

func (in *inliner) schema(b, raw []byte) []byte {
	outer := len(in.open)
	defer func() { in.open = in.open[:outer] }()
	fields := in.resolve(members(raw))
	if fields == nil {
		return append(b, plainObject...)
	}
	return in.object(b, fields)
}

// resolve follows the references of a schema until there is none; nil is one
// that would begin again.
func (in *inliner) resolve(fields []member) []member {
	for {
		i := slices.IndexFunc(fields, member.refers)
		if i < 0 {
			return fields
		}
		ref := Unquote(fields[i].value[1 : len(fields[i].value)-1])
		target, known := in.seen[ref]
		if !known {
			target = pointed(in.doc, ref)
			in.seen[ref] = target
		}
		if in.size += len(target); slices.Contains(in.open, ref) || in.size > mostInlined {
			return nil
		}
		in.open = append(in.open, ref)
		fields = joined(members(target), slices.Delete(slices.Clone(fields), i, i+1))
	}
}

// literal are the fields that hold no schemas, whatever it looks like.
var literal = map[string]bool{"const": true, "default": true, "enum": true, "examples": true, "example": true}

func (in *inliner) object(b []byte, fields []member) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, f.name), ':')
		if literal[f.name] {
			b = append(b, f.value...)
		} else {
			b = in.value(b, f.value)
		}
	}
	return append(b, '}')
}

// member is a field of an object.
type member struct {
	name  string
	value []byte
}

// refers reports whether the field is a reference. A parameter may be called
// $ref too: its value is a schema.
func (m member) refers() bool { return m.name == "$ref" && m.value[0] == '"' }

// members are the fields of an object, in their order.
func members(raw []byte) []member {
	out := []member{}
	s := NewScan(raw)
	for ok := len(raw) > 0 && s.Object(); ok && s.Field(); {
		name := string(s.Key)
		if value := s.Raw(); value != nil {
			out = append(out, member{name, value})
		}
	}
	return out
}

// joined is fields with more added to them, or put in their places.
func joined(fields, more []member) []member {
	for _, m := range more {
		i := slices.IndexFunc(fields, func(f member) bool { return f.name == m.name })
		switch {
		case i < 0:
			fields = append(fields, m)
		case m.name == "properties":
			fields[i].value = written(joined(members(fields[i].value), members(m.value)))
		case m.name == "required":
			fields[i].value = bothLists(fields[i].value, m.value)
		default:
			fields[i] = m
		}
	}
	return fields
}

// written is an object of these fields.
func written(fields []member) []byte {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(AppendString(b, f.name), ':'), f.value...)
	}
	return append(b, '}')
}

func bothLists(a, b []byte) []byte {
	var all, more []json.RawMessage
	if json.Unmarshal(a, &all) != nil || json.Unmarshal(b, &more) != nil {
		return b
	}
	return JSON(append(all, more...))
}

// pointed is the part of a document that a reference names, or nil.
func pointed(doc []byte, ref string) []byte {
	path, local := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	if !local || err != nil {
		return nil
	}
	for _, step := range strings.Split(path, "/")[1:] {
		doc = child(doc, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return doc
}

// child is the field of that name, or the element of that number.
func child(raw []byte, step string) []byte {
	if len(raw) > 0 && raw[0] == '[' {
		var all []json.RawMessage
		if n, err := strconv.Atoi(step); err == nil && json.Unmarshal(raw, &all) == nil && n >= 0 && n < len(all) {
			return all[n]
		}
		return nil
	}
	for _, m := range members(raw) {
		if m.name == step {
			return m.value
		}
	}
	return nil
}
