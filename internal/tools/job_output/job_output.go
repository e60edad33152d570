// Package job_output is the tool that reads what a background job printed.
package job_output

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type input struct {
	Job string `json:"job" doc:"Such as job_1" alias:"id,job_id,bash_id,shell_id"`
}

type output struct {
	toolkit.Shown
	Running  bool `json:"running"`
	ExitCode *int `json:"exit_code,omitempty"`
}

// Tool gives the output of a job that is new since it was last read.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "job_output",
	Doc:     "New output of a background job.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
		job, err := at.Jobs.Output(in.Job)
		if err != nil {
			return output{}, err
		}
		return answer(at, job), nil
	},
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	if at.Jobs == nil {
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "background jobs need a session")
	}
	return tool.Plan{Summary: "read " + in.Job}, nil
}

func answer(at tool.Place, job tool.Job) output {
	text := strings.TrimSuffix(job.Text, "\n")
	if job.Dropped > 0 {
		text = fmt.Sprintf("[... %d bytes were not kept]\n", job.Dropped) + text
	}
	out := output{Shown: toolkit.Show(at, clean.Model(text)), Running: job.Running}
	if job.Exit != nil {
		out.ExitCode = &job.Exit.Code
	}
	return out
}

// Summary says how the job stands.
func (o output) Summary() string {
	if o.ExitCode != nil {
		return strings.TrimSpace(fmt.Sprintf("ended with exit %d  %s", *o.ExitCode, toolkit.FirstLine(o.Output)))
	}
	return strings.TrimSpace("running  " + toolkit.FirstLine(o.Output))
}

// Aliases are the names under which other agents read background output.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "BashOutput", "read_background_output") }
