package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

const testModel = "gemini-3-x"

// keeps are what each format would have kept with thinking, a text and a call.
var keeps = map[string]struct{ thinking, text, call string }{
	"openai":    {thinking: `{"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"SIGNATURE"}]}`, call: `{"extra_content":{"google":{"thought_signature":"SIGNATURE"}}}`},
	"responses": {`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"SIGNATURE"}`, `{"id":"msg_1"}`, `{"id":"fc_1"}`},
	"anthropic": {thinking: `{"type":"thinking","thinking":"hm","signature":"SIGNATURE"}`},
	"gemini":    {call: `{"id":"g1","thoughtSignature":"SIGNATURE"}`},
	"ollama":    {thinking: `{}`},
}

// richSession is a session of a person with a model that speaks from: text,
// thinking, three calls at once, their results, an error, a denied call.
func richSession(from string) []convo.Event {
	k := keeps[from]
	keep := func(e convo.Event, reply, data string) convo.Event {
		e.Reply = reply
		if data != "" {
			e.Keep = &convo.Opaque{Dialect: from, Model: testModel, Data: json.RawMessage(data)}
		}
		return e
	}
	call := func(id, name, args string) convo.Event {
		return convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: name, Args: json.RawMessage(args)}})
	}
	result := func(r tool.Result) convo.Event { return convo.Of("", convo.ToolResult{Result: r}) }
	denied := tool.Call{ID: "call_4", Name: "bash"}
	list := []convo.Event{
		{Kind: convo.KindUser, Text: "Look around, \"please\"\n\tand <carefully> 🙂"},
		keep(convo.Event{Kind: convo.KindThinking, Text: "hm"}, "r1", k.thinking),
		keep(convo.Event{Kind: convo.KindAssistant, Text: "I look."}, "r1", k.text),
		keep(call("functions.glob:0", "glob", `{"pattern": "**/*.go"}`), "r1", k.call),
		keep(call("call_2", "file_read", `{"path":"a \"b\" c"}`), "r1", k.call),
		keep(call("call_3", "grep", `{"pattern": broken`), "r1", k.call),
		convo.Of("", convo.Decision{CallID: "call_2", Name: "file_read", Allowed: true}),
		result(tool.Result{CallID: "functions.glob:0", Name: "glob", Data: json.RawMessage(`{"files":["a.go"]}`)}),
		result(tool.Result{CallID: "call_2", Name: "file_read", Data: json.RawMessage(`{"error":"File not found: a","error_code":"FILE_NOT_FOUND"}`)}),
		result(tool.Fail(tool.Call{ID: "call_3", Name: "grep"}, tool.InvalidParams, "the arguments are no JSON")),
		{Kind: convo.KindUsage, Body: convo.Usage{}},
		keep(convo.Event{Kind: convo.KindThinking, Text: "so"}, "r2", k.thinking),
		keep(call("call_4", "bash", `{"command":"rm -rf /"}`), "r2", k.call),
		result(tool.Fail(denied, tool.PermissionDenied, "denied by the person")),
		keep(convo.Event{Kind: convo.KindAssistant, Text: "Then not. "}, "r3", k.text),
		convo.Of("", convo.End{Stop: convo.StopDone}),
		{Kind: convo.KindUser, Text: "Thanks."},
	}
	for i := range list {
		list[i].Seq = int64(i + 1)
	}
	return list
}

func testTools(t testing.TB) []tool.Spec {
	var tools []tool.Spec
	for _, name := range []string{"glob", "file_read", "grep", "bash"} {
		p, err := schema.Parse([]byte(`{"type":"object","properties":{"pattern":{"type":"string","description":"what"},"path":{"type":"string"},"n":{"type":"integer"}},"required":["pattern"]}`))
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool.Spec{Name: name, Description: "does " + name, Parameters: p})
	}
	return tools
}

func encode(t testing.TB, e dialect.Encoder, r llm.Request) dialect.Body {
	t.Helper()
	body, err := e.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestARichSessionIsValidForEveryProviderAfterEachEvent(t *testing.T) {
	for _, from := range Formats() {
		for _, to := range Formats() {
			t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
				events := richSession(from.Name)
				going := to.Encoder(dialect.Quirks{})
				for n := range len(events) + 1 {
					r := llm.Request{Model: testModel, System: "Be good.", Events: events[:n:n], Tools: testTools(t)}
					body := encode(t, going, r).Bytes()
					if err := check(to.Name, body); err != nil {
						t.Fatalf("after event %d: %v\n%s", n, err, body)
					}
					if fresh := encode(t, to.Encoder(dialect.Quirks{}), r).Bytes(); !bytes.Equal(fresh, body) {
						t.Fatalf("after event %d: an encoder that went along and a new one differ\n%s\n%s", n, body, fresh)
					}
				}
				body := encode(t, going, llm.Request{Model: testModel, Events: events, Tools: testTools(t)}).Bytes()
				if own := from.Name == to.Name && strings.Contains(fmt.Sprint(keeps[from.Name]), "SIGNATURE"); own != bytes.Contains(body, []byte("SIGNATURE")) {
					t.Fatalf("a signature of %s was sent to %s, or its own was not:\n%s", from.Name, to.Name, body)
				}
			})
		}
	}
}

func TestASignatureOfAnotherModelIsNotSent(t *testing.T) {
	for _, f := range Formats() {
		body := encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "another", Events: richSession(f.Name), Tools: testTools(t)}).Bytes()
		if bytes.Contains(body, []byte("SIGNATURE")) {
			t.Errorf("%s: %s", f.Name, body)
		}
		if err := check(f.Name, body); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestEveryServersQuirksGetAValidBody(t *testing.T) {
	f, _ := Find("openai")
	for name, q := range map[string]dialect.Quirks{
		"mistral":  {ShortIDs: true, NameInResult: true, Bridge: true},
		"deepseek": {EchoReasoning: true},
		"gateway":  {CacheMarks: true, NoStreamOptions: true, Developer: true, MaxTokensField: "max_completion_tokens"},
	} {
		events := richSession("openai")
		for n := range len(events) + 1 {
			body := encode(t, f.Encoder(q), llm.Request{Model: testModel, System: "s", Events: events[:n], Tools: testTools(t), MaxReply: 9}).Bytes()
			if err := check("openai", body); err != nil {
				t.Fatalf("%s after event %d: %v\n%s", name, n, err, body)
			}
			if q.ShortIDs {
				steps, _ := parse("openai", body)
				for _, s := range steps {
					if s.id != "" && len(s.id) != 9 {
						t.Fatalf("%s: id %q", name, s.id)
					}
				}
			}
		}
	}
}

// withoutMarks takes the cache marks out of a body.
func withoutMarks(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

func TestThePrefixIsByteIdenticalOver100Turns(t *testing.T) {
	tools := testTools(t)
	for _, f := range Formats() {
		for _, q := range []dialect.Quirks{{}, {CacheMarks: true}} {
			t.Run(f.Name, func(t *testing.T) {
				e := f.Encoder(q)
				var events []convo.Event
				var before []byte
				for turn := range 100 {
					for n, x := range richSession(f.Name)[:16] {
						x.Seq = int64(len(events) + 1)
						if x.Reply != "" {
							x.Reply += fmt.Sprint("-", turn)
						}
						events = append(events, x)
						if n != 0 && n != 9 && n != 13 { // the model is asked after the words and after all results
							continue
						}
						body := encode(t, e, llm.Request{Model: testModel, System: "Be good.", Events: slices.Clip(events), Tools: tools})
						if turn%20 == 19 {
							if err := check(f.Name, body.Bytes()); err != nil {
								t.Fatalf("turn %d: %v", turn, err)
							}
						}
						body.Segments = body.Segments[:len(body.Segments)-1]
						now := withoutMarks(body.Bytes())
						if !bytes.HasPrefix(now, before) {
							t.Fatalf("turn %d changed what was sent before", turn)
						}
						if len(body.Notices) > 0 {
							t.Fatalf("turn %d: %q", turn, body.Notices)
						}
						before = now
					}
				}
			})
		}
	}
}

func TestABodyOnceMadeNeverChanges(t *testing.T) {
	for _, f := range Formats() {
		e := f.Encoder(dialect.Quirks{CacheMarks: true})
		events := richSession(f.Name)
		var bodies []dialect.Body
		var copies [][]byte
		for n := range len(events) + 1 {
			b := encode(t, e, llm.Request{Model: testModel, Events: events[:n], Tools: testTools(t)})
			bodies, copies = append(bodies, b), append(copies, b.Bytes())
		}
		for i, b := range bodies {
			if !bytes.Equal(b.Bytes(), copies[i]) {
				t.Fatalf("%s: body %d changed", f.Name, i)
			}
			if b.Len() != int64(len(copies[i])) {
				t.Fatalf("%s: length %d of %d", f.Name, b.Len(), len(copies[i]))
			}
		}
	}
}

func TestWhatMakesTheCacheColdIsNoticed(t *testing.T) {
	for _, f := range Formats() {
		e := f.Encoder(dialect.Quirks{})
		events := richSession(f.Name)
		tools := testTools(t)
		base := llm.Request{Model: testModel, System: "s", Events: events, Tools: tools}
		encode(t, e, base)
		for _, c := range []struct {
			change func(*llm.Request)
			want   string
		}{
			{func(*llm.Request) {}, ""},
			{func(r *llm.Request) { r.System = "other" }, "system prompt"},
			{func(r *llm.Request) { r.System = "other"; r.Tools = tools[:3] }, "list of tools"},
			{func(r *llm.Request) { r.System = "other"; r.Tools = tools[:3]; r.Model = "another" }, "the model changed"},
			{func(r *llm.Request) {
				r.System, r.Tools, r.Model = "other", tools[:3], "another"
				r.Events = append(slices.Clone(events), convo.Event{Seq: 99, Kind: convo.KindSummary, Text: "short"})
			}, "earlier parts"},
		} {
			r := base
			c.change(&r)
			got := strings.Join(encode(t, e, r).Notices, "|")
			if f.Name == "ollama" && c.want == "list of tools" {
				continue // its tools stand behind the conversation
			}
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("%s: notices %q, want %q", f.Name, got, c.want)
			}
		}
	}
}

func TestNoToolsKeepsThemButForbidsCalls(t *testing.T) {
	want := map[string]string{
		"openai": `"tool_choice":"none"`, "responses": `"tool_choice":"none"`, "anthropic": `"tool_choice":{"type":"none"}`, "gemini": `"mode":"NONE"`,
	}
	for _, f := range Formats() {
		r := llm.Request{Model: "m", Events: richSession(f.Name), Tools: testTools(t), Choice: llm.NoTools}
		body := string(encode(t, f.Encoder(dialect.Quirks{}), r).Bytes())
		if !strings.Contains(body, want[f.Name]) {
			t.Errorf("%s: %s", f.Name, body)
		}
		if declared := strings.Contains(body, "does glob"); declared != (f.Name != "ollama") {
			t.Errorf("%s: tools declared: %v", f.Name, declared)
		}
	}
}

func TestAnEmptyListOfToolsIsLeftOut(t *testing.T) {
	for _, f := range Formats() {
		body := string(encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: richSession(f.Name)[:1]}).Bytes())
		if strings.Contains(body, "tool") {
			t.Errorf("%s: %s", f.Name, body)
		}
	}
}

func TestToolsWithNamesNobodyTakesAreRenamedAndComeBack(t *testing.T) {
	long := "mcp." + strings.Repeat("server-", 20) + "read"
	for _, f := range Formats() {
		r := llm.Request{Model: "m", Tools: []tool.Spec{{Name: long}, {Name: "9lives"}, {Name: "plain"}}, Events: []convo.Event{
			{Kind: convo.KindUser, Text: "x"},
			convo.Of("", convo.ToolCall{Call: tool.Call{ID: "a", Name: long}}),
		}}
		body := encode(t, f.Encoder(dialect.Quirks{}), r)
		if err := check(f.Name, body.Bytes()); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		steps, _ := parse(f.Name, body.Bytes())
		var back string
		emit := body.Back(func(d llm.Delta) { back = d.Name })
		for _, s := range steps {
			if s.role == "call" {
				emit(llm.Delta{Kind: llm.CallPart, Name: s.name})
			}
		}
		if back != long {
			t.Errorf("%s: came back as %q", f.Name, back)
		}
		emit(llm.Delta{Kind: llm.CallPart, Name: "plain"})
		if back != "plain" {
			t.Errorf("%s: plain came back as %q", f.Name, back)
		}
	}
}

func TestWhatIsKeptIsMarkedWithItsModel(t *testing.T) {
	var got llm.Delta
	keep := &convo.Opaque{Dialect: "x"}
	dialect.Body{Model: "m"}.Back(func(d llm.Delta) { got = d })(llm.Delta{Keep: keep})
	if got.Keep.Model != "m" || keep.Model != "" {
		t.Fatalf("%+v, and the decoder's own is %+v", got.Keep, keep)
	}
}
