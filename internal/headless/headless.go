// Package headless is the face without a screen: one prompt in, the answer out,
// as text, as one JSON object, or as a stream of JSON lines. It never waits for
// a person: what would be asked is denied, and the model is told so.
package headless

import (
	"context"
	"encoding/json"
	"io"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
)

// Format is how the outcome is written.
type Format string

const (
	Text   Format = "text"
	JSON   Format = "json"
	Stream Format = "stream-json"
)

// Formats are the formats by name.
var Formats = []Format{Text, JSON, Stream}

// Options are what a run prints besides its events.
type Options struct {
	Format   Format
	Session  string
	Init     func() Init // asked where it is printed; nil means an empty one
	Quiet    bool        // text: no progress
	Verbose  bool        // text: every result in full
	Out, Err io.Writer
	Paint    Painter       // how roles look on Err; nil means plainly
	Stopped  <-chan int    // a signal came: its exit code. The turn is then interrupted
	Head     func() string // the hash of the last event, once the turn is over; may be nil
	Flush    func() error  // returns when what was recorded outlives this process; may be nil
}

// Init is the first line of a stream.
type Init struct {
	Model   string   `json:"model"`
	Mode    string   `json:"mode"`
	Cwd     string   `json:"cwd"`
	Tools   []string `json:"tools"`
	Sandbox []string `json:"sandbox"`
}

// Run sends one prompt, prints what happens, and gives the exit code.
func Run(ctx context.Context, s agent.Session, after int64, prompt string, o Options) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := watch(ctx, s, o.Stopped)
	sum := &summary{session: o.Session}
	p := o.printer()
	p.begin(o)
	events := s.Events(ctx, after) // before the prompt, so that nothing of it is missed
	s.Send(agent.Prompt{Text: prompt})
	var end convo.End
	for e := range events {
		answerAsk(s, e)
		sum.add(e)
		if b, ok := e.Body.(convo.End); ok {
			end = b
			break
		}
		if e.Durable() && o.Flush != nil {
			_ = o.Flush() // what is shown is kept; the session has told if it is not
		}
		p.event(e)
	}
	out := sum.outcome(end, stopped())
	if o.Head != nil {
		out.Head = o.Head()
	}
	p.end(out)
	return out.ExitCode
}

// watch interrupts the turn when a signal comes, and tells afterwards which.
func watch(ctx context.Context, s agent.Session, signals <-chan int) func() int {
	got := make(chan int, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case code := <-signals:
			got <- code
			s.Send(agent.Interrupt{})
		case <-ctx.Done():
		}
	}()
	return func() int {
		select {
		case code := <-got:
			return code
		default:
			return 0
		}
	}
}

// answerAsk denies what a person would have been asked.
func answerAsk(s agent.Session, e convo.Event) {
	ask, ok := e.Body.(convo.Ask)
	if !ok {
		return
	}
	for _, c := range ask.Calls {
		s.Send(agent.Answer{
			Turn: e.Turn, CallID: c.CallID, By: convo.ByMode,
			Reason: c.Reason + "; nobody can be asked in a headless run, so it was denied",
		})
	}
}

// An Outcome is the end of a run: the one object of json.
type Outcome struct {
	V         int    `json:"v"`
	SessionID string `json:"session_id"`
	Ending
}

// An Ending is how a run ended: what json and the last line of stream-json share.
type Ending struct {
	Result     string       `json:"result"`
	Stop       convo.Stop   `json:"stop"`
	ExitCode   int          `json:"exit_code"`
	Error      *convo.Error `json:"error"`
	Usage      tokens       `json:"usage"`
	CostUSD    *float64     `json:"cost_usd"`
	Turns      int          `json:"turns"`
	ToolCalls  int          `json:"tool_calls"`
	Denied     int          `json:"denied"`
	DurationMS int64        `json:"duration_ms"`
	Head       string       `json:"head,omitempty"`
}

// tokens are counts that may be unknown.
type tokens struct {
	Input      *int `json:"input"`
	Output     *int `json:"output"`
	CacheRead  *int `json:"cache_read"`
	CacheWrite *int `json:"cache_write"`
	Reasoning  *int `json:"reasoning"`
}

func (t *tokens) add(u convo.Usage) {
	for _, f := range []struct{ to, from **int }{
		{&t.Input, &u.Input}, {&t.Output, &u.Output}, {&t.CacheRead, &u.CacheRead}, {&t.CacheWrite, &u.CacheWrite}, {&t.Reasoning, &u.Reasoning},
	} {
		if *f.from == nil {
			continue
		}
		sum := **f.from
		if *f.to != nil {
			sum += **f.to
		}
		*f.to = &sum
	}
}

// summary collects the numbers and the last words of a turn.
type summary struct {
	session string
	reply   string
	text    string
	usage   tokens
	cost    *float64
}

func (s *summary) add(e convo.Event) {
	switch b := e.Body.(type) {
	case nil:
		if e.Kind == convo.KindAssistant {
			if e.Reply != s.reply {
				s.reply, s.text = e.Reply, ""
			}
			s.text += e.Text
		}
	case convo.Usage:
		s.usage.add(b)
		if b.CostUSD != nil {
			sum := *b.CostUSD
			if s.cost != nil {
				sum += *s.cost
			}
			s.cost = &sum
		}
	}
}

func (s *summary) outcome(end convo.End, signal int) Outcome {
	return Outcome{V: 1, SessionID: s.session, Ending: Ending{
		Result: s.text, Stop: end.Stop, ExitCode: exitCode(end, signal), Error: end.Error,
		Usage: s.usage, CostUSD: s.cost, Turns: end.Turns, ToolCalls: end.Calls, Denied: end.Denied, DurationMS: end.TookMS,
	}}
}

// Exit codes; where several apply, the first of 143, 130, 2, 7, 5, 6, 1, 4, 3, 0 holds.
const (
	ExitDone        = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitDenied      = 3
	ExitLimit       = 4
	ExitAuth        = 5
	ExitUnreachable = 6
	ExitConfig      = 7
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// codeOfClass is the exit code of an error class; any other is a failure.
var codeOfClass = map[string]int{
	"auth": ExitAuth, "unreachable": ExitUnreachable, "timeout": ExitUnreachable, "config": ExitConfig,
}

func exitCode(end convo.End, signal int) int {
	switch {
	case signal != 0:
		return signal
	case end.Stop == convo.StopError:
		if code, ok := codeOfClass[end.Error.Class]; ok {
			return code
		}
		return ExitFailure
	case end.Stop == convo.StopCancelled:
		return ExitInterrupted
	case end.Stop == convo.StopLimit:
		return ExitLimit
	case end.Stop != convo.StopDone:
		return ExitFailure // no end at all: the session is gone
	case end.Denied > 0:
		return ExitDenied
	}
	return ExitDone
}

// Fault prints an error that came before any session, in the format of the run.
func Fault(o Options, err convo.Error, code int) int {
	p := o.printer()
	end := convo.End{Stop: convo.StopError, Error: &err}
	out := (&summary{session: o.Session}).outcome(end, 0)
	out.ExitCode = code
	p.event(convo.Of(err.Text, err))
	p.end(out)
	return code
}

func (o Options) printer() printer {
	switch o.Format {
	case JSON:
		return &objectPrinter{out: o.Out}
	case Stream:
		return &linePrinter{out: o.Out, session: o.Session}
	}
	return &textPrinter{o: o}
}

// printer writes one form of output.
type printer interface {
	begin(Options)
	event(convo.Event)
	end(Outcome)
}

// objectPrinter writes one object at the end.
type objectPrinter struct{ out io.Writer }

func (p *objectPrinter) begin(Options)     {}
func (p *objectPrinter) event(convo.Event) {}
func (p *objectPrinter) end(o Outcome)     { writeJSON(p.out, o) }

// writeJSON writes one line. A reader that went away is no reason to fail: the
// session itself is kept.
func writeJSON(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}
