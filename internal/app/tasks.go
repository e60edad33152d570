package app

import (
	"context"
	"time"

	"ikigai/internal/command"
	"ikigai/internal/tools"
)

// tasks are the steps of the session's list, with the time each took.
func (h *house) tasks(context.Context) ([]command.Task, error) {
	all, err := tools.Tasks(h.place())
	if err != nil {
		return nil, err
	}
	list, now := make([]command.Task, len(all)), time.Now()
	for i, t := range all {
		list[i] = command.Task{ID: t.ID, Status: t.Status, Content: t.Content, For: t.Worked(now)}
	}
	return list, nil
}

// openTasks are the steps that are not done: no compaction leaves them out.
func (h *house) openTasks() []string {
	all, err := tools.Tasks(h.place())
	if err != nil {
		return nil // what the list says is in the conversation as well
	}
	var open []string
	for _, t := range all {
		if !t.Done() {
			open = append(open, t.ID+" "+t.Content)
		}
	}
	return open
}
