//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/fake"
)

// A look is a terminal on which the golden screens are compared.
type look struct {
	cols, rows int
	light      bool
}

// onEveryLook shows a scene on every kind of terminal.
func onEveryLook(t *testing.T, scene func(t *testing.T, l look)) {
	for _, l := range []look{{80, 24, false}, {80, 24, true}, {120, 30, false}, {120, 30, true}} {
		t.Run(fmt.Sprintf("%d light %v", l.cols, l.light), func(t *testing.T) { scene(t, l) })
	}
}

// stage makes the world of a scene: COLORFGBG says what the terminal will answer
// too, so that also the first line has the right colours.
func (l look) stage(t *testing.T, script ...fake.Reply) stage {
	s := newStage(t, script...)
	s.light = l.light
	s.env = append(s.env, "COLORFGBG="+map[bool]string{true: "0;15", false: "15;0"}[l.light])
	return s
}

// open starts ikigai and waits for its prompt.
func (l look) open(t *testing.T, s stage, args ...string) *terminal {
	t.Helper()
	x := s.open(t, l.cols, l.rows, args...)
	x.waitFor("? keys")
	return x
}

func call(id, name, args string) fake.Call {
	return fake.Call{ID: id, Name: name, Args: json.RawMessage(args)}
}

const retryGo = `package pay

func Retry(n int) error {
	for i := 0; i < n; i++ {
		time.Sleep(d)
	}
	return nil
}
`

func TestScreenOfTheMainChat(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t,
			fake.Reply{Text: "I will look at the **retry code**, then run the test.\n\n", Usage: &[2]int{3100, 20}, Calls: []fake.Call{
				call("a", "file_read", `{"path":"retry.go"}`), call("b", "grep", `{"pattern":"Retry"}`),
			}},
			fake.Reply{Usage: &[2]int{3400, 12}, Calls: []fake.Call{call("c", "bash", `{"command":"for i in 1 2 3 4 5 6 7; do echo PASS run $i; done; sleep 30"}`)}},
		)
		s.write(t, "retry.go", retryGo)
		x := l.open(t, s, "--mode", "auto")
		x.send("the checkout test is flaky, find out why\r")
		x.waitFor("PASS run 7")
		x.send("also check the timeout in config.yaml\t")
		x.waitFor("queued")
		x.waitFor("\n›\n")
		x.golden("chat")
	})
}

func TestScreenOfThePermissionRequest(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		edit := `{"path":"retry.go","edits":[{"old_text":"\t\ttime.Sleep(d)","new_text":"\t\tselect {\n\t\tcase <-time.After(d):\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}"}]}`
		s := l.stage(t,
			fake.Reply{Calls: []fake.Call{call("r", "file_read", `{"path":"retry.go"}`)}},
			fake.Reply{Calls: []fake.Call{
				call("a", "file_edit", edit), call("b", "bash", `{"command":"go test ./... > out.txt && git push"}`),
			}},
			fake.Reply{Text: "Done."},
		)
		s.write(t, "retry.go", retryGo)
		x := l.open(t, s)
		x.send("mend it\r")
		x.waitFor("1 of 2 in this batch")
		x.answerable()
		x.golden("permission_edit")
		x.send("s")
		x.waitFor("  │ +       select {")
		x.golden("permission_split")
		x.send("1")
		x.waitFor("2 of 2 in this batch")
		x.waitFor("│ git push")
		x.answerable()
		x.golden("permission_command")
		x.send("e")
		x.waitFor("which calls shall 2 and 3 allow?")
		x.golden("permission_scope")
		x.send("\x1b[27u")
		x.waitFor("[4] Deny")
		x.send("4")
		x.waitFor("Done.")
		x.waitFor("? keys")
		x.golden("permission_after")
		if got := s.read("retry.go"); !strings.Contains(got, "ctx.Done()") {
			t.Errorf("the allowed edit was not made:\n%s", got)
		}
	})
}

func TestScreenOfTheTools(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t, fake.Reply{Calls: []fake.Call{call("a", "glob", `{"pattern":"*"}`)}}, fake.Reply{Text: "Nothing there."})
		s.tool(t, "broken", "#!/bin/sh\necho module not found >&2\nexit 1\n")
		x := l.open(t, s, "--toolset", "ikigai")
		x.send("look\r")
		x.waitFor("Nothing there.")
		x.send("/tool\r")
		x.waitFor("Fix it, then")
		x.waitFor("? keys")
		x.golden("tools")
		x.send("/tool glob\r")
		x.waitFor("Tool: glob")
		x.waitFor("? keys")
		x.golden("tool")
		x.send("/tool nope\r")
		x.waitFor("Unknown tool")
		s.tool(t, "broken", "#!/bin/sh\necho '{\"name\":\"broken\",\"description\":\"works now\",\"parameters\":{}}'\n")
		x.send("/refresh\r")
		x.waitFor("Tools refreshed. 7 tools available.")
		x.waitFor("? keys")
		x.golden("refresh")
	})
}

// tool puts an executable into the folder of the person's tools.
func (s stage) tool(t *testing.T, name, text string) {
	t.Helper()
	dir := filepath.Join(s.home, ".ikigai", "tools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestScreenOfTheTasks(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		step := func(n int, text string) fake.Call {
			return call(fmt.Sprint("t", n), "add_task", fmt.Sprintf(`{"content":%q}`, text))
		}
		s := l.stage(t,
			fake.Reply{Calls: []fake.Call{step(1, "find the retry code"), step(2, "reproduce the failure"), step(3, "write the fix")}},
			fake.Reply{Calls: []fake.Call{
				call("u", "update_task", `{"task_id":"task_1","status":"completed"}`), call("v", "update_task", `{"task_id":"task_2","status":"in_progress"}`),
				call("j", "bash", `{"command":"sleep 35.5","background":true}`),
			}},
			fake.Reply{Text: "On it."},
		)
		x := l.open(t, s, "--mode", "auto")
		x.send("plan it\r")
		x.waitFor("On it.")
		x.send("/tasks\r")
		x.waitFor("Tasks  1 of 3 done")
		x.waitFor("? keys")
		x.golden("tasks")
	})
}

func TestScreenOfTheSessions(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t, fake.Reply{Repeat: 2, Text: "The loop ignored *ctx*; the test is green."})
		for _, words := range []string{"rotate the certs", "fix the flaky checkout test"} {
			x := l.open(t, s)
			x.send(words + "\r")
			x.waitFor("is green.")
			x.waitFor("? keys")
			x.send("\x04")
			x.exit()
		}
		x := s.open(t, l.cols, l.rows, "resume")
		x.waitFor("rotate the certs")
		x.send("flaky")
		x.waitGone("rotate the certs")
		x.golden("sessions")
	})
}

func TestScreenOfTheEnd(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t,
			fake.Reply{Usage: &[2]int{3100, 20}, Calls: []fake.Call{call("a", "bash", `{"command":"echo green"}`), call("b", "file_read", `{"path":"none"}`)}},
			fake.Reply{Usage: &[2]int{3300, 9}, Text: "It is green."},
		)
		l.rows = 40 // all of it stands there, whatever wraps
		x := l.open(t, s, "--mode", "auto")
		x.send("is it green?\r")
		x.waitFor("It is green.")
		x.send("/stats\r")
		x.waitFor("MODEL ")
		x.waitFor("? keys")
		x.golden("stats")
		x.send("\x04")
		x.exit()
		x.golden("end")
	})
}

func TestScreenOfTheFirstRun(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t)
		x := l.open(t, s)
		x.waitFor("found here")
		x.golden("first_run")
		x.send("2")
		x.waitFor("address?")
		x.golden("first_run_endpoint")
		x.send("\x1b[27u")
		x.waitFor("[3] offline demo")
		x.send("3")
		x.waitFor("The model is demo")
		x.send("list the Go files\r")
		x.waitFor("offline demo model")
	})
}

func TestScreenOfTheTrustQuestion(t *testing.T) {
	onEveryLook(t, func(t *testing.T, l look) {
		s := l.stage(t, fake.Reply{Text: "Hello."})
		s.stranger(t)
		x := s.open(t, l.cols, l.rows)
		x.waitFor("This project is not known here")
		x.answerable()
		x.golden("trust")
	})
}

func TestTheModelOfTheFirstRunIsKept(t *testing.T) {
	s := newStage(t)
	m := fake.NewModel([]fake.Reply{{Text: "Hello from there."}})
	t.Cleanup(m.Close)
	s.env = append(s.env, "OPENAI_API_KEY=sk-first-run-key", "IKIGAI_BASE_URL="+m.URL+"/v1")
	x := s.open(t, 100, 24)
	x.waitFor("[1] use openai/")
	x.send("1")
	x.waitFor("The model is openai/")
	x.waitFor("kept in ")
	x.send("\x04")
	x.exit()
	y := s.open(t, 100, 24)
	y.waitFor("? keys")
	y.send("hi\r")
	y.waitFor("Hello from there.")
}

func TestCommandsOnTheScreen(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	x := s.open(t, 100, 60, "--toolset", "ikigai")
	x.waitFor("? keys")
	for _, step := range []struct{ line, want string }{
		{"/tool", "Available tools:\n    bash - "},
		{"/tool glob", "Tool: glob\n"},
		{"/tool glbo", `Unknown tool: "glbo". Did you mean glob?`},
		{"/refresh", "Refreshing tools...\n  Tools refreshed. 6 tools available."},
		{"/mode", "* ask: asks before it changes anything"},
		{"/toool", "There is no command /toool."},
		{"/effort", "Effort: left to the model"},
		{"/effort much", "effort is one of low, medium, high"},
		{"/effort high", "The effort is high from the next request on"},
		{"/compact", "there is nothing to compact yet"},
		{"/compact undo", "no compaction is in force"},
		{"/stats", "tokens"},
		{"/tasks", "No tasks."},
		{"/context", "system prompt"},
		{"/model", "Model: openai/scripted"},
		{"/sessions", "ikigai resume ID goes on with one."},
		{"/policy", "No rules; the mode decides."},
		{"/export md", "Saved as"},
		{"/copy", "there is no answer yet to copy"},
	} {
		x.send(step.line + " \r")
		x.waitFor(step.want)
	}
	x.send("/quit \r")
	if code := x.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
