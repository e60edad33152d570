package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Unknown says what becomes of arguments that the schema does not name.
type Unknown uint8

const (
	DropUnknown   Unknown = iota // they are left out, and reported
	RefuseUnknown                // the call is refused: for tools that execute
)

// Args are arguments that were understood and fit the schema.
type Args struct {
	// Value is the object to show, judge, decode and run: only declared names,
	// none twice, integers without point or exponent.
	Value   json.RawMessage
	Repairs []string // what was mended, for the event
	Dropped []string // which unknown arguments were left out
}

// A ParseError says why the arguments are not JSON, in words for the model.
type ParseError struct{ Problem string }

func (e *ParseError) Error() string { return "the arguments are not valid JSON: " + e.Problem }

// A ValidationError says why the arguments do not fit, in words for the model.
type ValidationError struct{ Problems []string }

func (e *ValidationError) Error() string {
	const most = 8
	shown := e.Problems[:min(most, len(e.Problems))]
	text := "invalid arguments: " + strings.Join(shown, "; ")
	if more := len(e.Problems) - len(shown); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Read understands the arguments of one call. What is not JSON but can be read
// in one way only is mended, and so is a value whose type the schema makes
// clear; both are told in Repairs. Nothing is guessed: text that was cut off, a
// name that comes twice and a value that could mean two things are refused, with
// a *ParseError or a *ValidationError.
func (o Object) Read(raw []byte, unknown Unknown) (Args, error) {
	v, repairs, err := scan(raw)
	if err != nil {
		return Args{}, err
	}
	root := o.load().root
	r := &reader{unknown: unknown, repairs: repairs, fuel: minFuel + 8*len(raw)}
	r.path = r.near[:0]
	r.unwrap(root, &v)
	if v.kind != object {
		return Args{}, &ValidationError{[]string{"the arguments must be one JSON object, not " + v.kind.name()}}
	}
	r.fit(root, &v, true)
	if len(r.problems) == 0 {
		r.check(root, &v)
	}
	if len(r.problems) > 0 {
		return Args{}, r.invalid(root)
	}
	return Args{v.appendTo(make([]byte, 0, len(raw))), r.repairs, r.dropped}, nil
}

// minFuel is enough for any schema and a small value, and little time.
const minFuel = 1 << 19

// invalid is the error for the problems found. Unknown arguments are named as
// well: one of them is often the misspelt name of the one that is missing.
func (r *reader) invalid(root *node) error {
	if len(r.dropped) > 0 {
		r.problems = append(r.problems, strings.Join(r.dropped, ", ")+" is no parameter"+root.known())
	}
	return &ValidationError{r.problems}
}

// unwrap takes the object out of what it was wrapped in.
func (r *reader) unwrap(root *node, v *value) {
	const most = 3 // times encoded
	for range most {
		if v.kind == text && !r.decode(v) {
			break
		}
	}
	switch {
	case v.kind == null:
		*v = objectOf()
		r.note("null read as {}")
	case v.kind == array && len(v.items) == 1 && v.items[0].kind == object:
		*v = v.items[0]
		r.note("taken out of an array of one")
	}
	if inner := wrapped(root, v); inner != nil && (inner.kind == object || r.decode(inner)) && inner.kind == object {
		*v = *inner
		r.note("taken out of a wrapper")
	}
}

// decode replaces a string by the JSON object that it holds.
func (r *reader) decode(v *value) bool {
	inner, err := scanStrict(v.text)
	if err != nil || inner.kind != object && inner.kind != text {
		return false
	}
	*v = inner
	r.note("string read as the JSON in it")
	return true
}

// wrapped is the object or string within a wrapper that is the only member of v
// and no parameter of the tool.
func wrapped(root *node, v *value) *value {
	if len(v.members) != 1 || root.meant(v.members[0].name) != "" || !root.closed {
		return nil
	}
	names := []string{"arguments", "args", "parameters", "params", "input", "tool_input", "kwargs"}
	m := &v.members[0]
	if !slices.Contains(names, m.name) || m.value.kind != object && m.value.kind != text {
		return nil
	}
	return &m.value
}
