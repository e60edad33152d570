package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// Schema is what --schema prints, in the short form of the seed.
func Schema(s tool.Spec) json.RawMessage {
	raw, err := tool.Encode(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Returns     schema.Object   `json:"returns"`
		Risk        string          `json:"risk,omitempty"`
		Effects     []tool.Effect   `json:"effects,omitempty"`
		Timeout     float64         `json:"timeout_seconds,omitempty"`
	}{s.Name, s.Description, s.Parameters.Flat(), s.Returns, s.Risk.String(), s.Effects, s.Timeout.Seconds()})
	if err != nil {
		panic("encoding the schema of " + s.Name + ": " + err.Error()) // all of it is ours
	}
	return raw
}

// Main is what a tool executable is: --schema prints what the tool is,
// otherwise one call from stdin is answered on stdout. The exit status is 0
// when the tool ran, whatever it reports; 1 when the answer could not be
// written; 2 for wrong usage.
func Main(t tool.Tool, place func() (tool.Place, error), args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 1 && args[0] == "--schema":
		return write(stdout, stderr, Schema(t.Spec()))
	case len(args) > 0:
		fmt.Fprintf(stderr, "%s: usage: --schema, or one JSON object on standard input\n", t.Spec().Name)
		return 2
	}
	raw, err := io.ReadAll(io.LimitReader(stdin, schema.MaxSize+1))
	if err != nil {
		return write(stdout, stderr, Report(tool.Errorf(tool.InvalidParams, "reading the arguments from standard input: %w", err)))
	}
	return write(stdout, stderr, Answer(t, place, raw, stderr))
}

// Answer runs one call and gives the tool's own answer: what ikigai would wrap.
func Answer(t tool.Tool, place func() (tool.Place, error), raw []byte, stderr io.Writer) json.RawMessage {
	at, err := place()
	if err != nil {
		return Report(err)
	}
	ctx := context.Background()
	p, err := t.Prepare(ctx, at, raw)
	if err != nil {
		return Report(err)
	}
	ctx, cancel := context.WithTimeout(ctx, at.Limits.Deadline(t.Spec(), p.Plan))
	defer cancel()
	r := p.Run(ctx, tool.Grant{}, func(chunk string) { io.WriteString(stderr, chunk) })
	if r.Failure != nil {
		return ended(r.Failure)
	}
	return r.Data
}

// ended is the answer of a tool that had to be ended: its error, and what it had
// printed.
func ended(f *tool.Failure) json.RawMessage {
	raw, _ := tool.Encode(struct { // strings always encode
		Error  string    `json:"error"`
		Code   tool.Code `json:"error_code"`
		Stdout string    `json:"stdout,omitempty"`
		Stderr string    `json:"stderr,omitempty"`
	}{f.Message, f.Code, f.Stdout, f.Stderr})
	return raw
}

func write(stdout, stderr io.Writer, raw json.RawMessage) int {
	if _, err := io.WriteString(stdout, strings.TrimSpace(string(raw))+"\n"); err != nil {
		fmt.Fprintf(stderr, "writing the answer: %v\n", err)
		return 1
	}
	return 0
}
