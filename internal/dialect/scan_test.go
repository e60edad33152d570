package dialect

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// value reads the next value the way encoding/json does into an any, with a Scan alone.
func value(s *Scan, m *Strings) any {
	switch s.Kind() {
	case '{':
		object := map[string]any{}
		for ok := s.Object(); ok && s.Field(); {
			key := replaceInvalid(string(s.Key))
			object[key] = value(s, m)
		}
		return object
	case '[':
		array := []any{}
		for ok := s.Array(); ok && s.Element(); {
			array = append(array, value(s, m))
		}
		return array
	case '"':
		return m.Of(s.Str())
	case 't', 'f':
		return s.True()
	case 'n':
		s.Skip()
		return nil
	}
	return json.Number(s.Raw())
}

// checkScan holds a Scan against encoding/json.
func checkScan(t *testing.T, src []byte) {
	t.Helper()
	skip := NewScan(src)
	skip.Skip()
	if got, want := skip.OK(), json.Valid(src); got != want {
		t.Fatalf("Skip of %q: sound is %v, encoding/json says %v", src, got, want)
	}
	read := NewScan(src)
	var m Strings
	got := value(&read, &m)
	if !read.OK() {
		if json.Valid(src) {
			t.Fatalf("%q was not read", src)
		}
		return
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		t.Fatalf("%q was read, encoding/json says %v", src, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %#v, encoding/json %#v", src, got, want)
	}
}

var jsonTexts = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-`, `1.`, `1.5e+7`, `01`, `1e`, `true`, `tru`, `null`, `nul`, ` { "a" : [ 1 , 2 ] } `, `{"a":1,}`,
	`[1,]`, `[,1]`, `{"a" 1}`, `{1:2}`, `{"a":1}{`, "\"a\nb\"", `"a\nb"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d"`,
	`"\u12"`, `"\x"`, "\"\xff\xfe\"", "\"a\xc3\"", `"` + strings.Repeat("long ", 50) + `\"quoted\""`, `{"a":{"b":{"c":[[[]]]}}}`,
	`{"\u0061":1,"a":2}`, "{\"\xff\":1}", `[1 2]`, `{"a":1 "b":2}`, ``, ` `, `"`, `{"`, `{"a"`, `{"a":`, `[`, `["a"`, `"abc\`, `[]]`, "\ufeff{}",
	`{"choices":[{"delta":{"content":"hi \u00e9"},"finish_reason":null}]}`,
}

func TestScanReadsWhatEncodingJSONReads(t *testing.T) {
	for _, src := range jsonTexts {
		checkScan(t, []byte(src))
	}
}

func TestScanStopsWhereEncodingJSONStopsOnDeepNesting(t *testing.T) {
	for _, depth := range []int{9999, 10000, 10001, 20000} {
		checkScanValid(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
	}
}

func checkScanValid(t *testing.T, src []byte) {
	t.Helper()
	s := NewScan(src)
	s.Skip()
	if s.OK() != json.Valid(src) {
		t.Fatalf("depth %d: %v, encoding/json %v", len(src)/2, s.OK(), json.Valid(src))
	}
}

func TestStringsStayWhatTheyWere(t *testing.T) {
	var m Strings
	var got []string
	for i := range 5000 {
		got = append(got, m.Of([]byte(strings.Repeat("x", i%97)+`\n`)))
	}
	for i, s := range got {
		if want := strings.Repeat("x", i%97) + "\n"; s != want {
			t.Fatalf("string %d became %q", i, s)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, src := range jsonTexts {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkScan(t, src) })
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x1f", "é\u2028<&>", "\xff\xc3", "\xf0\x9f\x98"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%q became %s: %v", s, raw, err)
		}
		if want := replaceInvalid(s); got != want {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}

// replaceInvalid puts one U+FFFD for each byte that is no UTF-8.
func replaceInvalid(s string) string { return string([]rune(s)) }
