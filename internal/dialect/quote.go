package dialect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"ikigai/internal/convo"
)

// AppendString appends s as a JSON string. Only what JSON demands is escaped;
// bytes that are no UTF-8 become U+FFFD.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// AppendField appends ,"name":"value", or nothing when value is empty.
func AppendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = AppendString(append(dst, ','), name)
	return AppendString(append(dst, ':'), value)
}

// AppendBase64 appends data as a JSON string with something before it.
func AppendBase64(dst []byte, before string, data []byte) []byte {
	dst = append(append(dst, '"'), before...)
	return append(base64.StdEncoding.AppendEncode(dst, data), '"')
}

// AppendDataURL appends a picture as an address that holds it.
func AppendDataURL(dst []byte, i convo.Image) []byte {
	return AppendBase64(dst, "data:"+i.Media+";base64,", i.Data)
}

// ArgsText is arguments for a format that wants them as a string: as the model
// wrote them, or {} when they never became JSON.
func ArgsText(args json.RawMessage) []byte {
	if len(args) == 0 || !json.Valid(args) {
		return []byte("{}")
	}
	return args
}

// ArgsObject is arguments for a format that wants an object.
func ArgsObject(args json.RawMessage) []byte {
	s := NewScan(args)
	if s.Kind() != '{' || len(s.Raw()) == 0 || !s.OK() {
		return []byte("{}")
	}
	return args
}

// AppendList appends open, the elements with commas between them, and ]. An
// empty list is left out.
func AppendList[E any](dst []byte, open string, list []E, each func([]byte, E) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, open...)
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(dst, e)
	}
	return append(dst, ']')
}

// JSON encodes a value of ours that is made of strings, numbers and sound JSON,
// without the escapes for HTML.
func JSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
