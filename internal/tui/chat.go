package tui

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/prompt"
	"ikigai/internal/view"
)

// chat is the loop and its parts.
type chat struct {
	o       Options
	session agent.Session
	term    *terminal
	signals <-chan os.Signal // of the terminal
	screen  draw.Screen
	paint   draw.Paint

	transcript *transcript
	question   question
	box        box
	aside      prompt.Prompt // what stood in the box, while something is typed about the question
	status     status
	welcome    *welcome
	pager      *pager
	said       string // a word to the person in the status line
	until      time.Time

	cols, rows int
	dirty      bool
	typed      bool // a key came since the last frame
	writing    bool
	lastFrame  time.Time
	raw        []byte    // sequences that go out with the next frame
	blurred    bool      // the person looks elsewhere
	working    string    // a command of the person that runs
	begun      time.Time // since when
	printed    tail      // and what it printed
	backlog    []func()  // those that wait for it
	jobs       chan func()
	stop       context.CancelFunc     // of that command
	model      atomic.Pointer[string] // for commands, which run beside the loop
	quit       bool
	again      bool // it is not the end: no words about it
	code       int
	armed      time.Time // ctrl-c was pressed once
}

func newChat(s agent.Session, o Options) *chat {
	c := &chat{o: o, session: s, term: newTerminal(o.In, o.Out), paint: o.paint(), jobs: make(chan func(), 16)}
	c.transcript = newTranscript(o.ToolLines, o.Now)
	c.box.history = prompt.NewHistory(o.Said)
	c.status = status{o: &c.o, model: o.Model, mode: o.Mode}
	c.welcome = newWelcome(o.Welcome)
	c.o.Commands.Quit = func() { c.jobs <- func() { c.leave(exitDone) } }
	c.o.Commands.Again = func() { c.jobs <- func() { c.again = true; c.leave(exitDone) } }
	c.o.Commands.Copy = func(text string) { c.jobs <- func() { c.copy(text) } }
	c.o.Commands.Clear = func() { c.jobs <- c.clear }
	c.o.Commands.Send = c.send
	c.model.Store(&c.o.Model)
	c.o.Commands.Model = func() string { return *c.model.Load() }
	return c
}

// send hands an op to the session and takes note of what it changes.
func (c *chat) send(op agent.Op) {
	c.session.Send(op)
	if m, ok := op.(agent.SetModel); ok {
		c.model.Store(&m.Model)
	}
	c.jobs <- func() {
		switch op := op.(type) {
		case agent.SetModel:
			c.status.model = op.Model
		case agent.SetMode:
			c.status.mode = string(op.Mode)
			c.warn(c.status.mode)
		}
	}
}

// warn says loudly when nothing is asked any more.
func (c *chat) warn(mode string) {
	if mode == string(permit.Yolo) {
		c.transcript.lines(0, view.Text(view.Bad, "mode yolo: nothing is asked, and nothing is confined"))
	}
}

// run is the loop.
func (c *chat) run(ctx context.Context) (code int) {
	if err := c.term.enter(); err != nil {
		fmt.Fprintf(os.Stderr, "ikigai: making the terminal raw: %v\n", err)
		return exitPanic
	}
	defer c.end()
	signals, done := terminalSignals()
	defer done()
	c.signals = signals
	c.cols, c.rows = c.term.size()
	c.raw = append(c.raw, modesOn...)
	if c.paint != draw.Plain && c.o.Getenv("TERM") != "linux" { // which would show the question
		c.raw = append(c.raw, whichBackground...)
	}
	c.begin()
	events := events(ctx, c.session, lastSeq(c.o.Stored))
	c.o.Stored = nil // they are shown: the session has them, as long as it wants them
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for !c.quit {
		c.draw()
		c.setClock(clock)
		select {
		case all := <-c.term.keys:
			c.typed = true
			for i := 0; i < len(all) && !c.quit; i++ {
				c.key(all[i])
			}
		case e, ok := <-events:
			if !ok {
				return c.code
			}
			c.event(e)
		case do := <-c.jobs:
			do()
		case err := <-c.term.wrote:
			c.writing = false
			if err != nil {
				c.leave(exitHangUp)
			}
			continue
		case s := <-signals:
			c.signal(s)
		case code := <-c.o.Signals:
			c.leave(code)
		case <-c.term.gone:
			c.leave(exitHangUp)
		case <-clock.C:
		}
		c.dirty = true
	}
	return c.code
}

func lastSeq(events []convo.Event) int64 {
	if n := len(events); n > 0 {
		return events[n-1].Seq
	}
	return 0
}

// begin shows what was before: the stored conversation, or a word of welcome.
func (c *chat) begin() {
	shown := lately(c.o.Stored)
	if c.o.Seen {
		shown = nil
	}
	c.box.Set(c.o.Draft)
	if left := len(c.o.Stored) - len(shown); left > 0 && !c.o.Seen {
		c.transcript.lines(0, view.Text(view.Faint, fmt.Sprintf("%d earlier events: ikigai session show %s", left, c.o.Session)))
	}
	for _, e := range shown {
		c.transcript.event(e)
		c.status.event(e)
	}
	c.status.state, c.status.spent = "", [3]time.Duration{}
	head := "ikigai"
	if c.o.Version != "" {
		head += " " + c.o.Version
	}
	if len(c.o.Stored) == 0 && !c.o.Seen {
		c.transcript.lines(0, []view.Line{{{Role: view.Heading, Text: head}, {Role: view.Faint, Text: "  /help lists commands and keys"}}})
	}
	for _, n := range c.o.Notes {
		c.transcript.lines(0, view.Text(view.Warning, n))
	}
	c.warn(c.o.Mode)
	if c.welcome.open() {
		c.transcript.lines(0, c.welcome.head())
		c.beside(func() { c.welcome.look(c.jobs) })
	}
}

// mostAgain is how many events of an old session are shown when it goes on.
const mostAgain = 2000

// lately are the last events of a session, from the beginning of a turn on.
func lately(events []convo.Event) []convo.Event {
	for i := max(0, len(events)-mostAgain); i < len(events); i++ {
		if i == 0 || events[i].Turn != events[i-1].Turn {
			return events[i:]
		}
	}
	return events
}

// end gives the terminal back, whatever happened: also when the loop panics.
func (c *chat) end() {
	fault := recover()
	c.term.pause() // what is typed from now on is for whoever comes next
	c.farewell()
	c.flush()
	c.term.leave()
	if fault != nil {
		panic(fault)
	}
	c.term.close()
}

// farewell says where the time and the money went, and how to come back.
func (c *chat) farewell() {
	c.transcript.settle()
	if !c.status.used || c.again {
		return
	}
	c.status.enter("", c.o.Now())
	var lines []view.Line
	if text := c.status.summary(); text != "" {
		lines = append(lines, view.Line{{Role: view.Faint, Text: text}})
	}
	if c.o.Session != "" {
		lines = append(lines, view.Text(view.Faint, "resume: ikigai resume "+c.o.Session+"\nsave:   ikigai session export "+c.o.Session+" --html")...)
	}
	c.transcript.gap()
	c.transcript.lines(0, lines)
}

// flush writes what is finished and takes the live region away. A terminal that
// does not read is not waited for.
func (c *chat) flush() {
	if c.writing && !c.wait() {
		return
	}
	var b []byte
	if c.pager != nil {
		b = append(b, altOff...)
		c.pager = nil
	}
	b = append(b, c.screen.Draw(draw.Frame{Done: c.finished(), Live: []string{""}})...)
	c.progress(c.status.busy(), false)
	b = append(append(append(b, c.screen.Leave()...), c.raw...), modesOff...)
	c.raw = nil
	c.term.writes <- b
	c.writing = true
	c.wait()
}

// wait waits for the write that is under way, a while.
func (c *chat) wait() bool {
	select {
	case <-c.term.wrote:
		c.writing = false
		return true
	case <-time.After(time.Second):
		return false
	}
}

func (c *chat) leave(code int) {
	c.quit, c.code = true, code
	if c.status.busy() {
		c.session.Send(agent.Interrupt{})
	}
	if c.stop != nil {
		c.stop()
	}
}

// signal does what a signal of the terminal asks for.
func (c *chat) signal(s os.Signal) {
	switch s {
	case sizeChanged:
		c.screen.Resized()
	case continued: // from a stop that nobody announced
		c.handOver(func(context.Context) {})
	case stopAsked:
		c.handOver(func(context.Context) { suspend() })
	case hungUpSent:
		c.leave(exitHangUp)
	}
}

// handOver gives the terminal to somebody else while do runs: as it was before
// us, with nothing of ours switched on.
func (c *chat) handOver(do func(context.Context)) {
	c.term.pause()
	c.flush()
	c.term.leave()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		do(ctx)
	}()
	c.meanwhile(over, cancel)
	if err := c.term.enter(); err != nil {
		c.leave(exitHangUp)
		return
	}
	c.screen = draw.Screen{}
	c.cols, c.rows = c.term.size()
	c.raw = append(c.raw, modesOn...)
	c.question.shown = c.o.Now() // what was typed meanwhile was meant for somebody else
}

// meanwhile serves signals while somebody else has the terminal. Keys that are
// signals were meant for them; an end that was ordered is theirs too.
func (c *chat) meanwhile(over <-chan struct{}, cancel context.CancelFunc) {
	for {
		select {
		case <-over:
			return
		case s := <-c.signals:
			if s == hungUpSent {
				cancel()
				c.leave(exitHangUp)
			}
		case code := <-c.o.Signals:
			if code != exitInterrupt {
				cancel()
				c.leave(code)
			}
		}
	}
}

// event routes an event to the parts.
func (c *chat) event(e convo.Event) {
	busy := c.status.busy()
	c.transcript.event(e)
	c.status.event(e)
	c.progress(busy, c.status.busy())
	typing := c.question.asking != ""
	if c.question.event(e, c.o.Now()) {
		c.notify("ikigai asks for permission")
	}
	if typing && c.question.asking == "" { // it was about a question that is gone
		c.backAside()
	}
	switch {
	case e.Kind == convo.KindUser:
		c.box.dropSteer(e.Text)
	case e.Kind == convo.KindEnd:
		c.ended(e.Body.(convo.End))
	}
}

// ended sends what was queued for after the turn. After a turn that was stopped
// nothing is sent behind the person's back: the words come back into the box.
func (c *chat) ended(e convo.End) {
	c.box.steers, c.said = nil, ""
	c.notify("ikigai is done")
	if e.Stop != convo.StopDone {
		c.box.putBack(append(e.Unsent, c.box.queue...)...)
		c.box.queue = nil
		return
	}
	next := append(e.Unsent, c.box.queue...)
	if len(next) == 0 {
		return
	}
	c.box.queue = next[1:]
	c.session.Send(agent.Prompt{Text: next[0]})
}

// progress tells the terminal itself whether work is under way, where it is
// known to understand: others would take it for a message.
func (c *chat) progress(was, is bool) {
	if was == is || !c.o.knowsProgress() {
		return
	}
	state := "0"
	if is {
		state = "3" // without a number
	}
	c.raw = append(c.raw, "\x1b]9;4;"+state+"\x07"...)
}

// notify tells a person who looks elsewhere.
func (c *chat) notify(text string) {
	if c.blurred {
		c.raw = append(c.raw, "\x1b]9;"+text+"\x07"...)
	}
}

func (c *chat) copy(text string) {
	c.raw = append(c.raw, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\x07"...)
}

// clear moves what is on the screen up into the scrollback, where it stays.
func (c *chat) clear() {
	c.raw = append(c.raw, c.screen.Leave()...)
	c.raw = append(c.raw, strings.Repeat("\n", c.rows)+"\x1b[H"...)
}

// tell shows a word in the status line for a moment.
func (c *chat) tell(text string) { c.said, c.until = text, c.o.Now().Add(2*time.Second) }
