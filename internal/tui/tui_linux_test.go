package tui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"ikigai/internal/agent"
	"ikigai/internal/bus"
	"ikigai/internal/convo"
)

// session is one that does what the test says.
type session struct {
	bus  *bus.Bus
	send func(agent.Op)
}

func (s *session) Send(op agent.Op) { s.send(op) }
func (s *session) Events(ctx context.Context, after int64) iter.Seq[convo.Event] {
	return s.bus.Events(ctx, after)
}

// sheet is a pseudo terminal whose output is collected.
type sheet struct {
	pty, tty *os.File
	mu       sync.Mutex // guards text
	text     strings.Builder
}

func newSheet(t *testing.T) *sheet {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	pty.Setsize(p, &pty.Winsize{Cols: 80, Rows: 24})
	s := &sheet{pty: p, tty: tty}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := p.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { tty.Close(); p.Close(); <-done })
	return s
}

func (s *sheet) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		s.mu.Lock()
		got := s.text.String()
		s.mu.Unlock()
		if strings.Contains(got, text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q was not written: %q", text, got)
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *sheet) modes(t *testing.T) string {
	t.Helper()
	tio, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x %x %x %x", tio.Iflag, tio.Oflag, tio.Cflag, tio.Lflag)
}

func options(s *sheet) Options {
	return Options{In: s.tty, Out: s.tty, Getenv: func(string) string { return "" }, Model: "m", Mode: "ask"}
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	sh := newSheet(t)
	before := sh.modes(t)
	s := &session{bus: bus.New(nil), send: func(agent.Op) { panic("the session is broken") }}
	fault := make(chan any, 1)
	go func() {
		defer func() { fault <- recover() }()
		Run(context.Background(), s, options(sh))
	}()
	sh.waitFor(t, "? keys")
	io.WriteString(sh.pty, "hello\r")
	select {
	case got := <-fault:
		if got != "the session is broken" {
			t.Errorf("the panic became %v", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
	if now := sh.modes(t); now != before {
		t.Errorf("the terminal is %s, was %s", now, before)
	}
	sh.waitFor(t, "\x1b[?25h\x1b[m")
}

// A face may stay for days: what it showed at the start is the session's to keep,
// and the session forgets.
func TestWhatWasStoredIsLetGo(t *testing.T) {
	for name, reader := range map[string]bool{"the screen": false, "a screen reader": true} {
		t.Run(name, func(t *testing.T) {
			sh := newSheet(t)
			o := options(sh)
			codes := make(chan int, 1)
			o.Signals, o.ScreenReader = codes, reader
			stored := []convo.Event{{Seq: 1, Turn: 1, Kind: convo.KindUser, Text: "said long ago"}, {Seq: 2, Turn: 1, Kind: convo.KindAssistant, Text: "and answered"}}
			kept := weak.Make(&stored[0])
			o.Stored = stored
			s := &session{bus: bus.New(nil), send: func(agent.Op) {}}
			over := make(chan int)
			go func(o Options) { over <- Run(context.Background(), s, o) }(o)
			o, stored = Options{}, nil
			sh.waitFor(t, "answered")
			for deadline := time.Now().Add(10 * time.Second); kept.Value() != nil; runtime.GC() {
				if time.Now().After(deadline) {
					t.Error("the stored events are kept")
					break
				}
			}
			codes <- 143
			<-over
		})
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() { defer close(read); io.Copy(io.Discard, p) }()
	s := &session{bus: bus.New(nil), send: func(agent.Op) {}}
	codes := make(chan int, 1)
	codes <- 143
	o := options(&sheet{tty: tty})
	o.Signals = codes
	if code := Run(context.Background(), s, o); code != 143 {
		t.Errorf("exit code %d", code)
	}
	tty.Close()
	p.Close()
	<-read
}

func TestACrashBesideTheLoopIsTold(t *testing.T) {
	sh := newSheet(t)
	s := &session{bus: bus.New(nil), send: func(agent.Op) {}}
	o := options(sh)
	o.Files = func() []string { panic("no files today") }
	codes := make(chan int, 1)
	o.Signals = codes
	over := make(chan int)
	go func() { over <- Run(context.Background(), s, o) }()
	sh.waitFor(t, "? keys")
	io.WriteString(sh.pty, "@x")
	sh.waitFor(t, "crashed: no files today")
	codes <- 143
	<-over
}
