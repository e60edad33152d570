package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/convo"
	"ikigai/internal/dialect/wire"
	"ikigai/internal/llm"
)

// A recording is an answer that a server gave.
type recording struct {
	name   string
	format string
	answer
}

// recordings are the recorded answers beside the repository; they are no part of it.
func recordings(t *testing.T) []recording {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "wire")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.expect.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the recorded answers are not here: ", dir)
	}
	var all []recording
	for _, file := range files {
		var about struct {
			Format, Transport string
			Status            int
		}
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, &about)
		}
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		stem := strings.TrimSuffix(file, ".expect.json")
		body, err := os.ReadFile(stem + "." + about.Transport)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(dir, stem)
		all = append(all, recording{filepath.ToSlash(name), about.Format, answer{about.Status, about.Transport, body}})
	}
	return all
}

func TestTheVendorsClientHearsWhatWeHear(t *testing.T) {
	same, apart := 0, 0
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			ours, ourError := hear(t, r)
			theirs, theirError := hearWith(t, peerOf(t, r.format), r)
			if r.format == "openai-chat" { // reasoning is no part of the vendor's own format
				ours.Thinking, ours.Proofs = "", nil
			}
			theirs.Again = nil // what is sent back is another test
			diff := cmp.Diff(ours, theirs)
			if (ourError == "") != (theirError == "") || !strings.Contains(theirError, ourError) {
				diff += fmt.Sprintf("the error: ours %q, theirs %q", ourError, theirError)
			}
			why, known := apartFrom[r.name]
			switch {
			case diff == "" && known:
				t.Errorf("a known difference does not occur: %s", why)
			case diff != "" && !known:
				t.Errorf("ours (-), theirs (+):\n%s", diff)
			case known:
				apart++
				t.Logf("%s:\n%s", why, diff)
			default:
				same++
			}
		})
	}
	t.Logf("%d recordings are heard alike, %d otherwise for known reasons", same, apart)
}

// apartFrom are the recordings that the vendor's client reads otherwise, and why
// we do not follow it.
var apartFrom = map[string]string{
	"anthropic/tool-args-cut-by-max-tokens":   "the client makes {} of arguments that were cut; we show them and never run the call",
	"anthropic-compat/tool-index-starts-at-1": "the client has an empty call where the gateway does not begin to count",
	"framing/cut-before-message-stop":         "the client does not notice that a stream was cut",
	"framing/cut-inside-arguments":            "the client does not notice that a stream was cut",
	"gemini/partial-args-two-calls":           "the client hands pieces of arguments on; putting them together is ours",
	"gemini/prompt-blocked":                   "the client leaves it to its caller to find that the prompt was blocked",
	"groq/tools-parallel":                     "the client adds usage up, which this server reports twice; for us the last report counts",
	"xai/tools-parallel-whole-args":           "this server counts reasoning apart from the rest of its output; we add it",
}

func peerOf(t *testing.T, recorded string) peer {
	t.Helper()
	f, ok := wire.Find(recorded)
	i := slices.IndexFunc(peers(), func(p peer) bool { return p.format == f.Name })
	if !ok || i < 0 {
		t.Fatalf("no client for %s", recorded)
	}
	return peers()[i]
}

// hearWith lets the vendor's client ask something and hear the recording.
func hearWith(t *testing.T, p peer, r recording) (heard reply, problem string) {
	t.Helper()
	q := question{"a word", variants[p.format][""], llm.Request{Model: signed, Events: []convo.Event{{Kind: convo.KindUser, Text: "Well?"}}}}
	url, got := serve(t, r.answer)
	heard, err := p.ask(context.Background(), url, signed, encode(t, p, q), r.transport == "json")
	if got.body == nil {
		t.Fatalf("nothing was asked: %v", err)
	}
	switch {
	case err == nil:
		return heard, ""
	case p.says != nil:
		return heard, p.says(err)
	}
	return heard, err.Error()
}

// hear is what our decoder makes of a recording, and the error's words.
func hear(t *testing.T, r recording) (heard reply, problem string) {
	t.Helper()
	f, _ := wire.Find(r.format)
	for _, e := range wire.Events(f, r.status, slices.Values([][]byte{r.body})) {
		switch e.Kind {
		case "text":
			if e.Refusal {
				heard.Refusal += *e.Text
			} else {
				heard.Text += *e.Text
			}
			heard.proof(e.Signature)
		case "thinking":
			heard.Thinking += *e.Text
			heard.proof(e.Signature + e.Redacted + e.Encrypted)
		case "tool_call":
			heard.Calls = append(heard.Calls, ourCall(t, e))
			heard.proof(e.Signature)
		case "finish":
			heard.Finish = e.Native
		case "usage":
			heard.Usage = usage{number(e.Input), number(e.Output), number(e.CacheRead), number(e.CacheWrite), number(e.Reasoning)}
		case "error":
			problem = e.Message + e.Class
		}
	}
	return heard, problem
}

func ourCall(t *testing.T, e wire.Event) called {
	t.Helper()
	c := called{Name: e.Name}
	if err := json.Unmarshal(*e.ID, &c.ID); err != nil {
		t.Fatal(err)
	}
	if e.ArgsRaw != nil {
		c.Args = *e.ArgsRaw
	} else if err := json.Unmarshal(*e.Arguments, &c.Args); err != nil {
		t.Fatal(err)
	}
	return c
}

func number(n *int) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}
