//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ikigai/internal/fake"
)

// sizes are the widths at which the golden screens are compared.
var sizes = []struct{ cols, rows int }{{80, 24}, {120, 30}}

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
	for _, size := range sizes {
		t.Run(fmt.Sprint(size.cols), func(t *testing.T) {
			s := newStage(t,
				fake.Reply{Text: "I will look at the **retry code**, then run the test.\n\n", Usage: &[2]int{3100, 20}, Calls: []fake.Call{
					call("a", "file_read", `{"path":"retry.go"}`), call("b", "grep", `{"pattern":"Retry"}`),
				}},
				fake.Reply{Usage: &[2]int{3400, 12}, Calls: []fake.Call{call("c", "bash", `{"command":"for i in 1 2 3 4 5 6 7; do echo PASS run $i; done; sleep 30"}`)}},
			)
			s.write(t, "retry.go", retryGo)
			x := s.open(t, size.cols, size.rows, "--mode", "yolo")
			x.waitFor("? keys")
			x.send("the checkout test is flaky, find out why\r")
			x.waitFor("PASS run 7")
			x.send("also check the timeout in config.yaml\t")
			x.waitFor("queued")
			x.settleIn(300 * time.Millisecond)
			x.golden(fmt.Sprintf("chat_%d", size.cols))
		})
	}
}

func TestScreenOfThePermissionRequest(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprint(size.cols), func(t *testing.T) {
			edit := `{"path":"retry.go","edits":[{"old_text":"\t\ttime.Sleep(d)","new_text":"\t\tselect {\n\t\tcase <-time.After(d):\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}"}]}`
			s := newStage(t,
				fake.Reply{Calls: []fake.Call{call("r", "file_read", `{"path":"retry.go"}`)}},
				fake.Reply{Calls: []fake.Call{
					call("a", "file_edit", edit), call("b", "bash", `{"command":"go test ./... > out.txt && git push"}`),
				}},
				fake.Reply{Text: "Done."},
			)
			s.write(t, "retry.go", retryGo)
			x := s.open(t, size.cols, size.rows)
			x.waitFor("? keys")
			x.send("mend it\r")
			x.waitFor("1 of 2 in this batch")
			x.settleIn(400 * time.Millisecond)
			x.golden(fmt.Sprintf("permission_edit_%d", size.cols))
			x.send("s")
			x.waitFor("  │ +       select {")
			x.settleIn(200 * time.Millisecond)
			x.golden(fmt.Sprintf("permission_split_%d", size.cols))
			x.send("1")
			x.waitFor("2 of 2 in this batch")
			x.waitFor("│ git push")
			x.settleIn(400 * time.Millisecond)
			x.golden(fmt.Sprintf("permission_command_%d", size.cols))
			x.send("4")
			x.waitFor("Done.")
			x.settle()
			x.golden(fmt.Sprintf("permission_after_%d", size.cols))
			if got, _ := os.ReadFile(filepath.Join(s.project, "retry.go")); !strings.Contains(string(got), "ctx.Done()") {
				t.Errorf("the allowed edit was not made:\n%s", got)
			}
		})
	}
}

func TestScreenOfTheFirstRun(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprint(size.cols), func(t *testing.T) {
			s := newStage(t)
			x := s.open(t, size.cols, size.rows)
			x.waitFor("found here")
			x.settle()
			x.golden(fmt.Sprintf("first_run_%d", size.cols))
			x.send("3")
			x.waitFor("The model is demo")
			x.send("list the Go files\r")
			x.waitFor("offline demo model")
		})
	}
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
		{"/tasks", "this toolset has no task list"},
		{"/context", "system prompt"},
		{"/model", "Model: openai/scripted"},
		{"/sessions", "ikigai resume ID goes on with one."},
		{"/policy", "No rules; the mode decides."},
		{"/export md", "Saved as "},
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

// settleIn waits for frames that come by themselves, such as clocks, to be drawn.
func (x *terminal) settleIn(d time.Duration) { time.Sleep(d) }
