// Package convo says what happened in a session. Everything that happens is an
// Event in one ordered stream: the person's words, model text, a tool call, its
// result, a decision, the end of a turn. The durable events are the
// conversation; memory and database hold the same thing. The others are live
// only, for whoever is looking.
package convo

import (
	"encoding/json"
	"time"
)

// An Event is one thing that happened in a session. It is stored as kind,
// content (Text) and data_json (Body).
type Event struct {
	Seq   int64 // place in the session; 0 for a live event
	Turn  int   // which prompt it belongs to
	At    time.Time
	Kind  Kind
	Text  string  // readable by a person
	Body  Body    // the data of this kind, nil for plain text
	Reply string  // which model reply it came from: the calls of one reply are sent together again
	Keep  *Opaque // what the vendor wants back with this very item, read by that dialect alone
}

// Durable reports whether the event is part of the conversation and its audit trail.
func (e Event) Durable() bool { return durable[e.Kind] }

// Kind names what an event is.
type Kind string

// The durable kinds.
const (
	KindSystem     Kind = "system"
	KindUser       Kind = "user"
	KindAssistant  Kind = "assistant"
	KindThinking   Kind = "thinking"
	KindToolCall   Kind = "tool_call"
	KindDecision   Kind = "decision"
	KindToolResult Kind = "tool_result"
	KindOpaque     Kind = "opaque"
	KindUsage      Kind = "usage"
	KindCommand    Kind = "command"
	KindSummary    Kind = "summary"
	KindUndo       Kind = "undo"
	KindJob        Kind = "job"
	KindEnd        Kind = "end"
)

// The live kinds.
const (
	KindDelta      Kind = "delta"
	KindRunning    Kind = "running"
	KindToolOutput Kind = "tool_output"
	KindAsk        Kind = "ask"
	KindState      Kind = "state"
	KindNotice     Kind = "notice"
	KindLimit      Kind = "limit"
	KindError      Kind = "error"
)

var durable = map[Kind]bool{
	KindSystem: true, KindUser: true, KindAssistant: true, KindThinking: true, KindToolCall: true,
	KindDecision: true, KindToolResult: true, KindOpaque: true, KindUsage: true, KindCommand: true,
	KindSummary: true, KindUndo: true, KindJob: true, KindEnd: true,
}

// Body is the data of one kind of event. No vendor field, ever: that is what
// Keep is for.
type Body interface{ kind() Kind }

// Opaque is data of a vendor that must go back byte for byte. As an event of
// its own it is a whole block that we do not understand.
type Opaque struct {
	Dialect string          `json:"dialect"`
	Model   string          `json:"model,omitempty"` // signatures are of one model only
	Data    json.RawMessage `json:"data"`
}

// A Decision says whether a call may run, and who said so.
type Decision struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Allowed bool   `json:"allowed"`
	By      By     `json:"by"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Risk    string `json:"risk"`
	Scope   string `json:"scope,omitempty"` // once, session, always: how far a person's answer reaches
}

// Word is allow or deny.
func (d Decision) Word() string {
	if d.Allowed {
		return "allow"
	}
	return "deny"
}

// By is who decided.
type By string

const (
	ByRule   By = "rule"
	ByMode   By = "mode"
	ByPerson By = "person"
)

// Usage counts the tokens of one reply. A nil field was not reported.
type Usage struct {
	Model      string   `json:"model,omitempty"`
	Input      *int     `json:"input,omitempty"`  // all prompt tokens, cached ones included
	Output     *int     `json:"output,omitempty"` // reasoning included
	CacheRead  *int     `json:"cache_read,omitempty"`
	CacheWrite *int     `json:"cache_write,omitempty"`
	Reasoning  *int     `json:"reasoning,omitempty"`
	CostUSD    *float64 `json:"cost_usd,omitempty"`
	ModelMS    int64    `json:"model_ms,omitempty"` // how long the model took for this reply
}

// Delta is a piece of a reply while it arrives.
type Delta struct {
	Thinking bool `json:"thinking,omitempty"`
}

// Running says that a call has begun.
type Running struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
}

// ToolOutput is what a call printed while it runs.
type ToolOutput struct {
	CallID string `json:"call_id"`
}

// Ask is a question for permission: the calls that wait for an answer, in order.
type Ask struct {
	Calls []Asked `json:"calls"`
}

// Asked is one call that waits for an answer.
type Asked struct {
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args"`
	Summary string          `json:"summary"`
	Preview string          `json:"preview,omitempty"`
	Risk    string          `json:"risk"`
	Reason  string          `json:"reason"`
	Covers  []string        `json:"covers,omitempty"` // the rules that Session and Remember would write
	Parts   []Part          `json:"parts,omitempty"`  // of a shell line, in order
}

// Part is one simple command of a shell line, judged by itself.
type Part struct {
	Command string `json:"command"`
	Class   string `json:"class"` // how heavy it weighs, in the words of package shell
	Reason  string `json:"reason,omitempty"`
	Rule    string `json:"rule,omitempty"` // the rule that decided it; empty when the mode did
}

// State is where the turn stands, for a status line.
type State struct {
	Name string `json:"name"`
}

// Notice is something a person should know. Error is one that ended the turn.
type Notice struct {
	Hint string `json:"hint,omitempty"` // the next step
}

// Error is why a turn ended badly. Class is stable and decides the exit code.
type Error struct {
	Class string `json:"class"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// Limit says that a bound was reached.
type Limit struct {
	Which string  `json:"kind"`            // turns, calls, tokens, cost, time, loop
	Scope string  `json:"scope,omitempty"` // session or day; empty for what bounds one prompt
	Value float64 `json:"value"`
	Max   float64 `json:"max"`
}

// Command is a slash command a person used; its output is the event's Text.
type Command struct {
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}

// Undo says that what turns had done to files was taken back, or done again.
type Undo struct {
	Turns  []int    `json:"turns"`
	Redo   bool     `json:"redo,omitempty"`
	Files  []string `json:"files"`
	Before string   `json:"before"` // the snapshots around it, to take it back in turn
	After  string   `json:"after,omitempty"`
}

// End closes a turn.
type End struct {
	Stop   Stop     `json:"stop"`
	Error  *Error   `json:"error,omitempty"`
	Limit  *Limit   `json:"limit,omitempty"`
	Turns  int      `json:"turns"` // model replies
	Calls  int      `json:"tool_calls"`
	Denied int      `json:"denied"`
	TookMS int64    `json:"duration_ms"`
	Unsent []string `json:"unsent,omitempty"` // the person's words that no request carried: back to the face
}

// Stop is how a turn ended.
type Stop string

const (
	StopDone      Stop = "done"
	StopLimit     Stop = "limit"
	StopCancelled Stop = "cancelled"
	StopError     Stop = "error"
)

// Unknown is the body of a kind or form that this version does not know; it is
// kept as it was.
type Unknown struct {
	Of   Kind
	Data json.RawMessage
}

func (ToolCall) kind() Kind   { return KindToolCall }
func (ToolResult) kind() Kind { return KindToolResult }
func (Opaque) kind() Kind     { return KindOpaque }
func (Decision) kind() Kind   { return KindDecision }
func (Usage) kind() Kind      { return KindUsage }
func (Delta) kind() Kind      { return KindDelta }
func (Running) kind() Kind    { return KindRunning }
func (ToolOutput) kind() Kind { return KindToolOutput }
func (Ask) kind() Kind        { return KindAsk }
func (State) kind() Kind      { return KindState }
func (Notice) kind() Kind     { return KindNotice }
func (Error) kind() Kind      { return KindError }
func (Limit) kind() Kind      { return KindLimit }
func (Command) kind() Kind    { return KindCommand }
func (Undo) kind() Kind       { return KindUndo }
func (End) kind() Kind        { return KindEnd }
func (u Unknown) kind() Kind  { return u.Of }

// Of makes an event around a body.
func Of(text string, b Body) Event { return Event{Kind: b.kind(), Text: text, Body: b} }
