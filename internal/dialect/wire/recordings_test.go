package wire

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// recordings is the folder of recorded streams beside the module, which is not
// part of the repository.
func recordings(t testing.TB) string {
	dir := filepath.Join("..", "..", "..", "..", "shared", "wire")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recorded streams are not here: ", dir)
	}
	return dir
}

// expectation is what a correct decoder must get from a recording.
type expectation struct {
	Format        string           `json:"format"`
	Transport     string           `json:"transport"`
	Status        int              `json:"status"`
	Events        []map[string]any `json:"events"`
	Alternatively json.RawMessage  `json:"alternatively"`
	Note          string           `json:"note"`
}

func TestEveryRecordingDecodesAsExpectedHoweverItIsCut(t *testing.T) {
	dir := recordings(t)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	good := 0
	for _, file := range files {
		name, _ := filepath.Rel(dir, strings.TrimSuffix(file, ".expect.json"))
		t.Run(name, func(t *testing.T) {
			want := readExpectation(t, file)
			f, ok := Find(want.Format)
			if !ok {
				t.Fatalf("no format %s", want.Format)
			}
			body, err := os.ReadFile(strings.TrimSuffix(file, "expect.json") + want.Transport)
			if err != nil {
				t.Fatal(err)
			}
			for how, pieces := range cuts(body) {
				got := asMaps(t, Events(f, want.Status, pieces))
				if diff := compare(want, got); diff != "" {
					t.Fatalf("fed %s: %s\nnote: %s", how, diff, want.Note)
				}
			}
			good++
		})
	}
	t.Logf("%d of %d recordings decode as expected", good, len(files))
}

func readExpectation(t *testing.T, file string) expectation {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want expectation
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// cuts are the ways in which a body is fed.
func cuts(body []byte) iter.Seq2[string, iter.Seq[[]byte]] {
	return func(yield func(string, iter.Seq[[]byte]) bool) {
		if !yield("whole", slices.Chunk(body, len(body))) || !yield("byte by byte", slices.Chunk(body, 1)) {
			return
		}
		for seed := range uint64(5) {
			if !yield("in random pieces", randomPieces(body, seed)) {
				return
			}
		}
	}
}

// randomPieces cuts body anywhere. Each piece is a copy that is spoiled
// afterwards, so that a decoder that keeps a slice of it is found out.
func randomPieces(body []byte, seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := rand.New(rand.NewPCG(seed, 7))
		for rest := body; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(1<<(1+r.IntN(10))))
			piece := slices.Clone(rest[:n])
			if !yield(piece) {
				return
			}
			for i := range piece {
				piece[i] = '#'
			}
			rest = rest[n:]
		}
	}
}

func asMaps(t *testing.T, events []Event) []map[string]any {
	raw, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// compare holds got against the rules of the recordings' README and says what differs.
func compare(want expectation, got []map[string]any) string {
	w, g := normal(want, want.Events), normal(want, got)
	if strings.Contains(want.Note, "may be dropped") {
		g = slices.DeleteFunc(g, func(e map[string]any) bool { return e["kind"] == "usage" && !has(w, "usage") })
	}
	if strings.Contains(want.Note, "signature survives") {
		if signatures(w) != signatures(g) {
			return "signature lost"
		}
		w, g = unsigned(w), unsigned(g)
	}
	if reflect.DeepEqual(w, g) {
		return ""
	}
	a, _ := json.MarshalIndent(w, "", " ")
	b, _ := json.MarshalIndent(g, "", " ")
	return "want " + string(a) + "\ngot " + string(b)
}

func has(events []map[string]any, kind string) bool {
	return slices.ContainsFunc(events, func(e map[string]any) bool { return e["kind"] == kind })
}

// normal takes out what the rules leave free.
func normal(want expectation, events []map[string]any) []map[string]any {
	var out []map[string]any
	for _, e := range events {
		e = cloneMap(e)
		if e["kind"] == "thinking" && want.Format == "openai-responses" {
			e["text"] = strings.Join(strings.Fields(e["text"].(string)), " ")
		}
		out = append(out, e)
	}
	return out
}

func cloneMap(m map[string]any) map[string]any {
	c := map[string]any{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func signatures(events []map[string]any) string {
	var all string
	for _, e := range events {
		s, _ := e["signature"].(string)
		all += s
	}
	return all
}

// unsigned drops signatures, and thinking that was nothing but one.
func unsigned(events []map[string]any) []map[string]any {
	var out []map[string]any
	for _, e := range events {
		delete(e, "signature")
		if e["kind"] == "thinking" && e["text"] == "" {
			continue
		}
		out = append(out, e)
	}
	return out
}

func TestEveryRecordedReplyCanBeSentBackToEveryProvider(t *testing.T) {
	dir := recordings(t)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.expect.json"))
	sent := 0
	for _, file := range files {
		want := readExpectation(t, file)
		if want.Status != 200 {
			continue
		}
		body, err := os.ReadFile(strings.TrimSuffix(file, "expect.json") + want.Transport)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := Find(want.Format)
		events := sessionOf(t, from, body)
		for _, to := range Formats() {
			out := encode(t, to.Encoder(dialect.Quirks{}), llm.Request{Model: testModel, Events: events, Tools: testTools(t)})
			if err := check(to.Name, out.Bytes()); err != nil {
				t.Errorf("%s to %s: %v\n%s", file, to.Name, err, out.Bytes())
			}
			for _, secret := range kepts(want.Events) {
				if back := strings.Contains(string(out.Bytes()), secret); back != (to.Name == from.Name) {
					t.Errorf("%s to %s: what must be kept was sent: %v", file, to.Name, back)
				}
			}
			sent++
		}
	}
	t.Logf("%d bodies", sent)
}

// sessionOf is a session in which the recorded reply was given.
func sessionOf(t *testing.T, f dialect.Format, body []byte) []convo.Event {
	reply, _ := llm.Assemble(func(yield func(llm.Delta, error) bool) {
		emit := dialect.Body{Model: testModel}.Back(func(d llm.Delta) { yield(d, nil) })
		d := f.Decoder()
		if d.Feed(body, emit) == nil {
			_ = d.Close(emit) // a cut reply is sent back as far as it came
		}
	}, nil)
	h := convo.NewHistory(nil)
	h.Append(convo.Event{Kind: convo.KindUser, Text: "go"})
	kinds := map[llm.DeltaKind]convo.Kind{llm.Text: convo.KindAssistant, llm.Thinking: convo.KindThinking}
	for _, it := range reply.Items {
		e := convo.Event{Kind: kinds[it.Kind], Text: it.Text}
		switch it.Kind {
		case llm.CallPart:
			e = convo.Of("", convo.ToolCall{Call: it.Call})
		case llm.Block:
			e = convo.Of("", *it.Keep)
		}
		e.Reply, e.Keep = "r", it.Keep
		h.Append(e)
	}
	for _, c := range reply.Calls() {
		h.Append(convo.Of("", convo.ToolResult{Result: tool.Fail(c, tool.ToolNotFound, "no such tool")}))
	}
	h.Append(convo.Event{Kind: convo.KindUser, Text: "thanks"})
	return h.Events()
}

// kepts are the signatures and blobs of complete replies that can be sent back:
// those of a reply that says something.
func kepts(events []map[string]any) []string {
	if !has(events, "text") && !has(events, "tool_call") {
		return nil
	}
	var all []string
	for _, e := range events {
		for _, key := range []string{"signature", "redacted", "encrypted"} {
			if s, ok := e[key].(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
