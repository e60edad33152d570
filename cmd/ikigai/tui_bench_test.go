//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// BenchmarkStartToPrompt is the processor time from the start of the program to
// a prompt that takes keys, with fifty executable tools known.
func BenchmarkStartToPrompt(b *testing.B) {
	home := b.TempDir()
	tools := filepath.Join(home, ".ikigai", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 50 {
		text := fmt.Sprintf("#!/bin/sh\necho '{\"name\":\"tool%d\",\"description\":\"x\",\"parameters\":{}}'\n", i)
		if err := os.WriteFile(filepath.Join(tools, fmt.Sprintf("tool%d", i)), []byte(text), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	path := os.Getenv("IKIGAI")
	if path == "" {
		path, _ = exec.LookPath("ikigai")
	}
	start := func() (cpu time.Duration) {
		c := exec.Command(path, "--model", "demo")
		c.Dir, c.Env = home, []string{"HOME=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
		f, err := pty.StartWithSize(c, &pty.Winsize{Cols: 80, Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		var all []byte
		buf := make([]byte, 4096)
		for !bytes.Contains(all, []byte("? keys")) {
			n, err := f.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, buf[:n]...)
		}
		c.Process.Signal(syscall.SIGKILL) // what ending costs is not counted
		c.Wait()
		return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	start() // the first run asks all tools; their answers are kept
	time.Sleep(time.Second)
	var sum time.Duration
	for b.Loop() {
		sum += start()
	}
	b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "cpu-ms/start")
}

// BenchmarkKeystroke is the time from a key to its frame while a reply comes
// with a thousand tokens a second and a tool has printed 10 MB.
func BenchmarkKeystroke(b *testing.B) {
	s := newStage(b)
	slowModel(b, &s, 1_000_000, time.Millisecond)
	x := s.open(b, 100, 30)
	x.waitFor("? keys")
	x.send("!yes a line of output | head -c 10000000\r")
	x.waitFor("with the next prompt")
	x.send("go\r")
	x.waitFor("esc stop")
	typed := 0
	for b.Loop() {
		typed++
		want := fmt.Sprintf("key%dkey", typed)
		x.send(want)
		for !strings.Contains(x.screen(), want) {
			time.Sleep(200 * time.Microsecond)
		}
		b.StopTimer()
		x.send("\x15")
		for strings.Contains(x.screen(), want) {
			time.Sleep(200 * time.Microsecond)
		}
		b.StartTimer()
	}
}
