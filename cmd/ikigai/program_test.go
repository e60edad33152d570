package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A program is ikigai running beside a story, its output collected.
type program struct {
	ts   *testscript.TestScript
	cmd  *exec.Cmd
	mu   sync.Mutex // guards out
	out  bytes.Buffer
	over chan struct{}
}

func startProgram(ts *testscript.TestScript, args []string) *program {
	path, err := exec.LookPath(args[0])
	if bin := filepath.Join(binDir(ts), args[0]); err != nil || bin != "" {
		path = bin
	}
	p := &program{ts: ts, cmd: exec.Command(path, args[1:]...), over: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = environ(ts)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	ts.Check(p.cmd.Start())
	go func() {
		p.cmd.Wait() // the exit code is read from ProcessState
		close(p.over)
	}()
	ts.Defer(func() { p.cmd.Process.Kill() })
	return p
}

// binDir is where testscript put the programs of this binary.
func binDir(ts *testscript.TestScript) string {
	for _, d := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(d, "ikigai")); err == nil {
			return d
		}
	}
	ts.Fatalf("ikigai is not in PATH")
	return ""
}

func environ(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "PATH", "MODEL", "WORK", "NO_PROXY", "OPENAI_API_KEY", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// waitFor waits until the program has printed text.
func (p *program) waitFor(text string) {
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(p.text(), text) {
		select {
		case <-p.over:
			p.ts.Fatalf("it ended before it printed %q:\n%s", text, p.text())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.ts.Fatalf("it did not print %q:\n%s", text, p.text())
		}
	}
}

func (p *program) wait() int {
	select {
	case <-p.over:
	case <-time.After(20 * time.Second):
		p.ts.Fatalf("it did not end:\n%s", p.text())
	}
	return p.cmd.ProcessState.ExitCode()
}
