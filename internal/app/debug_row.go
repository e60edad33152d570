package app

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// A row is one line of a corpus: an object whose values may be packed.
type row map[string]json.RawMessage

func readRow(line []byte) (row, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, fmt.Errorf("the line is empty; a JSON object is wanted")
	}
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("the line is no JSON object: %w", err)
	}
	return r, nil
}

// id is the row's own name for itself, as it was written.
func (r row) id() json.RawMessage {
	if id, ok := r["id"]; ok {
		var b bytes.Buffer
		if json.Compact(&b, id) == nil {
			return b.Bytes()
		}
	}
	return json.RawMessage("null")
}

// maxUnpacked bounds what a packed value may become.
const maxUnpacked = 64 << 20

// packed gives the bytes of a value that is not there under its plain name.
func (r row) packed(name string) (raw []byte, found bool, err error) {
	for _, suffix := range []string{"_gz_b64", "_b64"} {
		value, ok := r[name+suffix]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, &raw); err != nil { // a []byte is base64
			return nil, true, fmt.Errorf("%s%s is no base64: %w", name, suffix, err)
		}
		if suffix == "_gz_b64" {
			raw, err = unzip(raw)
		}
		if err != nil {
			return nil, true, fmt.Errorf("%s%s: %w", name, suffix, err)
		}
		return raw, true, nil
	}
	return nil, false, nil
}

func unzip(raw []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err == nil && len(out) > maxUnpacked {
		err = fmt.Errorf("more than %d bytes", maxUnpacked)
	}
	return out, err
}

// text is a value that must be there.
func (r row) text(name string) (string, error) {
	if value, ok := r[name]; ok {
		var s *string
		if json.Unmarshal(value, &s) != nil || s == nil {
			return "", fmt.Errorf("%s is no string", name)
		}
		return *s, nil
	}
	raw, found, err := r.packed(name)
	if err == nil && !found {
		err = fmt.Errorf("%s is missing", name)
	}
	return string(raw), err
}

// value reads a value that is no text and need not be there.
func (r row) value(name string, into any) error {
	raw, ok := r[name]
	if !ok {
		packed, found, err := r.packed(name)
		if err != nil || !found {
			return err
		}
		raw = packed
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// base64Text is how bytes that are no UTF-8 are written.
func base64Text(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }
