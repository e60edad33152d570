// Package tui is the face in a terminal: inline, in the terminal's own
// scrollback. What is finished is written once and never again; below it a live
// region shows what runs, what is queued, the box to type into and a line of
// status. A terminal that can do less, or a screen reader, gets the same as
// plain lines.
//
// One goroutine, the loop, owns everything that is shown. Each part (the
// transcript, the question, the box, the status) has its own state and draws
// from events; the loop only routes.
package tui

import (
	"context"
	"os"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/command"
	"ikigai/internal/convo"
	"ikigai/internal/tui/draw"
)

// Options are what the face is told and given. A function that is nil means
// that this cannot be done.
type Options struct {
	In, Out *os.File
	Getenv  func(string) string
	Signals <-chan int // a signal came: its exit code

	Version string
	Session string // its id
	Dir     string // the working folder, as it is shown
	Branch  string
	Model   string
	Mode    string
	Turns   int // most replies of a turn, for the status line
	Window  func(model string) int
	Notes   []string // shown once at the start

	Color        string // auto, always, never
	ToolLines    int    // lines shown of a tool's output; 0 shows all
	ScreenReader bool

	Stored   []convo.Event // of a session that goes on: shown before anything else
	Seen     bool          // they stand on the screen already
	Draft    string        // what stands in the box at the start
	Commands command.Env
	Said     []string                                                                      // prompts of earlier sessions, the oldest first
	Remember func(words string)                                                            // keeps a prompt for later sessions
	Files    func() []string                                                               // the files of the project, for @
	Edit     func(ctx context.Context, name, text string) (string, error)                  // the person's editor with a file of that name; the terminal is free meanwhile
	Shell    func(ctx context.Context, line string, progress func(string)) (string, error) // runs a command of the person
	Welcome  *Welcome                                                                      // asked first, when no model is set up

	Now func() time.Time
}

// Exit codes of the face.
const (
	exitDone      = 0
	exitPanic     = 1
	exitHangUp    = 129
	exitInterrupt = 130
)

// Run shows a session until the person leaves, and gives the exit code. The
// terminal is then as it was, whatever happened.
func Run(ctx context.Context, s agent.Session, o Options) (code int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ScreenReader || o.Getenv("TERM") == "dumb" {
		return newLinear(s, o).run(ctx)
	}
	return newChat(s, o).run(ctx)
}

// paint decides about colours.
func (o Options) paint() draw.Paint { return draw.Chosen(o.Getenv, o.Color, true) }

// knowsProgress reports whether the terminal shows progress by itself.
func (o Options) knowsProgress() bool {
	switch o.Getenv("TERM_PROGRAM") {
	case "ghostty", "WezTerm":
		return true
	}
	return o.Getenv("WT_SESSION") != "" || o.Getenv("ConEmuANSI") == "ON"
}

// events hands the events of a session to a loop, one by one. What the loop is
// slow to take is merged on the way.
func events(ctx context.Context, s agent.Session, after int64) <-chan convo.Event {
	all := s.Events(ctx, after)
	c := make(chan convo.Event)
	go func() {
		defer close(c)
		for e := range all {
			select {
			case c <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}
