package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ikigai/internal/fake"
	"ikigai/internal/sandbox"
)

// The stories run the real program: this test binary is ikigai when it is
// called by that name.
func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){"ikigai": main})
}

func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for name, value := range map[string]string{
				"HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": "",
				"NO_PROXY": "*", "OPENAI_API_KEY": "sk-story-key-1234567890", "ANTHROPIC_API_KEY": "sk-story-key-1234567890", "GEMINI_API_KEY": "sk-story-key-1234567890",
			} {
				e.Setenv(name, value)
			}
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": startModel, "requests": countRequests, "status": status, "normal": normal, "interrupt": interrupt, "gone": gone, "request": request,
		},
	})
}

// startModel plays a script: model FILE. The address is in $MODEL, the request
// bodies in requests.jsonl.
func startModel(ts *testscript.TestScript, _ bool, args []string) {
	script, err := fake.ParseScript(ts.ReadFile(args[0]))
	ts.Check(err)
	m := fake.NewModel(script)
	log, err := os.Create(ts.MkAbs("requests.jsonl"))
	ts.Check(err)
	m.Log(log)
	ts.Setenv("MODEL", m.URL+"/v1")
	ts.Setenv("HOST", m.URL)
	ts.Defer(func() {
		m.Close()
		log.Close()
	})
}

// countRequests checks how many requests the model got: requests N.
func countRequests(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile("requests.jsonl"), "\n"); got != want {
		ts.Fatalf("the model got %d requests, want %d", got, want)
	}
}

// request writes the messages of the N-th request, a line each, to standard
// output of the script: request N.
func request(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("requests.jsonl")), "\n")
	if n > len(lines) {
		ts.Fatalf("there are only %d requests", len(lines))
	}
	var body struct{ Messages []json.RawMessage }
	ts.Check(json.Unmarshal([]byte(lines[n-1]), &body))
	var out bytes.Buffer
	for _, m := range body.Messages {
		fmt.Fprintf(&out, "%s\n", m)
	}
	ts.Check(os.WriteFile(ts.MkAbs("messages.jsonl"), out.Bytes(), 0o600))
}

// status runs a program and compares its exit code: status CODE PROGRAM ARGS.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		if _, e := fmt.Sscanf(err.Error(), "exit status %d", &code); e != nil {
			ts.Fatalf("%s: %v", args[1], err)
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s\nstdout: %s\nstderr: %s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// normal writes a stream without what differs from run to run: normal IN OUT.
func normal(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	for _, r := range []struct{ re, to string }{
		{`"ts":"[^"]*"`, `"ts":"TIME"`},
		{`"session_id":"[^"]*"`, `"session_id":"SESSION"`},
		{`"duration_ms":\d+`, `"duration_ms":0`},
		{`"sandbox":\[[^\]]*\]`, `"sandbox":[]`},
		{`"head":"[^"]*"`, `"head":"HASH"`},
	} {
		text = regexp.MustCompile(r.re).ReplaceAllString(text, r.to)
	}
	text = joinDeltas(strings.ReplaceAll(text, ts.Getenv("WORK"), "WORK"))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// joinDeltas puts neighbouring deltas into one and numbers the lines anew: a
// reader that lags gets them merged, so where they are cut says nothing.
func joinDeltas(text string) string {
	delta := regexp.MustCompile(`"type":"delta","text":"(.*)"\}$`)
	seq := regexp.MustCompile(`"seq":\d+`)
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := len(out); n > 0 && delta.MatchString(line) && delta.MatchString(out[n-1]) {
			out[n-1] = strings.TrimSuffix(out[n-1], `"}`) + delta.FindStringSubmatch(line)[1] + `"}`
			continue
		}
		out = append(out, seq.ReplaceAllString(line, fmt.Sprintf(`"seq":%d`, len(out)+1)))
	}
	return strings.Join(out, "\n") + "\n"
}

// interrupt starts a program, waits until a text stands in a file or in its
// output, sends a signal and compares the exit code:
// interrupt SIGNAL CODE TEXT PROGRAM ARGS.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	p := startProgram(ts, args[3:])
	p.waitFor(args[2])
	ts.Check(p.cmd.Process.Signal(sig))
	if code := p.wait(); fmt.Sprint(code) != args[1] {
		ts.Fatalf("exit code %d, want %s\n%s", code, args[1], p.text())
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(p.text()), 0o600))
}

// gone checks that no process with that text in its arguments is left.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := processes(args[0])
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("still running: %v", left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func processes(text string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		raw, err := os.ReadFile(f)
		line := string(bytes.ReplaceAll(raw, []byte{0}, []byte(" ")))
		if err == nil && strings.Contains(line, text) && filepath.Base(filepath.Dir(f)) != strconv.Itoa(os.Getpid()) {
			found = append(found, line)
		}
	}
	return found
}
