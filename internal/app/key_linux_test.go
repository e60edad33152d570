package app

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ikigai/internal/config"
)

// typing starts key set on a terminal and waits for its prompt. What it shows is
// in the buffer once the returned function was called.
func typing(t *testing.T, signals chan int) (person *os.File, home string, wait func() (int, string)) {
	t.Helper()
	person, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal here: ", err)
	}
	t.Cleanup(func() { person.Close(); tty.Close() })
	home = t.TempDir()
	code := make(chan int, 1)
	go func() {
		code <- Main(context.Background(), Env{
			Args: []string{"key", "set", "openai"}, Stdin: tty, Stdout: tty, Stderr: tty, Dir: home, Home: home, Signals: signals,
		})
	}()
	shown := make([]byte, 256)
	var all bytes.Buffer
	for !strings.Contains(all.String(), "(not shown)") {
		n, err := person.Read(shown)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(shown[:n])
	}
	echoIsOff(t, tty)
	return person, home, func() (int, string) {
		got := <-code
		tty.Close()
		for {
			n, err := person.Read(shown)
			all.Write(shown[:n])
			if err != nil {
				return got, all.String()
			}
		}
	}
}

// echoIsOff waits until the terminal shows nothing that is typed.
func echoIsOff(t *testing.T, tty *os.File) {
	t.Helper()
	for range 2000 {
		if !echoes(t, tty) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the terminal still echoes")
}

func TestAKeyThatIsTypedIsNotShown(t *testing.T) {
	person, home, wait := typing(t, nil)
	if _, err := person.WriteString("sk-typed-1234567890\n"); err != nil {
		t.Fatal(err)
	}
	code, shown := wait()
	if code != 0 || strings.Contains(shown, "sk-typed") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	keys, err := config.ReadKeys(config.PlacesOf(home, func(string) (string, bool) { return "", false }).Keys())
	if err != nil || keys["openai"].Key != "sk-typed-1234567890" {
		t.Errorf("kept %v, %v", keys, err)
	}
}

func TestASignalBringsTheEchoBack(t *testing.T) {
	signals := make(chan int)
	person, home, wait := typing(t, signals)
	signals <- 130
	if !echoesSoon(t, person) {
		t.Error("the terminal no longer echoes")
	}
	if _, err := person.WriteString("\n"); err != nil { // lets go of the terminal what the end of a process would
		t.Fatal(err)
	}
	if code, _ := wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(home + "/.config"); err == nil {
		t.Error("something was kept")
	}
}

func echoesSoon(t *testing.T, tty *os.File) bool {
	for range 2000 {
		if echoes(t, tty) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// echoes asks the terminal whether it shows what is typed.
func echoes(t *testing.T, tty *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestKeptKeysAreTakenOutOfWhatIsShown(t *testing.T) {
	a := homeless(t)
	if err := (config.Keys{"openai": {Key: "sk-kept-1234567890"}, "xai": {Command: "echo x"}}).Save(a.places().Keys()); err != nil {
		t.Fatal(err)
	}
	if got := a.redactor().Text("it is sk-kept-1234567890."); strings.Contains(got, "sk-kept") {
		t.Errorf("got %q", got)
	}
}
