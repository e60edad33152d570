// Package llm says what a model is: something that takes a conversation and
// streams one reply. It knows no vendor; the wire formats live in dialect/*.
package llm

import (
	"context"
	"iter"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Provider opens a Conn per session.
type Provider interface {
	Open(session string) Conn
}

// A Conn streams one reply at a time to one session. It is the place where the
// encoded bytes of what was already sent are kept, so that a turn costs what is
// new. The error, if any, comes last and ends the stream; it is an *Error.
// Ending ctx ends the stream promptly. Stream is called by one goroutine at a time.
type Conn interface {
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// A Request is one question to the model.
type Request struct {
	Model    string
	System   string
	Events   []convo.Event // durable ones, in order; what is no part of the conversation is skipped
	Tools    []tool.Spec
	Choice   Choice
	Effort   Effort
	MaxReply int // tokens; zero means the model's own limit
	Shape    Shape
}

// A Shape writes a result as the model shall see it; nil means tool.Result.Envelope.
// Toolsets that imitate another harness bring their own.
type Shape func(tool.Result) []byte

// Result writes r in the request's shape.
func (r Request) Result(t tool.Result) []byte {
	if r.Shape != nil {
		return r.Shape(t)
	}
	return t.Envelope()
}

// Choice says whether the model may call tools.
type Choice uint8

const (
	Auto    Choice = iota
	NoTools        // the last answer at a limit; the tools stay in the request
)

// Effort is how much the model should think, where it can. Empty is its default.
type Effort string

const (
	LowEffort    Effort = "low"
	MediumEffort Effort = "medium"
	HighEffort   Effort = "high"
)

// A Delta is one piece of a reply. Pieces with the same kind and Block belong to
// one item; items stand in the order in which their first piece came. It is a
// struct and not an interface so that a token costs no allocation but its text.
type Delta struct {
	Kind    DeltaKind
	Block   int           // which item; dialects number them as they come
	Text    string        // Text, Thinking: the words. CallPart: a piece of the arguments
	ID      string        // CallPart: the call's id, once
	Name    string        // CallPart: the tool's name, once
	Refusal bool          // Text: the wire marks it as a refusal
	Broken  bool          // CallPart: the wire says that the call is unfinished
	Rescued bool          // CallPart: found in the model's text, not sent as a call
	Keep    *convo.Opaque // what must go back with this item; a later one replaces an earlier one
	Stop    Stop          // Done
	Native  string        // Done: the provider's own word for it
	Usage   *convo.Usage  // UsageDelta: field by field, the last report wins
}

// DeltaKind says which fields of a Delta count.
type DeltaKind uint8

const (
	Text DeltaKind = iota
	Thinking
	CallPart
	Block      // a whole block we do not understand, in Keep
	Done       // the end signal of the wire: a stream without it was cut
	UsageDelta // token numbers, at any time
)

// Stop is why the model stopped.
type Stop string

const (
	EndTurn  Stop = "stop"
	ToolUse  Stop = "tool_calls"
	Length   Stop = "length"
	Filtered Stop = "content_filter"
	Refused  Stop = "refusal"
	Pause    Stop = "pause"
	Broke    Stop = "error"
	Other    Stop = "other"
)
