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
	"strings"
	"sync"
	"testing"
	"time"
)

// TestBenchHarness prints what the harness itself costs, beside the smallest
// loop that does the same work over HTTP and the disk. make bench runs it; it
// asserts nothing, since time on a shared machine proves nothing.
func TestBenchHarness(t *testing.T) {
	bin := os.Getenv("IKIGAI_BENCH_BIN")
	if bin == "" {
		t.Skip("make bench sets IKIGAI_BENCH_BIN")
	}
	table := &benchTable{}
	table.cpu(t, "ikigai version", 25, bin, "version")
	ours, rival := newClock(100), newClock(100)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), bytes.Repeat([]byte("some text\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 { // interleaved, so that both meet the same minute
		ours.play(t, dir, bin, "run", "--model", "openai/scripted", "--base-url", ours.url(), "--max-turns", "200", "--ephemeral", "--quiet", "go")
		rival.play(t, dir, os.Args[0], "-test.run", "TestSmallestLoop", "-test.v")
	}
	table.turns("file_read turn, reply end to next request", ours, rival)
	one := newClock(0)
	table.cpuOf("start to first request and its answer", one.cpu(t, 15, dir, bin, "run", "--model", "openai/scripted", "--base-url", one.url(), "--quiet", "go"))
	table.print(t)
}

// TestSmallestLoop is the rival: post, read the stream, read the file, again.
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
		id, args := readCall(resp.Body)
		if id == "" {
			return
		}
		var in struct{ Path string }
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(in.Path)
		if err != nil {
			t.Fatal(err)
		}
		call := object{"id": id, "type": "function", "function": object{"name": "file_read", "arguments": args}}
		messages = append(messages, object{"role": "assistant", "tool_calls": []any{call}}, object{"role": "tool", "tool_call_id": id, "content": string(text)})
	}
}

func readCall(body io.ReadCloser) (id, args string) {
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
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if json.Unmarshal([]byte(data), &chunk) != nil {
			continue
		}
		for _, c := range chunk.Choices {
			for _, tc := range c.Delta.Calls {
				if tc.ID != "" {
					id = tc.ID
				}
				args += tc.Function.Arguments
			}
		}
	}
	return id, args
}

// A clock is a model without latency that measures the time between the end of
// a reply and the next request.
type clock struct {
	*httptest.Server
	turns int
	mu    sync.Mutex // guards the fields below
	n     int
	last  time.Time
	gaps  [][]time.Duration // by turn
}

func newClock(turns int) *clock {
	c := &clock{turns: turns, gaps: make([][]time.Duration, turns+1)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	return c
}

func (c *clock) url() string { return c.URL + "/v1" }

func (c *clock) serve(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	io.Copy(io.Discard, r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n > 0 {
		c.gaps[c.n] = append(c.gaps[c.n], now.Sub(c.last))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if c.n == c.turns {
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		c.n = 0
		return
	}
	c.n++
	fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call%d","type":"function","function":{"name":"file_read","arguments":""}}]}}]}`+"\n\n", c.n)
	for _, piece := range []string{`{\"path\"`, `:\"file`, `.txt\"}`} {
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}}]}`+"\n\n", piece)
	}
	io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	w.(http.Flusher).Flush()
	c.last = time.Now()
}

func (c *clock) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=sk-bench-0123456789", "HOME="+dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "IKIGAI_RIVAL_URL="+c.url(), "NO_PROXY=*", "IKIGAI_BENCH_BIN=")
	return cmd
}

func (c *clock) play(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if out, err := c.command(dir, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (c *clock) cpu(t *testing.T, rounds int, dir, name string, args ...string) []time.Duration {
	t.Helper()
	var all []time.Duration
	for range rounds {
		cmd := c.command(dir, name, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		all = append(all, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return all
}

// between is the median gap of some turns, over all rounds.
func (c *clock) between(from, to int) time.Duration {
	return median(slices.Concat(c.gaps[from:to]...))
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	if len(d) == 0 {
		return 0
	}
	return d[len(d)/2]
}

type benchRow struct {
	Name  string  `json:"name"`
	Ours  float64 `json:"ours_ms"`
	Rival string  `json:"rival,omitempty"`
	Them  float64 `json:"rival_ms,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
	Note  string  `json:"note,omitempty"`
}

type benchTable struct{ rows []benchRow }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *benchTable) cpu(t *testing.T, name string, rounds int, bin string, args ...string) {
	t.Helper()
	b.cpuOf(name, (&clock{Server: &httptest.Server{}}).cpu(t, rounds, t.TempDir(), bin, args...))
}

func (b *benchTable) cpuOf(name string, all []time.Duration) {
	b.rows = append(b.rows, benchRow{Name: name, Ours: ms(median(all)), Note: "CPU of the process, median"})
}

func (b *benchTable) turns(name string, ours, rival *clock) {
	a, r := ours.between(1, 101), rival.between(1, 101)
	flat := float64(ours.between(91, 101)) / float64(ours.between(10, 20))
	b.rows = append(b.rows, benchRow{
		Name: name, Ours: ms(a), Rival: "smallest loop", Them: ms(r), Ratio: float64(a) / float64(r),
		Note: fmt.Sprintf("turns 91-100 take %.2f times turns 10-19", flat),
	})
}

func (b *benchTable) print(t *testing.T) {
	fmt.Printf("%-45s %9s %9s %7s\n", "workload", "ours ms", "rival ms", "ratio")
	for _, r := range b.rows {
		fmt.Printf("%-45s %9.2f %9.2f %7.2f  %s %s\n", r.Name, r.Ours, r.Them, r.Ratio, r.Rival, r.Note)
	}
	if name := os.Getenv("IKIGAI_BENCH_JSON"); name != "" {
		raw, err := json.MarshalIndent(b.rows, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
