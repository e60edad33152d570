// Package toolkit makes tools out of Go functions. A tool's author writes a
// struct for the arguments, one for the answer, and a function; the schema, the
// strict reading of arguments, the encoding of answers and errors, and the
// protocol of an executable tool are the same for all and live here. So both
// roads, in process and as a program, go through the same code.
package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// A Def is a whole tool. The schema comes from In's fields and their tags.
type Def[In, Out any] struct {
	Name    string
	Doc     string // what the model reads; short, it is sent with every request
	Risk    tool.Risk
	Effects []tool.Effect
	Timeout time.Duration

	// Plan says what a call would do. It changes nothing, and what is wrong with
	// the world is left for Run to report. Nil means an empty plan.
	Plan func(ctx context.Context, at tool.Place, in In) (tool.Plan, error)

	// Run does it. A *tool.Error is the tool's own report; a *tool.Failure ends
	// the call as the wrapper would.
	Run func(ctx context.Context, at tool.Place, g tool.Grant, in In, p tool.Progress) (Out, error)
}

// New makes a tool. Nothing costly happens here: the schema is derived on first use.
func New[In, Out any](d Def[In, Out]) tool.Tool {
	return &made[In, Out]{def: d, params: schema.Of[In](), returns: schema.Of[Out]()}
}

type made[In, Out any] struct {
	def     Def[In, Out]
	params  schema.Object
	returns schema.Object
}

func (m *made[In, Out]) Spec() tool.Spec {
	return tool.Spec{
		Name: m.def.Name, Description: m.def.Doc, Parameters: m.params, Returns: m.returns,
		Risk: m.def.Risk, Effects: m.def.Effects, Timeout: m.def.Timeout, Origin: tool.BuiltIn,
	}
}

func (m *made[In, Out]) Prepare(ctx context.Context, at tool.Place, raw json.RawMessage) (tool.Prepared, error) {
	args, err := Read(m.Spec(), raw)
	if err != nil {
		return tool.Prepared{}, err
	}
	var in In
	if err := json.Unmarshal(args.Value, &in); err != nil {
		return tool.Prepared{}, tool.Errorf(tool.InvalidParams, "reading the arguments of %s: %w", m.def.Name, err)
	}
	var plan tool.Plan
	if m.def.Plan != nil {
		if plan, err = m.def.Plan(ctx, at, in); err != nil {
			return tool.Prepared{}, err
		}
	}
	if plan.Summary == "" {
		plan.Summary = tool.Call{Name: m.def.Name, Args: args.Value}.Summary()
	}
	plan.Notes = append(plan.Notes, notes(args)...)
	run := func(ctx context.Context, g tool.Grant, p tool.Progress) tool.Result {
		if p == nil {
			p = func(string) {}
		}
		out, err := m.def.Run(ctx, at, g, in, p)
		return result(ctx, m.def.Name, out, err)
	}
	return tool.Prepared{Plan: plan, Args: args.Value, Run: run}, nil
}

// Read reads the arguments of a call. A tool that executes refuses what it does
// not know; others drop it and say so.
func Read(s tool.Spec, raw json.RawMessage) (schema.Args, error) {
	unknown := schema.DropUnknown
	if s.Has(tool.Exec) || len(s.Effects) == 0 {
		unknown = schema.RefuseUnknown
	}
	args, err := s.Parameters.Read(raw, unknown)
	if err != nil {
		return args, &tool.Error{Code: tool.InvalidParams, Text: err.Error(), Err: err}
	}
	return args, nil
}

func notes(a schema.Args) []string {
	out := a.Repairs
	if len(a.Dropped) > 0 {
		out = append(out, "unknown arguments dropped: "+strings.Join(a.Dropped, ", "))
	}
	return out
}

// result encodes what a tool gave back.
func result(ctx context.Context, name string, out any, err error) tool.Result {
	var failure *tool.Failure
	switch {
	case err == nil:
		return encoded(out)
	case errors.As(err, &failure):
		return tool.Result{Summary: failure.Message, Failure: failure}
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return tool.Fail(tool.Call{Name: name}, tool.ToolTimeout, "Tool '%s' timed out", name)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return tool.Fail(tool.Call{Name: name}, tool.CallCancelled, "Tool '%s' was cancelled", name)
	}
	return tool.Result{Summary: err.Error(), Data: Report(err)}
}

// Report is a tool's own error as its answer: {"error","error_code"}.
func Report(err error) json.RawMessage {
	raw, _ := tool.Encode(struct { // two strings always encode
		Error string    `json:"error"`
		Code  tool.Code `json:"error_code"`
	}{err.Error(), tool.CodeOf(err, "INTERNAL_ERROR")})
	return raw
}

func encoded(out any) tool.Result {
	raw, err := tool.Encode(out)
	if err != nil {
		return tool.Result{Summary: err.Error(), Data: Report(fmt.Errorf("encoding the answer: %w", err))}
	}
	r := tool.Result{Data: raw, Summary: summary(out, raw)}
	if t, ok := out.(interface{ Cut() bool }); ok {
		r.Truncated = t.Cut()
	}
	return r
}

// summary is the one line a person reads: the answer's own words, or its first line.
func summary(out any, raw json.RawMessage) string {
	if s, ok := out.(interface{ Summary() string }); ok {
		return s.Summary()
	}
	return Summarize(raw)
}

// Summarize puts an answer that we know nothing about into one line, by its
// shape: an error, a count, an exit code, or the first line of its output.
func Summarize(raw json.RawMessage) string {
	var shape struct {
		Error    *string `json:"error"`
		Output   *string `json:"output"`
		Count    *int    `json:"count"`
		ExitCode *int    `json:"exit_code"`
	}
	if json.Unmarshal(raw, &shape) != nil {
		return FirstLine(string(raw))
	}
	switch {
	case shape.Error != nil:
		return FirstLine(*shape.Error)
	case shape.ExitCode != nil && *shape.ExitCode != 0:
		return fmt.Sprintf("exit %d", *shape.ExitCode)
	case shape.Count != nil:
		return fmt.Sprintf("%d found", *shape.Count)
	case shape.Output != nil:
		return FirstLine(*shape.Output)
	}
	return FirstLine(string(raw))
}

// FirstLine is the first line of text, cut to what fits on a screen, and how
// many more there are.
func FirstLine(text string) string {
	const most = 100
	line, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	if more {
		line += fmt.Sprintf(" (+%d lines)", strings.Count(rest, "\n")+1)
	}
	return line
}
