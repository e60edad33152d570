package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
