package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"ikigai/internal/corpus"
)

// A call is one row of the corpus of malformed calls.
type call struct {
	ID, Tool, Outcome, Reason, Raw string
	Args                           json.RawMessage
	AlsoOK                         []string `json:"also_ok"`
	RawB64                         string   `json:"raw_b64"`
	RawGz                          string   `json:"raw_gz_b64"`
	ArgsGz                         string   `json:"args_gz_b64"`
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// calls are the corpus and the tools it speaks of.
func calls(tb testing.TB) (all []call, tools map[string]Object) {
	raw, err := os.ReadFile("testdata/malformed_calls.tools.json")
	if err != nil {
		tb.Fatal(err)
	}
	var specs []struct {
		Name       string
		Parameters Object
	}
	if err := json.Unmarshal(raw, &specs); err != nil {
		tb.Fatal(err)
	}
	tools = map[string]Object{}
	for _, s := range specs {
		tools[s.Name] = s.Parameters
	}
	all = corpus.Rows[call](tb, "testdata/malformed_calls.jsonl")
	for i, c := range all {
		all[i].Raw = string(corpus.Value(tb, c.Raw, c.RawB64, c.RawGz))
		if c.ArgsGz != "" {
			all[i].Args = corpus.Value(tb, "", "", c.ArgsGz)
		}
	}
	return all, tools
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
	rows, tools := calls(t)
	exact, accepted, usability := 0, 0, 0
	for _, c := range rows {
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
	t.Logf("%d calls: %d exact, %d accepted, %d usability failures", len(rows), exact, accepted, usability)
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
