package command

import (
	"context"
	"fmt"
	"strings"

	"ikigai/internal/clean"
)

// A Task is one step of the session's list.
type Task struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Content string `json:"content"`
}

var tasks = Command{
	Name: "tasks", Help: "Show the task list",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Tasks == nil {
			return "", ErrUnavailable
		}
		list, err := env.Tasks(ctx)
		if err != nil {
			return "", fmt.Errorf("reading the task list: %w", err)
		}
		if len(list) == 0 {
			return "No tasks.", nil
		}
		return drawTasks(list), nil
	},
}

// taskMarks are the signs of a task that is done, at work, and to do.
var taskMarks = map[string]string{"completed": "✓", "done": "✓", "in_progress": "●"}

func drawTasks(list []Task) string {
	done := 0
	var rows strings.Builder
	for _, t := range list {
		mark := taskMarks[t.Status]
		switch mark {
		case "✓":
			done++
		case "":
			mark = "○"
		}
		fmt.Fprintf(&rows, "\n %s %s  %s", mark, clean.Line(t.ID), clean.Line(t.Content))
	}
	bar := strings.Repeat("▓", done*10/len(list)) + strings.Repeat("░", 10-done*10/len(list))
	return fmt.Sprintf("Tasks  %d of %d done  %s%s", done, len(list), bar, rows.String())
}
