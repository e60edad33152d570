//go:build linux

package main

import (
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ikigai/internal/fake"
)

// A terminal is the real program in a pseudo terminal, its output drawn by a
// terminal emulator.
type terminal struct {
	t    testing.TB
	cmd  *exec.Cmd
	file *os.File
	over chan struct{}

	theme string
	mu    sync.Mutex // guards what follows
	em    *vt.Emulator
	bytes int
	wrote []byte // its beginning
}

// A stage is the world of one terminal test: a home, a project and a model.
type stage struct {
	home, project string
	env           []string
	light         bool // the terminal's background
}

// newStage makes a world with a scripted model; no replies means no model.
func newStage(t testing.TB, script ...fake.Reply) stage {
	t.Helper()
	if testing.Short() {
		t.Skip("talks to a terminal in real time: not with -short")
	}
	if t, ok := t.(*testing.T); ok {
		t.Parallel() // they wait more than they work
	}
	dir := t.TempDir()
	s := stage{home: filepath.Join(dir, "home"), project: filepath.Join(dir, "shop-api")}
	for _, d := range []string{s.home, s.project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "NO_PROXY=*", "OLLAMA_HOST=127.0.0.1:9", "TMPDIR=" + dir,
	}
	if len(script) > 0 {
		m := fake.NewModel(script)
		t.Cleanup(m.Close)
		s.env = append(s.env, "OPENAI_API_KEY=sk-screen-key-1234567890", "IKIGAI_MODEL=openai/scripted", "IKIGAI_BASE_URL="+m.URL+"/v1")
	}
	return s
}

// write puts a file into the project.
func (s stage) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.project, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open starts ikigai in a terminal of that size.
func (s stage) open(t testing.TB, cols, rows int, args ...string) *terminal {
	t.Helper()
	path, err := exec.LookPath("ikigai")
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: exec.Command(path, args...), theme: "dark", em: vt.NewEmulator(cols, rows), over: make(chan struct{})}
	x.em.SetScrollbackSize(100_000)
	if s.light {
		x.em.SetDefaultBackgroundColor(color.White)
		x.theme = "light"
	}
	x.cmd.Dir, x.cmd.Env = s.project, s.env
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	go x.read()
	go func() { // answers to what the program asks the terminal
		buf := make([]byte, 1024)
		for {
			n, err := x.em.Read(buf)
			if err != nil {
				return
			}
			x.file.Write(buf[:n])
		}
	}()
	t.Cleanup(func() {
		x.cmd.Process.Kill()
		<-x.over
		x.file.Close()
	})
	return x
}

func (x *terminal) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := x.file.Read(buf)
		if err != nil {
			break
		}
		x.mu.Lock()
		x.em.Write(buf[:n])
		x.bytes += n
		if len(x.wrote) < 8<<20 {
			x.wrote = append(x.wrote, buf[:n]...)
		}
		x.mu.Unlock()
	}
	x.cmd.Wait() // its state tells the exit code
	close(x.over)
}

// raw is what the program wrote, at most the first few MiB of it.
func (x *terminal) raw() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.wrote)
}

// send types.
func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatalf("typing %q: %v", keys, err)
	}
}

// resize does what terminals do: one that becomes lower keeps the cursor in
// sight and moves what is above into the scrollback.
func (x *terminal) resize(cols, rows int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := x.em.CursorPosition()
	if over := at.Y - rows + 1; over > 0 {
		fmt.Fprintf(x.em, "\x1b[%d;1H%s\x1b[%d;%dH", x.em.Height(), strings.Repeat("\n", over), at.Y-over+1, at.X+1)
	}
	x.em.Resize(cols, rows)
	pty.Setsize(x.file, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

// screen is what is to be seen, without blanks at the ends of lines.
func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.visible()
}

func (x *terminal) visible() string {
	var lines []string
	for y := range x.em.Height() {
		lines = append(lines, x.row(y))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (x *terminal) row(y int) string {
	var b strings.Builder
	for col := 0; col < x.em.Width(); {
		c := x.em.CellAt(col, y)
		if c == nil {
			break
		}
		b.WriteString(c.Content)
		col += max(c.Width, 1)
	}
	return strings.TrimRight(b.String(), " ")
}

// painted is the screen with its looks.
func (x *terminal) painted() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.em.Render()
}

// all is the scrollback and the screen.
func (x *terminal) all() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var lines []string
	sb := x.em.Scrollback()
	for y := range sb.Len() {
		var b strings.Builder
		for _, c := range sb.Line(y) {
			if c.Width > 0 || c.Content != "" {
				b.WriteString(c.Content)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return append(lines, strings.Split(x.visible(), "\n")...)
}

// waitFor waits until a text is to be seen.
func (x *terminal) waitFor(text string) {
	x.t.Helper()
	x.until(func() bool { return strings.Contains(x.screen(), text) }, "it does not show "+text)
}

func (x *terminal) waitGone(text string) {
	x.t.Helper()
	x.until(func() bool { return !strings.Contains(x.screen(), text) }, "it still shows "+text)
}

func (x *terminal) until(ok func() bool, what string) {
	x.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			all := x.all()
			x.t.Fatalf("%s:\n%s", what, strings.Join(all[max(0, len(all)-100):], "\n"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// settle waits until nothing new is drawn for a while.
func (x *terminal) settle() {
	for last := -1; ; {
		x.mu.Lock()
		n := x.bytes
		x.mu.Unlock()
		if n == last {
			return
		}
		last = n
		time.Sleep(150 * time.Millisecond)
	}
}

// exit waits for the end and gives the exit code.
func (x *terminal) exit() int {
	x.t.Helper()
	select {
	case <-x.over:
	case <-time.After(20 * time.Second):
		x.t.Fatalf("it does not end:\n%s", x.screen())
	}
	return x.cmd.ProcessState.ExitCode()
}

func (x *terminal) signal(s syscall.Signal) { x.cmd.Process.Signal(s) }

// golden waits until the terminal shows what testdata/screens/NAME_COLUMNS.txt
// holds, and looks as the file beside it says that is named after the background.
// What is compared is the end of all that was written, as much as a screen holds:
// a row that stood there for a moment may have scrolled it. Times differ from run
// to run and are written as TIME.
func (x *terminal) golden(name string) {
	x.t.Helper()
	file := filepath.Join("testdata", "screens", fmt.Sprintf("%s_%d", name, x.em.Width()))
	if updating() {
		x.still()
	}
	text, looks := x.end()
	for deadline := time.Now().Add(10 * time.Second); !updating() && time.Now().Before(deadline); text, looks = x.end() {
		if holds(file+".txt", text) && holds(file+"."+x.theme, looks) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	same(x.t, file+".txt", text)
	same(x.t, file+"."+x.theme, looks)
}

// updating reports whether golden files are written anew.
func updating() bool { return os.Getenv("UPDATE") != "" }

// still waits for what is still to be drawn.
func (x *terminal) still() bool { time.Sleep(500 * time.Millisecond); return true }

func holds(file, text string) bool {
	raw, err := os.ReadFile(file)
	return err == nil && string(raw) == text
}

// end is the end of all that was written, as text and with its looks.
func (x *terminal) end() (text, looks string) {
	text, looks = x.marks(timeless)
	return text, strings.NewReplacer(string(lookBegins), "<", string(lookEnds), ">").Replace(looks)
}

// Marks around a look: characters that no program writes.
const lookBegins, lookEnds = '\ue000', '\ue001'

// marks is the end of all that was written, as text and with a mark before every
// change of looks, both made the same for every run.
func (x *terminal) marks(same func(string) string) (text, looks string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var plain, painted []string
	sb := x.em.Scrollback()
	for y := max(0, sb.Len()-x.em.Height()); y < sb.Len(); y++ {
		line := sb.Line(y)
		p, l := drawn(len(line), func(col int) (string, int, string) {
			return line[col].Content, line[col].Width, line[col].Style.String()
		})
		plain, painted = append(plain, p), append(painted, l)
	}
	for y := range x.em.Height() {
		p, l := drawn(x.em.Width(), func(col int) (string, int, string) {
			c := x.em.CellAt(col, y)
			return c.Content, c.Width, c.Style.String()
		})
		plain, painted = append(plain, p), append(painted, l)
	}
	last := len(plain)
	for last > 0 && plain[last-1] == "" {
		last--
	}
	first := max(0, last-x.em.Height())
	return same(strings.Join(plain[first:last], "\n")) + "\n", same(strings.Join(painted[first:last], "\n")) + "\n"
}

// same compares with a file; UPDATE=1 writes it.
func same(t testing.TB, file, got string) {
	t.Helper()
	if updating() {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; UPDATE=1 go test writes it anew\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// drawn is a row as text, and with a mark before every piece that looks other than
// plain: bold, faint, italic, underlined, reversed are letters, a colour is a word.
func drawn(width int, at func(col int) (content string, width int, sgr string)) (text, looks string) {
	var plain, painted strings.Builder
	now := ""
	for col := 0; col < width; {
		content, w, sgr := at(col)
		if look := lookOf(sgr); look != now {
			fmt.Fprintf(&painted, "%c%s%c", lookBegins, look, lookEnds)
			now = look
		}
		plain.WriteString(content)
		painted.WriteString(content)
		col += max(w, 1)
	}
	return strings.TrimRight(plain.String(), " "), strings.TrimSuffix(strings.TrimRight(painted.String(), " "), string(lookBegins)+string(lookEnds))
}

// lookWords are the words for the codes of a look.
var lookWords = map[string]string{
	"1": "b", "2": "f", "3": "i", "4": "u", "7": "r",
	"31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta", "36": "cyan",
}

func lookOf(sgr string) string {
	var words []string
	for _, code := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(sgr, "\x1b["), "m"), ";") {
		if word := lookWords[code]; word != "" {
			words = append(words, word)
		} else if code != "" && code != "0" {
			words = append(words, "?"+code)
		}
	}
	return strings.Join(words, ",")
}

func timeless(s string) string {
	for _, r := range []struct{ re, to string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, "SESSION"},
		{`/\S*/(shop-api|home)`, "/PLACE/$1"},
		{` ·( (model|tools|you) [0-9ms]+)+`, ""}, // shown from the first second on
		{` {3,}(\? keys|esc stop)`, "   $1"},     // which stand at the right end
		{`<1[ \x{a0}]ms|\d+[ \x{a0}]ms|\d+\.\d[ \x{a0}]s`, "TIME"},
		{`(P50|P95|TIME) {2,}`, "$1  "},                                                    // a column is as wide as its times
		{`(?m)^((  time  |  TOOL |  bash  |  file_read  |  all  ).*)\n {4,}(\S)`, "$1 $3"}, // and a line breaks where they end
		{`\d{4}-\d\d-\d\d`, "YYYY-MM-DD"},
	} {
		s = regexp.MustCompile(r.re).ReplaceAllString(s, r.to)
	}
	return s
}

// modes is how the kernel treats the terminal.
func (x *terminal) modes() string {
	tio, err := unix.IoctlGetTermios(int(x.file.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return fmt.Sprintf("%x %x %x %x", tio.Iflag, tio.Oflag, tio.Cflag, tio.Lflag)
}
