package convo

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// written are bodies of every kind that is read quickly, with every field.
func written() []Body {
	code, n, cost := -2, 7, 0.25
	at := time.Date(2026, 11, 15, 1, 2, 3, 4000000, time.UTC)
	const odd = "\x00\x1b\" \\ / \b\f\n\r\t <&> \u2028 \u007f é 漢 😀 \ufffd"
	return []Body{
		ToolCall{},
		ToolCall{tool.Call{ID: odd, Name: "x", Args: json.RawMessage(`{"a": "<&> \n \u00e9"}`)}},
		ToolResult{},
		ToolResult{tool.Result{
			CallID: "a", Name: odd, Data: json.RawMessage(`{"output":"é\t\"x\""}`), Truncated: true, Limit: 3,
			Notes: []string{"repaired", odd}, At: at, Took: time.Second, Display: json.RawMessage(`{"rows":[1,{"a":null}]}`),
		}},
		ToolResult{tool.Result{CallID: "a", Failure: &tool.Failure{Code: tool.ToolCrashed, Message: odd, ExitCode: &code, Stdout: "o", Stderr: odd}}},
		ToolResult{tool.Result{CallID: "a", Failure: &tool.Failure{Code: tool.ToolTimeout}}},
		Opaque{},
		Opaque{Dialect: "anthropic", Model: odd, Data: json.RawMessage(`{"signature":"x"}`)},
		Opaque{Dialect: "gemini", Data: json.RawMessage(`"sig"`)},
		Decision{},
		Decision{CallID: "a", Name: odd, Allowed: true, By: ByRule, Rule: "r", Reason: "why", Risk: "low", Scope: "once"},
		Usage{},
		Usage{Model: "m", Input: &n, Output: &n, CacheRead: &n, CacheWrite: &n, Reasoning: &code, CostUSD: &cost, ModelMS: 1 << 40},
	}
}

// ways are the two ways to read a kind.
var ways = map[Kind]struct {
	quick func(raw []byte) (Body, bool)
	slow  func(raw json.RawMessage, text string) (Body, error)
}{
	KindToolCall: {
		func(raw []byte) (Body, bool) { var c ToolCall; ok := c.quick(raw); return c, ok },
		func(raw json.RawMessage, _ string) (Body, error) { var c ToolCall; err := c.slow(raw); return c, err },
	},
	KindToolResult: {
		func(raw []byte) (Body, bool) { var r ToolResult; ok := r.quick(raw); return r, ok },
		func(raw json.RawMessage, _ string) (Body, error) { var r ToolResult; err := r.slow(raw); return r, err },
	},
	KindOpaque: {
		func(raw []byte) (Body, bool) { var o Opaque; ok := quickly(raw, o.field); return o, ok },
		read[Opaque],
	},
	KindDecision: {
		func(raw []byte) (Body, bool) { var d Decision; ok := quickly(raw, d.field); return d, ok },
		read[Decision],
	},
	KindUsage: {
		func(raw []byte) (Body, bool) { var u Usage; ok := quickly(raw, u.field); return u, ok },
		read[Usage],
	},
}

func TestWhatWeWriteIsReadQuickly(t *testing.T) {
	for _, b := range written() {
		raw, err := Of("", b).Data()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := ways[b.kind()].quick(raw)
		want, err := ways[b.kind()].slow(raw, "")
		if !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: quick %v, slow %v\n got %+v\nwant %+v", raw, ok, err, got, want)
		}
	}
}

func TestBodyKeepsNothingOfItsText(t *testing.T) {
	bodies := append(written(), Unknown{Of: "future", Data: json.RawMessage(`{"x":1}`)}, Notice{Hint: "h"})
	for _, b := range bodies {
		raw, err := Of("", b).Data()
		if err != nil {
			t.Fatal(err)
		}
		want, err := DecodeBody(b.kind(), bytes.Clone(raw))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBody(b.kind(), raw)
		for i := range raw {
			raw[i] = 'x'
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T changed with its text: %v\n got %+v\nwant %+v", b, err, got, want)
		}
	}
}

func FuzzBothWaysReadTheSame(f *testing.F) {
	for _, b := range written() {
		raw, err := Of("", b).Data()
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	for _, s := range []string{
		`{}`, `{"id":null}`, `{"ID":"x"}`, `{"id":"\ud83d\ude00"}`, `{"id":"\ud83d"}`, `{"id":"\x"}`, "{\"id\":\"\xff\"}", `{"id":"a","id":"b"} `,
		`{"took_us":01}`, `{"took_us":1.0}`, `{"took_us":1e3}`, `{"took_us":-0}`, `{"took_us":9223372036854775808}`, `{"cost_usd":1e999}`,
		`{"output":"","failure":{"exit_code":3},"failure":{"exit_code":null,"code":"X"}}`, `{"output":"","failure":null}`, `{"output":"","notes":[]}`,
		`{"data": 1}`, `{"data":1 }`, `{"data":null}`, `{"data":{"a": [1, 2]},"model":"m"}`, `{"data":1,"data":"x"}`, `{"data":}`, `{"data":"a\u00e9"}`,
		`{"arguments":"x"}`, `{"function":{"arguments":"{}"},"function":{"name":"n"}}`, `{"function":{"arguments":"{}"},}`, `{"function":{"arguments":"{}"}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for kind, way := range ways {
			got, ok := way.quick(raw)
			if !ok {
				continue
			}
			if want, err := way.slow(raw, ""); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s %q: %v\n got %+v\nwant %+v", kind, raw, err, got, want)
			}
		}
	})
}

func BenchmarkResult(b *testing.B) {
	raw, err := Of("", written()[3]).Data()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("quick", func(b *testing.B) {
		for b.Loop() {
			ways[KindToolResult].quick(raw)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			ways[KindToolResult].slow(raw, "")
		}
	})
}
