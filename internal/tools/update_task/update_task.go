// Package update_task is the tool that says how far a step has come.
package update_task

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tasks"
)

type input struct {
	ID     string `json:"task_id" alias:"id,task"`
	Status string `json:"status" enum:"pending,in_progress,completed"`
}

type output struct {
	Output string `json:"output"`
}

// Tool changes the status of a task.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "update_task",
	Doc:     "Update task status.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Write},
	Plan:    tasks.Plan[input],
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
		err := tasks.Change(at, func(all *[]tasks.Task) error { return in.update(*all) })
		return output{fmt.Sprintf("Task %s is now %s", in.ID, in.Status)}, err
	},
})

func (in input) update(all []tasks.Task) error {
	var known []string
	for i, t := range all {
		if t.ID == in.ID {
			all[i].Become(in.Status, time.Now())
			return nil
		}
		known = append(known, t.ID)
	}
	if len(known) == 0 {
		return tool.Errorf(tool.Missing, "Task not found: %s; there are no tasks", in.ID)
	}
	return tool.Errorf(tool.Missing, "Task not found: %s; there are %s", in.ID, strings.Join(known, ", "))
}

// Aliases are the names under which other agents update tasks.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "set_task_status", "update_todo") }
