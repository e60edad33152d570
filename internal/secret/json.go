package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// JSON is raw without secrets, in whatever way they are escaped there. What was
// valid JSON stays so; what was not is treated as plain bytes.
func (r *Redactor) JSON(raw []byte) []byte {
	if r == nil {
		return raw
	}
	if !json.Valid(raw) {
		return r.Bytes(raw)
	}
	var out []byte
	rest := 0
	for i := 0; i < len(raw); {
		n := tokenLength(raw[i:])
		if clean, changed := r.token(raw[i : i+n]); changed {
			out = append(append(out, raw[rest:i]...), clean...)
			rest = i + n
		}
		i += n
	}
	if out == nil {
		return raw
	}
	return append(out, raw[rest:]...)
}

const between = " \t\r\n{}[],:" // what stands between scalars

// tokenLength is the length of the string, the number or word, or the single
// byte between them that b begins with.
func tokenLength(b []byte) int {
	switch {
	case b[0] == '"':
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(b)
	case strings.IndexByte(between, b[0]) >= 0:
		return 1
	}
	if i := bytes.IndexAny(b, between+`"`); i > 0 {
		return i
	}
	return len(b)
}

// token is a scalar without secrets, as a JSON string, if it had one. A string
// is looked at as it was meant, since a letter can be escaped in many ways.
func (r *Redactor) token(lit []byte) (clean []byte, changed bool) {
	if bytes.IndexByte(lit, '\\') < 0 {
		inner := bytes.Trim(lit, `"`)
		out, rest, _ := replace(r, inner, true)
		if out == nil {
			return nil, false
		}
		return slices.Concat([]byte(`"`), out, inner[rest:], []byte(`"`)), true
	}
	var s string
	if err := json.Unmarshal(lit, &s); err != nil {
		return nil, false // cannot be: the whole was valid
	}
	t := r.Text(s)
	if t == s {
		return nil, false
	}
	return quote(t), true
}

// quote is s as a JSON string, with <, > and & as they are.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return []byte(`"[secret]"`) // cannot be: every string can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
