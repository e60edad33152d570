package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

func TestAProgramInFrontHasThePersonsWorld(t *testing.T) {
	t.Setenv("MY_API_TOKEN", "kept")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	here, _ := os.Getwd()
	if err := Foreground(t.Context(), []string{"sh", "-c", `echo "$MY_API_TOKEN"; pwd; echo oops >&2`}, out, out, out); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(out.Name())
	if want := "kept\n" + here + "\noops\n"; string(text) != want {
		t.Errorf("%q, not %q", text, want)
	}
}

func TestAProgramInFrontThatFailsIsAnError(t *testing.T) {
	nothing, err := openNothing()
	if err != nil {
		t.Fatal(err)
	}
	defer nothing[0].Close()
	cases := []struct {
		argv []string
		says string
	}{
		{nil, "no program named"},
		{[]string{"no-such-editor-anywhere"}, "no-such-editor-anywhere"},
		{[]string{"sh", "-c", "exit 3"}, "sh ended with status 3"},
		{[]string{"sh", "-c", "kill -9 $$"}, "sh was ended by a signal: killed"},
	}
	for _, c := range cases {
		err := Foreground(t.Context(), c.argv, nothing[0], nothing[1], nothing[2])
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, not %q", c.argv, err, c.says)
		}
	}
}

func TestEndingTheContextEndsTheProgramInFront(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = r.Read(make([]byte, 8)) // it runs
		cancel()
	}()
	err = Foreground(ctx, []string{"sh", "-c", "echo ready; exec sleep 60"}, w, w, w)
	_ = w.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// frontMark in the environment makes the test binary an agent that runs its
// value with the shell, in front, and then reads a line itself.
const frontMark = "IKIGAI_TEST_FRONT"

func frontMain() int {
	err := Foreground(context.Background(), []string{"sh", "-c", os.Getenv(frontMark)}, os.Stdin, os.Stdout, os.Stderr)
	fmt.Println("agent says", err)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("agent got %q %v\n", line, err)
	return 0
}

// TestAProgramInFrontHasTheTerminal has a shell with job control run an agent
// that runs a program. Lines are typed when they are waited for; what stops
// the program gives the shell the terminal, and fg gives it back.
func TestAProgramInFrontHasTheTerminal(t *testing.T) {
	script := `trap '' INT
IFS= read -r x; echo "program got $x"
IFS= read -r x; echo "program got $x"
kill -TSTP 0
IFS= read -r x; echo "program got $x"; exit 4`
	cmd := exec.Command("bash", "--norc", "-mc", `"$0"; echo "shell sees $?"; fg >/dev/null; echo "shell sees $?"`, "/proc/self/exe")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args[len(cmd.Args)-1] = self
	cmd.Env = append(os.Environ(), frontMark+"="+script)
	term, err := pty.Start(cmd) // makes a session whose terminal this is
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	guard := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = term.Close() })
	defer guard.Stop()
	said := listen(term)
	press := func(s string) { _, _ = io.WriteString(term, s) }
	press("one\n")
	said.until(t, "program got one")
	press("\x03two\n") // the key that interrupts is the program's alone
	said.until(t, "program got two")
	said.until(t, "shell sees 147")
	press("three\n")
	said.until(t, "program got three")
	said.until(t, "agent says sh ended with status 4")
	press("four\n")
	said.until(t, `agent got "four\n" <nil>`)
	said.until(t, "shell sees 0")
	_ = cmd.Wait()
}

// heard is what a terminal shows.
type heard struct {
	lines chan string
	all   []string
}

func listen(r io.Reader) *heard {
	h := &heard{lines: make(chan string, 100)}
	go func() {
		defer close(h.lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			h.lines <- strings.TrimSpace(s.Text())
		}
	}()
	return h
}

// until waits for a line that ends in want.
func (h *heard) until(t *testing.T, want string) {
	t.Helper()
	for line := range h.lines {
		h.all = append(h.all, line)
		if strings.HasSuffix(line, want) {
			return
		}
	}
	t.Fatalf("never %q, but:\n%s", want, strings.Join(h.all, "\n"))
}
