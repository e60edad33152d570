//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ikigai/internal/fake"
)

// A step is a block of a page that a person follows.
type step struct{ kind, text string }

// stepsOf are the blocks of a page that are to be done or to be seen.
func stepsOf(t *testing.T, file string) []step {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	for _, m := range regexp.MustCompile("(?ms)^```(sh|type|press|see)\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
		steps = append(steps, step{m[1], strings.TrimSpace(m[2])})
	}
	if fences := strings.Count(string(raw), "\n```"); fences != 2*len(steps) {
		t.Fatalf("%s has %d fences, but only %d blocks that are followed", file, fences, len(steps))
	}
	return steps
}

// follow does what a block says, and sees what it promises.
func (x *tmux) follow(s step) {
	x.t.Helper()
	for line := range strings.Lines(s.text) {
		line = strings.TrimSpace(line)
		switch s.kind {
		case "sh":
			x.until(func() bool { return strings.HasSuffix("\n"+strings.TrimSpace(x.screen()), "\n$") }, "the shell does not wait")
			fallthrough
		case "type":
			x.do("send-keys", "-t", "story", "-l", line)
			x.keys("Enter")
		case "press":
			x.press(strings.Fields(line))
		case "see":
			x.waitFor(line)
		}
	}
}

// press presses keys by the names that people give them.
func (x *tmux) press(keys []string) {
	x.t.Helper()
	for _, k := range keys {
		if strings.Contains(x.screen(), "Permission request") {
			x.patient(k, "")
			continue
		}
		if letter, ok := strings.CutPrefix(k, "Ctrl-"); ok {
			k = "C-" + strings.ToLower(letter)
		}
		x.keys(k)
	}
}

// machine is the machine of the page: a local server with a model. It gives the
// address at which the hosted one is played.
func machine(t *testing.T, s *stage) (hosted string) {
	t.Helper()
	m := fake.NewModel([]fake.Reply{{Text: "Hello from here.", Expect: "say hello"}, {Text: "Hello again.", Expect: "say hello again"}})
	t.Cleanup(m.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/api/tags") {
			w.Write([]byte(`{"models":[{"name":"qwen2.5-coder"}]}`))
			return
		}
		m.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.env = append(s.env, "OLLAMA_HOST="+server.URL)
	return server.URL + "/v1"
}

// The page docs/first-hour.md is done as it stands there.
func TestTheFirstHour(t *testing.T) {
	s := newStage(t)
	hosted := machine(t, &s)
	s.env = append(s.env, "PS1=$ ")
	steps := stepsOf(t, filepath.Join("..", "..", "docs", "first-hour.md"))
	x := s.openTmuxShell(t, 100, 45)
	for _, one := range steps {
		t.Logf("%s: %s", one.kind, one.text)
		if one.kind == "sh" && strings.Contains(one.text, "--model openai/") {
			x.follow(step{"sh", "export OPENAI_BASE_URL=" + hosted}) // nothing leaves this machine
		}
		x.follow(one)
	}
	for name, want := range map[string]bool{"hello.txt": false, "made.txt": true} {
		if _, err := os.Stat(filepath.Join(s.project, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if strings.Contains(strings.Join(x.all(), "\n"), "sk-your-own-key") {
		t.Error("the key was shown")
	}
}
