package conformance

import (
	"encoding/json"
	"slices"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// signed is the model whose signatures the session carries, and old one that
// takes none of them. Their names matter to one format only.
const (
	signed = "gemini-3-pro-preview"
	old    = "gemini-2.5-flash"
)

// kept is what a format keeps with the things that a model says.
type kept struct{ thinking, hidden, text, call string }

var keeps = map[string]kept{
	"responses": {
		thinking: `{"type":"reasoning","id":"rs_7","summary":[{"type":"summary_text","text":"The test is named first."}],"encrypted_content":"c2VjcmV0IHRob3VnaHQ="}`,
		text:     `{"id":"msg_7","phase":"commentary"}`,
		call:     `{"id":"fc_7"}`,
	},
	"anthropic": {
		thinking: `{"type":"thinking","thinking":"The test is named first.","signature":"c2lnbmVkIHRob3VnaHQ="}`,
		hidden:   `{"type":"redacted_thinking","data":"aGlkZGVuIHRob3VnaHQ="}`,
	},
	"gemini": {
		thinking: `{"thought":true,"thoughtSignature":"c2lnbmVkIHRob3VnaHQ="}`,
		text:     `{"thoughtSignature":"c2lnbmVkIHdvcmRz"}`,
		call:     `{"id":"fn-7","thoughtSignature":"c2lnbmVkIGNhbGwh"}`,
	},
	"ollama": {thinking: `{}`},
}

// gateway is what a gateway in front of the Chat Completions adds of its own.
var gateway = kept{
	thinking: `{"reasoning_details":[{"type":"reasoning.text","text":"The test is named first.","signature":"c2ln","index":0}]}`,
	call:     `{"extra_content":{"google":{"thought_signature":"c2ln"}}}`,
}

// illustrated are events with two pictures in each thing that the person said.
func illustrated(events []convo.Event) []convo.Event {
	events = slices.Clone(events)
	for i, e := range events {
		if e.Kind == convo.KindUser {
			events[i].Body = convo.Words{Images: []convo.Image{
				{Name: "a.png", Media: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe")},
				{Name: "b.webp", Media: "image/webp", Data: []byte("RIFF\x04\x00\x00\x00WEBP")},
			}}
		}
	}
	return events
}

// story is a session with a model that speaks a format and had k kept: the
// person asks, the model thinks, speaks and makes three calls at once, of which
// one succeeds, one tells of an error and one fails; it thinks again and wants
// what it may not; it gives in, and the person thanks.
func story(format string, k kept) []convo.Event {
	of := func(reply, keep string, e convo.Event) convo.Event {
		e.Reply = reply
		if keep != "" {
			e.Keep = &convo.Opaque{Dialect: format, Model: signed, Data: json.RawMessage(keep)}
		}
		return e
	}
	call := func(id, name, args string) convo.Event {
		return convo.Of("", convo.ToolCall{Call: tool.Call{ID: id, Name: name, Args: json.RawMessage(args)}})
	}
	result := func(r tool.Result) convo.Event { return convo.Of("", convo.ToolResult{Result: r}) }
	thought := func(words string) convo.Event { return convo.Event{Kind: convo.KindThinking, Text: words} }
	said := func(words string) convo.Event { return convo.Event{Kind: convo.KindAssistant, Text: words} }
	events := []convo.Event{
		{Kind: convo.KindUser, Text: "Why does \"TestRound\" fail?\n\tIt is <urgent> & früh ☕"},
		of("one", k.thinking, thought("The test is named first.")),
		of("one", k.text, said("Let me see.")),
		of("one", k.call, call("toolu.1:a", "find", `{"under": "src", "kinds": ["go", "mod"]}`)),
		of("one", k.call, call("call_b", "read", `{"path":"src/round \"half\".go","from":1e2}`)),
		of("one", k.call, call("call_c", "search", `{"words":`)),
		result(tool.Result{CallID: "toolu.1:a", Name: "find", Data: json.RawMessage(`{"paths":["src/round.go"],"more":false}`)}),
		result(tool.Result{CallID: "call_b", Name: "read", Data: json.RawMessage(`{"error":"there is no such file","error_code":"FILE_NOT_FOUND"}`)}),
		result(tool.Fail(tool.Call{ID: "call_c", Name: "search"}, tool.InvalidParams, "the arguments end too early")),
		{Kind: convo.KindUsage, Body: convo.Usage{}},
	}
	if k.hidden != "" {
		events = append(events, of("two", k.hidden, thought("")))
	}
	events = append(events,
		of("two", k.thinking, thought("The test is named first.")),
		of("two", k.call, call("call_d", "remove", `{}`)),
		convo.Of("", convo.Decision{CallID: "call_d", Name: "remove", By: convo.ByPerson}),
		result(tool.Fail(tool.Call{ID: "call_d", Name: "remove"}, tool.PermissionDenied, "the person said no")),
		of("three", k.text, said("Then it stays.\n")),
		convo.Of("", convo.End{Stop: convo.StopDone}),
		convo.Event{Kind: convo.KindUser, Text: "Fine."},
	)
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events
}

// toolbox are the tools of the story. Their schemas keep to what all clients
// have fields for; schemas_test.go is about those that do not.
func toolbox(t *testing.T) []tool.Spec {
	t.Helper()
	var all []tool.Spec
	for _, d := range []struct{ name, parameters string }{
		{"find", `{"type":"object","properties":{"under":{"type":"string","description":"a folder"},"kinds":{"type":"array","items":{"type":"string"}}},"required":["under"]}`},
		{"read", `{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"},"how":{"type":"string","enum":["text","bytes"]}},"required":["path"]}`},
		{"search", `{"words":{"type":"string","required":true},"where":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}`},
		{"remove", `{}`},
	} {
		p, err := schema.Parse([]byte(d.parameters))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool.Spec{Name: d.name, Description: "can " + d.name + " \"things\"", Parameters: p})
	}
	return all
}
