package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/tool"
)

// atWork are jobs of which one runs, or none.
type atWork struct {
	tool.Jobs
	running bool
}

func (w atWork) List() []tool.Job { return []tool.Job{{ID: "job_1", Running: w.running}} }

func TestAModelThatRepeatsItselfIsToldAndThenStopped(t *testing.T) {
	again := func(names ...string) (script []fake.Reply) {
		for i := range 16 {
			script = append(script, calls(call(fmt.Sprint("c", i), names[i%len(names)], "x")))
		}
		return append(script, fake.Reply{Text: "done"})
	}
	same := func(context.Context) (string, error) { return "as before", nil }
	count := 0
	other := func(context.Context) (string, error) { count++; return fmt.Sprint(count), nil }
	steps := 0
	half := func(context.Context) (string, error) { steps++; return fmt.Sprint(steps / 2), nil }
	tests := []struct {
		name   string
		script []fake.Reply
		mark   agent.Mark
		jobs   tool.Jobs
		off    bool
		stops  int // calls until the turn is stopped; 0 when it is not
	}{
		{name: "reading", script: again("read"), stops: 6},
		{name: "reading two things in turn", script: again("read", "look"), stops: 12},
		{name: "writing what is there already", script: again("write"), mark: same, stops: 6},
		{name: "writing, and nobody can tell what changed", script: again("write")},
		{name: "writing, and looking fails", script: again("write"), mark: func(context.Context) (string, error) { return "", errors.New("gone") }},
		{name: "writing something else each time", script: again("write"), mark: other},
		{name: "writing in every other call", script: again("write", "read"), mark: half},
		{name: "waiting for a job", script: again("read"), jobs: atWork{running: true}},
		{name: "reading after a job has ended", script: again("read"), jobs: atWork{}, stops: 6},
		{name: "switched off", script: again("read"), off: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t, setup{
				script: tt.script, mark: tt.mark,
				tools: []tool.Tool{echo("read", tool.Read), echo("look", tool.Read), echo("write", tool.Write)},
				more: func(o *agent.Options) {
					o.MaxLoop, o.Place.Jobs = 6, tt.jobs
					if tt.off {
						o.MaxLoop = 0
					}
				},
			})
			r.Send(agent.Prompt{Text: "go"})
			end := r.end(1)
			if tt.stops == 0 {
				if end.Stop != convo.StopDone || end.Calls != 16 {
					t.Errorf("%+v", end)
				}
				return
			}
			if end.Stop != convo.StopLimit || end.Limit.Which != "loop" || end.Limit.Value != 6 || end.Calls != tt.stops {
				t.Errorf("%+v, %+v", end, end.Limit)
			}
			if !r.requested("Nothing changes: try something else") {
				t.Error("the model was not told")
			}
			r.Send(agent.Prompt{Text: "try once more"}) // the person's word begins anew
			r.wait("another call", func() bool { return strings.Count(r.story(), "tool_result") > tt.stops })
		})
	}
}
