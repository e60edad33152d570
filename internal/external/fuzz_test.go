package external

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// corpusScripts are the programs of the hostile corpus: what they print is in them.
func corpusScripts(f *testing.F) {
	f.Helper()
	raw, err := os.ReadFile("testdata/hostile_tools.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var row struct{ Script string }
		if err := json.Unmarshal(line, &row); err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(row.Script, "'") {
			if strings.HasPrefix(strings.TrimSpace(part), "{") {
				f.Add([]byte(part))
			}
		}
	}
}

// FuzzAnswer: whatever a tool prints, the result is one JSON object that every
// reader understands the same way, or an error.
func FuzzAnswer(f *testing.F) {
	corpusScripts(f)
	for _, s := range []string{`{"a":1,"a":{"b":[1,2,{}]}}`, `{"a":"\ud800\u0041"}`, `{"\ud83d\ude00":"\\u"}`, "\ufeff{}", `{"display":1}`, `{"a":[[[]]]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, printed []byte) {
		r, err := answer(tool.Place{}, "x", printed)
		if err != nil {
			return
		}
		if !json.Valid(r.Data) || !utf8.Valid(r.Data) || r.Data[0] != '{' {
			t.Fatalf("%q became %q", printed, r.Data)
		}
		o, err := readObject(r.Data)
		if err != nil || o.flawed {
			t.Fatalf("%q became %q: flawed %v %v", printed, r.Data, o.flawed, err)
		}
		if o.get("display") != nil {
			t.Fatalf("display is left in %q", r.Data)
		}
		var first, last map[string]any
		trimmed := bytes.TrimPrefix(printed, []byte("\ufeff"))
		if json.Unmarshal(trimmed, &first) != nil || json.Unmarshal(r.Data, &last) != nil {
			return // a number that no float holds
		}
		delete(first, "display")
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(last)
		if !r.Truncated && !bytes.Equal(a, b) {
			t.Fatalf("%q became %q", printed, r.Data)
		}
	})
}

// FuzzSchema: whatever --schema prints is refused, or can be shown, sent,
// cached, and read again as the same.
func FuzzSchema(f *testing.F) {
	corpusScripts(f)
	f.Add([]byte(`{"name":"x","description":"d","parameters":{"p":{"type":"array","items":{"format":"path"}}},"effects":["net"],"env":["A"],"timeout_seconds":1.5,"risk":"low"}`))
	f.Fuzz(func(t *testing.T, printed []byte) {
		d, err := readDocument(printed)
		if err != nil {
			return
		}
		if !json.Valid(d.parameters.JSON()) || strings.TrimSpace(d.name) == "" || d.timeout < 0 || d.timeout > tool.MaxTimeout {
			t.Fatalf("%q: %+v", printed, d)
		}
		d.marks().find([]byte(`{"p":["a",{"b":"c"}],"q":null}`))
		var compact bytes.Buffer
		if err := json.Compact(&compact, bytes.TrimPrefix(printed, []byte("\ufeff"))); err != nil {
			t.Fatalf("%q: %v", printed, err)
		}
		again, err := readDocument(compact.Bytes())
		if err != nil || differences(d.facts(), again.facts()) != nil {
			t.Fatalf("%q: %v %v", printed, err, differences(d.facts(), again.facts()))
		}
	})
}

// FuzzCache: a cache file of any content never gives what was not written.
func FuzzCache(f *testing.F) {
	whole := &cache{path: "x", lines: map[string]line{}}
	known := file{path: filepath.Join(f.TempDir(), "x")}
	if err := os.WriteFile(known.path, nil, 0o755); err != nil {
		f.Fatal(err)
	}
	known.stamp, _ = statOf(known.path)
	whole.add(known, &knowledge{name: "x", schema: []byte(`{"name":"x"}`)})
	for _, l := range whole.lines {
		f.Add(append(l.key, l.rest...))
		f.Add(append(l.key, `,"name":"x","sum":"00","schema":{},"crc":"00000000"}`...))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &cache{path: "x", lines: map[string]line{}}
		c.load(raw)
		for _, l := range c.lines {
			if k := l.knowledge(); k != nil && (!intact(raw) || !bytes.Contains(raw, k.schema)) {
				t.Fatalf("%q gave %+v", raw, k)
			}
		}
	})
}
