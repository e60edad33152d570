package demo

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

func specs(t *testing.T) []tool.Spec {
	t.Helper()
	var all []tool.Spec
	for _, row := range []struct{ name, doc, params string }{
		{"bash", "Run a bash command in the workspace.", `{"command":{"type":"string","required":true}}`},
		{"file_read", "Read a text file. Long files: use offset and limit.", `{"path":{"type":"string","required":true}}`},
		{"file_write", "Create a file or replace its whole content.", `{"path":{"type":"string","required":true},"content":{"type":"string","required":true}}`},
		{"file_edit", "Replace text in a file.", `{"path":{"type":"string","required":true},"edits":{"type":"array","required":true}}`},
		{"glob", "Find files by a glob pattern.", `{"pattern":{"type":"string","required":true},"path":{"type":"string"}}`},
		{"grep", "Search files with a regular expression.", `{"pattern":{"type":"string","required":true},"path":{"type":"string"}}`},
	} {
		p, err := schema.Parse([]byte(row.params))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool.Spec{Name: row.name, Description: row.doc, Parameters: p})
	}
	return all
}

func TestPlainRequestsBecomeCalls(t *testing.T) {
	tests := []struct {
		prompt string
		want   []string // the calls of all steps
		missed int
	}{
		{"find the Go files", []string{`glob(pattern="**/*.go")`}, 0},
		{"Please list all markdown files in docs.", []string{`glob(path="docs", pattern="**/*.md")`}, 0},
		{"find *.c files", []string{`glob(pattern="*.c")`}, 0},
		{"read README.md", []string{`file_read(path="README.md")`}, 0},
		{"read README.md and go.mod", []string{`file_read(path="README.md")`, `file_read(path="go.mod")`}, 0},
		{"search for TODO", []string{`grep(pattern="TODO")`}, 0},
		{"search for 'func main' in cmd", []string{`grep(path="cmd", pattern="func main")`}, 0},
		{"run go version", []string{`bash(command="go version")`}, 0},
		{"run `ls -l && echo and then some`", []string{`bash(command="ls -l && echo and then some")`}, 0},
		{"write hello.txt saying hi", []string{`file_write(content="hi\n", path="hello.txt")`}, 0},
		{"replace hi by hello in hello.txt", []string{`file_edit(edits=[{"new_text":"hello","old_text":"hi","replace_all":true}], path="hello.txt")`}, 0},
		{
			"write a.txt saying one, then replace one with two in a.txt and read a.txt",
			[]string{`file_write(content="one\n", path="a.txt")`, `file_edit(edits=[{"new_text":"two","old_text":"one","replace_all":true}], path="a.txt")`, `file_read(path="a.txt")`},
			0,
		},
		{"what is the meaning of life?", nil, 1},
		{"read a.txt then dance", []string{`file_read(path="a.txt")`}, 1},
	}
	for _, tt := range tests {
		steps, missed := understand(tt.prompt, specs(t))
		var got []string
		for _, s := range steps {
			for _, c := range s.calls {
				got = append(got, c.Summary())
			}
		}
		if !slices.Equal(got, tt.want) || len(missed) != tt.missed {
			t.Errorf("%q\n got %q, %d not understood\nwant %q, %d", tt.prompt, got, len(missed), tt.want, tt.missed)
		}
	}
}

// talk lets the model work until it calls nothing more; results come from run.
func talk(t *testing.T, prompt string, run func(tool.Call) tool.Result) (string, int) {
	t.Helper()
	events := []convo.Event{{Kind: convo.KindUser, Text: prompt}}
	c := New().Open("s")
	for round := range 20 {
		r, err := llm.Assemble(c.Stream(context.Background(), llm.Request{Events: events, Tools: specs(t)}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Calls()) == 0 {
			return r.Text(), round
		}
		for _, call := range r.Calls() {
			events = append(events, convo.Of("", convo.ToolCall{Call: call}))
		}
		for _, call := range r.Calls() {
			res := run(call)
			res.CallID, res.Name = call.ID, call.Name
			events = append(events, convo.Of("", convo.ToolResult{Result: res}))
		}
	}
	t.Fatal("the model never stopped calling tools")
	return "", 0
}

func TestStepsRunOneAfterAnother(t *testing.T) {
	text, rounds := talk(t, "find the Go files then run go version", func(tool.Call) tool.Result {
		return tool.Result{Data: json.RawMessage(`{"output":"a.go\nb.go","count":2}`)}
	})
	if rounds != 2 || !strings.Contains(text, "found 2") || !strings.Contains(text, "demo model") {
		t.Errorf("after %d rounds: %s", rounds, text)
	}
}

func TestFailuresAreToldPlainly(t *testing.T) {
	text, _ := talk(t, "read nothing.txt", func(c tool.Call) tool.Result {
		return tool.Result{Summary: "File not found: nothing.txt", Data: json.RawMessage(`{"error":"File not found: nothing.txt","error_code":"FILE_NOT_FOUND"}`)}
	})
	if !strings.Contains(text, "did not work (not_found)") {
		t.Error(text)
	}
}

func TestWithoutToolsItStops(t *testing.T) {
	r := llm.Request{Events: []convo.Event{{Kind: convo.KindUser, Text: "run ls"}}, Tools: specs(t), Choice: llm.NoTools}
	if _, calls := answer(r); len(calls) > 0 {
		t.Error("it called a tool although none is allowed")
	}
}

func TestItSaysWhatItIs(t *testing.T) {
	text, _ := talk(t, "tell me a joke", nil)
	if !strings.Contains(text, "demo model") || !strings.Contains(text, "read README.md") {
		t.Error(text)
	}
}
