package tui

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/command"
	"ikigai/internal/view"
)

// submit sends what stands in the box.
func (c *chat) submit() {
	text := c.box.take()
	if text == "" {
		return
	}
	c.remember(text)
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

// remember keeps words for the next time; nobody waits for it.
func (c *chat) remember(words string) {
	if c.box.history.Add(words) && c.o.Remember != nil {
		c.beside(func() { c.o.Remember(words) })
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
	c.working, c.stop, c.begun, c.printed = name, cancel, c.o.Now(), tail{}
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

// editor lets the person write in an editor.
func (c *chat) editor() {
	if text, ok := c.edit("prompt.md", c.box.Text()); ok {
		c.box.Set(strings.TrimRight(text, "\n"))
	}
}

// edit opens the person's editor with a text. Without one, or when the editor
// says no, the person is told and all stays as it was.
func (c *chat) edit(name, text string) (string, bool) {
	if c.o.Edit == nil {
		c.tell("no editor here")
		return "", false
	}
	var err error
	c.handOver(func(ctx context.Context) { text, err = c.o.Edit(ctx, name, text) })
	if err != nil {
		c.transcript.lines(margin, view.Text(view.Warning, err.Error()))
	}
	return text, err == nil
}
