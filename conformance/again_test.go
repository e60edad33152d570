package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// What the model said goes back with the next question, and with it whatever the
// vendor wants to see again. We and the client must send back the same.
func TestAReplyGoesBackAsTheClientWouldSendIt(t *testing.T) {
	seen := map[string]map[string]bool{}
	compared := 0
	for _, r := range recordings(t) {
		p := peerOf(t, r.format)
		if seen[p.format] == nil {
			seen[p.format] = map[string]bool{}
		}
		ours := sentBack(t, p, r)
		if ours == nil || apartFrom[r.name] != "" {
			continue
		}
		theirs, _ := hearWith(t, p, r)
		compared++
		for _, d := range differences(t, asText(t, ours), asText(t, theirs.Again)) {
			seen[p.format][d] = true
			if p.again[d] == "" {
				t.Errorf("%s: %s\n ours   %s\n theirs %s", r.name, d, asText(t, ours), asText(t, theirs.Again))
			}
		}
	}
	for _, p := range peers() {
		for d, why := range p.again {
			if !seen[p.format][d] {
				t.Errorf("%s: the known difference %q (%s) does not occur", p.format, d, why)
			}
		}
	}
	t.Logf("%d replies", compared)
}

// sentBack is the turn of the model in the body that we send after a recorded
// reply; nil when it did not end well, or says nothing.
func sentBack(t *testing.T, p peer, r recording) []any {
	t.Helper()
	said, err := assemble(p.ours(t), r.body)
	if err != nil || r.status != http.StatusOK || len(said.Items) == 0 {
		return nil
	}
	body := encode(t, p, question{request: llm.Request{Model: signed, Events: sessionWith(said)}})
	var b struct{ Messages, Input, Contents []map[string]any }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	var turn []any
	for _, m := range slices.Concat(b.Messages, b.Input, b.Contents)[1:] {
		if m["role"] == "user" || m["role"] == "tool" || m["type"] == "function_call_output" {
			break
		}
		turn = append(turn, m)
	}
	return turn
}

func assemble(f dialect.Format, body []byte) (llm.Reply, error) {
	return llm.Assemble(func(yield func(llm.Delta, error) bool) {
		d := f.Decoder()
		emit := func(x llm.Delta) { yield(x, nil) }
		err := d.Feed(body, emit)
		if err == nil {
			err = d.Close(emit)
		}
		if err != nil {
			yield(llm.Delta{}, err)
		}
	}, nil)
}

// sessionWith is a session in which the model said this.
func sessionWith(said llm.Reply) []convo.Event {
	events := []convo.Event{{Kind: convo.KindUser, Text: "Well?"}}
	kinds := map[llm.DeltaKind]convo.Kind{llm.Text: convo.KindAssistant, llm.Thinking: convo.KindThinking}
	for _, it := range said.Items {
		e := convo.Event{Kind: kinds[it.Kind], Text: it.Text}
		switch it.Kind {
		case llm.CallPart:
			e = convo.Of("", convo.ToolCall{Call: it.Call})
		case llm.Block:
			e = convo.Of("", *it.Keep)
		}
		e.Reply, e.Keep = "one", it.Keep
		events = append(events, e)
	}
	for _, c := range said.Calls() {
		events = append(events, convo.Of("", convo.ToolResult{Result: tool.Fail(c, tool.ToolNotFound, "there is no such tool")}))
	}
	return append(events, convo.Event{Kind: convo.KindUser, Text: "Go on."})
}

func asText(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
