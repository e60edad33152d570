package ollama

import (
	"bytes"

	"ikigai/internal/dialect"
)

// appendParameters appends the parameters of a tool as the server's own types
// read them, which follow no references.
func appendParameters(b, raw []byte) []byte { return appendSchema(b, dialect.Inline(raw)) }

// appendSchema appends a schema without true and false in the place of another:
// one such refuses the whole request, with the conversation and all other tools.
func appendSchema(b, raw []byte) []byte {
	if !bytes.Contains(raw, []byte("true")) && !bytes.Contains(raw, []byte("false")) {
		return append(b, raw...)
	}
	s := dialect.NewScan(raw)
	if !s.Object() {
		return append(b, `{}`...) // true; the server knows no schema that nothing fits
	}
	return appendFields(b, s, func(b []byte, key string, value []byte) []byte {
		switch key {
		case "properties":
			return appendProperties(b, value)
		case "anyOf":
			return appendChoices(b, value)
		}
		return append(b, value...)
	})
}

func appendProperties(b, raw []byte) []byte {
	s := dialect.NewScan(raw)
	if !s.Object() {
		return append(b, `{}`...)
	}
	return appendFields(b, s, func(b []byte, _ string, value []byte) []byte { return appendSchema(b, value) })
}

func appendChoices(b, raw []byte) []byte {
	s := dialect.NewScan(raw)
	b = append(b, '[')
	from := len(b)
	for ok := s.Array(); ok && s.Element(); {
		if len(b) > from {
			b = append(b, ',')
		}
		b = appendSchema(b, s.Raw())
	}
	return append(b, ']')
}

// appendFields appends the object that s has just entered, each value by write.
func appendFields(b []byte, s dialect.Scan, write func(b []byte, key string, value []byte) []byte) []byte {
	b = append(b, '{')
	from := len(b)
	for s.Field() {
		if len(b) > from {
			b = append(b, ',')
		}
		key := string(s.Key)
		b = append(dialect.AppendString(b, key), ':')
		b = write(b, key, s.Raw())
	}
	return append(b, '}')
}
