package provider

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// A wording is how one format says the same short story: a call, and words
// after its result. The rest are its faults.
type wording struct {
	model, path, key string // key: the header that carries it
	call, words      string
	cut              string // ends inside the call
	failed           string // an error inside HTTP 200, before anything of the reply
	refused          string // the body of a 429 that asks for a pause of 7 s
}

func wordings() map[string]wording {
	return map[string]wording{
		"openai": {
			model: "openai/m", path: "/v1/chat/completions", key: "Authorization",
			call:    sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"glob","arguments":"{\"pattern\":"}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"*.go\"}"}}]}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, `[DONE]`),
			words:   sse(`{"choices":[{"index":0,"delta":{"content":"two "}}]}`, `{"choices":[{"index":0,"delta":{"content":"files"},"finish_reason":"stop"}]}`, `[DONE]`),
			cut:     sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"glob","arguments":"{\"pattern\":"}}]}}]}`),
			failed:  sse(`{"error":{"message":"busy now","type":"server_error","code":503}}`),
			refused: `{"error":{"message":"slow down","type":"rate_limit_error"}}`,
		},
		"responses": {
			model: "openai/m", path: "/v1/responses", key: "Authorization",
			call:    sse(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"glob","arguments":""}}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"pattern\":\"*.go\"}"}`, `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"pattern\":\"*.go\"}"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"glob","arguments":"{\"pattern\":\"*.go\"}","status":"completed"}}`, `{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":4}}}`),
			words:   sse(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}`, `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"two "}`, `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"files"}`, `{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":4}}}`),
			cut:     sse(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"glob","arguments":""}}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"patt"}`),
			failed:  sse(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`, `{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"busy now"}}}`),
			refused: `{"error":{"message":"slow down","type":"rate_limit_error"}}`,
		},
		"anthropic": {
			model: "anthropic/m", path: "/v1/messages", key: "X-Api-Key",
			call:    sse(`{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"glob","input":{}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"pattern\":\"*.go\"}"}}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`),
			words:   sse(`{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two files"}}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`),
			cut:     sse(`{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"glob","input":{}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"patt"}}`),
			failed:  sse(`{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`, `{"type":"error","error":{"type":"overloaded_error","message":"busy now"}}`),
			refused: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		},
		"gemini": {
			model: "google/m", path: "/v1beta/models/m:streamGenerateContent", key: "X-Goog-Api-Key",
			call:    sse(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"glob","args":{"pattern":"*.go"}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}`),
			words:   sse(`{"candidates":[{"content":{"role":"model","parts":[{"text":"two "}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"files"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}`),
			cut:     sse(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"glob","args":{"pattern":"*.go"}}}]}}]}`),
			failed:  sse(`{"error":{"code":503,"message":"busy now","status":"UNAVAILABLE"}}`),
			refused: `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}`,
		},
		"ollama": {
			model: "ollama/m", path: "/api/chat", key: "Authorization",
			call:    `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"glob","arguments":{"pattern":"*.go"}}}]},"done":false}` + "\n" + `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}` + "\n",
			words:   `{"model":"m","message":{"role":"assistant","content":"two "},"done":false}` + "\n" + `{"model":"m","message":{"role":"assistant","content":"files"},"done":false}` + "\n" + `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}` + "\n",
			cut:     `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"glob","arguments":{"pattern":"*.go"}}}]},"done":false}` + "\n",
			failed:  `{"error":"busy now"}` + "\n",
			refused: `{"error":"slow down"}`,
		},
	}
}

func sse(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		var named struct{ Type string }
		if json.Unmarshal([]byte(m), &named) == nil && named.Type != "" {
			b.WriteString("event: " + named.Type + "\n")
		}
		b.WriteString("data: " + m + "\n\n")
	}
	return b.String()
}

// plain answers with a body as it is.
func plain(text string) step {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func eachFormat(t *testing.T, f func(t *testing.T, w wording, o Options, s *script)) {
	for _, name := range Dialects() {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { goleak.VerifyNone(t) })
			w, ok := wordings()[name]
			if !ok {
				t.Fatal("this format has no wording")
			}
			s := &script{}
			srv := httptest.NewServer(s)
			t.Cleanup(srv.Close)
			o := testOptions(srv.URL)
			o.Model, o.Dialect, o.format = w.model, name, nil
			f(t, w, o, s)
		})
	}
}

func (o Options) conn(t *testing.T) llm.Conn {
	t.Helper()
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p.Open("s")
}

func TestTheSameStoryInEveryFormat(t *testing.T) {
	eachFormat(t, func(t *testing.T, w wording, o Options, s *script) {
		var bodies []string
		watch := func(next step) step {
			return func(rw http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(raw))
				if r.URL.Path != w.path || !strings.HasSuffix(r.Header.Get(w.key), testKey) || r.ContentLength != int64(len(raw)) {
					t.Errorf("%s, %v, length %d of %d", r.URL, r.Header, r.ContentLength, len(raw))
				}
				next(rw, r)
			}
		}
		s.steps = []step{watch(status(503, "")), watch(plain(w.call)), watch(plain(w.words))}
		c := o.conn(t)
		h := convo.NewHistory(nil)
		h.Append(convo.Event{Kind: convo.KindUser, Text: "list the Go files"})
		r := llm.Request{System: "be brief", Events: h.Events(), Tools: []tool.Spec{{Name: "glob", Description: "find files"}}}
		first, err := llm.Assemble(c.Stream(t.Context(), r), nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := first.Calls()
		if len(calls) != 1 || calls[0].Name != "glob" || first.Stop != llm.ToolUse || count(first.Usage.Input) != 3 || count(first.Usage.Output) != 4 {
			t.Fatalf("%+v", first)
		}
		if !cmp.Equal(decoded(t, calls[0].Args), map[string]any{"pattern": "*.go"}) {
			t.Errorf("arguments %s", calls[0].Args)
		}
		for _, it := range first.Items {
			h.Append(eventOf(it))
		}
		h.Append(convo.Of("", convo.ToolResult{Result: tool.Result{CallID: calls[0].ID, Name: "glob", Data: json.RawMessage(`{"files":["a.go","b.go"]}`)}}))
		r.Events = h.Events()
		second, err := llm.Assemble(c.Stream(t.Context(), r), nil)
		if err != nil || second.Text() != "two files" || second.Stop != llm.EndTurn {
			t.Fatalf("%+v %v", second, err)
		}
		if len(bodies) != 3 || bodies[0] != bodies[1] || !strings.Contains(bodies[2], "a.go") {
			t.Errorf("bodies %q", bodies)
		}
	})
}

func TestTheCostComesWithTheReply(t *testing.T) {
	w := wordings()["anthropic"]
	for model, want := range map[string]bool{"anthropic/claude-opus-5": true, "anthropic/unheard-of": false} {
		srv := httptest.NewServer(&script{steps: []step{plain(w.words)}})
		defer srv.Close()
		o := testOptions(srv.URL)
		o.Model, o.Dialect, o.format = model, "", nil
		reply, err := llm.Assemble(o.conn(t).Stream(t.Context(), llm.Request{Events: prompt("x")}), nil)
		if err != nil || count(reply.Usage.Output) != 4 {
			t.Fatalf("%v %+v", err, reply.Usage)
		}
		if got := reply.Usage.CostUSD; (got != nil) != want || want && *got != *Cost(convo.Usage{Input: reply.Usage.Input, Output: reply.Usage.Output}, Lookup(model)) {
			t.Errorf("%s: cost %v", model, got)
		}
	}
}

func decoded(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestACutCallIsNeverWholeInAnyFormat(t *testing.T) {
	eachFormat(t, func(t *testing.T, w wording, o Options, s *script) {
		s.steps = []step{plain(w.cut), plain(w.words)}
		reply, err := llm.Assemble(o.conn(t).Stream(t.Context(), llm.Request{Events: prompt("x")}), nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != llm.Truncated || !e.Partial || s.asked != 1 || len(reply.Calls()) != 1 {
			t.Errorf("%v, asked %d times, %+v", err, s.asked, reply)
		}
	})
}

func TestAnErrorInsideSuccessIsTriedAgainInEveryFormat(t *testing.T) {
	eachFormat(t, func(t *testing.T, w wording, o Options, s *script) {
		s.steps = []step{plain(w.failed), plain(w.words)}
		var got outcome
		got.listen(&o)
		got.stream(t.Context(), o.conn(t))
		fault{text: "two files"}.check(t, got)
		if s.asked != 2 || len(got.notices) != 1 || !strings.Contains(got.notices[0], "busy now") {
			t.Errorf("asked %d times, notices %q", s.asked, got.notices)
		}
	})
}

func TestARefusalSaysItsWordsInEveryFormat(t *testing.T) {
	eachFormat(t, func(t *testing.T, w wording, o Options, s *script) {
		s.steps = []step{status(429, w.refused, "Retry-After", "7")}
		if w.path == "/v1beta/models/m:streamGenerateContent" {
			s.steps = []step{status(429, w.refused)} // it says so in its body
		}
		o.Retry.Tries = 1
		var got outcome
		got.stream(t.Context(), o.conn(t))
		fault{class: llm.RateLimited, says: []string{"slow down", "7s", "429"}}.check(t, got)
	})
}

// Every recorded stream gives over the network what it gives to the decoder at once.
func TestRecordingsArriveAsTheyAre(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "wire")
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.expect.json"))
	if len(files) == 0 {
		t.Skip("the recorded streams are not here: ", dir)
	}
	defer goleak.VerifyNone(t)
	n := 0
	for _, file := range files {
		var want struct {
			Format, Transport string
			Status            int
		}
		raw, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(raw, &want) != nil {
			t.Fatal(file, err)
		}
		body, err := os.ReadFile(strings.TrimSuffix(file, "expect.json") + want.Transport)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := FormatOf(want.Format)
		if !ok || want.Status != 0 && want.Status != 200 {
			continue
		}
		n++
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) { arrives(t, f, body) })
	}
	t.Logf("%d recordings", n)
}

func arrives(t *testing.T, f dialect.Format, body []byte) {
	srv := httptest.NewServer(&script{steps: []step{plain(string(body))}})
	defer srv.Close()
	o := testOptions(srv.URL)
	o.Model, o.Dialect, o.format, o.Retry.Tries = "acme/m", f.Name, nil, 1
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, gotErr := llm.Assemble(p.Open("s").Stream(t.Context(), llm.Request{Events: prompt("x")}), nil)
	want, wantErr := llm.Assemble(direct(f, body), nil)
	for _, r := range []*llm.Reply{&got, &want} {
		for i := range r.Items {
			r.Items[i].Call.ID = "" // may be made up
			r.Items[i].Keep = nil   // the network knows the model
		}
	}
	if wantErr != nil {
		want.Stop, want.Native = "", "" // an error takes the place of the end signal
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if classOf(gotErr) != classOf(wantErr) {
		t.Errorf("%v, want %v", gotErr, wantErr)
	}
}

func direct(f dialect.Format, body []byte) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		d := f.Decoder()
		emit := func(x llm.Delta) { yield(x, nil) }
		err := d.Feed(body, emit)
		if err == nil {
			err = d.Close(emit)
		}
		if err != nil {
			yield(llm.Delta{}, err)
		}
	}
}

func classOf(err error) llm.Class {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

func TestEveryRowOpens(t *testing.T) {
	for _, row := range Rows() {
		o := Options{Model: row.Name + "/m"}
		if row.Base == "" {
			o.BaseURL = "https://h.example"
		}
		if _, err := Open(o); err != nil {
			t.Errorf("%s: %v", row.Name, err)
		}
		if row.Elsewhere != "" && !slices.Contains(Dialects(), row.Elsewhere) || len(row.KeyVars) == 0 {
			t.Errorf("%+v", row)
		}
	}
}

func TestPicturesGoToModelsThatAreNotKnownToTakeNone(t *testing.T) {
	w := wordings()["openai"]
	for model, want := range map[string]bool{"xai/grok-4": true, "deepseek/deepseek-chat": false, "deepseek/unheard-of": true} {
		var body string
		srv := httptest.NewServer(&script{steps: []step{func(rw http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			body = string(raw)
			plain(w.words)(rw, r)
		}}})
		defer srv.Close()
		o := testOptions(srv.URL)
		o.Model, o.Dialect, o.format = model, "", nil
		e := convo.Of("look", convo.Words{Images: []convo.Image{{Name: "a.gif", Media: "image/gif", Data: []byte("GIF89a")}}})
		if _, err := llm.Assemble(o.conn(t).Stream(t.Context(), llm.Request{Events: []convo.Event{e}}), nil); err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(model, "/")
		told := strings.Contains(body, "[image a.gif, 1 kB, not sent: "+name+" takes no images]")
		if sent := strings.Contains(body, "data:image/gif;base64,R0lGODlh"); sent != want || told == want {
			t.Errorf("%s: %s", model, body)
		}
	}
}
