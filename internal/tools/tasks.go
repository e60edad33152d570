package tools

import (
	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/tasks"
)

// A Task is one step that the model wrote down.
type Task = tasks.Task

// Tasks are the steps of a session, in the order they were written down, for who
// shows them to a person.
func Tasks(at tool.Place) ([]Task, error) { return tasks.List(at) }
