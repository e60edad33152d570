// Package bash is the tool that runs a shell command.
package bash

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// maxCommand is the longest command line, in bytes.
const maxCommand = 32 << 10

type input struct {
	Command    string `json:"command" doc:"Shell command" format:"command" alias:"cmd"`
	Timeout    int    `json:"timeout_seconds,omitempty" doc:"Default 30" min:"1" max:"300" alias:"timeout"`
	Background bool   `json:"background,omitempty" doc:"Start as a job, return at once"`
	Separate   bool   `json:"separate,omitempty" doc:"Also give stdout and stderr apart"`
}

type output struct {
	toolkit.Shown
	ExitCode int      `json:"exit_code"`
	Stdout   *string  `json:"stdout,omitempty"`
	Stderr   *string  `json:"stderr,omitempty"`
	Job      string   `json:"job,omitempty"`
	Sandbox  []string `json:"sandbox,omitempty" doc:"What the sandbox refused"`
}

// Tool runs a shell command in the working folder.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "bash",
	Doc:     "Run a bash command in the workspace.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Exec},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "command is empty")
	case len(in.Command) > maxCommand:
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "command has %d bytes, at most %d are taken; put it into a file and run that", len(in.Command), maxCommand)
	case strings.ContainsRune(in.Command, 0):
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "command has a NUL character in it")
	case in.Background && at.Jobs == nil:
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "background jobs need a session; run the command without background")
	}
	return tool.Plan{Summary: in.Command, Command: in.Command, Timeout: in.timeout()}, nil
}

func (in input) timeout() time.Duration { return time.Duration(in.Timeout) * time.Second }

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, p tool.Progress) (output, error) {
	c := command(at, in.Command, p)
	c.Merge = !in.Separate
	if in.Background {
		c.Output = nil
		return background(at, c, g)
	}
	both := &mixed{keep: toolkit.MaxOutput(at.Limits), next: c.Output}
	if in.Separate {
		c.Output = both.add
	}
	exit, err := start(ctx, at, c, g, in.timeout())
	if err != nil {
		return output{}, err
	}
	if !in.Separate {
		return answer(at, exit), nil
	}
	return apart(at, exit, both.text.String()), nil
}

// command is the shell with a line to run.
func command(at tool.Place, line string, p tool.Progress) tool.Command {
	return tool.Command{
		Argv: []string{shell(), "-c", line}, Dir: at.Files.Dir(), Env: tool.Environment{Inherit: true},
		Keep: at.Limits.Output, Output: func(chunk []byte, _ bool) { p(string(chunk)) },
	}
}

// shell is bash where there is one; a small container may have sh alone.
func shell() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "sh"
	}
	return "bash"
}

// start runs a command to its end. One that we had to end is a failure that keeps
// what was printed until then.
func start(ctx context.Context, at tool.Place, c tool.Command, g tool.Grant, asked time.Duration) (tool.Exit, error) {
	exit, err := at.Start(ctx, c, g)
	if err != nil {
		return exit, tool.Errorf("EXEC_FAILED", "starting the shell: %w", err)
	}
	f := &tool.Failure{Stdout: toolkit.Show(at, text(exit.Stdout)).Output, Stderr: toolkit.Show(at, text(exit.Stderr)).Output}
	switch exit.How {
	case tool.TimedOut:
		f.Code = tool.ToolTimeout
		f.Message = fmt.Sprintf("Tool 'bash' timed out after %s", at.Limits.Deadline(tool.Spec{}, tool.Plan{Timeout: asked}))
		return exit, f
	case tool.Cancelled:
		f.Code, f.Message = tool.CallCancelled, "the command was cancelled"
		return exit, f
	}
	return exit, nil
}

func background(at tool.Place, c tool.Command, g tool.Grant) (output, error) {
	job, err := at.Jobs.Start(c, g)
	if err != nil {
		return output{}, tool.Errorf(tool.CodeOf(err, "EXEC_FAILED"), "starting a job: %w", err)
	}
	said := fmt.Sprintf("started as %s: its output is read and it is ended by that name", job.ID)
	return output{Shown: toolkit.Shown{Output: said}, Job: job.ID}, nil
}

func answer(at tool.Place, e tool.Exit) output {
	out := output{Shown: toolkit.Show(at, text(e.Stdout)), ExitCode: e.Code, Sandbox: e.Refused}
	out.count(e.StdoutTotal, len(e.Stdout))
	return out
}

// apart is the answer with both streams by themselves, and as they came.
func apart(at tool.Place, e tool.Exit, both string) output {
	stdout := toolkit.ShowPart(at, text(e.Stdout), 3)
	stderr := toolkit.ShowPart(at, text(e.Stderr), 3)
	out := output{Shown: toolkit.ShowPart(at, text([]byte(both)), 3), ExitCode: e.Code, Sandbox: e.Refused}
	out.Stdout, out.Stderr = &stdout.Output, &stderr.Output
	out.count(e.StdoutTotal+e.StderrTotal, len(e.Stdout)+len(e.Stderr))
	return out
}

// count tells of output that was cut before we saw it.
func (o *output) count(total int64, kept int) {
	if total > int64(kept) {
		o.Truncated, o.TotalBytes = true, total
	}
}

// text is what a program printed, fit for a model, without the last line end.
func text(printed []byte) string {
	return clean.Model(strings.TrimSuffix(string(printed), "\n"))
}

// mixed collects both streams as they come, up to a limit.
type mixed struct {
	keep int
	text strings.Builder
	next func([]byte, bool)
}

func (m *mixed) add(chunk []byte, stderr bool) {
	m.text.Write(chunk[:max(0, min(len(chunk), m.keep-m.text.Len()))])
	m.next(chunk, stderr)
}

// Summary is the exit code when it is bad, else the first line.
func (o output) Summary() string {
	first := toolkit.FirstLine(o.Output)
	if o.ExitCode == 0 {
		return first
	}
	return strings.TrimSpace(fmt.Sprintf("exit %d  %s", o.ExitCode, first))
}
