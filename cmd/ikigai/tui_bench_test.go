//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"ikigai/internal/bench"
)

// TestBenchTerminal measures what a person feels: how soon there is a prompt, how
// soon a key is drawn while much happens, and what it costs to look at a prompt.
// make bench runs it; it asserts nothing, since time on a shared machine proves
// nothing.
func TestBenchTerminal(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("make bench sets " + bench.DirVariable)
	}
	if err := bench.Write(dir, "terminal", []bench.Row{benchPrompt(t), benchKeys(t), benchIdle(t)}); err != nil {
		t.Fatal(err)
	}
}

// A wire is the program in a pseudo terminal whose bytes are only collected, so
// that nothing but the program takes time.
type wire struct {
	cmd  *exec.Cmd
	file *os.File
	mu   sync.Mutex // guards last
	last []byte     // what came lately
}

func openWire(t *testing.T, env []string, dir string, args ...string) *wire {
	t.Helper()
	path := os.Getenv("IKIGAI_BENCH_BIN")
	if path == "" {
		path, _ = exec.LookPath("ikigai")
	}
	w := &wire{cmd: exec.Command(path, args...)}
	w.cmd.Dir, w.cmd.Env = dir, env
	f, err := pty.StartWithSize(w.cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	w.file = f
	go w.read()
	return w
}

func (w *wire) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := w.file.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.last = append(w.last[max(0, len(w.last)-64<<10):], buf[:n]...)
		w.mu.Unlock()
	}
}

// send types, and forgets what came before.
func (w *wire) send(keys string) {
	w.mu.Lock()
	w.last = nil
	w.mu.Unlock()
	io.WriteString(w.file, keys)
}

// seen waits for a text and gives the time that took.
func (w *wire) seen(t *testing.T, text string) time.Duration {
	t.Helper()
	begun := time.Now()
	for {
		w.mu.Lock()
		ok := bytes.Contains(w.last, []byte(text))
		w.mu.Unlock()
		took := time.Since(begun)
		if ok {
			return took
		}
		if took > 20*time.Second {
			t.Fatalf("it does not write %q", text)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func (w *wire) end() {
	w.cmd.Process.Kill() // what ending costs is not counted
	w.cmd.Wait()
	w.file.Close()
}

// benchPrompt is the processor time from the start of the program to a prompt that
// takes keys, with fifty executable tools known.
func benchPrompt(t *testing.T) bench.Row {
	home := t.TempDir()
	tools := filepath.Join(home, ".ikigai", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		text := fmt.Sprintf("#!/bin/sh\necho '{\"name\":\"tool%d\",\"description\":\"x\",\"parameters\":{}}'\n", i)
		if err := os.WriteFile(filepath.Join(tools, fmt.Sprintf("tool%d", i)), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	start := func() (cpu, wall float64) {
		w := openWire(t, env, home, "--model", "demo")
		took := w.seen(t, "? keys")
		w.end()
		return ms(w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime()), ms(took)
	}
	known := openWire(t, env, home, "--model", "demo") // the first run asks all tools; their answers are kept
	known.seen(t, "? keys")
	known.send("/tool tool49\r")
	known.seen(t, "Tool: tool49")
	known.end()
	const times = 20
	row := bench.Row{Workload: "terminal: start to a prompt that takes keys, 50 tools known", Goal: "at most 40 ms CPU"}
	for range times {
		cpu, wall := start()
		row.OursCPU += cpu / times
		row.OursWall += wall / times
	}
	return row
}

// benchKeys is the time from a key to its frame while a reply comes with a
// thousand tokens a second and a tool prints 10 MB.
func benchKeys(t *testing.T) bench.Row {
	home := t.TempDir()
	s := stage{}
	slowModel(t, &s, 1_000_000, 4*time.Millisecond) // lines of about four tokens
	w := openWire(t, append(s.env, "HOME="+home, "TERM=xterm-256color", "PATH="+os.Getenv("PATH"), "NO_PROXY=*"), home)
	defer w.end()
	w.seen(t, "? keys")
	w.send("go\r")
	w.seen(t, "<20>")
	w.send("!for i in $(seq 400); do head -c 25000 /dev/zero | tr '\\0' x | fold -w 100; sleep 0.01; done\r")
	w.seen(t, "xxxxxxxx")
	var took []time.Duration
	for range 10 {
		typed := ""
		for range 20 {
			key := string(rune('a' + rand.IntN(26)))
			typed += key
			w.send(key)
			took = append(took, w.seen(t, typed))
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		}
		w.send("\x15")
		w.seen(t, "\x1b[7m ")
	}
	slices.Sort(took)
	at := func(part int) float64 { return ms(took[len(took)*part/100]) }
	return bench.Row{
		Workload: "terminal: a key drawn, 1,000 tokens a second and a tool printing 10 MB", OursWall: at(50), Goal: "within one frame, 16.7 ms",
		Note: fmt.Sprintf("of %d keys 95 in 100 within %.1f ms, all within %.1f ms", len(took), at(95), ms(took[len(took)-1])),
	}
}

// benchIdle is what a prompt costs that nobody touches.
func benchIdle(t *testing.T) bench.Row {
	home := t.TempDir()
	w := openWire(t, []string{"HOME=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}, home, "--model", "demo")
	defer w.end()
	w.seen(t, "? keys")
	time.Sleep(time.Second)
	w.send("")
	before := ticksOf(t, w.cmd.Process.Pid)
	time.Sleep(2 * time.Second)
	w.mu.Lock()
	defer w.mu.Unlock()
	return bench.Row{
		Workload: "terminal: a prompt that nobody touches, for 2 s", OursCPU: 10 * float64(ticksOf(t, w.cmd.Process.Pid)-before), Goal: "nothing",
		Note: fmt.Sprintf("%d bytes written", len(w.last)),
	}
}
