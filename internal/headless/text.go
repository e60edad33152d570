package headless

import (
	"io"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/tool"
	"ikigai/internal/view"
)

// A Painter puts the roles of a line into colour, or not.
type Painter func(view.Line) string

// textPrinter writes the final answer to Out and what happens meanwhile to Err.
type textPrinter struct {
	o     Options
	reply string // id of the reply whose text is held back
	text  string // of that reply: the answer, if nothing follows it
	calls map[string]tool.Call
}

func (p *textPrinter) begin(Options) { p.calls = map[string]tool.Call{} }

func (p *textPrinter) event(e convo.Event) {
	switch b := e.Body.(type) {
	case convo.ToolCall:
		p.aside()
		p.calls[b.ID] = b.Call
		return
	case convo.Running:
		p.progress(append(view.Line{{Role: view.Faint, Text: "● "}}, view.Call(p.calls[b.CallID])...))
		return
	case convo.ToolResult:
		delete(p.calls, b.CallID) // a run may go on for days
	case convo.Error:
		p.faults(view.Event(e))
		return
	}
	switch e.Kind {
	case convo.KindAssistant:
		if e.Reply != p.reply {
			p.aside()
			p.reply = e.Reply
		}
		p.text += e.Text
	case convo.KindUser, convo.KindSystem, convo.KindThinking:
	default:
		p.progress(view.Event(e)...)
	}
}

// aside shows the text of a reply that was not the last as progress.
func (p *textPrinter) aside() {
	if strings.TrimSpace(p.text) != "" {
		p.progress(view.Event(convo.Event{Kind: convo.KindAssistant, Text: p.text})...)
	}
	p.text = ""
}

func (p *textPrinter) progress(lines ...view.Line) {
	if !p.o.Quiet {
		p.faults(lines)
	}
}

// faults are shown even when progress is not.
func (p *textPrinter) faults(lines []view.Line) {
	for _, l := range lines {
		text := l.String()
		if p.o.Paint != nil {
			text = p.o.Paint(l)
		}
		io.WriteString(p.o.Err, text+"\n") // nobody is there to hear of a closed stream
	}
}

func (p *textPrinter) end(o Outcome) {
	text := strings.TrimSpace(o.Result)
	if text == "" {
		return
	}
	io.WriteString(p.o.Out, clean.Block(text)+"\n") // a closed pipe ends us by its signal, or was wanted
}
