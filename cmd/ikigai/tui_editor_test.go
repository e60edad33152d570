//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ikigai/internal/fake"
)

// editor makes the person's editor: a script that gets the file as $1.
func (s *stage) editor(t *testing.T, script string) {
	t.Helper()
	file := filepath.Join(s.home, "my-editor")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "EDITOR="+file+" --wait")
}

func (s stage) read(name string) string {
	raw, _ := os.ReadFile(filepath.Join(s.project, name))
	return string(raw)
}

func TestThePromptIsWrittenInAnEditor(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Understood.", Expect: `begun here\nended there`})
	s.editor(t, `stty -a <&1 >modes; cat "$2" >seen; printf '\nended there\n' >>"$2"`)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	raw := x.modes()
	x.send("begun here\x07")
	x.waitFor("› begun here\n  ended there")
	if s.read("seen") != "begun here" {
		t.Errorf("the editor saw %q", s.read("seen"))
	}
	if !strings.Contains(s.read("modes"), " icanon") {
		t.Errorf("the terminal was not given back while the editor ran: %s", s.read("modes"))
	}
	x.until(func() bool { return x.modes() == raw }, "the terminal is not ours again")
	told := x.raw()
	off, on := bytes.LastIndex(told, []byte("\x1b[<u\x1b[?2004l")), bytes.LastIndex(told, []byte("\x1b[?2004h\x1b[>1u"))
	if off < 0 || on < off {
		t.Errorf("pastes and keys were switched off at %d and on at %d", off, on)
	}
	x.send("\r")
	x.waitFor("Understood.")
}

func TestAnEditorThatSaysNoChangesNothing(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.editor(t, `echo spoiled >"$2"; exit 1`)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("as it was\x07")
	x.waitFor("status 1; the text is as it was")
	x.waitFor("› as it was")
}

func TestAnEditorThatIsNotThere(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.env = append(s.env, "VISUAL=no-such-editor")
	x := s.open(t, 100, 24)
	x.waitFor("? keys")
	x.send("as it was\x07")
	x.waitFor("no editor: starting no-such-editor")
	x.waitFor("set VISUAL or EDITOR")
	x.waitFor("› as it was")
}

// An interrupt is the editor's while it has the terminal.
func TestAnInterruptIsTheEditors(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.editor(t, `trap 'echo interrupted >>"$2"; exit 0' INT; echo ready; while :; do sleep 0.05; done`)
	x := s.open(t, 80, 24)
	x.waitFor("? keys")
	x.send("text\x07")
	x.waitFor("ready")
	x.send("\x03")
	x.waitFor("› textinterrupted")
}

// An end that is ordered ends the editor too.
func TestTheEditorEndsWithUs(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.editor(t, "echo ready; exec sleep 36.6")
	x := s.open(t, 80, 24)
	before := x.modes()
	x.waitFor("? keys")
	x.send("\x07")
	x.waitFor("ready")
	x.signal(syscall.SIGTERM)
	if code := x.exit(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	if left := processes("sleep 36.6"); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if now := x.modes(); now != before {
		t.Errorf("the terminal is %s, was %s", now, before)
	}
}

func TestTheQuestionInAnEditor(t *testing.T) {
	s := newStage(t, fake.Reply{Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"new\n"}`)}}, fake.Reply{Text: "Over."})
	s.write(t, "f.txt", "old\n")
	s.editor(t, `cp "$2" seen`)
	x := s.open(t, 100, 30)
	x.waitFor("? keys")
	x.send("write\r")
	x.waitFor("Permission request")
	x.patient("v")
	x.until(func() bool { return s.read("seen") != "" }, "the editor was not opened")
	if got := s.read("seen"); !strings.Contains(got, "\n-old\n+new\n") {
		t.Errorf("the editor saw %q", got)
	}
	x.patient("4") // the question stands there again
	x.waitFor("Over.")
}

func TestTheScopeIsEdited(t *testing.T) {
	write := func(id, file string) fake.Reply {
		return fake.Reply{Calls: []fake.Call{call(id, "file_write", `{"path":"`+file+`","content":"x\n"}`)}}
	}
	s := newStage(t, write("a", "one.txt"), write("b", "two.txt"), write("c", "three.md"), fake.Reply{Text: "Over."})
	x := s.openTmux(t, 100, 30)
	x.waitFor("? keys")
	x.keys("write", "Enter")
	x.waitFor("2 and 3 cover: file_write(one.txt)")
	x.patient("e", "which calls shall 2 and 3 allow?")
	x.waitFor("› file_write(one.txt)")
	x.keys("C-u", "file_write(other.txt)", "Enter")
	x.waitFor("2 and 3 cover: file_write(other.txt)")
	x.keys("2")
	x.waitFor("the question is still open")
	x.keys("e")
	x.waitFor("› file_write(other.txt)")
	x.keys("C-u", "file_write(*.txt)", "Enter")
	x.waitFor("2 and 3 cover: file_write(*.txt)")
	x.keys("2")
	x.waitFor("✓ file_write  two.txt") // not asked about: the rule covers it
	x.waitFor("2 and 3 cover: file_write(three.md)")
	x.patient("4", "Over.")
	if s.read("one.txt") == "" || s.read("two.txt") == "" || s.read("three.md") != "" {
		t.Errorf("written: %q %q %q", s.read("one.txt"), s.read("two.txt"), s.read("three.md"))
	}
}

// A reason is typed without losing what stood in the box.
func TestTheBoxWaitsWhileAReasonIsTyped(t *testing.T) {
	s := newStage(t,
		fake.Reply{Stall: 0.3, Calls: []fake.Call{call("a", "file_write", `{"path":"f.txt","content":"x"}`)}},
		fake.Reply{Text: "Over.", Expect: "wrong place"})
	x := s.openTmux(t, 100, 30)
	x.waitFor("? keys")
	x.keys("write", "Enter")
	x.keys("half a thought")
	x.waitFor("Permission request")
	x.patient("5", "why not?")
	x.keys("wrong place")
	x.waitFor("› wrong place")
	x.keys("Enter")
	x.waitFor("Over.")
	x.waitFor("› half a thought")
}
