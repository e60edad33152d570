package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// maxDepth is how deep values may lie within values in what a tool prints.
const maxDepth = 256

// An object is one JSON object that a tool printed.
type object struct {
	members []member // in the order they were written
	flawed  bool     // a name comes twice, or half a character stands alone
}

type member struct {
	name  string
	value json.RawMessage
}

// get is the value of the last member of that name, nil when there is none.
func (o object) get(name string) json.RawMessage {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return o.members[i].value
		}
	}
	return nil
}

// without is the object without the members of those names.
func (o object) without(names ...string) object {
	out := object{}
next:
	for _, m := range o.members {
		for _, n := range names {
			if m.name == n {
				continue next
			}
		}
		out.members = append(out.members, m)
	}
	return out
}

// encode writes the object without blanks between members.
func (o object) encode() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := tool.Encode(m.name) // a string always encodes
		b = append(append(b, name...), ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// readObject reads what a tool printed: exactly one JSON object in UTF-8, with
// blanks around it and perhaps a byte order mark before it.
func readObject(raw []byte) (object, error) {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	if !utf8.Valid(raw) {
		return object{}, errors.New("it is not valid UTF-8")
	}
	raw = bytes.Trim(raw, " \t\r\n")
	if len(raw) == 0 {
		return object{}, errors.New("nothing was printed")
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return object{}, fmt.Errorf("it is not one JSON object: %w", err)
	}
	if raw[0] != '{' {
		return object{}, fmt.Errorf("it is not one JSON object but %s", kindOfJSON(raw[0]))
	}
	if depthOf(raw) > maxDepth {
		return object{}, fmt.Errorf("values lie more than %d levels deep", maxDepth)
	}
	w := walker{raw: raw}
	members := w.object()
	return object{members, w.flawed}, nil
}

func kindOfJSON(first byte) string {
	switch first {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// depthOf is how deep values lie within values in valid JSON.
func depthOf(raw []byte) (most int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// mended gives a flawed object in the one form that every reader understands
// the same way: of two members with one name the last, for half a character the
// replacement character.
func (o object) mended() (object, error) {
	d := json.NewDecoder(bytes.NewReader(o.encode()))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return object{}, err
	}
	raw, err := tool.Encode(v)
	if err != nil {
		return object{}, err
	}
	return readObject(raw)
}

// A walker goes through text that is known to be valid JSON and not too deep,
// for what encoding/json does not tell.
type walker struct {
	raw    []byte
	at     int
	flawed bool
}

// object reads the object that begins here.
func (w *walker) object() []member {
	var members []member
	seen := map[string]bool{}
	w.within('}', func() {
		name := w.name()
		w.flawed = w.flawed || seen[name]
		seen[name] = true
		w.blank()
		w.at++ // the colon
		w.blank()
		from := w.at
		w.value()
		members = append(members, member{name, w.raw[from:w.at:w.at]})
	})
	return members
}

func (w *walker) value() {
	switch w.raw[w.at] {
	case '{':
		w.object()
	case '[':
		w.within(']', w.value)
	case '"':
		w.text()
	default:
		for w.at < len(w.raw) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(w.raw[w.at])) {
			w.at++
		}
	}
}

// within reads items from one bracket up to the other.
func (w *walker) within(end byte, item func()) {
	for {
		w.at++ // the opening bracket, or a comma
		if w.blank(); w.raw[w.at] != end {
			item()
			w.blank()
		}
		if w.raw[w.at] == end {
			w.at++
			return
		}
	}
}

func (w *walker) blank() {
	for w.at < len(w.raw) && (w.raw[w.at] == ' ' || w.raw[w.at] == '\t' || w.raw[w.at] == '\r' || w.raw[w.at] == '\n') {
		w.at++
	}
}

// name reads the name of a member, escapes resolved.
func (w *walker) name() string {
	from := w.at
	if !w.text() {
		return string(w.raw[from+1 : w.at-1])
	}
	var name string
	_ = json.Unmarshal(w.raw[from:w.at], &name) // it is a valid string
	return name
}

// text runs over a string and reports whether it has escapes.
func (w *walker) text() (escapes bool) {
	for w.at++; w.raw[w.at] != '"'; w.at++ {
		if w.raw[w.at] != '\\' {
			continue
		}
		escapes = true
		if w.at++; w.raw[w.at] == 'u' {
			w.surrogate()
		}
	}
	w.at++
	return escapes
}

// surrogate looks at a \u escape, of which the u is here: half of a pair must
// not stand alone. It leaves off at the last digit.
func (w *walker) surrogate() {
	first := w.raw[w.at+1 : w.at+5]
	w.at += 4
	switch {
	case first[0] != 'd' && first[0] != 'D' || first[1] < '8':
		return
	case isLow(first[1]) || !bytes.HasPrefix(w.raw[w.at+1:], []byte(`\u`)) || lower(w.raw[w.at+3]) != 'd' || !isLow(w.raw[w.at+4]):
		w.flawed = true
	default:
		w.at += 6
	}
}

func lower(c byte) byte { return c | 0x20 }

// isLow tells by the second digit of a surrogate that it is the latter half.
func isLow(c byte) bool { c = lower(c); return c >= 'c' && c <= 'f' }
