package agent_test

import (
	"strings"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
)

func TestTheModelHearsOfWhatWasUndone(t *testing.T) {
	undo := func(redo bool, turns ...int) convo.Event {
		return convo.Of("", convo.Undo{Turns: turns, Redo: redo, Files: []string{"a.go", "b.go"}})
	}
	tests := []struct {
		name  string
		trail []convo.Event
		want  []string // remarks, by how they begin
	}{
		{"nothing", nil, nil},
		{"a turn", []convo.Event{undo(false, 3)}, []string{"The person took back what turns 3 had done to files. These are as they were before: a.go, b.go."}},
		{"a turn, and brought back", []convo.Event{undo(false, 3), undo(true, 3)}, nil},
		{"three times the same", []convo.Event{undo(false, 3), undo(true, 3), undo(false, 3)}, []string{"The person took back what turns 3"}},
		{"one after another", []convo.Event{undo(false, 3), undo(false, 2)}, []string{"The person took back what turns 3", "The person took back what turns 2"}},
		{"what the model heard of before", []convo.Event{undo(false, 3), {Kind: convo.KindUser, Text: "x"}, {Kind: convo.KindAssistant, Text: "y", Reply: "t1"}, undo(true, 3)}, []string{"The person brought back"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stored := append([]convo.Event{{Kind: convo.KindUser, Text: "do it"}, {Kind: convo.KindAssistant, Text: "done", Reply: "t0"}}, tt.trail...)
			for i := range stored {
				stored[i].Seq, stored[i].At = int64(i+1), time.Now()
			}
			r := open(t, setup{script: []fake.Reply{{Text: "I see"}, {Text: "still"}}, stored: stored})
			r.Send(agent.Prompt{Text: "go on"})
			r.end(1)
			r.Send(agent.Prompt{Text: "and again"})
			r.end(2)
			var got []string
			for _, e := range r.events() {
				if e.Kind == convo.KindUser && strings.HasPrefix(e.Text, "The person") {
					got = append(got, e.Text)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("%q", got)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) || !r.requested(want) {
					t.Errorf("%q", got[i])
				}
			}
		})
	}
}
