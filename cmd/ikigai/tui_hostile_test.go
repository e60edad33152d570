//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/fake"
)

// memory is the resident memory of the program in MiB.
func (x *terminal) memory() int {
	x.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.cmd.Process.Pid))
	if err != nil {
		x.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				x.t.Fatal(err)
			}
			return kb >> 10
		}
	}
	x.t.Fatal("no VmRSS")
	return 0
}

func TestTerminalsOfAnySize(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 3}, {40, 4}, {400, 100}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := newStage(t, fake.Reply{Text: "Here **you** are:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"x"}`)}}, fake.Reply{Text: "Over."})
			x := s.open(t, size[0], size[1])
			cooked := x.modes()
			x.until(func() bool { return x.modes() != cooked }, "the terminal is not raw")
			x.send("do it\r")
			x.until(func() bool { // what comes before the question stands in the box
				x.send("1")
				time.Sleep(50 * time.Millisecond)
				_, err := os.Stat(filepath.Join(s.project, "f.txt"))
				return err == nil
			}, "the call was not made")
			x.resize(80, 24)
			x.waitFor("? keys")
			x.send("\x15/quit\r")
			if code := x.exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestATerminalThatCanDoNothing(t *testing.T) {
	for name, args := range map[string][]string{"dumb": {}, "screen reader": {"--screen-reader"}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fake.Reply{Text: "Hello **there**.", Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"x"}`)}}, fake.Reply{Text: "Over."})
			if name == "dumb" {
				s.env = append(s.env, "TERM=dumb")
			}
			x := s.open(t, 80, 24, args...)
			x.waitFor("/quit ends")
			x.send("hi\r")
			x.waitFor("answer 1 to 5")
			x.send("1\r")
			x.waitFor("Over.")
			x.send("/tool glob\r")
			x.waitFor("Tool: glob")
			x.send("/quit\r")
			if code := x.exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if got := x.raw(); bytes.ContainsRune(got, 0x1b) {
				t.Errorf("an escape byte in plain lines: %q", got)
			}
		})
	}
}

func TestATerminalThatHangsUp(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"echo begun; sleep 33.3"}`)}})
	x := s.open(t, 80, 24, "--mode", "yolo")
	x.waitFor("? keys")
	x.send("work\r")
	x.waitFor("│ begun")
	x.file.Close()
	x.exit()
	deadline := time.Now().Add(5 * time.Second)
	for len(processes("sleep 33.3")) > 0 {
		if time.Now().After(deadline) {
			t.Fatal("a program outlived its terminal")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hostile is output that wants to take the terminal over.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b[?1049h owned", "\x1b]52;c;ZXZpbA==\x07clip", "\x1b]0;title\x07", "\x1bP+q\x1b\\", "\x9b31mred", "\x1b[999999999;999999999H",
	"\u202eevil\u202c", "\u200bhidden\U000e0041", "\x00\x01\x02\xff\xfe", strings.Repeat("a\u0301\u0302\u0303", 300), "\x1b[?2026h\x1b[3J",
}

func TestOutputThatWantsTheTerminal(t *testing.T) {
	text := strings.Join(hostile, "\n") + "\nthe end of it\n"
	s := newStage(t,
		fake.Reply{Text: text, Calls: []fake.Call{call("a", "bash", `{"command":"cat bomb; sleep 0.3"}`)}},
		fake.Reply{Text: "Still here."})
	s.write(t, "bomb", text)
	x := s.open(t, 80, 24, "--mode", "yolo")
	x.waitFor("? keys")
	x.send("show it\r")
	x.waitFor("Still here.")
	x.settle()
	for _, bad := range []string{"\x1b[2J", "\x1b[3J", "\x1b]52", "\x1b]0;", "\x1b[?1049h", "\u202e", "\U000e0041", "\x9b"} {
		if bytes.Contains(x.raw(), []byte(bad)) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
}

func TestAHundredMegabytesOfOutput(t *testing.T) {
	s := newStage(t,
		fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"head -c 104857600 /dev/zero | tr '\\0' 'x' | fold -w 100; echo the last line"}`)}},
		fake.Reply{Text: "Swallowed."})
	x := s.open(t, 80, 24, "--mode", "yolo")
	x.waitFor("? keys")
	before := x.memory()
	x.send("print\r")
	x.waitFor("Swallowed.")
	if grown := x.memory() - before; grown > 60 {
		t.Errorf("memory grew by %d MiB", grown)
	}
}

func TestAPasteOfFiveMegabytes(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Read it all.", Expect: "the very end of the paste"})
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("\x1b[200~" + strings.Repeat("a line of a long paste\n", 5<<20/23) + "the very end of the paste\x1b[201~")
	x.waitFor("[pasted 227")
	x.send(" sum it up\r")
	x.waitFor("Read it all.")
}

// A reader that stops for a while costs little memory, and nothing is lost. make
// soak stops it for half a minute.
func TestSoakAReaderThatStops(t *testing.T) {
	lines, silence := 2000, 2*time.Second
	if os.Getenv("IKIGAI_SOAK") != "" {
		lines, silence = 20_000, 30*time.Second
	}
	s := newStage(t)
	slowModel(t, &s, lines, 500*time.Microsecond)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("go\r")
	x.waitFor("<1") // lines pass quickly; some of these are always there
	x.mu.Lock()     // the emulator takes nothing now
	before := x.memory()
	time.Sleep(silence)
	grown := x.memory() - before
	x.mu.Unlock()
	if grown > 20 {
		t.Errorf("memory grew by %d MiB", grown)
	}
	x.waitFor(fmt.Sprintf("<%d>", lines-1))
	x.waitFor("? keys")
	checkOnce(t, x.all(), lines)
}

func TestEscWorksWhileTheReaderStops(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"while true; do echo yes yes yes yes; done & sleep 34.4"}`)}})
	x := s.open(t, 80, 24, "--mode", "yolo")
	x.waitFor("? keys")
	x.send("go\r")
	x.waitFor("yes yes")
	x.mu.Lock()
	time.Sleep(300 * time.Millisecond)
	x.send("\x1b[27u")
	deadline := time.Now().Add(5 * time.Second)
	for len(processes("sleep 34.4")) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	left := processes("sleep 34.4")
	x.mu.Unlock()
	if len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	x.waitFor("stopped")
}

func TestKeysWithoutSense(t *testing.T) {
	s := newStage(t, fake.Reply{Repeat: 500, Text: "Yes."})
	s.env = append(s.env, "EDITOR=true")
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	r := rand.New(rand.NewPCG(rand.Uint64(), 2))
	pieces := []string{"\x1b", "\x1b[", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[1;5C", "\x17", "\x15", "\x0b", "\x19", "\t", "\n", "/", "@", "x", "漢", "👩‍👩‍👧", "e\u0301", "\x7f", "\x12", "\x0f", "\x07", "\x1b]11;rgb:0/0/0\x07", "\x1b[200~", "\x1b[201~", "\xff", "\x1b[99999999999u", "\x1bOP", "\\\r", "?"}
	for range 3000 {
		x.send(pieces[r.IntN(len(pieces))])
	}
	x.send("\x1b[201~")
	time.Sleep(300 * time.Millisecond)
	select {
	case <-x.over:
		t.Fatalf("it ended:\n%s", strings.Join(x.all(), "\n"))
	default:
	}
	x.signal(syscall.SIGTERM)
	if code := x.exit(); code != 143 {
		t.Errorf("exit code %d:\n%s", code, strings.Join(x.all(), "\n"))
	}
}

// Idle costs nothing: no byte is written and no time is used.
func TestIdleCostsNothing(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("hi\r")
	x.waitFor("Hello.")
	x.settle()
	ticks, written := ticksOf(t, x.cmd.Process.Pid), len(x.raw())
	time.Sleep(2 * time.Second)
	if n := len(x.raw()) - written; n > 0 {
		t.Errorf("%d bytes were written", n)
	}
	if n := ticksOf(t, x.cmd.Process.Pid) - ticks; n > 2 {
		t.Errorf("%d hundredths of a second were used", n)
	}
}

// ticksOf is the processor time that a process used, in hundredths of a second.
func ticksOf(t testing.TB, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}
