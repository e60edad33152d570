// Package tasks is the list of tasks of a session, which three tools share.
package tasks

import (
	"context"
	"path/filepath"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// file is the name of the list in the session's folder.
const file = "tasks"

// A Task is one step that was written down.
type Task struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Content string `json:"content"`

	Begun time.Time     `json:"begun,omitzero"`  // when the work that goes on began
	Spent time.Duration `json:"spent,omitempty"` // on work that was interrupted or is over
}

// The statuses of a task.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// Become changes the status and keeps the time.
func (t *Task) Become(status string, now time.Time) {
	t.Spent, t.Begun, t.Status = t.Worked(now), time.Time{}, status
	if status == InProgress {
		t.Begun = now
	}
}

// Worked is how long the task was at work until now.
func (t Task) Worked(now time.Time) time.Duration {
	if t.Begun.IsZero() {
		return t.Spent
	}
	return t.Spent + now.Sub(t.Begun)
}

// Done reports whether nothing is left to do.
func (t Task) Done() bool { return t.Status == Completed }

// Change changes the list. Calls at the same time take turns.
func Change(at tool.Place, change func(*[]Task) error) error {
	return toolkit.Remember(at, file, change)
}

// List gives the tasks in the order they were added.
func List(at tool.Place) ([]Task, error) { return toolkit.Recall[[]Task](at, file) }

// Plan says that the session's own file is written and nothing of the workspace.
func Plan[In any](_ context.Context, at tool.Place, _ In) (tool.Plan, error) {
	if at.Dir == "" {
		return tool.Plan{}, nil
	}
	return tool.Plan{Writes: []string{filepath.Join(at.Dir, file+".json")}}, nil
}
