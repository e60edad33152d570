// Package bash is the tool that runs a shell command.
package bash

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Command    string `json:"command" doc:"Shell command" maxlen:"32768" format:"command" alias:"cmd"`
	Timeout    int    `json:"timeout_seconds,omitempty" doc:"Default 30" min:"1" max:"300" alias:"timeout"`
	Background bool   `json:"background,omitempty" doc:"Start as a job and return at once"`
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
	Doc:     "Run a bash command in the workspace. Returns its output and exit code.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Exec},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	if strings.TrimSpace(in.Command) == "" {
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "command is empty")
	}
	if in.Background && at.Jobs == nil {
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "background jobs need a session; run the command without background")
	}
	return tool.Plan{Summary: in.Command, Command: in.Command, Timeout: time.Duration(in.Timeout) * time.Second}, nil
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, p tool.Progress) (output, error) {
	c := tool.Command{
		Argv: []string{shell(), "-c", in.Command}, Dir: at.Files.Dir(), Env: tool.Environment{Inherit: true},
		Keep: at.Limits.Output, Merge: !in.Separate, Output: func(chunk []byte, _ bool) { p(string(chunk)) },
	}
	if in.Background {
		return background(at, c, g)
	}
	exit, err := at.Start(ctx, c, g)
	if err != nil {
		return output{}, tool.Errorf("EXEC_FAILED", "starting the shell: %w", err)
	}
	if f := failure(ctx, exit); f != nil {
		return output{}, f
	}
	return answer(at, in, exit), nil
}

func background(at tool.Place, c tool.Command, g tool.Grant) (output, error) {
	c.Output = nil
	job, err := at.Jobs.Start(c, g)
	if err != nil {
		return output{}, tool.Errorf("EXEC_FAILED", "starting a job: %w", err)
	}
	return output{Shown: toolkit.Shown{Output: fmt.Sprintf("started as %s; read it with job_output, end it with job_kill", job.ID)}, Job: job.ID}, nil
}

// failure is the end of a command that we ended. What it printed is kept.
func failure(ctx context.Context, e tool.Exit) *tool.Failure {
	f := &tool.Failure{Stdout: string(e.Stdout), Stderr: string(e.Stderr)}
	switch e.How {
	case tool.TimedOut:
		f.Code, f.Message = tool.ToolTimeout, fmt.Sprintf("Tool 'bash' timed out after %s", limit(ctx, e))
	case tool.Cancelled:
		f.Code, f.Message = tool.CallCancelled, "the command was cancelled"
	default:
		return nil
	}
	return f
}

// limit is how long the command was allowed to take, in whole seconds.
func limit(_ context.Context, e tool.Exit) time.Duration { return e.Took.Round(time.Second) }

func answer(at tool.Place, in input, e tool.Exit) output {
	text := string(e.Stdout)
	out := output{ExitCode: e.Code, Sandbox: e.Refused}
	if in.Separate {
		stdout, stderr := string(e.Stdout), string(e.Stderr)
		out.Stdout, out.Stderr = &stdout, &stderr
		text += stderr
	}
	out.Shown = toolkit.Show(at, strings.TrimSuffix(text, "\n"))
	out.Truncated = out.Truncated || e.StdoutTotal > int64(len(e.Stdout))
	return out
}

// Summary is the exit code when it is bad, else the first line.
func (o output) Summary() string {
	first := toolkit.FirstLine(o.Output)
	if o.ExitCode == 0 {
		return first
	}
	return strings.TrimSpace(fmt.Sprintf("exit %d  %s", o.ExitCode, first))
}

// shell is bash where there is one; a small container may have sh alone.
func shell() string {
	if _, err := exec.LookPath("bash"); err != nil && errors.Is(err, exec.ErrNotFound) {
		return "sh"
	}
	return "bash"
}
