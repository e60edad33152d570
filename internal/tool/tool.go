// Package tool says what a tool is, for everyone who offers, judges, runs or
// draws one. It holds words only: no file is opened and no process started here.
//
// A tool is a program with two questions: who are you (its Spec, what --schema
// prints), and do this (one Call in, one Result out). Built-ins, executables
// and later MCP tools all answer through the Tool interface, and nobody but the
// tool's own folder knows its name.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"ikigai/internal/schema"
)

// A Spec says what a tool is. It is exactly what --schema prints, plus where
// the tool was found.
type Spec struct {
	Name        string
	Description string
	Parameters  schema.Object // the short form and JSON Schema both decode into this
	Returns     schema.Object
	Risk        Risk
	Effects     []Effect
	Timeout     time.Duration // zero means DefaultTimeout
	Origin      Origin
	Path        string // the executable; empty for a built-in
}

// Has reports whether the tool declares the effect e.
func (s Spec) Has(e Effect) bool {
	for _, x := range s.Effects {
		if x == e {
			return true
		}
	}
	return false
}

// OnlyReads reports whether a call can change nothing, so that it may run
// beside others. A tool that declares no effect is not believed to be harmless.
func (s Spec) OnlyReads() bool {
	return len(s.Effects) > 0 && !s.Has(Write) && !s.Has(Exec) && !s.Has(Net)
}

// DefaultTimeout and MaxTimeout bound one call: the default of every seed, and
// the most a call or a schema may ask for.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 300 * time.Second
)

// Risk is how much a person should look at a call before allowing it.
type Risk uint8

const (
	Safe Risk = iota
	Low
	Medium
	High
)

var riskNames = [...]string{"safe", "low", "medium", "high"}

// String is the word used in schemas, listings and events.
func (r Risk) String() string { return riskNames[min(int(r), len(riskNames)-1)] }

// ParseRisk reads a risk word; an unknown one is High, never less.
func ParseRisk(s string) (Risk, bool) {
	for i, n := range riskNames {
		if n == s {
			return Risk(i), true
		}
	}
	return High, false
}

// Effect is one way a tool touches the world.
type Effect string

const (
	Read  Effect = "read"
	Write Effect = "write"
	Exec  Effect = "exec"
	Net   Effect = "net"
)

// Origin is where a tool came from; a later one of the same name wins.
type Origin uint8

const (
	BuiltIn Origin = iota
	System
	User
	Project
	Given // named by --tool-dir
)

var originNames = [...]string{"built-in", "system", "user", "project", "given"}

// String is the word used in listings.
func (o Origin) String() string { return originNames[min(int(o), len(originNames)-1)] }

// A Call is one request of the model to use a tool.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage // as the model sent them; Prepare reads them, once
}

// A Plan says what a call would do, without doing it. The permission engine
// judges it and the prompt shows it.
type Plan struct {
	Summary string   // one line for a person
	Reads   []string // real paths, links resolved
	Writes  []string // real paths, links resolved
	Command string   // the shell line, for Exec
	Dir     string   // where Command starts; empty means the working folder
	Hosts   []string // for Net
	Preview string   // unified diff, when there is one
	Timeout time.Duration
	Notes   []string // repaired or dropped arguments, for the event
}

// A Grant is what the verdict allows this one call. The sandbox is built from
// it, and the file tools reach outside the workspace only through it.
type Grant struct {
	Net        bool
	Read       []string // real paths outside the workspace that may be read
	Write      []string // real paths outside the workspace that may be written
	Unconfined bool     // yolo only
}

// A Place is the world a call sees. Tests pass their own.
type Place struct {
	Files   Files
	Session string    // the id of the session
	Call    string    // the id of the call, where there is one
	Dir     string    // the session's own folder, for spilled output and task lists; empty when there is none
	Start   StartFunc // the one way to start a process
	Jobs    Jobs      // background processes of the session; nil on the long road
	Memo    *Memo     // what tools remember between calls; nil: nothing
	Limits  Limits

	// Past is an event of the session by its number, also one that the model no
	// longer sees: its kind and all it says. Nil on the long road.
	Past func(ctx context.Context, event int64) (kind, text string, err error)

	// Private reports files whose content is not shown unless they were named: a
	// search of a whole folder leaves them out. Nil means there are none.
	Private func(real string) bool
}

// Limits are the sizes a result may have; see Truncate in toolkit.
type Limits struct {
	Output  int           // most bytes of a tool's own output; DefaultOutput when zero
	Timeout time.Duration // deadline of a call that asks for none; DefaultTimeout when zero
}

// Deadline is how long a call may take: what it asks for, else what the tool
// asks for, else what the session gives, and never more than the most.
func (l Limits) Deadline(s Spec, p Plan) time.Duration {
	for _, d := range []time.Duration{p.Timeout, s.Timeout, l.Timeout} {
		if d > 0 {
			return min(d, MaxTimeout)
		}
	}
	return DefaultTimeout
}

// DefaultOutput is max_output_size of the seeds.
const DefaultOutput = 1 << 20

// A Tool is anything the model may call. Arguments are decoded once, in
// Prepare: what was judged and shown is what runs.
type Tool interface {
	Spec() Spec

	// Prepare decodes and checks args and plans the call. It changes nothing.
	// An error is for the model; it is an *Error when it has a code.
	Prepare(ctx context.Context, at Place, args json.RawMessage) (Prepared, error)
}

// A Leader is a tool that goes by another name.
type Leader interface {
	Leads(args json.RawMessage) Tool // the tool that a call with these arguments really is
}

// JudgedAs is the spec a call is judged by: a rule about a tool holds under all of
// its names, and the higher of both risks counts.
func JudgedAs(t Tool, args json.RawMessage) Spec {
	s := t.Spec()
	l, ok := t.(Leader)
	if !ok {
		return s
	}
	real := l.Leads(args).Spec()
	real.Risk = max(real.Risk, s.Risk)
	return real
}

// Prepared is a call that was understood.
type Prepared struct {
	Plan Plan
	Args json.RawMessage // the arguments as they will be used, after repairs
	Run  func(ctx context.Context, g Grant, p Progress) Result
}

// Progress takes output of a call while it runs. It never blocks.
type Progress func(chunk string)

// A Runner runs one prepared call. Wrappers take a Runner and give a Runner.
type Runner func(ctx context.Context, g Grant, p Progress) Result
