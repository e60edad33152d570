// Package corpus reads the corpora of the tests: one JSON object a line, whose
// values may be packed where they are long or no text.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"testing"
)

// Rows are the rows of a file. An empty one is a fault: it would prove nothing.
func Rows[T any](t testing.TB, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return Parse[T](t, data)
}

// Parse is Rows for what a test carries inside: its files may be out of reach.
func Parse[T any](t testing.TB, data []byte) []T {
	t.Helper()
	var rows []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("row %d: %v", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatal("the corpus is empty")
	}
	return rows
}

// Value is a value as it was before it was packed: gz is gzip in base64, b64 is
// base64, plain is itself. At most one of the packed forms is there.
func Value(t testing.TB, plain, b64, gz string) []byte {
	t.Helper()
	if b64 == "" && gz == "" {
		return []byte(plain)
	}
	data, err := base64.StdEncoding.DecodeString(b64 + gz)
	if err == nil && gz != "" {
		data, err = unzip(data)
	}
	if err != nil {
		t.Fatalf("unpacking a value: %v", err)
	}
	return data
}

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
