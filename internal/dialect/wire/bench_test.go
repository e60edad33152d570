package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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

// BenchmarkRequestAt10000Messages is one more turn of a long session: two new
// messages, and the body read to nowhere.
func BenchmarkRequestAt10000Messages(b *testing.B) {
	tools := testTools(b)
	for _, f := range Formats() {
		b.Run("ours-"+f.Name, func(b *testing.B) {
			history := convo.NewHistory(longSession(10000))
			e := f.Encoder(dialect.Quirks{})
			ask := func() int64 {
				return encode(b, e, llm.Request{Model: "m", System: "s", Events: history.Events(), Tools: tools}).Len()
			}
			size := ask()
			b.ReportAllocs()
			for b.Loop() {
				history.Append(convo.Event{Kind: convo.KindAssistant, Text: "well", Reply: "r"})
				history.Append(convo.Event{Kind: convo.KindUser, Text: "next"})
				size = ask()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	b.Run("encoding-json", func(b *testing.B) {
		f, _ := Find("openai")
		var rival any
		if err := json.Unmarshal(encode(b, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: longSession(10002), Tools: tools}).Bytes(), &rival); err != nil {
			b.Fatal(err)
		}
		typed := rivalOf(b, rival)
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

func rivalOf(b *testing.B, v any) rivalRequest {
	raw, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	var r rivalRequest
	if err := json.Unmarshal(raw, &r); err != nil {
		b.Fatal(err)
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
		begin, body := streamOf(f.Name, events)
		b.Run("ours-"+f.Name, func(b *testing.B) {
			d := f.Decoder()
			emit := func(llm.Delta) {}
			if err := d.Feed(begin, emit); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Feed(body, emit); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
		b.Run("encoding-json-"+f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for line := range bytes.SplitSeq(body, []byte("\n")) {
					if data := bytes.TrimPrefix(line, []byte("data: ")); len(data) > 0 && data[0] == '{' {
						if err := json.Unmarshal(data, rivals[f.Name]()); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
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
