package provider

import (
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

func TestPrintedCallsAreRescued(t *testing.T) {
	const call = `<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>`
	const bare = `{"name":"bash","arguments":{"command":"ls"}}`
	for _, c := range []struct {
		name   string
		lines  []string
		set    func(*Options, *llm.Request)
		text   string // of all deltas
		pieces int    // of text; 0: any
		calls  int
		class  llm.Class
	}{
		{name: "in tags", lines: []string{"T " + call[:5], "T " + call[5:20], "T " + call[20:], "END"}, calls: 1},
		{name: "bare", lines: []string{"T " + bare, "END"}, calls: 1},
		{name: "after words", lines: []string{"T Let me look. ", "T " + call, "END"}, text: "Let me look. " + call, calls: 1},
		{name: "held words come out", lines: []string{"T " + call + "That was it.", "END"}, text: "That was it.", calls: 1},
		{name: "of an unknown tool", lines: []string{`T {"name":"format_disk","arguments":{}}`, "END"}, text: `{"name":"format_disk","arguments":{}}`},
		{name: "beside a real one", lines: []string{"T " + bare, "C i bash {}", "END"}, text: bare, calls: 1},
		{name: "no call at all", lines: []string{"T Hel", "T lo", "END"}, text: "Hello", pieces: 2},
		{name: "another tag", lines: []string{"T <think>", "T well well well", "T </think>", "END"}, text: "<think>well well well</think>", pieces: 2},
		{name: "cut while held", lines: []string{"T " + call}, text: call, class: llm.Truncated},
		{name: "switched off", lines: []string{"T " + bare, "END"}, set: func(o *Options, _ *llm.Request) { o.Rescue = RescueNever }, text: bare},
		{name: "when no tool may be called", lines: []string{"T " + bare, "END"}, set: func(_ *Options, r *llm.Request) { r.Choice = llm.NoTools }, text: bare},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			srv := httptest.NewServer(&script{steps: []step{lines(c.lines...)}})
			defer srv.Close()
			o := testOptions(srv.URL)
			r := llm.Request{Tools: []tool.Spec{{Name: "bash"}}}
			if c.set != nil {
				c.set(&o, &r)
			}
			p, err := open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			pieces := 0
			reply, err := llm.Assemble(p.Open("s").Stream(t.Context(), r), func(d llm.Delta) {
				if d.Kind == llm.Text {
					pieces++
				}
			})
			if classOf(err) != c.class {
				t.Fatal(err)
			}
			if reply.Text() != c.text || len(reply.Calls()) != c.calls || c.pieces != 0 && pieces != c.pieces {
				t.Errorf("text %q in %d pieces, calls %v", reply.Text(), pieces, reply.Calls())
			}
			for _, it := range reply.Items {
				if it.Kind == llm.CallPart && it.Rescued != !strings.Contains(c.name, "real") {
					t.Errorf("%+v", it)
				}
			}
			if c.calls > 0 && reply.Stop != llm.ToolUse {
				t.Errorf("stop %s", reply.Stop)
			}
		})
	}
}

func TestHostedModelsAreTakenAtTheirWord(t *testing.T) {
	for model, want := range map[string]bool{"openai/x": false, "ollama/x": true, "vllm/x": true} {
		p, err := open(Options{Model: model})
		if err != nil || p.rescues() != want {
			t.Errorf("%s: %v %v", model, p.rescues(), err)
		}
	}
}
