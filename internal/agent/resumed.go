package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/window"
)

// jobsGone begins what the model is told of jobs that ended with an earlier run.
const jobsGone = "Background jobs that were started before ended with that run of the program: "

// lostJobs are the background jobs of earlier runs that the model believes to be
// at work: started, not seen to end, and not told of yet.
func lostJobs(stored []convo.Event) []string {
	var jobs []string
	about := map[string]string{} // the job that a call is about
	for _, e := range stored {
		switch b := e.Body.(type) {
		case convo.ToolCall:
			if id := jobIn(b.Args).Job; id != "" {
				about[b.ID] = id
			}
		case convo.ToolResult:
			r := jobIn(b.Data)
			if r.Job != "" {
				jobs = append(jobs, r.Job)
			}
			if r.ExitCode != nil {
				jobs = without(jobs, about[b.CallID])
			}
		case convo.Unknown:
			if strings.HasPrefix(e.Text, jobsGone) && !window.Said(e) {
				jobs = nil
			}
		}
	}
	return jobs
}

func without(jobs []string, id string) []string {
	return slices.DeleteFunc(jobs, func(j string) bool { return j == id })
}

type jobFields struct {
	Job      string `json:"job"`
	ExitCode *int   `json:"exit_code"`
}

// jobIn reads what arguments or a result say of a job. Nearly all say nothing, and
// are not read.
func jobIn(raw []byte) (f jobFields) {
	if !bytes.Contains(raw, []byte(`"job"`)) && !bytes.Contains(raw, []byte(`"exit_code"`)) {
		return f
	}
	if json.Unmarshal(raw, &f) != nil {
		return jobFields{}
	}
	return f
}

// tellOfJobs tells the model once that jobs of an earlier run are gone: a new one
// may get the same name.
func (a *Agent) tellOfJobs() {
	if len(a.lost) > 0 {
		a.emit(window.Remark(jobsGone + strings.Join(a.lost, ", ") + "."))
		a.lost = nil
	}
}
