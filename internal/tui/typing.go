package tui

import (
	"context"
	"strings"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/command"
	"ikigai/internal/permit"
	"ikigai/internal/tui/draw"
	"ikigai/internal/tui/keys"
	"ikigai/internal/tui/prompt"
)

// key routes a key to the part that has the word.
func (c *chat) key(k keys.Key) {
	switch {
	case k.Name == "focus" || k.Name == "blur":
		c.blurred = k.Name == "blur"
	case k.Name == "dark":
		c.paint = c.paint.On(draw.Dark)
	case k.Name == "light":
		c.paint = c.paint.On(draw.Light)
	case c.pager != nil:
		c.pagerKey(k)
	case k.Name == "ctrl+z":
		c.handOver(func(context.Context) { suspend() })
	case k.Name == "ctrl+c" && c.box.search == nil && !c.welcome.typing():
		c.interrupt()
	case c.question.open() && c.question.asking == "":
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

// interrupt is ctrl-c: it clears what is typed, stops what runs, and ends us
// when it comes twice.
func (c *chat) interrupt() {
	now := c.o.Now()
	switch {
	case c.question.asking != "":
		c.backAside()
	case !c.box.Empty():
		c.box.Set("")
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

// questionKeys are the keys of a question that do not answer it yet.
var questionKeys = map[string]func(*chat){
	"5": func(c *chat) { c.typeAbout(reason, "") },
	"e": func(c *chat) { c.typeAbout(scope, c.question.draft()) },
	"f": func(c *chat) { c.openPager(c.question.full()) },
	"s": func(c *chat) { c.question.split = !c.question.split },
	"v": func(c *chat) { c.edit(c.question.text()) }, // to look at: what is changed there changes nothing here
}

func (c *chat) questionKey(k keys.Key) {
	if c.question.tooSoon(c.o.Now()) {
		return
	}
	if do, ok := questionKeys[k.Name]; ok {
		do(c)
	} else if a, ok := c.question.key(k.Name); ok {
		c.session.Send(a)
	}
}

// typeAbout lets the person type something about the question. What stood in the
// box waits.
func (c *chat) typeAbout(what, begin string) {
	c.aside = c.box.Prompt
	c.box.Prompt = prompt.Prompt{}
	c.box.Insert(begin)
	c.question.asking = what
}

// typedAbout takes what was typed, and brings back what stood in the box.
func (c *chat) typedAbout() {
	what, text := c.question.asking, c.box.take()
	c.backAside()
	if what == reason {
		c.session.Send(c.question.answer(agent.Answer{Reason: text}))
		return
	}
	c.question.write(text)
}

// backAside brings back what stood in the box before something else was typed.
func (c *chat) backAside() {
	c.box.Prompt, c.aside = c.aside, prompt.Prompt{}
	c.question.asking = ""
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
	case c.question.asking != "":
		c.typedAbout()
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
		c.remember(text)
		c.box.queue = append(c.box.queue, text)
	}
}

// escape closes what is open, else stops the turn.
func (c *chat) escape() {
	switch {
	case c.box.pop.open():
		c.box.pop.close()
	case c.question.asking != "":
		c.backAside()
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
