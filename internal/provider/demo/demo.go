// Package demo is the offline model that ships inside ikigai. It understands a
// handful of plain requests, plans real tool calls for them, reads the results
// and answers in prose, so that a newcomer sees the whole system at work without
// a key or a network. It thinks no further than that, and says so.
//
// Like every model it knows tools only by the specs of the request: it looks for
// one whose words fit what is to be done.
package demo

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// Name is the model's name on the command line.
const Name = "demo"

// New is the demo model.
func New() llm.Provider { return provider{} }

type provider struct{}

func (provider) Open(string) llm.Conn { return conn{} }

// conn holds nothing: what to do next is read from the events each time.
type conn struct{}

func (conn) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		text, calls := answer(r)
		for _, word := range strings.SplitAfter(text, " ") {
			if ctx.Err() != nil {
				yield(llm.Delta{}, &llm.Error{Class: llm.Cancelled, Message: "stopped", Err: ctx.Err()})
				return
			}
			if word != "" && !yield(llm.Delta{Kind: llm.Text, Text: word}, nil) {
				return
			}
		}
		for i, c := range calls {
			if !yield(llm.Delta{Kind: llm.CallPart, Block: i + 1, Name: c.Name, Text: string(c.Args)}, nil) {
				return
			}
		}
		if !yield(llm.Delta{Kind: llm.UsageDelta, Usage: estimate(r, text)}, nil) {
			return
		}
		yield(llm.Delta{Kind: llm.Done, Stop: llm.EndTurn, Native: "stop"}, nil)
	}
}

// estimate counts tokens as four bytes each: there is no tokenizer here, and
// the numbers should look alive.
func estimate(r llm.Request, text string) *convo.Usage {
	in := len(r.System)
	for _, e := range r.Events {
		in += len(e.Text)
	}
	in, out, cost := in/4, len(text)/4, 0.0
	return &convo.Usage{Input: &in, Output: &out, CostUSD: &cost}
}

// A done is a call of this turn and what came of it.
type done struct {
	call   tool.Call
	result tool.Result
}

// answer is the next reply: the next step of the plan, or the closing words.
func answer(r llm.Request) (string, []tool.Call) {
	prompt, past := thisTurn(r.Events)
	steps, missed := understand(prompt, r.Tools)
	if len(steps) == 0 {
		return introduction(missed, r.Tools), nil
	}
	at := len(past)
	for i, s := range steps {
		if at >= len(s.calls) {
			at -= len(s.calls)
			continue
		}
		if r.Choice == llm.NoTools {
			return report(past, "I had to stop there: no more tool calls are allowed."), nil
		}
		return s.intro(i, len(steps)), s.calls[at:]
	}
	return report(past, remark(missed)), nil
}

// thisTurn is the person's last words and the calls made since.
func thisTurn(events []convo.Event) (string, []done) {
	var prompt string
	var past []done
	for _, e := range events {
		switch b := e.Body.(type) {
		case nil:
			if e.Kind == convo.KindUser {
				prompt, past = e.Text, nil
			}
		case convo.ToolCall:
			past = append(past, done{call: b.Call})
		case convo.ToolResult:
			for i := range past {
				if past[i].call.ID == b.CallID {
					past[i].result = b.Result
				}
			}
		}
	}
	return prompt, past
}

func remark(missed []string) string {
	if len(missed) == 0 {
		return ""
	}
	return fmt.Sprintf("I did not understand %q.", strings.Join(missed, "; "))
}

// introduction answers what is no job for tools.
func introduction(missed []string, tools []tool.Spec) string {
	var b strings.Builder
	b.WriteString("I am the demo model of ikigai: I run offline and understand only a few plain requests, such as\n\n")
	for _, in := range intents() {
		fmt.Fprintf(&b, "- %s\n", in.example)
	}
	fmt.Fprintf(&b, "\nSeveral of them may stand in one sentence, joined by \"then\". %d tools are offered to me.", len(tools))
	if text := remark(missed); text != "" {
		b.WriteString("\n\n" + text)
	}
	b.WriteString("\nFor real work choose a model: ikigai models lists them.")
	return b.String()
}
