package app

import (
	"context"
	"encoding/json"
	"errors"

	"ikigai/internal/command"
	"ikigai/internal/tool"
)

// taskList are the steps of the session's list, read by the tool that lists them.
func (h *house) taskList(ctx context.Context, tools *tool.Set) ([]command.Task, error) {
	one, ok := tools.Lookup("list_tasks")
	if !ok {
		return nil, errors.New("this toolset has no task list")
	}
	p, err := one.Prepare(ctx, h.place(), json.RawMessage("{}"))
	if err != nil {
		return nil, err
	}
	var answer struct{ Output string }
	var list []command.Task
	r := p.Run(ctx, tool.Grant{}, func(string) {})
	return list, errors.Join(json.Unmarshal(r.Data, &answer), json.Unmarshal([]byte(answer.Output), &list))
}

// openTasks are the steps that are not done: no compaction leaves them out.
func (h *house) openTasks() []string {
	list, err := h.taskList(context.Background(), h.tools.Current())
	if err != nil {
		return nil // what the list says is in the conversation as well
	}
	var open []string
	for _, t := range list {
		if t.Status != "completed" && t.Status != "done" {
			open = append(open, t.ID+" "+t.Content)
		}
	}
	return open
}
