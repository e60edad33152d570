package tasks

import (
	"testing"
	"time"
)

func TestTheTimeOfATaskIsThatOfItsWork(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	task := Task{Status: Pending}
	for _, step := range []struct {
		status string
		at     int
		worked int // minutes, asked for one minute later
	}{
		{InProgress, 10, 1},
		{InProgress, 15, 6}, // told again, nothing is lost
		{Pending, 20, 10},   // laid aside
		{InProgress, 50, 11},
		{Completed, 55, 15},
	} {
		task.Become(step.status, at(step.at))
		if got, want := task.Worked(at(step.at+1)), time.Duration(step.worked)*time.Minute; got != want || task.Status != step.status {
			t.Errorf("%s at %d: worked %v, want %v", step.status, step.at, got, want)
		}
		if task.Done() != (step.status == Completed) {
			t.Errorf("%s: done is %v", step.status, task.Done())
		}
	}
}
