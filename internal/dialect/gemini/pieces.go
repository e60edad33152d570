package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"ikigai/internal/dialect"
)

// pieces are the arguments of a call that come as values at JSON paths.
type pieces struct {
	block int
	args  json.RawMessage // what came whole, if anything
	root  any
}

type partialArg struct {
	Path   string       `json:"jsonPath"`
	Text   *string      `json:"stringValue"`
	Number *json.Number `json:"numberValue"`
	Bool   *bool        `json:"boolValue"`
	Null   any          `json:"nullValue"`
}

func (p *pieces) add(args []partialArg) {
	if p.root == nil {
		_ = json.Unmarshal(p.args, &p.root) // nothing came whole
		if _, ok := p.root.(map[string]any); !ok {
			p.root = map[string]any{}
		}
	}
	for _, a := range args {
		p.root = put(p.root, steps(a.Path), a)
	}
}

func (p *pieces) text() string { return string(dialect.JSON(p.root)) }

// steps splits a path such as $.a[0]['b c'] into its names and numbers.
func steps(path string) []string {
	var out []string
	for rest := strings.TrimPrefix(path, "$"); rest != ""; {
		switch {
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			out, rest = append(out, rest[:end]), rest[end:]
		case rest[0] == '[':
			inner, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return out
			}
			out, rest = append(out, strings.Trim(inner, `'"`)), after
		default:
			return out
		}
	}
	return out
}

// mostElements bounds an array that a path makes: an index is a word of the model.
const mostElements = 1 << 16

// put sets a value at the end of steps and makes what is missing on the way. A
// number is an index where there is an array, or nothing yet.
func put(at any, path []string, a partialArg) any {
	if len(path) == 0 {
		return a.value(at)
	}
	step, rest := path[0], path[1:]
	array, isArray := at.([]any)
	if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < mostElements && (isArray || at == nil) {
		for len(array) <= n {
			array = append(array, nil)
		}
		array[n] = put(array[n], rest, a)
		return array
	}
	object, ok := at.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[step] = put(object[step], rest, a)
	return object
}

// value is a's value; a string goes on where one was begun.
func (a partialArg) value(was any) any {
	switch {
	case a.Text != nil:
		begun, _ := was.(string)
		return begun + *a.Text
	case a.Number != nil:
		return *a.Number
	case a.Bool != nil:
		return *a.Bool
	}
	return nil
}
