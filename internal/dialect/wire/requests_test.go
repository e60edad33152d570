package wire

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// exchange is a request that a provider accepted or refused.
type exchange struct {
	Status   int             `json:"status"`
	Path     string          `json:"path"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

func exchanges(t *testing.T) map[string]exchange {
	dir := filepath.Join(recordings(t), "requests")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests in %s: %v", dir, err)
	}
	all := map[string]exchange{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var x exchange
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = x
	}
	return all
}

func formatOf(path string) string {
	for part, format := range map[string]string{"/messages": "anthropic", "/responses": "responses", "/models/": "gemini", "/chat/completions": "openai"} {
		if strings.Contains(path, part) {
			return format
		}
	}
	return ""
}

// stored turns the steps of a recorded request into the events of a session.
func stored(format string, steps []step) (system string, events []convo.Event) {
	for _, s := range steps {
		e := convo.Event{Reply: "", Text: s.text}
		switch s.role {
		case "system":
			system = s.text
			continue
		case "user":
			e.Kind = convo.KindUser
		case "text":
			e.Kind = convo.KindAssistant
		case "thinking":
			e.Kind = convo.KindThinking
			e.Keep = keepOf(format, s)
		case "call":
			e = convo.Of("", convo.ToolCall{Call: tool.Call{ID: s.id, Name: s.name, Args: json.RawMessage(s.args)}})
			e.Keep = keepOf(format, s)
		case "result":
			e = convo.Of("", convo.ToolResult{Result: tool.Result{CallID: s.id, Data: json.RawMessage(s.text)}})
		}
		events = append(events, e)
	}
	return system, events
}

func keepOf(format string, s step) *convo.Opaque {
	var data any
	switch {
	case format == "gemini":
		id, _, _ := strings.Cut(s.id, "/")
		data = map[string]string{"id": id, "thoughtSignature": s.kept}
	case s.kept == "":
		return nil
	case format == "anthropic":
		data = map[string]string{"type": "thinking", "thinking": s.text, "signature": s.kept}
	case format == "openai":
		data = map[string]json.RawMessage{"reasoning_details": json.RawMessage(s.kept)}
	}
	return dialect.Keeping(format, data)
}

// positions counts messages from the first that is no system prompt.
func positions(steps []step) []step {
	out := append([]step(nil), steps...)
	first := -1
	for i := range out {
		if out[i].role == "system" {
			out[i].turn = 0
			continue
		}
		if first < 0 {
			first = out[i].turn
		}
		out[i].turn -= first
		out[i].id = strings.ReplaceAll(out[i].id, "/1/", "/")
	}
	return out
}

func TestAcceptedHistoriesAreWhatWeSend(t *testing.T) {
	compared := 0
	for name, x := range exchanges(t) {
		if x.Status != 200 {
			continue
		}
		format := formatOf(x.Path)
		f, _ := Find(format)
		want, err := parse(format, x.Request)
		if err != nil {
			t.Fatalf("%s: reading the recorded request: %v", name, err)
		}
		system, events := stored(format, want)
		r := llm.Request{Model: "m", System: system, Events: events, Tools: testTools(t), Shape: func(r tool.Result) []byte { return r.Data }}
		body := encode(t, f.Encoder(dialect.Quirks{}), r).Bytes()
		got, err := parse(format, body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(positions(got), positions(want)) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, positions(got), positions(want))
		}
		if err := check(format, body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		compared++
	}
	t.Logf("%d recorded requests have the shape of ours", compared)
}

func TestRefusalsOfRequestsReachThePerson(t *testing.T) {
	for name, x := range exchanges(t) {
		if x.Status == 200 {
			continue
		}
		f, _ := Find(formatOf(x.Path))
		var answer struct {
			Error struct{ Message string } `json:"error"`
		}
		if err := json.Unmarshal(x.Response, &answer); err != nil || answer.Error.Message == "" {
			t.Fatalf("%s: %v", name, err)
		}
		e := f.Decoder().Fault(x.Status, http.Header{}, x.Response)
		if e.Class != llm.BadRequest || !strings.Contains(e.Error(), answer.Error.Message) || e.Retryable() {
			t.Errorf("%s: %s %v", name, e.Class, e)
		}
	}
}

func TestReasoningIsNotSentWithoutTheItemItLedTo(t *testing.T) {
	f, _ := Find("responses")
	reasoning := convo.Event{Kind: convo.KindThinking, Text: "hm", Reply: "r", Keep: &convo.Opaque{
		Dialect: "responses", Data: json.RawMessage(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"BLOB"}`),
	}}
	text := convo.Event{Kind: convo.KindAssistant, Text: "42", Reply: "r"}
	for _, c := range []struct {
		keep string
		sent bool
	}{{"", false}, {`{"id":"msg_1"}`, true}} {
		if c.keep != "" {
			text.Keep = &convo.Opaque{Dialect: "responses", Data: json.RawMessage(c.keep)}
		}
		events := []convo.Event{{Kind: convo.KindUser, Text: "?"}, reasoning, text, {Kind: convo.KindUser, Text: "more?"}}
		body := encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: events}).Bytes()
		if err := check("responses", body); err != nil {
			t.Error(err)
		}
		if strings.Contains(string(body), "BLOB") != c.sent {
			t.Errorf("with %q: %s", c.keep, body)
		}
	}
}

func TestCallsOfOneReplyStandTogetherBeforeTheirOutputs(t *testing.T) {
	f, _ := Find("responses")
	in := func(e convo.Event) convo.Event { e.Reply = "r"; return e }
	call := func(id string) convo.Event {
		return in(convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: "read"}}))
	}
	result := func(id string) convo.Event { return convo.Of("", convo.ToolResult{Result: tool.Result{CallID: id}}) }
	events := []convo.Event{
		{Kind: convo.KindUser, Text: "x"},
		in(convo.Event{Kind: convo.KindAssistant, Text: "one"}), call("a"),
		in(convo.Event{Kind: convo.KindAssistant, Text: "two"}), call("b"), result("b"), result("a"),
	}
	steps, err := parse("responses", encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: events}).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, s := range steps {
		order = append(order, s.role+s.id)
	}
	if got := strings.Join(order, " "); got != "user text text calla callb resulta resultb" {
		t.Error(got)
	}
}

func TestEffortIsAskedInEachModelsOwnWay(t *testing.T) {
	for _, c := range []struct {
		format, model string
		quirks        dialect.Quirks
		want, not     string
	}{
		{"openai", "m", dialect.Quirks{}, `"reasoning_effort":"high"`, ""},
		{"openai", "o1", dialect.Quirks{Developer: true, MaxTokensField: "max_completion_tokens"}, `"role":"developer"`, `"system"`},
		{"responses", "m", dialect.Quirks{}, `"reasoning":{"effort":"high"`, ""},
		{"anthropic", "m", dialect.Quirks{}, `"thinking":{"type":"enabled","budget_tokens":24576}`, "output_config"},
		{"anthropic", "m", dialect.Quirks{AdaptiveThinking: true}, `"output_config":{"effort":"high"}`, "budget"},
		{"gemini", "gemini-2.5-pro", dialect.Quirks{}, `"thinkingBudget":24576`, "thinkingLevel"},
		{"gemini", "gemini-3-pro", dialect.Quirks{}, `"thinkingLevel":"HIGH"`, "thinkingBudget"},
		{"ollama", "m", dialect.Quirks{Window: 32768}, `"num_ctx":32768`, ""},
		{"ollama", "m", dialect.Quirks{}, `"think":"high"`, "num_ctx"},
	} {
		f, _ := Find(c.format)
		r := llm.Request{Model: c.model, System: "s", Events: []convo.Event{{Kind: convo.KindUser, Text: "x"}}, Effort: llm.HighEffort}
		body := string(encode(t, f.Encoder(c.quirks), r).Bytes())
		if !strings.Contains(body, c.want) || c.not != "" && strings.Contains(body, c.not) || !json.Valid([]byte(body)) {
			t.Errorf("%s %s: %s", c.format, c.model, body)
		}
	}
}

func TestThinkingIsNotSwitchedOnWithinAToolLoop(t *testing.T) {
	f, _ := Find("anthropic")
	events := richSession("openai")[:14] // ends in results of a turn that has no thinking of Anthropic's
	body := string(encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: events, Effort: llm.LowEffort}).Bytes())
	if strings.Contains(body, `"thinking"`) {
		t.Error(body)
	}
	body = string(encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: append(events, convo.Event{Kind: convo.KindUser, Text: "x"}), Effort: llm.LowEffort}).Bytes())
	if !strings.Contains(body, `"thinking":{"type":"enabled","budget_tokens":2048},`) {
		t.Error(body)
	}
}

func TestTheFirstCallOfAStepIsSignedForGemini3(t *testing.T) {
	f, _ := Find("gemini")
	for model, want := range map[string]int{"gemini-3-pro-preview": 2, "gemini-2.5-flash": 0} {
		body := string(encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: model, Events: richSession("openai")}).Bytes())
		if got := strings.Count(body, "skip_thought_signature_validator"); got != want {
			t.Errorf("%s: %d stand-ins, want %d", model, got, want)
		}
	}
}

func TestThePhaseOfAMessageGoesBackWithIt(t *testing.T) {
	f, _ := Find("responses")
	body := `data: {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}}` + "\n\n"
	var keep *convo.Opaque
	err := f.Decoder().Feed([]byte(body), func(d llm.Delta) {
		if d.Keep != nil {
			keep = d.Keep
		}
	})
	if err != nil || keep == nil {
		t.Fatalf("kept %v, %v", keep, err)
	}
	events := []convo.Event{{Kind: convo.KindUser, Text: "?"}, {Kind: convo.KindAssistant, Text: "I look.", Keep: keep}, {Kind: convo.KindUser, Text: "and?"}}
	if sent := string(encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: events}).Bytes()); !strings.Contains(sent, `"id":"msg_1","phase":"commentary"`) {
		t.Error(sent)
	}
}
