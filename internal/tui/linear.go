package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/command"
	"ikigai/internal/convo"
	"ikigai/internal/view"
)

// linear is the face for a screen reader and for a terminal that can do
// nothing: lines in, lines out, nothing is ever drawn over. Lines are edited by
// the terminal itself.
type linear struct {
	o          Options
	session    agent.Session
	transcript *transcript
	question   question
	status     status
	jobs       chan func()
	shown      map[string]bool // calls whose begin was told
	quit       bool
	code       int
	armed      time.Time
}

func newLinear(s agent.Session, o Options) *linear {
	l := &linear{o: o, session: s, transcript: newTranscript(o.ToolLines, o.Now), jobs: make(chan func(), 16), shown: map[string]bool{}}
	l.status = status{o: &l.o, model: o.Model, mode: o.Mode}
	l.o.Commands.Quit = func() { l.jobs <- func() { l.quit = true } }
	l.o.Commands.Again = l.o.Commands.Quit
	l.o.Commands.Send = s.Send
	return l
}

func (l *linear) run(ctx context.Context) int {
	lines := l.lines(ctx)
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, os.Interrupt)
	defer signal.Stop(stops)
	if !l.o.Seen {
		l.replay()
	}
	for _, n := range l.o.Notes {
		l.say(n)
	}
	l.say("ikigai. Type a line and press Enter. /help lists commands, /quit ends.")
	events := events(ctx, l.session, lastSeq(l.o.Stored))
	l.o.Stored = nil // they are told: the session has them, as long as it wants them
	l.prompt()
	for !l.quit {
		select {
		case line, ok := <-lines:
			if !ok {
				return l.code
			}
			l.line(ctx, line)
		case e, ok := <-events:
			if !ok {
				return l.code
			}
			l.event(e)
		case do := <-l.jobs:
			do()
		case code := <-l.o.Signals:
			l.interrupt(code)
		case <-stops:
		}
	}
	return l.code
}

// replay tells what was before.
func (l *linear) replay() {
	for _, e := range lately(l.o.Stored) {
		l.transcript.event(e)
		l.flush()
	}
}

// lines reads lines until there are no more.
func (l *linear) lines(ctx context.Context) <-chan string {
	c := make(chan string)
	go func() {
		defer close(c)
		r := bufio.NewReader(l.o.In)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case c <- strings.TrimRight(line, "\r\n"):
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// interrupt stops the turn; with nothing to stop it ends us.
func (l *linear) interrupt(code int) {
	now := l.o.Now()
	if code == 130 && l.status.busy() && now.Sub(l.armed) > 2*time.Second {
		l.armed = now
		l.session.Send(agent.Interrupt{})
		return
	}
	l.session.Send(agent.Interrupt{})
	l.quit, l.code = true, code
}

func (l *linear) say(text string) { io.WriteString(l.o.Out, text+"\n") } // who cannot read us will not miss it

func (l *linear) prompt() { io.WriteString(l.o.Out, "> ") }

func (l *linear) event(e convo.Event) {
	if e.Kind == convo.KindUser {
		return // it stands there as it was typed
	}
	l.transcript.event(e)
	l.status.event(e)
	asked := l.question.event(e, l.o.Now())
	if b, ok := e.Body.(convo.Running); ok {
		if c := l.transcript.call(b.CallID); c != nil {
			l.say("running " + view.Call(c.Call).String())
		}
	}
	l.flush()
	switch {
	case asked:
		l.ask()
	case e.Kind == convo.KindEnd:
		l.prompt()
	}
}

// flush tells what is finished.
func (l *linear) flush() {
	for _, it := range l.transcript.out {
		for _, row := range it.rows(80) {
			l.say(row.String())
		}
	}
	l.transcript.out = nil
}

func (l *linear) ask() {
	for _, row := range l.question.rows(80, 40, l.o.Now()) {
		l.say(row.String())
	}
	io.WriteString(l.o.Out, "answer 1 to 5: ")
}

// line does what a line of the person says.
func (l *linear) line(ctx context.Context, text string) {
	text = strings.TrimSpace(text)
	switch {
	case l.question.open():
		l.answer(text)
	case text == "":
		l.prompt()
	case command.Is(text):
		l.command(ctx, text)
	default:
		l.session.Send(agent.Prompt{Text: text})
	}
}

func (l *linear) answer(text string) {
	key, reason, _ := strings.Cut(text, " ")
	a, ok := answers[key]
	if key == "5" {
		a, ok = agent.Answer{Reason: reason}, true
	}
	if !ok {
		io.WriteString(l.o.Out, "answer 1 to 5; 5 WHY denies and says why: ")
		return
	}
	l.session.Send(l.question.answer(a))
}

func (l *linear) command(ctx context.Context, line string) {
	name, args := command.Split(line)
	go func() {
		text, err := command.Do(ctx, l.o.Commands, line)
		if err != nil {
			text = strings.TrimSpace(text + "\n" + err.Error())
		}
		if text != "" {
			l.session.Send(agent.Note{Name: name, Args: args, Text: text})
		}
		l.jobs <- func() {
			if !l.quit {
				fmt.Fprint(l.o.Out, "> ")
			}
		}
	}()
}
