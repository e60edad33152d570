package command

import (
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// thing is a tool that only has a spec.
type thing struct{ spec tool.Spec }

func (t thing) Spec() tool.Spec { return t.spec }
func (t thing) Prepare(context.Context, tool.Place, json.RawMessage) (tool.Prepared, error) {
	return tool.Prepared{}, errors.New("not to be run")
}

func newTool(t *testing.T, name, description, parameters string) tool.Tool {
	t.Helper()
	var o schema.Object
	if err := json.Unmarshal([]byte(parameters), &o); err != nil {
		t.Fatal(err)
	}
	return thing{tool.Spec{Name: name, Description: description, Parameters: o, Risk: tool.High}}
}

func toolsOf(set *tool.Set) Env {
	return Env{Tools: func(context.Context) (*tool.Set, error) { return set, nil }}
}

func TestToolListsAndInspects(t *testing.T) {
	env := toolsOf(tool.NewSet(tool.Complete, nil,
		newTool(t, "glob", "Find files", `{"type":"object","properties":{"pattern":{"type":"string","description":"What to find"}},"required":["pattern"]}`),
		newTool(t, "bash", "Run a command", `{"type":"object"}`)))
	list, err := Do(t.Context(), env, "/tool")
	if want := "Available tools:\n  bash - Run a command\n  glob - Find files\n\n2 tools · 0 failed · "; err != nil || !strings.HasPrefix(list, want) {
		t.Errorf("%q, %v; want %q", list, err, want)
	}
	one, err := Do(t.Context(), env, "/tool glob")
	if want := "Tool: glob\nDescription: Find files\nParameters:\n  pattern (string, required): What to find\n"; err != nil || !strings.HasPrefix(one, want) {
		t.Errorf("%q, %v; want %q", one, err, want)
	}
	_, err = Do(t.Context(), env, "/tool gobl")
	if !errors.Is(err, ErrArgument) || err.Error() != `Unknown tool: "gobl". Did you mean glob? Run /tool to list all.` {
		t.Errorf("got %v", err)
	}
}

func TestToolWithoutTools(t *testing.T) {
	got, err := Do(t.Context(), toolsOf(tool.NewSet(tool.Complete, nil)), "/tool")
	if err != nil || got != "No tools available" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDescriptionsOfTheSeed(t *testing.T) {
	for name, want := range map[string]string{
		"tool": "List or inspect tools (usage: /tool [NAME])", "refresh": "Reload tool registry from disk",
	} {
		if c, ok := Find(name); !ok || c.Help != want {
			t.Errorf("/%s says %q, want %q", name, c.Help, want)
		}
	}
}

func TestRefresh(t *testing.T) {
	env := Env{Refresh: func(context.Context) (Refreshed, error) {
		return Refreshed{Count: 6, Added: []string{"deploy"}, Problems: []tool.Problem{{Path: "x", Reason: "SCHEMA_TIMEOUT", Detail: "no answer"}}}, nil
	}}
	got, err := Do(t.Context(), env, "/refresh")
	want := "Refreshing tools...\nTools refreshed. 6 tools available.\n  added: deploy\n  ! x: no answer (SCHEMA_TIMEOUT). Fix it, then /refresh"
	if err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	env.Refresh = func(context.Context) (Refreshed, error) { return Refreshed{}, errors.New("TOOL_SCAN_FAILED") }
	got, err = Do(t.Context(), env, "/refresh")
	if err == nil || !strings.HasPrefix(got, "Refreshing tools...") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnUnknownCommandNamesTheNearest(t *testing.T) {
	_, err := Do(t.Context(), Env{}, "/toool x")
	if !errors.Is(err, ErrArgument) || err.Error() != "There is no command /toool. Did you mean tool? /help lists them." {
		t.Errorf("got %v", err)
	}
}

// A command whose function is missing says so; it never crashes.
func TestEveryCommandBearsAnEmptyWorld(t *testing.T) {
	for _, c := range All() {
		for _, args := range []string{"", "2"} {
			text, err := Do(t.Context(), Env{}, "/"+c.Name+" "+args)
			if c.Name != "help" && err == nil {
				t.Errorf("/%s %s says %q in an empty world", c.Name, args, text)
			}
		}
	}
}

func TestEveryFileHasItsLine(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, n := range Names() {
		names[n] = true
	}
	for _, f := range files {
		name, isGo := strings.CutSuffix(f.Name(), ".go")
		if !isGo || strings.HasSuffix(name, "_test") || name == "command" || name == "all" {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0); err != nil {
			t.Error(err)
		}
		if !names[name] {
			t.Errorf("%s has no line in all.go", f.Name())
		}
		delete(names, name)
	}
	for n := range names {
		t.Errorf("/%s has no file of its own", n)
	}
}

func TestAPathIsNoCommand(t *testing.T) {
	for line, want := range map[string]bool{"/help": true, "/tool bash": true, "/etc/passwd is odd": false, "/": false, "help": false, "/x.go": false} {
		if Is(line) != want {
			t.Errorf("%q is a command: %v", line, !want)
		}
	}
}

func TestModeAndModelAreChanged(t *testing.T) {
	var sent []agent.Op
	env := Env{
		Send: func(op agent.Op) { sent = append(sent, op) }, Mode: func() permit.Mode { return permit.AskMode }, Model: func() string { return "a/b" },
		Models: func(context.Context) []string { return []string{"openai/gpt"} },
	}
	for _, line := range []string{"/mode auto-edit", "/model openai/gpt", "/model demo"} {
		if _, err := Do(t.Context(), env, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if len(sent) != 3 || sent[0] != agent.Op(agent.SetMode{Mode: permit.AutoEdit}) || sent[2] != agent.Op(agent.SetModel{Model: "demo"}) {
		t.Errorf("sent %v", sent)
	}
	for _, line := range []string{"/mode nosuch", "/model gpt"} {
		if _, err := Do(t.Context(), env, line); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCopyTakesTheLastAnswer(t *testing.T) {
	copied := ""
	env := Env{Copy: func(s string) { copied = s }, Events: func() []convo.Event {
		return []convo.Event{
			{Kind: convo.KindAssistant, Text: "old", Reply: "1"},
			{Kind: convo.KindUser, Text: "and?"},
			{Kind: convo.KindAssistant, Text: "new ", Reply: "2"},
			{Kind: convo.KindAssistant, Text: "words", Reply: "2"},
			{Kind: convo.KindEnd},
		}
	}}
	if _, err := Do(t.Context(), env, "/copy"); err != nil || copied != "new words" {
		t.Errorf("copied %q, %v", copied, err)
	}
}

func TestTasks(t *testing.T) {
	env := Env{Tasks: func(context.Context) ([]Task, error) {
		return []Task{{ID: "task_1", Status: "completed", Content: "find it"}, {ID: "task_2", Status: "in_progress", Content: "mend it"}, {ID: "task_3", Status: "pending", Content: "say so"}}, nil
	}}
	got, err := Do(t.Context(), env, "/tasks")
	want := "Tasks  1 of 3 done  ▓▓▓░░░░░░░\n ✓ task_1  find it\n ● task_2  mend it\n ○ task_3  say so"
	if err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestPinsAreSentByTheirNumbers(t *testing.T) {
	events := []convo.Event{{Seq: 1, Kind: convo.KindUser}, {Seq: 2, Kind: convo.KindAssistant}, {Seq: 3, Kind: convo.KindEnd}}
	tests := []struct {
		line string
		want agent.Op // nil when it is refused
	}{
		{"/pin", agent.Pin{Event: 2}},
		{"/pin off", agent.Pin{Event: 2, Off: true}},
		{"/pin 1", agent.Pin{Event: 1}},
		{"/pin 1 off", agent.Pin{Event: 1, Off: true}},
		{"/pin x", nil},
		{"/pin -1", nil},
	}
	for _, tt := range tests {
		var got agent.Op
		env := Env{Events: func() []convo.Event { return events }, Send: func(op agent.Op) { got = op }}
		if _, err := Do(t.Context(), env, tt.line); got != tt.want || (err == nil) != (tt.want != nil) {
			t.Errorf("%s: %+v, %v", tt.line, got, err)
		}
	}
	env := Env{Events: func() []convo.Event { return events[:1] }, Send: func(agent.Op) { t.Error("sent") }}
	if _, err := Do(t.Context(), env, "/pin"); !errors.Is(err, ErrArgument) {
		t.Errorf("with no answer: %v", err)
	}
}
