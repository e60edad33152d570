package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ikigai/internal/bench"
)

// benchTurns is how long a measured run is.
const benchTurns = 200

// TestBenchHarness measures what the harness itself costs, beside the smallest
// loop that does the same work over HTTP, the disk and processes. make bench
// runs it; it asserts nothing, since time on a shared machine proves nothing.
func TestBenchHarness(t *testing.T) {
	bin, dir := os.Getenv("IKIGAI_BENCH_BIN"), os.Getenv(bench.DirVariable)
	if bin == "" || dir == "" {
		t.Skip("make bench sets IKIGAI_BENCH_BIN and " + bench.DirVariable)
	}
	rows := slices.Concat(benchStart(t, bin), benchTurn(t, bin, readTurn), benchTurn(t, bin, bashTurn), benchSize(t, bin))
	if err := bench.Write(dir, "harness", rows); err != nil {
		t.Fatal(err)
	}
}

// benchStart is what it costs before anything is done.
func benchStart(t *testing.T, bin string) []bench.Row {
	tools := filepath.Join(filepath.Dir(bin), "ikigai-tools")
	first := newClock(0, readTurn)
	defer first.Close()
	home := t.TempDir()
	var version, start, schema []time.Duration
	for range 25 { // interleaved, so that all meet the same minute
		version = append(version, cpuOf(t, exec.Command(bin, "version")))
		schema = append(schema, cpuOf(t, exec.Command(tools, "file_read", "--schema")))
		run := first.command(home, bin, "run", "--model", "openai/scripted", "--base-url", first.url(), "--quiet", "go")
		first.watch(t, run)
		start = append(start, time.Duration(first.atFirst.Load()))
	}
	return []bench.Row{
		{Workload: "`ikigai version`", OursCPU: ms(median(version)), Goal: "under 8 ms CPU"},
		{Workload: "process start to first request, with its children", OursCPU: ms(median(start)), Goal: "under 15 ms CPU"},
		{Workload: "`ikigai-tools file_read --schema`", OursCPU: ms(median(schema)), Goal: "under 4 ms CPU"},
	}
}

// A work is the call of every turn of a run.
type work struct {
	name, call string
	args       func(turn int) string // arguments, as the model writes them
	goal       string
	cpu        string // goal for the CPU of one turn
}

var (
	readTurn = work{
		name: "`file_read` turn, reply end to next request", call: "file_read", goal: "at most 2 times", cpu: "at most 1.2 ms CPU",
		args: func(turn int) string { return fmt.Sprintf(`{"path":"file.txt","offset":%d}`, 1+turn%7) },
	}
	bashTurn = work{
		name: "jailed `bash` turn (`true`), reply end to next request", call: "bash", goal: "at most 2.5 times",
		args: func(turn int) string { return fmt.Sprintf(`{"command":"true %d"}`, turn) }, // one that repeats itself would be stopped
	}
)

// benchTurn is one turn of a run of many, and the memory of the whole.
func benchTurn(t *testing.T, bin string, w work) []bench.Row {
	ours, rival := newClock(benchTurns, w), newClock(benchTurns, w)
	defer ours.Close()
	defer rival.Close()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "file.txt"), bytes.Repeat([]byte("some text\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 { // interleaved, so that both meet the same minute
		ours.watch(t, ours.command(home, bin, "run", "--model", "openai/scripted", "--base-url", ours.url(), "--mode", "auto",
			"--max-turns", strconv.Itoa(2*benchTurns), "--quiet", "go"))
		rival.watch(t, rival.command(home, os.Args[0], "-test.run", "TestSmallestLoop", "-test.v"))
	}
	us, them := ours.between(1, benchTurns+1), rival.between(1, benchTurns+1)
	flat := float64(ours.between(benchTurns-10, benchTurns+1)) / float64(ours.between(10, 20))
	rows := []bench.Row{{
		Workload: w.name, OursWall: ms(us), Rival: "smallest Go loop", RivalWall: ms(them), Ratio: float64(us) / float64(them), Goal: w.goal,
		OursCPU: ms(median(ours.cpu)), RivalCPU: ms(median(rival.cpu)), Note: fmt.Sprintf("the last ten turns take %.2f times turns 10-19", flat),
	}}
	if w.cpu != "" {
		rows = append(rows,
			bench.Row{Workload: "CPU of a `" + w.call + "` turn", OursCPU: ms(median(ours.cpu)), Rival: "smallest Go loop", RivalCPU: ms(median(rival.cpu)), Goal: w.cpu},
			bench.Row{Workload: fmt.Sprintf("peak memory of %d turns", benchTurns), Goal: "under 45 MB", Note: fmt.Sprintf(
				"%.1f MB; %.1f MB after half of the turns; smallest Go loop %.1f MB", ours.peak, ours.half, rival.peak,
			)})
	}
	return rows
}

func benchSize(t *testing.T, bin string) []bench.Row {
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	return []bench.Row{{Workload: "stripped binary", Goal: "under 28 MB", Note: fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)}}
}

// TestSmallestLoop is the rival: post, read the stream, do the call, again.
func TestSmallestLoop(t *testing.T) {
	url := os.Getenv("IKIGAI_RIVAL_URL")
	if url == "" {
		t.Skip("the rival of TestBenchHarness")
	}
	type object = map[string]any
	messages := []any{object{"role": "system", "content": "be brief"}, object{"role": "user", "content": "go"}}
	for {
		body, _ := json.Marshal(object{"model": "scripted", "messages": messages, "stream": true})
		resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		id, name, args := readCall(resp.Body)
		if id == "" {
			return
		}
		text, err := perform(args)
		if err != nil {
			t.Fatal(err)
		}
		call := object{"id": id, "type": "function", "function": object{"name": name, "arguments": args}}
		messages = append(messages, object{"role": "assistant", "tool_calls": []any{call}}, object{"role": "tool", "tool_call_id": id, "content": string(text)})
	}
}

func perform(args string) ([]byte, error) {
	var in struct{ Path, Command string }
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		return nil, err
	}
	if in.Command != "" {
		return exec.Command("bash", "-c", in.Command).CombinedOutput()
	}
	return os.ReadFile(in.Path)
}

func readCall(body io.ReadCloser) (id, name, args string) {
	defer body.Close()
	s := bufio.NewScanner(body)
	for s.Scan() {
		data, ok := strings.CutPrefix(s.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Calls []struct {
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if json.Unmarshal([]byte(data), &chunk) != nil {
			continue
		}
		for _, c := range chunk.Choices {
			for _, tc := range c.Delta.Calls {
				id, name, args = id+tc.ID, name+tc.Function.Name, args+tc.Function.Arguments
			}
		}
	}
	return id, name, args
}

// A clock is a model without latency. It measures the time between the end of a
// reply and the next request, and looks at the process that asks.
type clock struct {
	*httptest.Server
	turns   int
	work    work
	pid     atomic.Int64
	atFirst atomic.Int64 // CPU of the process at its first request, in ns

	mu   sync.Mutex // guards the fields below
	n    int
	last time.Time
	gaps [][]time.Duration // by turn
	cpu  []time.Duration   // of one turn, by run
	half float64           // MB, when half of the turns were over
	peak float64           // MB
}

func newClock(turns int, w work) *clock {
	c := &clock{turns: turns, work: w, gaps: make([][]time.Duration, turns+1)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	return c
}

func (c *clock) url() string { return c.URL + "/v1" }

func (c *clock) serve(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	io.Copy(io.Discard, r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(now)
	w.Header().Set("Content-Type", "text/event-stream")
	if c.n == c.turns {
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		c.n = 0
		return
	}
	c.n++
	fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call%d","type":"function","function":{"name":%q,"arguments":""}}]}}]}`+"\n\n", c.n, c.work.call)
	args := c.work.args(c.n)
	for _, piece := range []string{args[:len(args)/3], args[len(args)/3:]} {
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}}]}`+"\n\n", piece)
	}
	io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	w.(http.Flusher).Flush()
	c.last = time.Now()
}

// look notes what is to be seen when a request has come.
func (c *clock) look(now time.Time) {
	pid := int(c.pid.Load())
	switch {
	case c.n == 0:
		c.atFirst.Store(int64(cpuUntilNow(pid)))
	case c.n == c.turns/2:
		c.half = memory(pid, "VmHWM:")
	case c.n == c.turns:
		c.peak = max(c.peak, memory(pid, "VmHWM:"))
		c.cpu = append(c.cpu, (cpuUntilNow(pid)-time.Duration(c.atFirst.Load()))/time.Duration(c.turns))
	}
	if c.n > 0 {
		c.gaps[c.n] = append(c.gaps[c.n], now.Sub(c.last))
	}
}

func (c *clock) command(home, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=sk-bench-0123456789", "HOME="+home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "IKIGAI_RIVAL_URL="+c.url(), "NO_PROXY=*", "IKIGAI_BENCH_BIN=")
	return cmd
}

// watch runs a process while the clock looks at it.
func (c *clock) watch(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid.Store(int64(cmd.Process.Pid))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd.Path, err, out.Bytes())
	}
}

// cpuUntilNow is what a process and its children used: the living and those that
// were waited for.
func cpuUntilNow(pid int) time.Duration {
	all := time.Duration(0)
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, thread := range threads {
		all += ran(thread)
		children, _ := os.ReadFile(filepath.Join(thread, "children"))
		for _, child := range strings.Fields(string(children)) {
			n, _ := strconv.Atoi(child)
			all += cpuUntilNow(n)
		}
	}
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, rest, ok := strings.Cut(string(raw), ") "); ok { // cutime and cstime, in ticks of 10 ms
		fields := strings.Fields(rest)
		u, _ := strconv.Atoi(fields[13])
		s, _ := strconv.Atoi(fields[14])
		all += time.Duration(u+s) * 10 * time.Millisecond
	}
	return all
}

// ran is the time a thread was on a processor.
func ran(thread string) time.Duration {
	raw, _ := os.ReadFile(filepath.Join(thread, "schedstat"))
	first, _, _ := strings.Cut(string(raw), " ")
	n, _ := strconv.ParseInt(first, 10, 64)
	return time.Duration(n)
}

// memory is a line of /proc/PID/status, in MB.
func memory(pid int, line string) float64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(raw), line)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseFloat(fields[0], 64)
	return kb * 1024 / 1e6
}

// cpuOf is the CPU of one run, waited for.
func cpuOf(t *testing.T, cmd *exec.Cmd) time.Duration {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd.Path, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// between is the median gap of some turns, over all runs.
func (c *clock) between(from, to int) time.Duration {
	return median(slices.Concat(c.gaps[from:to]...))
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
