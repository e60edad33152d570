package schema

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"testing"
)

// A call is one row of the corpus of malformed calls.
type call struct {
	ID, Tool, Outcome, Reason string
	Raw, RawB64, RawGz        string
	AlsoOK                    []string
	Args                      json.RawMessage
}

func (c *call) UnmarshalJSON(b []byte) error {
	var row struct {
		ID, Tool, Outcome, Reason, Raw string
		Args                           json.RawMessage
		AlsoOK                         []string `json:"also_ok"`
		RawB64                         string   `json:"raw_b64"`
		RawGz                          string   `json:"raw_gz_b64"`
		ArgsGz                         string   `json:"args_gz_b64"`
	}
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	*c = call{ID: row.ID, Tool: row.Tool, Outcome: row.Outcome, Reason: row.Reason, Raw: row.Raw, AlsoOK: row.AlsoOK, Args: row.Args}
	if row.RawB64 != "" {
		c.Raw = string(must(base64.StdEncoding.DecodeString(row.RawB64)))
	}
	if row.RawGz != "" {
		c.Raw = unzip(row.RawGz)
	}
	if row.ArgsGz != "" {
		c.Args = json.RawMessage(unzip(row.ArgsGz))
	}
	return nil
}

func unzip(s string) string {
	zipped := must(base64.StdEncoding.DecodeString(s))
	return string(must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(zipped))))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func corpus(tb testing.TB) (calls []call, tools map[string]Object) {
	var specs []struct {
		Name       string
		Parameters Object
	}
	if err := json.Unmarshal(must(os.ReadFile("testdata/malformed_calls.tools.json")), &specs); err != nil {
		tb.Fatal(err)
	}
	tools = map[string]Object{}
	for _, s := range specs {
		tools[s.Name] = s.Parameters
	}
	lines := bufio.NewScanner(bytes.NewReader(must(os.ReadFile("testdata/malformed_calls.jsonl"))))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			tb.Fatal(err)
		}
		calls = append(calls, c)
	}
	return calls, tools
}

// unknownOf is how a tool of the corpus treats unknown arguments.
func unknownOf(tool string) Unknown {
	if tool == "bash" {
		return RefuseUnknown
	}
	return DropUnknown
}

func outcome(a Args, err error) string {
	switch parse, validation := (*ParseError)(nil), (*ValidationError)(nil); {
	case errors.As(err, &parse):
		return "parse_error"
	case errors.As(err, &validation):
		return "validation_failed"
	case len(a.Repairs)+len(a.Dropped) > 0:
		return "repaired"
	}
	return "ok"
}

func TestMalformedCallsAreRepairedOrRefused(t *testing.T) {
	calls, tools := corpus(t)
	exact, accepted, usability := 0, 0, 0
	for _, c := range calls {
		args, err := tools[c.Tool].Read([]byte(c.Raw), unknownOf(c.Tool))
		got := outcome(args, err)
		allowed := got == c.Outcome || slices.Contains(c.AlsoOK, got)
		switch {
		case err == nil && !allowed:
			t.Errorf("SAFETY %s (%s): %.80q ran with %.80s as %s, want %s", c.ID, c.Reason, c.Raw, args.Value, got, c.Outcome)
		case err == nil && c.Args != nil && !sameJSON(args.Value, c.Args):
			t.Errorf("SAFETY %s (%s): %.80q ran with %.80s, want %.80s", c.ID, c.Reason, c.Raw, args.Value, c.Args)
		case got == c.Outcome:
			exact++
		case allowed:
			accepted++
			t.Logf("%s (%s): %s instead of %s: %v", c.ID, c.Reason, got, c.Outcome, err)
		default:
			usability++
			t.Logf("usability %s (%s): %.80q: %v, want %s", c.ID, c.Reason, c.Raw, err, c.Outcome)
		}
	}
	t.Logf("%d calls: %d exact, %d accepted, %d usability failures", len(calls), exact, accepted, usability)
	if usability > 0 {
		t.Errorf("%d usability failures", usability)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	for raw, into := range map[*[]byte]*any{&a: &x, &b: &y} {
		d := json.NewDecoder(bytes.NewReader(*raw))
		d.UseNumber() // 2^53+1 must stay exact
		if d.Decode(into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}
