package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ikigai/internal/llm"
)

// A chatter is a server that speaks Chat Completions well enough for a probe:
// it calls the tool for each city in the last words, unless it may not, and
// tells the temperature when it has a result. Its faults are switches.
type chatter struct {
	noStreamOptions bool
	noTools         bool
	noIDs           bool
	asText          bool
}

func (c chatter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var q struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools         []any
		ToolChoice    any `json:"tool_choice"`
		StreamOptions any `json:"stream_options"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		panic(err)
	}
	if c.noStreamOptions && q.StreamOptions != nil {
		w.WriteHeader(400)
		io.WriteString(w, `{"error":{"message":"Unknown field: stream_options","type":"invalid_request_error"}}`)
		return
	}
	last := q.Messages[len(q.Messages)-1]
	say := func(delta string) { fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta) }
	finish := "stop"
	switch {
	case last.Role == "tool":
		say(`{"content":"It is 17 degrees."}`)
	case len(q.Tools) == 0, q.ToolChoice == "none", c.noTools:
		say(`{"content":"one two "}`)
		say(`{"content":"three"}`)
	case c.asText:
		say(`{"content":"<tool_call>{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Oslo\",\"days\":3}}</tool_call>"}`)
	default:
		finish = "tool_calls"
		for i, city := range []string{"Oslo", "Lima"} {
			if !strings.Contains(string(last.Content), city) {
				continue
			}
			id := fmt.Sprintf(`"id":"call_%d",`, i)
			if c.noIDs {
				id = ""
			}
			say(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"%s\",\"days\":3}"}}]}`, i, id, city))
		}
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\ndata: [DONE]\n\n", finish)
}

func TestProbeFindsWhatAServerCan(t *testing.T) {
	for _, c := range []struct {
		name   string
		server chatter
		fails  []string
		quirk  bool
	}{
		{name: "a good one", server: chatter{}},
		{name: "refuses a field", server: chatter{noStreamOptions: true}, quirk: true},
		{name: "never calls", server: chatter{noTools: true}, fails: []string{"calls a tool", "several calls at once", "understands results"}},
		{name: "gives no ids", server: chatter{noIDs: true}, fails: []string{"calls have ids"}},
		{name: "prints calls", server: chatter{asText: true}, fails: []string{"calls in the wire's own form", "calls have ids", "several calls at once"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			srv := httptest.NewServer(c.server)
			defer srv.Close()
			r, err := Probe(t.Context(), Options{Model: "vllm/m", BaseURL: srv.URL})
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, f := range r.Findings {
				if !f.OK {
					failed = append(failed, f.Name)
				}
			}
			if strings.Join(failed, ";") != strings.Join(c.fails, ";") {
				t.Errorf("failed %q, want %q\n%+v", failed, c.fails, r.Findings)
			}
			if r.Quirks.NoStreamOptions != c.quirk {
				t.Errorf("quirks %+v", r.Quirks)
			}
		})
	}
}

func TestProbeOfNothingIsAnError(t *testing.T) {
	_, err := Probe(t.Context(), Options{Model: "vllm/m", BaseURL: "http://" + unused(t)})
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.Unreachable {
		t.Errorf("%v", err)
	}
}
