package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// A question is a request of ours with its name.
type question struct {
	name    string
	quirks  dialect.Quirks
	request llm.Request
}

// questions are the ways in which a format is asked: the story after each of its
// events, with signatures of its own, of others and without, and all choices.
func questions(t *testing.T, p peer) []question {
	own := story(p.format, keeps[p.format])
	base := llm.Request{Model: signed, System: "Be brief.", Events: own, Tools: toolbox(t)}
	var all []question
	ask := func(name string, q dialect.Quirks, change func(*llm.Request)) {
		r := base
		change(&r)
		all = append(all, question{name, q, r})
	}
	for n := range own {
		ask(fmt.Sprintf("after event %d", n+1), dialect.Quirks{}, func(r *llm.Request) { r.Events = own[:n+1] })
	}
	for _, from := range peers() {
		ask("signed by "+from.format, dialect.Quirks{}, func(r *llm.Request) { r.Events = story(from.format, keeps[from.format]) })
	}
	ask("unsigned", dialect.Quirks{}, func(r *llm.Request) { r.Events = story(p.format, kept{}) })
	ask("for another model", dialect.Quirks{}, func(r *llm.Request) { r.Model = old })
	ask("no tools", dialect.Quirks{}, func(r *llm.Request) { r.Tools = nil })
	ask("no tools and no calls", dialect.Quirks{}, func(r *llm.Request) { r.Tools, r.Events = nil, own[:1] })
	ask("no tool may be called", dialect.Quirks{}, func(r *llm.Request) { r.Choice = llm.NoTools })
	ask("no system prompt", dialect.Quirks{}, func(r *llm.Request) { r.System = "" })
	ask("pictures", dialect.Quirks{}, func(r *llm.Request) { r.Events = illustrated(own) })
	ask("a picture alone", dialect.Quirks{}, func(r *llm.Request) { r.Events = illustrated([]convo.Event{{Seq: 1, Kind: convo.KindUser}}) })
	ask("pictures for a model that takes none", dialect.Quirks{Blind: true}, func(r *llm.Request) { r.Events = illustrated(own) })
	for _, effort := range []llm.Effort{llm.LowEffort, llm.MediumEffort, llm.HighEffort} {
		for _, model := range []string{signed, old} {
			for name, q := range variants[p.format] {
				ask(fmt.Sprintf("%s effort of %s%s", effort, model, name), q, func(r *llm.Request) { r.Effort, r.Model = effort, model })
				ask(fmt.Sprintf("%s effort of %s%s, short", effort, model, name), q, func(r *llm.Request) { r.Effort, r.Model, r.MaxReply = effort, model, 4096 })
			}
		}
	}
	return all
}

// variants are the quirks that the vendor's own servers and models have.
var variants = map[string]map[string]dialect.Quirks{
	"openai":    {"": {}, ", a reasoning model": {Developer: true, MaxTokensField: "max_completion_tokens"}, ", no usage": {NoStreamOptions: true}},
	"responses": {"": {}},
	"anthropic": {"": {}, ", adaptive": {AdaptiveThinking: true}},
	"gemini":    {"": {}},
	"ollama":    {"": {}, ", with a window": {Window: 8192}},
}

func TestTheVendorsClientSendsWhatWeSend(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.format, func(t *testing.T) {
			seen := map[string]bool{}
			all := questions(t, p)
			for _, q := range all {
				body := encode(t, p, q)
				got := resend(t, p, q.request.Model, body)
				for _, d := range differences(t, body, got.body) {
					if p.known[d] == "" && !seen[d] {
						t.Errorf("%s: %s\n ours   %s\n theirs %s", q.name, d, body, got.body)
					}
					seen[d] = true
				}
				checkAddress(t, p, q.request.Model, got)
			}
			for d, why := range p.known {
				if !seen[d] {
					t.Errorf("the known difference %q (%s) does not occur", d, why)
				}
			}
			t.Logf("%d bodies, %d known kinds of difference", len(all), len(p.known))
		})
	}
}

// encode gives the body of a question, as the client's types can read it.
func encode(t *testing.T, p peer, q question) []byte {
	t.Helper()
	body, err := p.ours(t).Encoder(q.quirks).Encode(q.request)
	if err != nil {
		t.Fatalf("%s: %v", q.name, err)
	}
	if p.plain != nil {
		return p.plain(body.Bytes())
	}
	return body.Bytes()
}

// resend lets the vendor's client send a body of ours, and gives what arrives.
// What it makes of the answer, which is empty, does not matter here.
func resend(t *testing.T, p peer, model string, body []byte) arrival {
	t.Helper()
	url, got := serve(t, answer{status: http.StatusOK, transport: "sse"})
	if _, err := p.ask(context.Background(), url, model, body, false); errors.Is(err, errRequest) || got.body == nil {
		t.Fatalf("%s: %v\n%s", p.format, err, body)
	}
	return *got
}

// checkAddress holds the path and the headers that we would use against theirs.
func checkAddress(t *testing.T, p peer, model string, got arrival) {
	t.Helper()
	f := p.ours(t)
	if want := p.under + f.Path(model); got.path != want {
		t.Errorf("%s: the client asks %s, we %s", p.format, got.path, want)
	}
	h := http.Header{}
	f.Header(key, h)
	for name := range h {
		if !slices.Contains(p.silent, name) && got.header.Get(name) != h.Get(name) {
			t.Errorf("%s: the client sends %s: %q, we %q", p.format, name, got.header.Get(name), h.Get(name))
		}
	}
}

// What gateways and other servers want is nothing the vendor's own types know.
// They must lose that and not a thing more.
func TestOfAGatewaysBodyTheClientLosesTheGatewaysOwnFieldsOnly(t *testing.T) {
	p := openaiPeer()
	for _, c := range []struct {
		name   string
		quirks dialect.Quirks
		events kept
		want   []string
	}{
		{"nothing of its own", dialect.Quirks{}, kept{}, nil},
		{"details and signatures", dialect.Quirks{}, gateway, []string{"- .messages[].reasoning_details", "- .messages[].tool_calls[].extra_content"}},
		{"reasoning that goes back", dialect.Quirks{EchoReasoning: true}, kept{}, []string{"- .messages[].reasoning_content"}},
		{"cache marks", dialect.Quirks{CacheMarks: true}, kept{}, []string{"- .messages[].content[].cache_control"}},
		{"short ids and names", dialect.Quirks{ShortIDs: true, NameInResult: true, Bridge: true}, kept{}, []string{"- .messages[].name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := question{c.name, c.quirks, llm.Request{Model: signed, System: "Be brief.", Events: story(p.format, c.events), Tools: toolbox(t)}}
			body := encode(t, p, q)
			got := p.unexpected(differences(t, body, resend(t, p, signed, body).body))
			if !slices.Equal(got, c.want) {
				t.Errorf("the client loses %q, want %q", got, c.want)
			}
		})
	}
}

// A checker that takes everything proves nothing.
func TestWhatTheClientsDoNotKnowIsFound(t *testing.T) {
	for _, p := range peers() {
		body := string(encode(t, p, question{request: llm.Request{Model: signed, Events: story(p.format, keeps[p.format]), Tools: []tool.Spec{}}}))
		for _, spoiled := range spoil[p.format] {
			changed := replaceOnce(t, body, spoiled[0], spoiled[1])
			url, got := serve(t, answer{status: http.StatusOK, transport: "sse"})
			_, err := p.ask(context.Background(), url, signed, changed, false)
			if errors.Is(err, errRequest) {
				continue
			}
			if len(p.unexpected(differences(t, changed, got.body))) == 0 {
				t.Errorf("%s: nothing is found wrong with %q in the place of %q", p.format, spoiled[1], spoiled[0])
			}
		}
	}
}

// spoil are pieces of a body and what makes them wrong: a field that is not
// known, a kind that is not known, a value of the wrong type.
var spoil = map[string][][2]string{
	"openai": {
		{`"role":"user"`, `"role":"user","colour":"red"`},
		{`"tool_call_id"`, `"call_id"`},
		{`"type":"function","function":{`, `"type":"spell","spell":{`},
		{`"role":"user"`, `"role":"stranger"`},
		{`"stream":true`, `"stream":true,"colour":"red"`},
	},
	"responses": {
		{`"type":"function_call"`, `"type":"spell"`},
		{`"type":"input_text"`, `"type":"spell"`},
		{`"type":"function_call"`, `"type":"function_call","colour":"red"`},
		{`"call_id"`, `"tool_call_id"`},
		{`"store":false`, `"store":"no"`},
		{`"encrypted_content"`, `"encrypted"`},
	},
	"anthropic": {
		{`"type":"tool_use"`, `"type":"spell"`},
		{`"type":"tool_use"`, `"type":"tool_use","colour":"red"`},
		{`"is_error":true`, `"error":true`},
		{`"signature"`, `"sign"`},
		{`"max_tokens":`, `"max_output_tokens":`},
		{`"cache_control":{"type":"ephemeral"}`, `"cache_control":"ephemeral"`},
	},
	"gemini": {
		{`"functionCall"`, `"function_call"`},
		{`"functionResponse"`, `"toolResult"`},
		{`"args":{`, `"arguments":{`},
		{`"thoughtSignature"`, `"signature"`},
		{`"role":"user"`, `"role":"user","colour":"red"`},
	},
	"ollama": {
		{`"arguments":{}`, `"arguments":"{}"`},
		{`"tool_name"`, `"name"`},
		{`"thinking"`, `"reasoning"`},
		{`"truncate":false`, `"truncate":false,"colour":"red"`},
	},
}

func replaceOnce(t *testing.T, body, what, with string) []byte {
	t.Helper()
	changed := strings.Replace(body, what, with, 1)
	if changed == body {
		t.Fatalf("there is no %q in %s", what, body)
	}
	return []byte(changed)
}
