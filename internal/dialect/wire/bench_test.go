package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ikigai/internal/bench"
	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// longSession has n messages of about 900 bytes each.
func longSession(n int) []convo.Event {
	words := strings.Repeat("some words of a long \"session\"\n", 28)
	var events []convo.Event
	for i := 0; len(events) < n; i++ {
		id, reply := fmt.Sprint("call_", i), fmt.Sprint("r", i)
		call := convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: "grep", Args: json.RawMessage(dialect.JSON(map[string]string{"pattern": words}))}})
		call.Reply = reply
		events = append(
			events,
			convo.Event{Kind: convo.KindUser, Text: words},
			convo.Event{Kind: convo.KindAssistant, Text: words, Reply: reply},
			call,
			convo.Of("", convo.ToolResult{Result: tool.Result{CallID: id, Name: "grep", Data: dialect.JSON(map[string]string{"output": words})}}),
		)
	}
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events[:n]
}

// longConn is a session of n messages that has been sent once; each call of it is
// one more turn: two new messages, and the size of the body.
func longConn(t testing.TB, f dialect.Format, tools []tool.Spec, n int) func() int64 {
	history := convo.NewHistory(longSession(n))
	e := f.Encoder(dialect.Quirks{})
	ask := func() int64 {
		history.Append(convo.Event{Kind: convo.KindAssistant, Text: "well", Reply: "r"})
		history.Append(convo.Event{Kind: convo.KindUser, Text: "next"})
		return encode(t, e, llm.Request{Model: "m", System: "s", Events: history.Events(), Tools: tools}).Len()
	}
	ask()
	return ask
}

func BenchmarkRequestAt10000Messages(b *testing.B) {
	tools := testTools(b)
	for _, f := range Formats() {
		b.Run("ours-"+f.Name, func(b *testing.B) {
			ask, size := longConn(b, f, tools, 10000), int64(0)
			b.ReportAllocs()
			for b.Loop() {
				size = ask()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	b.Run("encoding-json", func(b *testing.B) {
		typed := rivalOf(b, tools, 10002)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(typed); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// rivalRequest is a request as an SDK declares it, encoded whole each turn.
type rivalRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		CallID  string  `json:"tool_call_id,omitempty"`
		Calls   []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls,omitempty"`
	} `json:"messages"`
}

// rivalOf is a request of n messages in that form.
func rivalOf(t testing.TB, tools []tool.Spec, n int) (r rivalRequest) {
	f, _ := Find("openai")
	body := encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: longSession(n), Tools: tools}).Bytes()
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// streams are what each format sends most: a few words of text.
var streams = map[string]struct{ begin, event string }{
	"openai": {"", `data: {"id":"chatcmpl-DuLdInI48CUMPbcraGuxW2KFhK3CM","object":"chat.completion.chunk","created":1782321896,"model":"gpt-4o-2024-08-06","choices":[{"index":0,"delta":{"content":" words%d"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n"},
	"responses": {
		`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}` + "\n\n",
		`event: response.output_text.delta` + "\n" + `data: {"type":"response.output_text.delta","content_index":0,"delta":" words%d","item_id":"msg_67c9a81dea8c8190b79651a2b3adf91e","logprobs":[],"obfuscation":"xgdyp","output_index":0,"sequence_number":4}` + "\n\n",
	},
	"anthropic": {
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" words%d"}      }` + "\n\n",
	},
	"gemini": {"", `data: {"candidates": [{"content": {"parts": [{"text": " words%d"}],"role": "model"},"index": 0}],"modelVersion": "gemini-3.1-pro-preview","responseId": "QQCzabeLNvjrz7IP_pjy-AE"}` + "\n\n"},
	"ollama": {"", `{"model":"tiny","created_at":"2026-11-15T01:04:30.748423493Z","message":{"role":"assistant","content":" words%d"},"done":false}` + "\n"},
}

func streamOf(format string, events int) (begin, body []byte) {
	s := streams[format]
	for i := range events {
		body = fmt.Appendf(body, s.event, i%10)
	}
	return []byte(s.begin), body
}

func TestAStreamedEventCostsNoAllocationInAnyFormat(t *testing.T) {
	const events = 1000
	for _, f := range Formats() {
		begin, body := streamOf(f.Name, events)
		d := f.Decoder()
		words := 0
		emit := func(x llm.Delta) { words += len(x.Text) }
		if err := d.Feed(begin, emit); err != nil {
			t.Fatal(err)
		}
		perRun := testing.AllocsPerRun(10, func() {
			if err := d.Feed(body, emit); err != nil {
				t.Fatal(err)
			}
		})
		if words != 11*events*len(" words0") {
			t.Errorf("%s: %d bytes of words came", f.Name, words)
		}
		if perRun/events > 0.05 {
			t.Errorf("%s: %.3f allocations for each event", f.Name, perRun/events)
		}
	}
}

func BenchmarkStreamedEvent(b *testing.B) {
	const events = 1000
	for _, f := range Formats() {
		ours, rival := decoders(b, f, events)
		for name, decode := range map[string]func(){"ours-": ours, "encoding-json-": rival} {
			b.Run(name+f.Name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					decode()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
			})
		}
	}
}

// decoders read the same stream, ours and encoding/json into structs.
func decoders(t testing.TB, f dialect.Format, events int) (ours, rival func()) {
	begin, body := streamOf(f.Name, events)
	d := f.Decoder()
	emit := func(llm.Delta) {}
	feed := func(p []byte) {
		if err := d.Feed(p, emit); err != nil {
			t.Fatal(err)
		}
	}
	feed(begin)
	return func() { feed(body) }, func() {
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if data := bytes.TrimPrefix(line, []byte("data: ")); len(data) > 0 && data[0] == '{' {
				if err := json.Unmarshal(data, rivals[f.Name]()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestBenchWire is a part of make bench.
func TestBenchWire(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("make bench sets " + bench.DirVariable)
	}
	const events = 1000
	var rows []bench.Row
	for _, f := range Formats() {
		decode, rival := decoders(t, f, events)
		ours, theirs := bench.Duel(7, 30, decode, rival)
		rows = append(rows, bench.Against(fmt.Sprintf("%d streamed events, %s", events, f.Name), ours, "encoding/json into structs", theirs, "at most 0.1"))
	}
	tools := testTools(t)
	request := rivalOf(t, tools, 10002)
	for _, f := range Formats() {
		ask := longConn(t, f, tools, 10000)
		ours, theirs := bench.Duel(5, 3, func() {
			for range 1000 { // one alone is shorter than the clock's step
				ask()
			}
		}, func() {
			if _, err := json.Marshal(request); err != nil {
				t.Fatal(err)
			}
		})
		ours.CPU, ours.Wall = ours.CPU/1000, ours.Wall/1000
		rows = append(rows, bench.Against("one more turn at 10,000 messages, "+f.Name, ours, "encoding/json, all of it", theirs, "at most 0.01"))
	}
	if err := bench.Write(dir, "wire", rows); err != nil {
		t.Fatal(err)
	}
}

// rivals are the events above as an SDK declares them.
var rivals = map[string]func() any{
	"openai": func() any {
		return &struct {
			ID      string `json:"id"`
			Object  string `json:"object"`
			Created int64  `json:"created"`
			Model   string `json:"model"`
			Choices []struct {
				Index int `json:"index"`
				Delta struct {
					Role    string `json:"role"`
					Content string `json:"content"`
				} `json:"delta"`
				Reason string `json:"finish_reason"`
			} `json:"choices"`
			Usage *struct{} `json:"usage"`
		}{}
	},
	"responses": func() any {
		return &struct {
			Type     string `json:"type"`
			Content  int    `json:"content_index"`
			Delta    string `json:"delta"`
			ItemID   string `json:"item_id"`
			Output   int    `json:"output_index"`
			Sequence int    `json:"sequence_number"`
		}{}
	},
	"anthropic": func() any {
		return &struct {
			Type  string `json:"type"`
			Index int    `json:"index"`
			Delta struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				Thinking string `json:"thinking"`
			} `json:"delta"`
		}{}
	},
	"gemini": func() any {
		return &struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text string `json:"text"`
					} `json:"parts"`
					Role string `json:"role"`
				} `json:"content"`
				Index int `json:"index"`
			} `json:"candidates"`
			Version string `json:"modelVersion"`
			ID      string `json:"responseId"`
		}{}
	},
	"ollama": func() any {
		return &struct {
			Model   string    `json:"model"`
			Created time.Time `json:"created_at"`
			Message struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"message"`
			Done bool `json:"done"`
		}{}
	},
}
