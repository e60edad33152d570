package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

// ChooseOptions say what is asked before a session begins.
type ChooseOptions struct {
	In, Out      *os.File
	Getenv       func(string) string
	Color        string
	ScreenReader bool
	Signals      <-chan int // a signal came: its exit code

	About   []view.Line // stands in the scrollback, above the choices
	Choices []string    // chosen by their number; escape chooses the last
}

// Choose asks one question in the terminal's own scrollback and gives the number
// of the choice, from 0 on; or -1 and an exit code when the person left instead.
func Choose(ctx context.Context, o ChooseOptions) (choice, exit int) {
	if o.ScreenReader || o.Getenv("TERM") == "dumb" {
		return o.byLines()
	}
	c := &chooser{ChooseOptions: o, term: newTerminal(o.In, o.Out), paint: draw.Chosen(o.Getenv, o.Color, true), shown: time.Now()}
	if err := c.term.enter(); err != nil {
		return -1, exitHangUp
	}
	defer c.end()
	return c.run(ctx)
}

// chooser is the question on the screen.
type chooser struct {
	ChooseOptions
	term   *terminal
	screen draw.Screen
	paint  draw.Paint
	shown  time.Time
	told   bool // what it is about stands in the scrollback
	answer string
}

func (c *chooser) run(ctx context.Context) (choice, exit int) {
	signals, done := terminalSignals()
	defer done()
	heard := time.NewTimer(tooSoon) // the choices change their look when they are heard
	defer heard.Stop()
	for {
		c.draw()
		select {
		case all := <-c.term.keys:
			for _, k := range all {
				if n, exit, ok := c.key(k); ok {
					return n, exit
				}
			}
		case s := <-signals:
			if s == hungUpSent {
				return -1, exitHangUp
			}
			c.screen.Resized()
		case code := <-c.Signals:
			return -1, code
		case <-c.term.gone:
			return -1, exitHangUp
		case <-ctx.Done():
			return -1, exitInterrupt
		case <-heard.C:
		}
	}
}

// key takes an answer; one that came too soon was meant for somebody else.
func (c *chooser) key(k keys.Key) (choice, exit int, ok bool) {
	switch {
	case k.Name == "ctrl+c", k.Name == "ctrl+d":
		return -1, exitInterrupt, true
	case c.early():
		return 0, 0, false
	case k.Name == "esc":
		choice = len(c.Choices) - 1
	default:
		choice = c.index(k.Name)
	}
	if choice < 0 {
		return 0, 0, false
	}
	c.answer = c.Choices[choice]
	return choice, 0, true
}

func (c *chooser) early() bool { return time.Since(c.shown) < tooSoon }

// index is which choice an answer means; -1 for none.
func (o ChooseOptions) index(answer string) int {
	for i := range o.Choices {
		if answer == fmt.Sprint(i+1) {
			return i
		}
	}
	return -1
}

func (c *chooser) draw() {
	cols, _ := c.term.size()
	width := max(cols-1, 1)
	var f draw.Frame
	if !c.told {
		for _, l := range c.About {
			for _, row := range wrapped(l, width, margin) {
				f.Done = append(f.Done, c.paint.Line(row))
			}
		}
		c.told = true
	}
	for _, row := range wrapped(c.line(), width, margin) {
		f.Live = append(f.Live, c.paint.Line(row))
	}
	c.write(c.screen.Draw(f))
}

func (c *chooser) line() view.Line {
	role := view.Plain
	if c.early() {
		role = view.Faint
	}
	var l view.Line
	for i, text := range c.Choices {
		l = append(l, view.Span{Role: role, Text: fmt.Sprintf("  [%d] %s", i+1, text)})
	}
	return l
}

func (c *chooser) write(b []byte) {
	if len(b) > 0 {
		c.term.writes <- b
		<-c.term.wrote // a hang-up is seen by the reader
	}
}

// end gives the terminal back; what was chosen stays to be read.
func (c *chooser) end() {
	c.term.pause()
	var done []string
	if c.answer != "" {
		done = []string{c.paint.Line(view.Line{{Role: view.Faint, Text: "  you chose: " + c.answer}})}
	}
	c.write(c.screen.Draw(draw.Frame{Done: done, Live: []string{""}}))
	c.write(c.screen.Leave())
	c.term.leave()
	c.term.close()
}

// byLines asks in plain lines.
func (o ChooseOptions) byLines() (choice, exit int) {
	var b strings.Builder
	for _, l := range o.About {
		b.WriteString(l.String() + "\n")
	}
	for i, text := range o.Choices {
		fmt.Fprintf(&b, "%d %s\n", i+1, text)
	}
	for {
		fmt.Fprintf(&b, "answer 1 to %d: ", len(o.Choices))
		io.WriteString(o.Out, b.String()) // who cannot read us will not miss it
		b.Reset()
		line := make(chan string, 1)
		go func() { line <- readLine(o.In) }()
		select {
		case text := <-line:
			if text == "" {
				return -1, exitHangUp
			}
			if n := o.index(strings.TrimSpace(text)); n >= 0 {
				return n, 0
			}
		case code := <-o.Signals:
			return -1, code
		}
	}
}

// readLine reads one line and not a byte more: what follows is for others. It is
// empty at the end.
func readLine(r io.Reader) string {
	var line []byte
	for b := make([]byte, 1); ; {
		if n, err := r.Read(b); n == 0 || err != nil {
			return string(line)
		}
		line = append(line, b[0])
		if b[0] == '\n' {
			return string(line)
		}
	}
}
