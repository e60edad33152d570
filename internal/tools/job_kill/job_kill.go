// Package job_kill is the tool that ends a background job.
package job_kill

import (
	"context"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Job string `json:"job" doc:"Such as job_1" alias:"id,job_id,bash_id,shell_id"`
}

type output struct {
	Output   string `json:"output"`
	ExitCode *int   `json:"exit_code,omitempty"`
}

// Tool ends a job with all of its processes. A session's own job is nobody
// else's business, so it counts as harmless as reading.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "job_kill",
	Doc:     "End a background job.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		if at.Jobs == nil {
			return tool.Plan{}, tool.Errorf(tool.InvalidParams, "background jobs need a session")
		}
		return tool.Plan{Summary: "end " + in.Job}, nil
	},
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
		job, err := at.Jobs.Kill(in.Job)
		if err != nil {
			return output{}, err
		}
		out := output{Output: job.ID + " has ended"}
		if job.Exit != nil {
			out.ExitCode = &job.Exit.Code
		}
		return out, nil
	},
})

// Summary is that it ended, however it did.
func (o output) Summary() string { return o.Output }

// Aliases are the names under which other agents end background commands.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "KillShell", "KillBash", "kill_job") }
