//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/fake"
)

const longCommand = `{"command":"echo begun; sleep 31.7"}`

func TestEscStopsAndKeepsWhatWasPrinted(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "bash", longCommand)}}, fake.Reply{Text: "Again."})
	x := s.openTmux(t, 100, 30, "--mode", "yolo")
	x.waitFor("? keys")
	x.keys("work", "Enter")
	x.waitFor("│ begun")
	begun := time.Now()
	x.keys("Escape")
	x.waitFor("stopped")
	t.Logf("stopped after %v", time.Since(begun))
	all := strings.Join(x.all(), "\n")
	if !strings.Contains(all, "│ begun") {
		t.Errorf("what was printed is gone:\n%s", all)
	}
	if left := processes("sleep 31.7"); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	x.keys("go on", "Enter")
	x.waitFor("Again.")
}

func TestEnterSteersAtTheNextBoundary(t *testing.T) {
	s := newStage(t,
		fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"echo begun; while [ ! -e go ]; do sleep 0.05; done"}`)}},
		fake.Reply{Text: "Heard you.", Expect: "look at the config too"},
	)
	x := s.openTmux(t, 100, 30, "--mode", "yolo")
	x.waitFor("? keys")
	x.keys("work", "Enter")
	x.waitFor("│ begun")
	x.keys("look at the config too", "Enter")
	x.waitFor("steering ↳ look at the config too")
	s.write(t, "go", "")
	x.waitFor("Heard you.")
	x.waitFor("> look at the config too")
}

func TestTabQueuesAndUpEditsTheQueue(t *testing.T) {
	s := newStage(t,
		fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"echo begun; while [ ! -e go ]; do sleep 0.05; done"}`)}},
		fake.Reply{Text: "First is done."},
		fake.Reply{Text: "Second is done.", Expect: "then the changed thing"},
	)
	x := s.openTmux(t, 100, 30, "--mode", "yolo")
	x.waitFor("? keys")
	x.keys("work", "Enter")
	x.waitFor("│ begun")
	x.keys("then the thing", "Tab")
	x.waitFor("queued ↳ then the thing")
	x.keys("Up")
	x.waitFor("› then the thing")
	for range len("thing") {
		x.keys("BSpace")
	}
	x.keys("changed thing", "Tab")
	x.waitFor("queued ↳ then the changed thing")
	s.write(t, "go", "")
	x.waitFor("Second is done.")
	x.waitFor("> then the changed thing")
}

func TestStoppedWordsComeBackIntoTheBox(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "bash", `{"command":"echo begun; sleep 32.8"}`)}})
	x := s.openTmux(t, 100, 30, "--mode", "yolo")
	x.waitFor("? keys")
	x.keys("work", "Enter")
	x.waitFor("│ begun")
	x.keys("for later", "Tab")
	x.waitFor("queued ↳ for later")
	x.keys("for now", "Enter")
	x.waitFor("steering ↳ for now")
	x.keys("Escape")
	x.waitFor("stopped")
	x.waitFor("› for now\n  for later")
}

func TestKeysOfThePermissionRequest(t *testing.T) {
	write := func(id string, n int) fake.Call {
		return call(id, "file_write", fmt.Sprintf(`{"path":"f%d.txt","content":"%d\n"}`, n, n))
	}
	s := newStage(t,
		fake.Reply{Calls: []fake.Call{write("a", 1)}},
		fake.Reply{Calls: []fake.Call{write("b", 2)}},
		fake.Reply{Calls: []fake.Call{write("c", 3)}, Expect: "wrong place"},
		fake.Reply{Calls: []fake.Call{write("d", 4)}},
		fake.Reply{Calls: []fake.Call{write("e", 4)}},
		fake.Reply{Text: "All asked."},
	)
	x := s.openTmux(t, 100, 40)
	x.waitFor("? keys")
	x.keys("write", "Enter")
	x.waitFor("f1.txt")
	x.waitFor("[4] Deny")
	x.patient("1", "✓ file_write  f1.txt")
	x.waitFor("file_write  f2.txt")
	x.patient("5", "why not?")
	x.keys("wrong place", "Enter")
	x.waitFor("✗ file_write  f2.txt")
	x.waitFor("file_write  f3.txt")
	x.patient("4", "✗ file_write  f3.txt")
	x.waitFor("file_write  f4.txt")
	x.patient("2", "All asked.") // for the session: the same file is not asked about again
	for n, want := range map[int]bool{1: true, 2: false, 3: false, 4: true} {
		_, err := os.Stat(filepath.Join(s.project, fmt.Sprintf("f%d.txt", n)))
		if (err == nil) != want {
			t.Errorf("f%d.txt is written: %v, want %v", n, err == nil, want)
		}
	}
}

func TestKeysThatComeTooSoonAllowNothing(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"x"}`)}}, fake.Reply{Text: "Over."})
	x := s.open(t, 100, 30)
	x.waitFor("? keys")
	x.send("write\r")
	for range 2000 { // one press is surely in the first moments of the question
		x.send("1")
		if strings.Contains(x.screen(), "Permission request") {
			break
		}
		x.send("\x7f")
		time.Sleep(time.Millisecond)
	}
	x.waitFor("Permission request")
	time.Sleep(500 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(s.project, "f.txt")); err == nil {
		t.Fatal("a key that was meant for the box allowed the call")
	}
	x.send("\x1b[27u")
	x.waitFor("Over.")
}

func TestAQuestionDiesWithItsTurn(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"x"}`)}}, fake.Reply{Text: "Fresh."})
	x := s.open(t, 100, 30)
	x.waitFor("? keys")
	x.send("write\r")
	x.waitFor("Permission request")
	x.send("\x03")
	x.waitFor("stopped")
	x.waitGone("Permission request")
	x.send("1")
	x.waitFor("› 1")
	if _, err := os.Stat(filepath.Join(s.project, "f.txt")); err == nil {
		t.Fatal("a late answer wrote the file")
	}
}

func TestCtrlCClearsThenEnds(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("half a thought")
	x.waitFor("› half a thought")
	x.send("\x03")
	x.waitGone("half a thought")
	x.send("\x03")
	x.waitFor("ctrl-c again ends ikigai")
	x.send("\x03")
	if code := x.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSeveralLinesPastesAndHistory(t *testing.T) {
	s := newStage(t,
		fake.Reply{Text: "One.", Expect: `first\nsecond\nthird\nfourth`},
		fake.Reply{Text: "Two.", Expect: strings.Repeat("p", 500)},
	)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("first\nsecond\x1b\rthird\\\r\x1b[13;2u")
	x.send("\x7ffourth\r")
	x.waitFor("One.")
	x.send("see \x1b[200~" + strings.Repeat(strings.Repeat("p", 500)+"\n", 40) + "\x1b[201~")
	x.waitFor("› see [pasted 41 lines, 19.6 KB]")
	x.send("\r")
	x.waitFor("Two.")
	x.send("\x12FIRST")
	x.waitFor("search: FIRST")
	x.send("\x1b[C")
	x.waitFor("› first\n  second\n  third")
}

func TestCompletionOfCommandsAndFiles(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Read.", Expect: "look at @internal/retry.go now"})
	if err := os.MkdirAll(filepath.Join(s.project, "internal"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "internal/retry.go", retryGo)
	s.write(t, "README.md", "x")
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("/mo")
	x.waitFor("/model  Show or change the model")
	x.send("\x1b[B\t")
	x.waitFor("› /mode")
	x.send("\x15look at @retr")
	x.waitFor("@internal/retry.go")
	x.send("\tnow\r")
	x.waitFor("Read.")
}

func TestOutputOfACommandIsOffered(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Seen.", Expect: "forty two\\n```\\n\\nwhat is it"})
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("!echo forty two\r")
	x.waitFor("with the next prompt")
	x.send("what is it\r")
	x.waitFor("Seen.")
}

func TestResumeShowsWhatWasSaid(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Remember the *blue* door."}, fake.Reply{Text: "It was blue.", Expect: "blue"})
	x := s.openTmuxShell(t, 80, 24)
	x.keys("ikigai", "Enter")
	x.waitFor("? keys")
	x.keys("remember this", "Enter")
	x.waitFor("Remember the blue door.")
	x.waitFor("? keys")
	x.keys("C-d")
	x.waitFor("resume: ikigai resume")
	x.keys("clear; ikigai resume", "Enter")
	x.waitFor("Sessions  /")
	x.waitFor("remember this")
	x.keys("nothing like it")
	x.waitFor("nothing here")
	x.keys("-N", "30", "BSpace")
	x.waitFor("remember this")
	x.keys("REMEMBER", "Enter")
	x.waitFor("> remember this")
	x.waitFor("Remember the blue door.")
	x.keys("which colour", "Enter")
	x.waitFor("It was blue.")
}

func TestTheListOfSessionsIsTidied(t *testing.T) {
	s := newStage(t, fake.Reply{Repeat: 2, Text: "Noted."})
	for _, words := range []string{"the first thing", "the second thing"} {
		x := s.open(t, 100, 24)
		x.waitFor("? keys")
		x.send(words + "\r")
		x.waitFor("Noted.")
		x.waitFor("? keys")
		x.send("\x04")
		x.exit()
	}
	x := s.open(t, 100, 24, "resume")
	x.waitFor("the first thing")
	x.send("first")
	x.waitGone("the second thing")
	x.send("\x12")
	x.waitFor("its new title:")
	x.send("my first plan\r")
	x.waitFor("renamed")
	x.waitFor("my first plan")
	x.send("\x06")
	x.waitFor("forked as")
	x.until(func() bool { return strings.Count(x.screen(), "my first plan") == 2 }, "the fork is not listed")
	x.send("\x05")
	x.waitFor("saved as ikigai-")
	if pages, _ := filepath.Glob(filepath.Join(s.project, "ikigai-*.html")); len(pages) != 1 {
		t.Errorf("the pages are %v", pages)
	}
	for _, step := range []struct {
		sure, said string
		left       int
	}{{"no", "it is kept", 2}, {"yes", "deleted", 1}} {
		x.until(func() bool { return strings.Count(x.screen(), "my first plan") == 2 }, "not both are listed")
		x.send("\x18")
		x.waitFor("delete it for good? yes:")
		x.send(step.sure + "\r")
		x.waitFor(step.said)
		x.until(func() bool { return strings.Count(x.screen(), "my first plan") == step.left }, fmt.Sprintf("there are not %d", step.left))
	}
	x.send("\x1b[27u")
	if code := x.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The terminal is as it was before, whatever ends us.
func TestTheTerminalIsGivenBack(t *testing.T) {
	for name, end := range map[string]func(*terminal){
		"quit": func(x *terminal) { x.send("/quit\r") },
		"term": func(x *terminal) { x.signal(syscall.SIGTERM) },
		"hup":  func(x *terminal) { x.signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fake.Reply{Stall: -1, Text: "Some text"})
			x := s.open(t, 80, 24)
			before := x.modes()
			x.waitFor("? keys")
			if x.modes() == before {
				t.Fatal("the terminal was never raw")
			}
			x.send("work\r")
			x.waitFor("esc stop")
			end(x)
			want := map[string]int{"quit": 0, "term": 143, "hup": 129}[name]
			if code := x.exit(); code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			if now := x.modes(); now != before {
				t.Errorf("the terminal is %s, was %s", now, before)
			}
		})
	}
}

func TestSuspendAndContinue(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Back again."})
	x := s.openTmuxShell(t, 80, 24)
	x.keys("ikigai", "Enter")
	x.waitFor("? keys")
	x.keys("C-z")
	x.waitFor("Stopped")
	x.keys("echo sh'ell'", "Enter")
	x.waitFor("shell")
	x.keys("clear; fg", "Enter")
	x.waitFor("? keys")
	x.keys("hello", "Enter")
	x.waitFor("Back again.")
	x.waitFor("? keys")
	s.signal(t, syscall.SIGTSTP) // from outside, as any program may
	x.waitFor("Stopped")
	x.keys("clear; stty -a | grep -o ' icanon'; fg", "Enter")
	x.waitFor(" icanon")
	x.waitFor("? keys")
	s.signal(t, syscall.SIGSTOP) // which nobody can prepare for
	x.keys("clear", "Enter")
	s.signal(t, syscall.SIGCONT)
	x.keys("fg", "Enter")
	x.waitFor("? keys")
}

// signal sends a signal to ikigai.
func (s stage) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	for _, name := range s.living() {
		dir := filepath.Dir(name)
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && strings.TrimSpace(string(comm)) == "ikigai" {
			if err := syscall.Kill(pid, sig); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("ikigai does not run")
}

// The terminal is there at once; a prompt that comes before all tools are known
// waits for them.
func TestAPromptWaitsForTheTools(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "I know it.", Expect: `"slow_tool"`})
	s.env = append(s.env, "IKIGAI_SCHEMA_TIMEOUT=20s")
	dir := filepath.Join(s.home, ".ikigai", "tools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tool := "#!/bin/sh\nsleep 0.6\necho '{\"name\":\"slow_tool\",\"description\":\"slow to say so\",\"parameters\":{}}'\n"
	if err := os.WriteFile(filepath.Join(dir, "slow_tool"), []byte(tool), 0o700); err != nil {
		t.Fatal(err)
	}
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("which tools?\r")
	x.waitFor("I know it.")
}

func TestOnlyColoursOfThePalette(t *testing.T) {
	reply := fake.Reply{Text: "# Title\n\n`code` and **bold**\n\n```go\nfunc f() {} // x\n```\n", Calls: []fake.Call{call("a", "file_read", `{"path":"none"}`)}}
	for name, env := range map[string]string{"coloured": "X=", "plain": "NO_COLOR=1"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, reply, fake.Reply{Text: "Over."})
			s.env = append(s.env, env)
			x := s.open(t, 80, 24)
			x.waitFor("? keys")
			x.send("go\r")
			x.waitFor("Over.")
			colours := regexp.MustCompile(`\x1b\[[0-9;]*m`).FindAllString(string(x.raw()), -1)
			for _, c := range colours {
				if strings.Contains(c, "38;") || strings.Contains(c, "48;") {
					t.Errorf("%q is no colour of the palette", c)
				}
				if name == "plain" && c != "\x1b[m" && c != "\x1b[7m" {
					t.Errorf("%q in spite of NO_COLOR", c)
				}
			}
			if name == "coloured" && len(colours) < 10 {
				t.Errorf("only %d colours", len(colours))
			}
		})
	}
}

func TestUndoPutsTheFilesAndTheWordsBack(t *testing.T) {
	s := newStage(t,
		fake.Reply{Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"new\n"}`)}},
		fake.Reply{Text: "Written."},
		fake.Reply{Text: "Still the same talk.", Expect: "change the file"},
	)
	s.write(t, "f.txt", "old\n")
	read := func() string { raw, _ := os.ReadFile(filepath.Join(s.project, "f.txt")); return string(raw) }
	x := s.open(t, 100, 40, "--mode", "auto-edit")
	x.waitFor("? keys")
	x.send("change the file\r")
	x.waitFor("Written.")
	if read() != "new\n" {
		t.Fatalf("the file holds %q", read())
	}
	x.send("/undo \r")
	x.waitFor("restore these files? [y/N]")
	x.send("y\r")
	x.waitFor("› change the file")
	if read() != "old\n" {
		t.Errorf("the file holds %q", read())
	}
	x.send("\x15/redo \r")
	x.until(func() bool { return strings.Count(x.screen(), "restore these files?") == 2 }, "it does not ask again")
	x.send("y\r")
	x.until(func() bool { return read() == "new\n" }, "it was not done again")
	x.waitFor("? keys")
	x.send("\x15what now\r")
	x.waitFor("Still the same talk.")
}

func TestWhatIsToldToTheTerminalItself(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Copy me."}, fake.Reply{Text: "Unseen."})
	s.env = append(s.env, "TERM_PROGRAM=ghostty")
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("first\r")
	x.waitFor("Copy me.")
	x.waitFor("? keys")
	if bytes.Contains(x.raw(), []byte("\x1b]9;i")) {
		t.Error("a message to somebody who looks")
	}
	x.send("/copy\r")
	x.waitFor("Copied 8 characters.")
	x.send("\x1b[O") // the person looks elsewhere
	x.send("second\r")
	x.waitFor("Unseen.")
	x.waitFor("? keys")
	for what, want := range map[string]string{
		"the clipboard": "\x1b]52;c;Q29weSBtZS4=\x07", "the end": "\x1b]9;ikigai is done\x07", "a prompt": "\x1b]133;A\x1b\\",
		"work": "\x1b]9;4;3\x07", "no work": "\x1b]9;4;0\x07", "a frame": "\x1b[?2026h", "pastes": "\x1b[?2004h", "keys": "\x1b[>1u",
	} {
		x.until(func() bool { return bytes.Contains(x.raw(), []byte(want)) }, fmt.Sprintf("%s is not told: no %q", what, want))
	}
}

func TestClearKeepsTheScrollback(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Words to keep."})
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("first\r")
	x.waitFor("Words to keep.")
	x.waitFor("? keys")
	x.send("/clear\r")
	x.waitGone("Words to keep.")
	x.waitFor("? keys")
	if all := strings.Join(x.all(), "\n"); !strings.Contains(all, "Words to keep.") {
		t.Errorf("they are gone:\n%s", all)
	}
	if first, _, _ := strings.Cut(x.screen(), "\n"); !strings.HasPrefix(first, "›") {
		t.Errorf("the box is not at the top:\n%s", x.screen())
	}
}

func TestASessionThatIsNotKept(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Forgotten soon."})
	x := s.open(t, 80, 24, "--ephemeral")
	x.waitFor("? keys")
	x.send("first\r")
	x.waitFor("Forgotten soon.")
	x.waitFor("? keys")
	x.send("/undo\r")
	x.waitFor("/undo: not available")
	x.send("\x04")
	if code := x.exit(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, x.screen())
	}
}
