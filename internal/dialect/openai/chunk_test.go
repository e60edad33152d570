package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/llm"
)

// deltas decodes one SSE event.
func deltas(data []byte) (out []llm.Delta, err error) {
	d := newDecoder()
	body := append(append([]byte("data: "), data...), "\n\n"...)
	err = d.Feed(body, func(x llm.Delta) { out = append(out, x) })
	return out, err
}

// reference reads a chunk with encoding/json alone, name by name. It knows what
// a delta can say and nothing of how we read it.
func reference(data []byte) (text, thinking, refusal string, calls []string, ok bool) {
	top, ok := object(data)
	if !ok {
		return
	}
	choices := array(top["choices"])
	if len(choices) == 0 {
		return
	}
	choice, _ := object(choices[0])
	delta, _ := object(choice["delta"])
	if message, is := object(choice["message"]); is && delta == nil {
		delta = message
	}
	text, refusal = str(delta["content"]), str(delta["refusal"])
	for _, key := range []string{"reasoning_content", "reasoning", "reasoning_text"} {
		if s := str(delta[key]); s != "" {
			thinking = s
		}
	}
	for _, c := range array(delta["tool_calls"]) {
		call, is := object(c)
		if !is {
			continue
		}
		function, _ := object(call["function"])
		args := str(function["arguments"])
		if _, is := object(function["arguments"]); is {
			args = string(bytes.TrimSpace(function["arguments"]))
		}
		calls = append(calls, fmt.Sprintf("%q %q %q", str(call["id"]), str(function["name"]), args))
	}
	return
}

func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	raw = bytes.TrimSpace(raw)
	return m, len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &m) == nil
}

func array(raw json.RawMessage) []json.RawMessage {
	var a []json.RawMessage
	_ = json.Unmarshal(raw, &a)
	return a
}

// checkChunk holds our reading of a chunk against encoding/json. Texts with one
// key twice, or with calls that we join or parts that we take apart, are not of
// the plain kind that is compared here.
func checkChunk(t *testing.T, data []byte) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' || bytes.ContainsAny(data, "\r\n") || !plain(data) {
		return
	}
	got, err := deltas(data)
	if !json.Valid(data) {
		if err == nil {
			t.Fatalf("%q is no JSON and was read", data)
		}
		return
	}
	text, thinking, refusal, calls, _ := reference(data)
	var gotText, gotThinking, gotRefusal string
	var gotCalls []string
	for _, d := range got {
		switch {
		case d.Kind == llm.CallPart && !d.Broken:
			gotCalls = append(gotCalls, fmt.Sprintf("%q %q %q", d.ID, d.Name, d.Text))
		case d.Kind == llm.Text && d.Refusal:
			gotRefusal += d.Text
		case d.Kind == llm.Text:
			gotText += d.Text
		case d.Kind == llm.Thinking:
			gotThinking += d.Text
		}
	}
	if text != gotText || thinking != gotThinking || refusal != gotRefusal || strings.Join(calls, ",") != strings.Join(gotCalls, ",") {
		t.Fatalf("%s\n got %q %q %q %q\nwant %q %q %q %q", data, gotText, gotThinking, gotRefusal, gotCalls, text, thinking, refusal, calls)
	}
}

// plain reports whether no object has a key twice, in any spelling, and nothing
// stands in the chunk that is put together from several places.
func plain(data []byte) bool {
	for _, word := range []string{"reasoning_details", "extra_content", "error", "\\u"} {
		if bytes.Contains(data, []byte(word)) {
			return false
		}
	}
	for _, word := range []string{"choices", "delta", "message", "content", "tool_calls", "function", "arguments", "name", "id", "index", "refusal", "reasoning", "reasoning_content", "reasoning_text"} {
		if bytes.Count(data, []byte(`"`+word+`"`)) > 1 {
			return false
		}
	}
	return !bytes.Contains(data, []byte(`"content":[`)) && !bytes.Contains(data, []byte(`"content": [`))
}

var chunkSeeds = []string{
	`{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi \n \"you\" é 😀 \/"},"finish_reason":null}]}`,
	`{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}],"usage":null}`,
	`{"choices":[{"delta":{"content":"","refusal":"no"}}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]}}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]}}]}`,
	`{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
	`{"choices":[]}`, `{"choices":null}`, `{"choices":[null]}`, `{"choices":[{"delta":null}]}`, `{"choices":{}}`, `{}`, `{"choices":[{"delta":{"content":5}}]}`,
	`{"choices":[{"delta":{"content":"x"}},{"delta":{"refusal":"other choice"}}]}`,
}

func TestChunksAreReadAsEncodingJSONReadsThem(t *testing.T) {
	for _, s := range chunkSeeds {
		checkChunk(t, []byte(s))
	}
}

func FuzzChunk(f *testing.F) {
	for _, s := range chunkSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(checkChunk)
}

// checkTemplate feeds lines as events, once with what the decoder remembers of
// the one before and once without: the deltas must be the same.
func checkTemplate(t *testing.T, lines []byte) {
	var got [2][]string
	for forget := range got {
		d := newDecoder().(*decoder)
		for line := range bytes.SplitSeq(lines, []byte("\n")) {
			if forget == 1 {
				d.Forget()
			}
			err := d.Feed(append(append([]byte("data: "), line...), "\n\n"...), func(x llm.Delta) {
				if x.Kind != llm.CallPart || x.Text+x.ID+x.Name != "" {
					got[forget] = append(got[forget], fmt.Sprintf("%d %d %q %q %q", x.Kind, x.Block, x.Text, x.ID, x.Name))
				}
			})
			if err != nil {
				got[forget] = append(got[forget], err.Error())
				break
			}
		}
	}
	if !slices.Equal(got[0], got[1]) {
		t.Fatalf("%s\nwith memory    %q\nwithout memory %q", lines, got[0], got[1])
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add([]byte(strings.Join(chunkSeeds, "\n")))
	for _, s := range chunkSeeds {
		f.Add([]byte(s + "\n" + strings.Replace(s, "hi", "", 1) + "\n" + strings.ReplaceAll(s, "x", "y") + "\n" + s))
	}
	f.Add([]byte(strings.ReplaceAll(strings.ReplaceAll(string(streamed(9)), "data: ", ""), "\n\n", "\n")))
	f.Fuzz(checkTemplate)
}

// streamed is a stream of events as they are most: a few words of text or of
// arguments in 320 bytes.
func streamed(events int) []byte {
	var b bytes.Buffer
	for i := range events {
		delta := fmt.Sprintf(`{"content":" word%d"}`, i%7)
		if i%40 >= 30 {
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"\"key%d\": "}}]}`, i%5)
		}
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-DuLdInI48CUMPbcraGuxW2KFhK3CM","object":"chat.completion.chunk","created":1782321896,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_e6c46296c9","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"bkGJq7e6fF9ZFa"}`+"\n\n", delta)
	}
	return b.Bytes()
}

func TestAStreamedEventCostsNoAllocation(t *testing.T) {
	const events = 1000
	body := streamed(events)
	d := newDecoder()
	emit := func(llm.Delta) {}
	perRun := testing.AllocsPerRun(20, func() {
		if err := d.Feed(body, emit); err != nil {
			t.Fatal(err)
		}
	})
	if perEvent := perRun / events; perEvent > 0.05 {
		t.Errorf("%.3f allocations for each event", perEvent)
	}
}

func BenchmarkStreamedEvent(b *testing.B) {
	const events = 1000
	body := streamed(events)
	b.Run("ours", func(b *testing.B) {
		d := newDecoder()
		n := 0
		emit := func(x llm.Delta) { n += len(x.Text) }
		b.ReportAllocs()
		for b.Loop() {
			if err := d.Feed(body, emit); err != nil {
				b.Fatal(err)
			}
		}
		perEvent(b, events)
	})
	b.Run("encoding-json", func(b *testing.B) {
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			for _, line := range bytes.Split(body, []byte("\n\n")) {
				if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
					var c rivalChunk
					if err := json.Unmarshal(data, &c); err != nil {
						b.Fatal(err)
					}
					n += len(c.Choices[0].Delta.Content)
				}
			}
		}
		perEvent(b, events)
	})
}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}

// rivalChunk is a chunk as an SDK declares it.
type rivalChunk struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	Model       string `json:"model"`
	ServiceTier string `json:"service_tier"`
	Fingerprint string `json:"system_fingerprint"`
	Choices     []struct {
		Index int `json:"index"`
		Delta struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Type     string `json:"type"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}
