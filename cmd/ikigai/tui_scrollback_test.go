//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slowModel streams numbered lines, one after another, and then ends.
func slowModel(t testing.TB, s *stage, lines int, pause time.Duration) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(delta map[string]any, finish any) {
			raw, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion.chunk", "model": "slow", "choices": []any{
				map[string]any{"index": 0, "delta": delta, "finish_reason": finish},
			}})
			fmt.Fprintf(w, "data: %s\n\n", raw)
			w.(http.Flusher).Flush()
		}
		for i := range lines {
			for _, piece := range numbered(i) {
				send(map[string]any{"content": piece}, nil)
			}
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
		send(map[string]any{}, "stop")
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	s.env = append(s.env, "OPENAI_API_KEY=sk-screen-key-1234567890", "IKIGAI_MODEL=openai/slow", "IKIGAI_BASE_URL="+server.URL+"/v1")
}

// numbered is a line of every kind that a text has, in pieces: prose, an item, a
// heading, code.
func numbered(i int) []string {
	id := fmt.Sprintf("<%d>", i)
	switch i % 4 {
	case 0:
		return []string{"prose ", id, " of a line", "\n\n"}
	case 1:
		return []string{"- an item ", id, "\n"}
	case 2:
		return []string{"\n## a heading ", id, "\n\n"}
	}
	return []string{"```go\nreturn ", id, "\n```\n"}
}

var number = regexp.MustCompile(`<(\d+)>`)

// checkOnce fails unless the numbers 0 to n-1 stand in the lines once each and
// in order.
func checkOnce(t *testing.T, lines []string, n int) {
	t.Helper()
	next := 0
	for _, l := range lines {
		for _, m := range number.FindAllStringSubmatch(l, -1) {
			if got, _ := strconv.Atoi(m[1]); got != next {
				t.Fatalf("line %d stands where %d should:\n%s", got, next, strings.Join(lines, "\n"))
			}
			next++
		}
	}
	if next != n {
		t.Fatalf("%d of %d lines are there", next, n)
	}
}

// Every finished line stands once and in order in the scrollback, however often
// the size changes while the text comes: two hundred times a second, for ten
// seconds in make soak.
func TestSoakFinishedLinesStandOnceWhateverTheSize(t *testing.T) {
	lines, resizes, pause := 400, 400, 5*time.Millisecond
	if os.Getenv("IKIGAI_SOAK") != "" {
		lines, resizes = 2000, 2000
	}
	s := newStage(t)
	slowModel(t, &s, lines, pause)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("go\r")
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range resizes {
		x.resize(40+r.IntN(361), 8+r.IntN(50))
		time.Sleep(time.Duration(lines) * pause / time.Duration(resizes) * 3 / 4)
	}
	x.resize(100, 30)
	x.waitFor(fmt.Sprintf("<%d>", lines-1))
	x.waitFor("? keys")
	x.settle()
	t.Logf("seed %d", seed)
	checkOnce(t, x.all(), lines)
	screen := x.screen()
	x.resize(99, 30)
	x.settle()
	x.resize(100, 30)
	x.settle()
	if again := x.screen(); again != screen {
		t.Errorf("the screen is not as it would be drawn anew:\n%s\nanew:\n%s", screen, again)
	}
}

// A tmux is a real terminal that breaks its lines anew when it is resized.
type tmux struct {
	t      *testing.T
	socket string
}

// openTmux starts ikigai in tmux. Without tmux the test is skipped, or fails
// where it is required.
func (s stage) openTmux(t *testing.T, cols, rows int, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("IKIGAI_REQUIRE_TMUX") == "1" {
			t.Fatal("tmux is required and not there")
		}
		t.Skip("tmux is not there; IKIGAI_REQUIRE_TMUX=1 makes this a failure")
	}
	path, err := exec.LookPath("ikigai")
	if err != nil {
		t.Fatal(err)
	}
	return s.tmux(t, cols, rows, path+" "+strings.Join(args, " ")+"; echo ended with $?; sleep 60")
}

// openTmuxShell starts a shell with job control in tmux.
func (s stage) openTmuxShell(t *testing.T, cols, rows int) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		s.openTmux(t, cols, rows) // says why not
	}
	return s.tmux(t, cols, rows, "bash --norc --noprofile -i")
}

func (s stage) tmux(t *testing.T, cols, rows int, run string) *tmux {
	t.Helper()
	x := &tmux{t: t, socket: s.home + "/tmux.sock"}
	line := "env -i"
	for _, kv := range s.env {
		if !strings.HasPrefix(kv, "TERM=") {
			line += " '" + kv + "'"
		}
	}
	line += " TERM=tmux-256color " + run
	x.do("-f", "/dev/null", "new-session", "-d", "-s", "story", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "-c", s.project, line)
	x.do("set-option", "-g", "history-limit", "50000")
	t.Cleanup(func() {
		exec.Command("tmux", "-S", x.socket, "kill-server").Run()
		s.empty(t)
	})
	return x
}

// empty waits until nobody lives in this home any more: it is about to go.
func (s stage) empty(t testing.TB) {
	deadline := time.Now().Add(10 * time.Second)
	for len(s.living()) > 0 {
		if time.Now().After(deadline) {
			t.Errorf("still running: %v", s.living())
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s stage) living() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range all {
		if raw, err := os.ReadFile(f); err == nil && bytes.Contains(raw, []byte("HOME="+s.home+"\x00")) {
			found = append(found, f)
		}
	}
	return found
}

func (x *tmux) do(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (x *tmux) keys(keys ...string) {
	x.do(append([]string{"send-keys", "-t", "story"}, keys...)...)
}
func (x *tmux) screen() string { return x.do("capture-pane", "-p", "-t", "story") }
func (x *tmux) all() []string {
	return strings.Split(x.do("capture-pane", "-p", "-J", "-S", "-", "-t", "story"), "\n")
}

func (x *tmux) waitFor(text string) {
	x.t.Helper()
	x.until(func() bool { return strings.Contains(x.screen(), text) }, fmt.Sprintf("it does not show %q", text))
}

func (x *tmux) until(ok func() bool, what string) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%s:\n%s", what, strings.Join(x.all(), "\n"))
		}
	}
}

// patient presses a key when the question takes it: in its first moments the
// choices are faint, and none is taken.
func (x *tmux) patient(key, want string) {
	x.t.Helper()
	x.until(func() bool { return answerable(x.do("capture-pane", "-p", "-e", "-t", "story")) }, "no question is open")
	x.keys(key)
	x.waitFor(want)
}

// answerable reports whether a painted screen shows the choices of a question,
// and not faintly. Looks last from one line to the next.
func answerable(painted string) bool {
	before, _, ok := strings.Cut(painted, "[1]")
	looks := regexp.MustCompile(`\x1b\[[0-9;]*m`).FindAllString(before, -1)
	return ok && (len(looks) == 0 || !strings.Contains(looks[len(looks)-1], "2m"))
}

func TestFinishedLinesStandOnceWhereLinesAreBrokenAnew(t *testing.T) {
	const lines = 150
	s := newStage(t)
	slowModel(t, &s, lines, 12*time.Millisecond)
	x := s.openTmux(t, 80, 24)
	x.waitFor("? keys")
	x.keys("go", "Enter")
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 50 {
		x.do("resize-window", "-t", "story", "-x", fmt.Sprint(40+r.IntN(161)), "-y", fmt.Sprint(8+r.IntN(40)))
		time.Sleep(30 * time.Millisecond)
	}
	x.do("resize-window", "-t", "story", "-x", "100", "-y", "30")
	x.waitFor(fmt.Sprintf("<%d>", lines-1))
	x.waitFor("? keys")
	time.Sleep(300 * time.Millisecond)
	checkOnce(t, x.all(), lines)
}
