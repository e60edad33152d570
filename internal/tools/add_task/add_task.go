// Package add_task is the tool that writes down a step to do.
package add_task

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/tasks"
)

type input struct {
	Content string `json:"content" alias:"task,description,text,title"`
}

type output struct {
	Output string `json:"output" doc:"Task ID"`
}

// Tool adds a task to the list of the session.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "add_task",
	Doc:     "Add a new task to track progress.",
	Risk:    tool.Safe,
	Effects: []tool.Effect{tool.Write},
	Plan:    tasks.Plan[input],
	Run: func(_ context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (out output, err error) {
		if strings.TrimSpace(in.Content) == "" {
			return out, tool.Errorf(tool.InvalidParams, "content is empty")
		}
		err = tasks.Change(at, func(all *[]tasks.Task) error {
			out.Output = fmt.Sprintf("task_%d", len(*all)+1)
			*all = append(*all, tasks.Task{ID: out.Output, Status: tasks.Pending, Content: in.Content})
			return nil
		})
		return out, err
	},
})

// Aliases are the names under which other agents add tasks.
func Aliases() []toolkit.Alias { return toolkit.Also(Tool, "create_task", "add_todo", "todo_add") }
