package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/files"
	"ikigai/internal/llm"
	"ikigai/internal/permit"
	"ikigai/internal/provider"
	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// A marathon is a model that calls tools without end and keeps nothing of what it
// was sent. Every other reply is words, unless it never answers.
type marathon struct {
	*httptest.Server
	requests  atomic.Int64
	summaries atomic.Int64
	bytes     atomic.Int64
	answers   bool      // every second reply ends the turn
	calls     int       // in a reply
	most      int64     // after so many requests it says that it is done; 0 is never
	seen      func(int) // is told of each request
}

func newMarathon(m *marathon) *marathon {
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	return m
}

func (m *marathon) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what cannot be read is answered all the same
	m.bytes.Add(int64(len(body)))
	w.Header().Set("Content-Type", "text/event-stream")
	if bytes.Contains(body, []byte("the older part of a conversation")) {
		m.summaries.Add(1)
		say(w, `{"content":"Files were read; nothing is decided yet."}`, "stop")
		return
	}
	n := m.requests.Add(1)
	if m.seen != nil {
		m.seen(int(n))
	}
	if m.answers && n%2 == 0 || m.most > 0 && n > m.most {
		say(w, `{"content":"That is done."}`, "stop")
		return
	}
	var calls []string
	for i := range m.calls {
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"call_%d_%d","type":"function","function":{"name":"file_read","arguments":"{\"path\":\"file.txt\",\"offset\":%d}"}}`,
			i, n, i, 1+(int(n)*m.calls+i)%997))
	}
	say(w, `{"content":"I look further.","tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls")
}

func say(w io.Writer, delta, stop string) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", stop)
}

// round is more turns than there are between two compactions: what is held rises
// and falls with them.
const round = 40

// soakTurns is how long the long run is, and where its early mark stands.
func soakTurns() (early, turns int) {
	if os.Getenv("IKIGAI_SOAK") != "" {
		return 500, 5000
	}
	return 100, 300
}

// TestSoakOfManyTurnsTakesTheSameRoom runs one session for very long, in this
// process and in a real store, and compares what it takes early and late: memory
// after a collection, descriptors, goroutines, and what a turn costs.
func TestSoakOfManyTurnsTakesTheSameRoom(t *testing.T) {
	early, turns := soakTurns()
	m := newMarathon(&marathon{answers: true, calls: 4})
	defer m.Close()
	s := newSitting(t, m)
	var at500, atEnd sitting
	for n := 1; n <= turns; n++ {
		s.turn(n)
		switch n {
		case early / 2, turns - early/2:
			s.start()
		case early:
			at500 = s.look(early / 2)
		case turns:
			atEnd = s.look(early / 2)
		}
		if left := (turns - n) % (turns - early); left < round && left%2 == 0 {
			s.collect()
		}
	}
	t.Logf("turn %5d: %v", early, at500)
	t.Logf("turn %5d: %v", turns, atEnd)
	t.Logf("%d requests of %d bytes, %d summaries", m.requests.Load(), m.bytes.Load()/m.requests.Load(), m.summaries.Load())
	if m.summaries.Load() == 0 {
		t.Error("nothing was ever compacted: the run proves nothing")
	}
	if float64(atEnd.heap) > 1.2*float64(at500.heap) || atEnd.heap > 100<<20 {
		t.Errorf("memory grows from %d to %d bytes", at500.heap, atEnd.heap)
	}
	if atEnd.files > at500.files+2 || atEnd.goroutines > at500.goroutines+2 {
		t.Errorf("descriptors %d to %d, goroutines %d to %d", at500.files, atEnd.files, at500.goroutines, atEnd.goroutines)
	}
	if float64(atEnd.allocated) > 1.3*float64(at500.allocated) {
		t.Errorf("a turn allocates %d bytes early and %d late", at500.allocated, atEnd.allocated)
	}
	s.old(turns)
}

// A sitting is one session and what it takes.
type sitting struct {
	t       *testing.T
	session *agent.Agent
	ended   chan convo.End

	began      runtime.MemStats
	cpu        time.Duration
	heap       uint64
	files      int
	goroutines int
	allocated  uint64        // bytes per turn
	perTurn    time.Duration // of the processor
}

func (s sitting) String() string {
	return fmt.Sprintf("%.1f MiB after a collection, %d descriptors, %d goroutines; a turn allocates %d KiB and takes %v of CPU",
		float64(s.heap)/(1<<20), s.files, s.goroutines, s.allocated>>10, s.perTurn.Round(time.Microsecond))
}

func newSitting(t *testing.T, m *marathon) *sitting {
	dir := t.TempDir()
	roots, err := files.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), sqlite.Options{})
	if err == nil {
		err = kept.Begin(t.Context(), store.Session{ID: "soak"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &sitting{t: t, ended: make(chan convo.End, 1)}
	s.session = agent.New(agent.Options{
		Session: "soak", Model: "openai/scripted", System: "be brief", Place: tool.Place{Files: roots},
		Window: func(string) int { return 32_000 },
	}, agent.Parts{
		Open: func(model string, _ func(text, hint string)) (llm.Provider, error) {
			return provider.Open(provider.Options{
				Model: model, BaseURL: m.URL + "/v1", Dialect: "openai",
				Keys: func(context.Context, string, []string) (string, string, error) { return "key", "test", nil },
			})
		},
		Tools: tool.NewRegistry(tool.NewSet(tool.Complete, nil, reader())), Store: kept, Now: time.Now,
		Permit: permit.New(permit.Options{Mode: permit.AskMode, Dir: roots.Dir(), Roots: roots.Roots()}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	events := s.session.Events(ctx, 0)
	work.Go(func() { s.session.Run(ctx) })
	work.Go(func() {
		for e := range events {
			if b, ok := e.Body.(convo.End); ok {
				s.ended <- b
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		work.Wait()
		kept.Close()
		roots.Close()
	})
	return s
}

// reader stands for file_read: its results are as long, and never the same.
func reader() tool.Tool {
	type in struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
	}
	type out struct {
		Output string `json:"output"`
	}
	return toolkit.New(toolkit.Def[in, out]{
		Name: "file_read", Doc: "read", Effects: []tool.Effect{tool.Read},
		Run: func(_ context.Context, _ tool.Place, _ tool.Grant, i in, _ tool.Progress) (out, error) {
			return out{strings.Repeat(fmt.Sprintf("line %d of some file\n", i.Offset), 80)}, nil
		},
	})
}

func (s *sitting) turn(n int) {
	s.session.Send(agent.Prompt{Text: fmt.Sprintf("prompt %d: look once more, and think of the colour blue", n)})
	if end := <-s.ended; end.Stop != convo.StopDone {
		s.t.Fatalf("turn %d ended with %+v", n, end)
	}
}

// start begins to count what turns cost, look ends it.
func (s *sitting) start() {
	runtime.ReadMemStats(&s.began)
	s.cpu = processTime()
}

func (s *sitting) look(turns int) sitting {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	s.allocated = (now.TotalAlloc - s.began.TotalAlloc) / uint64(turns)
	s.perTurn = (processTime() - s.cpu) / time.Duration(turns)
	s.collect()
	s.goroutines, s.files = runtime.NumGoroutine(), descriptors("self")
	seen := *s
	s.heap = 0
	return seen
}

// collect looks what is left after a collection: the most of a round counts.
func (s *sitting) collect() {
	var now runtime.MemStats
	runtime.GC()
	runtime.GC() // what has a finalizer goes with the second one
	runtime.ReadMemStats(&now)
	s.heap = max(s.heap, now.HeapAlloc)
}

// old reads the session from its beginning: what memory let go is in the store.
func (s *sitting) old(turns int) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is there, and no more
	var next int64 = 1
	prompts := 0
	for e := range s.session.Events(ctx, 0) {
		if e.Seq != next {
			s.t.Fatalf("event %d where %d should be", e.Seq, next)
		}
		next++
		if e.Kind == convo.KindUser {
			prompts++
		}
	}
	if prompts != turns {
		s.t.Errorf("%d of %d prompts are there", prompts, turns)
	}
}

// descriptors are the open files of a process, 0 where nobody can say.
func descriptors(pid string) int {
	list, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// TestSoakOfTheProgramTakesTheSameRoom runs the program itself through one prompt
// of very many replies, and looks at it from outside.
func TestSoakOfTheProgramTakesTheSameRoom(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("what a process takes is read from /proc")
	}
	if os.Getenv("IKIGAI_SOAK") == "" {
		t.Skip("make soak sets IKIGAI_SOAK")
	}
	early, turns := soakTurns()
	bin, dir := buildIkigai(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), bytes.Repeat([]byte("some text of the file\n"), 1100), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept=%v", kept), func(t *testing.T) { soakProgram(t, bin, dir, kept, early, turns) })
	}
}

func soakProgram(t *testing.T, bin, dir string, kept bool, early, turns int) {
	var pid atomic.Int64
	var first, last outside
	m := newMarathon(&marathon{calls: 1, most: int64(turns), seen: func(n int) {
		switch n {
		case early:
			first = lookAt(int(pid.Load()))
		case turns:
			last = lookAt(int(pid.Load()))
		}
	}})
	defer m.Close()
	args := []string{"run", "--model", "openai/scripted", "--base-url", m.URL + "/v1", "--max-turns", strconv.Itoa(turns + 10), "--quiet", "go"}
	if !kept {
		args = append(args[:1], append([]string{"--ephemeral"}, args[1:]...)...)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "OPENAI_API_KEY=sk-test-0123456789", "NO_PROXY=*", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid.Store(int64(cmd.Process.Pid))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Logf("turn %5d: %+v", early, first)
	t.Logf("turn %5d: %+v, %d summaries", turns, last, m.summaries.Load())
	if last.kilobytes > 100<<10 || float64(last.kilobytes) > 1.2*float64(first.kilobytes)+8<<10 { // it is not collected just then
		t.Errorf("memory grows from %d to %d KiB", first.kilobytes, last.kilobytes)
	}
	if last.files > first.files+2 || last.threads > first.threads+8 {
		t.Errorf("from %+v to %+v", first, last)
	}
}

// outside is what can be seen of another process.
type outside struct{ kilobytes, threads, files int }

func lookAt(pid int) outside {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return outside{}
	}
	o := outside{files: descriptors(strconv.Itoa(pid))}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		switch name {
		case "VmRSS":
			o.kilobytes = n
		case "Threads":
			o.threads = n
		}
	}
	return o
}

// processTime is the CPU that this process used, 0 where nobody can say.
func processTime() time.Duration {
	raw, err := os.ReadFile("/proc/self/stat")
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if err != nil || len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // the kernel's ticks
}
