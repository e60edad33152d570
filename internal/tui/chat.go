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
	"ikigai/internal/command"
	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/keys"
	"ikigai/internal/tui/prompt"
	"ikigai/internal/view"
)

// chat is the loop and its parts.
type chat struct {
	o       Options
	session agent.Session
	term    *terminal
	screen  draw.Screen
	paint   draw.Paint

	transcript *transcript
	question   question
	box        box
	status     status
	welcome    *welcome
	pager      *pager
	said       string // a word to the person in the status line
	until      time.Time

	cols, rows int
	dirty      bool
	writing    bool
	lastFrame  time.Time
	raw        []byte   // sequences that go out with the next frame
	blurred    bool     // the person looks elsewhere
	working    string   // a command of the person that runs
	printed    tail     // and what it printed
	backlog    []func() // those that wait for it
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
	c.model.Store(&o.Model)
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
	c.cols, c.rows = c.term.size()
	c.raw = append(c.raw, modesOn...)
	c.begin()
	events := events(ctx, c.session, lastSeq(c.o.Stored))
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for !c.quit {
		c.draw()
		c.setClock(clock)
		select {
		case all := <-c.term.keys:
			for _, k := range all {
				c.key(k)
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
	if len(c.o.Stored) == 0 {
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
		lines = append(lines, view.Line{{Role: view.Faint, Text: "resume: ikigai resume " + c.o.Session}})
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
	b = append(append(b, c.screen.Leave()...), modesOff...)
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
		c.handOver(func() {})
	case stopAsked:
		c.handOver(suspend)
	case hungUpSent:
		c.leave(exitHangUp)
	}
}

// handOver gives the terminal to somebody else while do runs.
func (c *chat) handOver(do func()) {
	c.flush()
	c.term.leave()
	do()
	if err := c.term.enter(); err != nil {
		c.leave(exitHangUp)
		return
	}
	c.screen = draw.Screen{}
	c.cols, c.rows = c.term.size()
	c.raw = append(c.raw, modesOn...)
}

// event routes an event to the parts.
func (c *chat) event(e convo.Event) {
	c.transcript.event(e)
	c.status.event(e)
	if c.question.event(e, c.o.Now()) {
		c.notify("ikigai asks for permission")
		c.lookAtParts()
	}
	switch {
	case e.Kind == convo.KindUser:
		c.box.dropSteer(e.Text)
	case e.Kind == convo.KindEnd:
		c.ended(e.Body.(convo.End))
	}
}

// lookAtParts has the shell line that is asked about taken apart, beside the loop.
func (c *chat) lookAtParts() {
	if c.o.Parts == nil {
		return
	}
	asked := c.question.calls[0]
	c.beside(func() {
		parts := c.o.Parts(context.Background(), asked.Name, asked.Args)
		c.jobs <- func() {
			if c.question.first() == asked.CallID {
				c.question.parts = parts
			}
		}
	})
}

// beside runs work beside the loop. A panic in it is told, and ends nothing: the
// terminal must not be left raw.
func (c *chat) beside(do func()) {
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				c.jobs <- func() { c.tell(fmt.Sprintf("crashed: %v", fault)) }
			}
		}()
		do()
	}()
}

// ended sends what was queued for after the turn. After a turn that was stopped
// nothing is sent behind the person's back: the words come back into the box.
func (c *chat) ended(e convo.End) {
	c.box.steers = nil
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

// submit sends what stands in the box.
func (c *chat) submit() {
	text := c.box.take()
	if text == "" {
		return
	}
	if c.box.history.Add(text) && c.o.Remember != nil {
		c.o.Remember(text)
	}
	switch {
	case command.Is(text):
		c.command(text)
	case strings.HasPrefix(text, "!") && c.o.Shell != nil:
		c.shell(text)
	case c.status.busy():
		c.box.steers = append(c.box.steers, text)
		c.session.Send(agent.Prompt{Text: text})
	default:
		c.session.Send(agent.Prompt{Text: c.withOutputs(text)})
	}
}

// withOutputs puts what the person's own commands printed before a prompt.
func (c *chat) withOutputs(text string) string {
	all := append(c.box.outputs, text)
	c.box.outputs = nil
	return strings.Join(all, "\n\n")
}

// command runs a slash command beside the loop. What it shows comes back as an event.
func (c *chat) command(line string) {
	name, args := command.Split(line)
	c.start("/"+name, func(ctx context.Context) {
		text, err := command.Do(ctx, c.o.Commands, line)
		if err != nil {
			text = strings.TrimSpace(text + "\n" + err.Error())
		}
		if text != "" {
			c.session.Send(agent.Note{Name: name, Args: args, Text: text})
		}
	})
}

// shellKeep is how much of a command's output goes to the model.
const shellKeep = 32 << 10

// shell runs a command of the person. Two marks keep its output from the model.
func (c *chat) shell(line string) {
	private := strings.HasPrefix(line, "!!")
	what := strings.TrimSpace(strings.TrimLeft(line, "!"))
	if what == "" {
		return
	}
	c.start("!"+what, func(ctx context.Context) {
		out, err := c.o.Shell(ctx, what, func(chunk string) {
			c.jobs <- func() { c.printed.add(chunk) }
		})
		if err != nil {
			out = strings.TrimSpace(out + "\n" + err.Error())
		}
		c.session.Send(agent.Note{Name: "!", Args: what, Text: out})
		if !private {
			c.jobs <- func() { c.box.outputs = append(c.box.outputs, offered(what, out)) }
		}
	})
}

func offered(what, out string) string {
	if len(out) > shellKeep {
		out = out[:shellKeep/2] + "\n…\n" + out[len(out)-shellKeep/2:]
	}
	return fmt.Sprintf("I ran `%s`. Its output:\n```\n%s\n```", what, strings.ToValidUTF8(strings.TrimRight(out, "\n"), "?"))
}

// start runs work of the person beside the loop, one after another.
func (c *chat) start(name string, do func(context.Context)) {
	if c.working != "" {
		c.backlog = append(c.backlog, func() { c.start(name, do) })
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.working, c.stop, c.printed = name, cancel, tail{}
	c.beside(func() {
		defer func() { c.jobs <- c.worked }()
		defer cancel()
		do(ctx)
	})
}

// worked is called when work of the person is over: the next may begin.
func (c *chat) worked() {
	c.working, c.stop = "", nil
	if len(c.backlog) > 0 {
		next := c.backlog[0]
		c.backlog = c.backlog[1:]
		next()
	}
}

// nextMode is the mode that shift-tab goes to; the one without any limits is
// reached by its name only.
func nextMode(now string) permit.Mode {
	for i, m := range permit.Modes {
		if string(m) == now && i+2 < len(permit.Modes) {
			return permit.Modes[i+1]
		}
	}
	return permit.Modes[0]
}

// key routes a key to the part that has the word.
func (c *chat) key(k keys.Key) {
	switch {
	case k.Name == "focus" || k.Name == "blur":
		c.blurred = k.Name == "blur"
	case c.pager != nil:
		c.pagerKey(k)
	case k.Name == "ctrl+z":
		c.handOver(suspend)
	case k.Name == "ctrl+c" && c.box.search == nil && !c.welcome.typing():
		c.interrupt()
	case c.question.open() && !c.question.saying:
		c.questionKey(k)
	case (c.welcome.typing() || c.welcome.open() && c.box.Empty()) && c.welcome.key(c, k):
	case c.box.search != nil && c.box.searchKey(k.Name, k.Text):
	default:
		c.boxKey(k)
	}
	if c.box.pop.update(c.box.Before()) {
		c.lookForFiles()
	}
}

// lookForFiles lists the files of the project beside the loop.
func (c *chat) lookForFiles() {
	if c.o.Files == nil {
		return
	}
	c.beside(func() {
		files := c.o.Files()
		c.jobs <- func() { c.box.pop.found(files) }
	})
}

// interrupt is ctrl-c: it clears what is typed, stops what runs, and ends us
// when it comes twice.
func (c *chat) interrupt() {
	now := c.o.Now()
	switch {
	case !c.box.Empty():
		c.box.Set("")
		c.question.saying = false
	case now.Sub(c.armed) < 2*time.Second:
		c.leave(exitDone)
	default:
		if c.status.busy() {
			c.session.Send(agent.Interrupt{})
		}
		if c.stop != nil {
			c.stop()
		}
		c.armed = now
		c.tell("ctrl-c again ends ikigai")
	}
}

func (c *chat) questionKey(k keys.Key) {
	now := c.o.Now()
	if k.Name == "5" && now.Sub(c.question.shown) >= tooSoon {
		c.question.saying = true
		return
	}
	switch k.Name {
	case "f":
		c.openPager(c.question.full())
		return
	case "s":
		c.question.split = !c.question.split
		return
	}
	if a, ok := c.question.key(k.Name, now); ok {
		c.reply(a)
	}
}

// reply answers the question and goes on to the next call of the batch.
func (c *chat) reply(a agent.Answer) {
	c.session.Send(a)
	if c.question.next(c.o.Now()) {
		c.lookAtParts()
	}
}

// boxKeys are the keys that mean more than editing.
var boxKeys = map[string]func(*chat){
	"enter":     (*chat).enter,
	"tab":       (*chat).tab,
	"esc":       (*chat).escape,
	"up":        func(c *chat) { c.vertical(-1) },
	"down":      func(c *chat) { c.vertical(+1) },
	"ctrl+p":    func(c *chat) { c.vertical(-1) },
	"ctrl+n":    func(c *chat) { c.vertical(+1) },
	"ctrl+r":    func(c *chat) { c.box.search = &search{draft: c.box.Text()} },
	"ctrl+g":    (*chat).editor,
	"ctrl+o":    (*chat).showLatest,
	"ctrl+l":    func(c *chat) { c.screen.Resized() },
	"shift+tab": func(c *chat) { go c.send(agent.SetMode{Mode: nextMode(c.status.mode)}) },
}

func (c *chat) boxKey(k keys.Key) {
	switch do, ok := boxKeys[k.Name]; {
	case ok:
		do(c)
	case k.Name == "paste":
		c.box.Paste(k.Text)
	case k.Name == "ctrl+d" && c.box.Empty():
		c.leave(exitDone)
	case k.Name == "?" && c.box.Empty():
		c.command("/help")
	case k.Text != "":
		c.box.Insert(k.Text)
	default:
		c.box.Key(k.Name)
	}
}

// enter sends, unless the line goes on or a choice is open.
func (c *chat) enter() {
	pop := &c.box.pop
	switch {
	case c.question.saying:
		c.reply(c.question.answer(agent.Answer{Reason: c.box.take()}))
	case strings.HasSuffix(c.box.Before(), "\\"):
		c.box.Replace(1, "\n")
	case pop.open() && !pop.exact():
		c.accept()
	default:
		c.submit()
	}
}

// accept takes the chosen candidate. A command that needs no more is run.
func (c *chat) accept() {
	pop := &c.box.pop
	text := pop.choice()
	c.box.Replace(len(pop.word), text)
	name, isCommand := strings.CutPrefix(text, "/")
	if cmd, ok := command.Find(name); isCommand && ok && cmd.Args == "" {
		c.submit()
		return
	}
	c.box.Insert(" ")
}

// tab completes; while a turn runs it queues for after it.
func (c *chat) tab() {
	switch {
	case c.box.pop.open():
		c.box.Replace(len(c.box.pop.word), c.box.pop.choice()+" ")
	case c.status.busy() && !c.box.Empty():
		text := c.box.take()
		if c.box.history.Add(text) && c.o.Remember != nil {
			c.o.Remember(text)
		}
		c.box.queue = append(c.box.queue, text)
	}
}

// escape closes what is open, else stops the turn.
func (c *chat) escape() {
	switch {
	case c.box.pop.open():
		c.box.pop.close()
	case c.question.saying:
		c.question.saying = false
	case c.status.busy():
		c.session.Send(agent.Interrupt{})
		c.tell("stopping")
	case c.stop != nil:
		c.stop()
	case len(c.box.outputs) > 0 && c.box.Empty():
		c.box.outputs = nil
	}
}

// vertical goes through the choices, the rows of the box, the queue or the history.
func (c *chat) vertical(by int) {
	switch {
	case c.box.pop.open():
		c.box.pop.move(by)
	case c.box.Vertical(by, max(c.cols-3, 1)):
	case by < 0 && c.box.Empty() && len(c.box.queue) > 0:
		n := len(c.box.queue) - 1
		c.box.Set(c.box.queue[n])
		c.box.queue = c.box.queue[:n]
	case by < 0:
		if text, ok := c.box.history.Older(c.box.Text()); ok {
			c.box.Set(text)
		}
	default:
		if text, ok := c.box.history.Newer(); ok {
			c.box.Set(text)
		}
	}
}

// editor lets the person write in an editor.
func (c *chat) editor() {
	if c.o.Edit == nil {
		c.tell("no editor: not available in this version")
		return
	}
	var text string
	var err error
	c.handOver(func() { text, err = c.o.Edit(c.box.Text()) })
	if err != nil {
		c.tell(err.Error())
		return
	}
	c.box.Set(strings.TrimRight(text, "\n"))
}
