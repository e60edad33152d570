package bash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ikigai/internal/jobs"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
	"ikigai/internal/tools/file_read"
	"ikigai/internal/tools/internal/stage"
	"ikigai/internal/tools/job_kill"
	"ikigai/internal/tools/job_output"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

func world(t *testing.T) *stage.Stage {
	t.Helper()
	s := stage.New(t, nil)
	plain, err := sandbox.New(sandbox.Options{Mode: sandbox.Off, Roots: []string{s.Workspace}, Temp: os.TempDir(), Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	s.Start = plain.Start
	return s
}

func answerOf(t *testing.T, r tool.Result) output {
	t.Helper()
	var o output
	if err := json.Unmarshal(r.Data, &o); err != nil || r.Failure != nil {
		t.Fatalf("%s", r.Envelope())
	}
	return o
}

func TestLongOutputIsSpilledToWhereFileReadFindsIt(t *testing.T) {
	s := world(t)
	r := s.Call(Tool, `{"command":"seq 1 20000"}`)
	o := answerOf(t, r)
	if !o.Truncated || !r.Truncated || o.TotalBytes != 108893 || !strings.HasPrefix(o.Output, "1\n2\n") || !strings.HasSuffix(o.Output, "\n20000") {
		t.Errorf("%d bytes, %.60q", o.TotalBytes, o.Output)
	}
	if !strings.Contains(o.Output, "whole output in "+o.FullOutput+": file_read with offset and limit]") {
		t.Errorf("the way to the rest is not told")
	}
	if got := s.Output(file_read.Tool, fmt.Sprintf(`{"path":%q,"offset":12345,"limit":2}`, o.FullOutput)); got != "12345\n12346\n" {
		t.Errorf("%q", got)
	}
}

func TestOutputBeyondTheLimitIsCutAndCounted(t *testing.T) {
	s := world(t)
	s.Limits.Output = 64 << 10
	o := answerOf(t, s.Call(Tool, `{"command":"seq 1 200000"}`))
	if !o.Truncated || o.TotalBytes != 1288895 {
		t.Errorf("%d bytes in all", o.TotalBytes)
	}
	info, err := os.Stat(o.FullOutput)
	if err != nil || info.Size() > 65<<10 {
		t.Errorf("%v %v", info, err)
	}
}

func TestSeparateStreamsShareTheRoom(t *testing.T) {
	s := world(t)
	o := answerOf(t, s.Call(Tool, `{"command":"seq 1 50000; seq 1 50000 >&2","separate":true}`))
	if total := len(o.Output) + len(*o.Stdout) + len(*o.Stderr); total > 52<<10 || !o.Truncated {
		t.Errorf("%d bytes are shown", total)
	}
}

func TestATimeoutKeepsWhatWasPrinted(t *testing.T) {
	s := world(t)
	s.Limits.Timeout = 300 * time.Millisecond
	r := s.Call(Tool, `{"command":"echo early; echo trouble >&2; sleep 60"}`)
	if r.Code() != tool.ToolTimeout || r.Failure.Stdout != "early\ntrouble" || r.Failure.ExitCode != nil {
		t.Errorf("%s", r.Envelope())
	}
	if r := s.Call(Tool, `{"command":"sleep 60","timeout_seconds":1}`); r.Failure == nil || r.Failure.Message != "Tool 'bash' timed out after 1s" {
		t.Errorf("%s", r.Envelope())
	}
}

func TestACancelledCommandSaysSo(t *testing.T) {
	s := world(t)
	p, err := Tool.Prepare(t.Context(), s.Place, json.RawMessage(`{"command":"echo begun; sleep 60"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := p.Run(ctx, tool.Grant{}, func(string) { cancel() })
	if r.Code() != tool.CallCancelled || r.Failure.Stdout != "begun" {
		t.Errorf("%s", r.Envelope())
	}
}

func TestOutputIsShownWhileItComes(t *testing.T) {
	s := world(t)
	p, err := Tool.Prepare(t.Context(), s.Place, json.RawMessage(`{"command":"echo a; echo b >&2","separate":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	p.Run(t.Context(), tool.Grant{}, func(chunk string) { seen.WriteString(chunk) })
	if got := seen.String(); !strings.Contains(got, "a\n") || !strings.Contains(got, "b\n") {
		t.Errorf("%q", got)
	}
}

func TestAShellThatCannotStartIsTheToolsOwnError(t *testing.T) {
	s := world(t)
	s.Start = func(context.Context, tool.Command, tool.Grant) (tool.Exit, error) {
		return tool.Exit{}, errors.New("no processes left")
	}
	if r := s.Call(Tool, `{"command":"true"}`); r.Code() != "EXEC_FAILED" || !strings.Contains(string(r.Data), "no processes left") {
		t.Errorf("%s", r.Envelope())
	}
}

func TestWhatTheSandboxRefusedIsTold(t *testing.T) {
	s := world(t)
	var granted tool.Grant
	s.Start = func(_ context.Context, _ tool.Command, g tool.Grant) (tool.Exit, error) {
		granted = g
		return tool.Exit{Code: 1, Refused: []string{"writing /etc/x"}}, nil
	}
	o := answerOf(t, s.CallWith(Tool, `{"command":"touch /etc/x"}`, tool.Grant{Net: true}))
	if len(o.Sandbox) != 1 || o.ExitCode != 1 || !granted.Net {
		t.Errorf("%+v, granted %+v", o, granted)
	}
}

func TestAJobRunsReadsAndEnds(t *testing.T) {
	s := world(t)
	all := jobs.New(s.Start, time.Now)
	t.Cleanup(func() { all.Close() })
	s.Jobs = all
	o := answerOf(t, s.Call(Tool, `{"command":"echo ready; sleep 60","background":true}`))
	if o.Job != "job_1" || !strings.Contains(o.Output, "job_1") {
		t.Fatalf("%+v", o)
	}
	var read struct {
		Output  string
		Running bool
	}
	for deadline := time.Now().Add(20 * time.Second); read.Output == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := json.Unmarshal(s.Call(job_output.Tool, `{"job":"job_1"}`).Data, &read); err != nil {
			t.Fatal(err)
		}
	}
	if read.Output != "ready" || !read.Running {
		t.Errorf("%+v", read)
	}
	if got := s.Output(job_kill.Tool, `{"job":"job_1"}`); got != "job_1 has ended" {
		t.Errorf("%q", got)
	}
	r := s.Call(job_output.Tool, `{"job_id":"job_1"}`)
	if !strings.Contains(string(r.Data), `"running":false`) || !strings.Contains(string(r.Data), `"exit_code":`) {
		t.Errorf("%s", r.Envelope())
	}
	for _, tl := range []tool.Tool{job_output.Tool, job_kill.Tool} {
		if r := s.Call(tl, `{"job":"job_9"}`); r.OK() {
			t.Errorf("%s", r.Envelope())
		}
	}
}

func TestQuotingSurvivesAShell(t *testing.T) {
	s := world(t)
	for _, word := range []string{"", "a b", "it's", `"$HOME"`, "`x`", "a\nb", "-n", "*", "~", "é", "x=y", "!", `\`} {
		raw, err := json.Marshal(map[string]any{"command": []string{"printf", "%s", word}})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range Aliases() {
			if a.Name.Name != "shell" {
				continue
			}
			if got := s.Output(a, string(raw)); got != word {
				t.Errorf("%q became %q", word, got)
			}
		}
	}
}
