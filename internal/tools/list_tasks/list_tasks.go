// Package list_tasks is the tool that shows the steps to do.
package list_tasks

import (
	"context"
	"fmt"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tasks"
)

type output struct {
	Output string `json:"output" doc:"JSON array of id, status, content"`
	Count  int    `json:"count"`
}

// A step is what the model sees of a task.
type step struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Content string `json:"content"`
}

// Tool lists the tasks of the session.
var Tool = toolkit.New(toolkit.Def[struct{}, output]{
	Name:    "list_tasks",
	Doc:     "View all current tasks with their status.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Read},
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, _ struct{}, _ tool.Progress) (output, error) {
		all, err := tasks.List(at)
		if err != nil {
			return output{}, err
		}
		steps := make([]step, len(all))
		for i, t := range all {
			steps[i] = step{t.ID, t.Status, t.Content}
		}
		raw, err := tool.Encode(steps)
		return output{string(raw), len(all)}, err
	},
})

// Summary says how many there are.
func (o output) Summary() string { return fmt.Sprintf("%d tasks", o.Count) }

// Aliases are the names under which other agents list tasks.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "get_tasks", "list_todos", "TodoRead") }
