package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/view"
)

// A Task is one step of the session's list.
type Task struct {
	ID      string
	Status  string
	Content string
	For     time.Duration // how long it was worked on; zero when that is not known
}

// A Job is a program that runs in the background.
type Job struct {
	ID, Command string
	For         time.Duration // since it was started
}

var tasks = Command{
	Name: "tasks", Help: "Show the task list and what runs in the background",
	Run: func(ctx context.Context, env Env, _ string) (string, error) {
		if env.Tasks == nil {
			return "", ErrUnavailable
		}
		list, err := env.Tasks(ctx)
		if err != nil {
			return "", fmt.Errorf("reading the task list: %w", err)
		}
		text := "No tasks."
		if len(list) > 0 {
			text = drawTasks(list)
		}
		return text + drawJobs(env), nil
	},
}

// drawJobs lists what runs in the background, if anything does.
func drawJobs(env Env) string {
	if env.Jobs == nil {
		return ""
	}
	var b strings.Builder
	for _, j := range env.Jobs() {
		fmt.Fprintf(&b, "\n also running: %s  %s  %s", clean.Line(j.ID), clean.Line(j.Command), view.Duration(j.For))
	}
	return b.String()
}

// taskMarks are the signs of a task that is done, at work, and to do.
var taskMarks = map[string]string{"completed": "✓", "in_progress": "●"}

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
		if t.For > 0 {
			rows.WriteString("  " + view.Duration(t.For))
		}
	}
	bar := strings.Repeat("▓", done*10/len(list)) + strings.Repeat("░", 10-done*10/len(list))
	return fmt.Sprintf("Tasks  %d of %d done  %s%s", done, len(list), bar, rows.String())
}
