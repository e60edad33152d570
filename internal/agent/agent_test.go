package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/files"
	"ikigai/internal/llm"
	"ikigai/internal/permit"
	"ikigai/internal/provider"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type words struct {
	Text string `json:"text,omitempty"`
}

type said struct {
	Output string `json:"output"`
}

// echo gives its argument back; it only reads.
func echo(name string, effects ...tool.Effect) tool.Tool {
	return toolkit.New(toolkit.Def[words, said]{
		Name: name, Doc: "echo", Effects: effects,
		Run: func(_ context.Context, _ tool.Place, _ tool.Grant, in words, p tool.Progress) (said, error) {
			p("saying " + in.Text)
			return said{in.Text}, nil
		},
	})
}

// slow runs until it is cancelled, and tells what it had until then.
func slow(started chan<- string) tool.Tool {
	return toolkit.New(toolkit.Def[words, said]{
		Name: "slow", Doc: "slow", Effects: []tool.Effect{tool.Write},
		Run: func(ctx context.Context, _ tool.Place, _ tool.Grant, in words, _ tool.Progress) (said, error) {
			started <- in.Text
			<-ctx.Done()
			return said{}, &tool.Failure{Code: tool.CallCancelled, Message: "cancelled", Stdout: "half of " + in.Text}
		},
	})
}

var crash = toolkit.New(toolkit.Def[words, said]{
	Name: "crash", Doc: "crash", Effects: []tool.Effect{tool.Read},
	Run: func(context.Context, tool.Place, tool.Grant, words, tool.Progress) (said, error) {
		panic("out of cheese")
	},
})

// A room is a session that runs, with everything it said.
type room struct {
	*agent.Agent
	t      *testing.T
	model  *fake.Model
	permit *permit.Engine
	mu     sync.Mutex // guards seen
	seen   []convo.Event
	grown  chan struct{}
	stop   func()
}

type setup struct {
	script []fake.Reply
	tools  []tool.Tool
	mode   permit.Mode
	limits turn.Limits
	store  store.Store
	stored []convo.Event
	time   time.Duration
	guard  agent.Guard
	mark   agent.Mark
	now    func() time.Time
	form   string // of the wire; openai when empty
	more   func(*agent.Options)
}

// bases are the ends of the addresses by wire format.
var bases = map[string]string{"openai": "/v1", "responses": "/v1", "anthropic": "", "gemini": "/v1beta", "ollama": ""}

func open(t *testing.T, s setup) *room {
	t.Helper()
	r := &room{t: t, model: fake.NewModel(s.script), grown: make(chan struct{}, 1)}
	roots, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if s.mode == "" {
		s.mode = permit.Yolo
	}
	if s.form == "" {
		s.form = "openai"
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.store == nil {
		s.store = memory.New()
	}
	r.permit = permit.New(permit.Options{Mode: s.mode, Dir: roots.Dir(), Roots: roots.Roots()})
	if err := s.store.Begin(t.Context(), store.Session{ID: "s1"}); err != nil {
		t.Fatal(err)
	}
	opened := func(model string, _ func(text, hint string)) (llm.Provider, error) {
		return provider.Open(provider.Options{
			Model: model, BaseURL: r.model.URL + bases[s.form], Dialect: s.form,
			Keys: func(context.Context, string, []string) (string, string, error) { return "key", "test", nil },
		})
	}
	o := agent.Options{
		Session: "s1", Model: "openai/scripted", System: "be brief", Limits: s.limits, Budgets: agent.Budgets{Prompt: agent.Amounts{agent.Time: s.time.Seconds()}},
		Place: tool.Place{Files: roots}, Stored: s.stored,
	}
	if s.more != nil {
		s.more(&o)
	}
	r.Agent = agent.New(o, agent.Parts{Open: opened, Tools: tool.NewRegistry(tool.NewSet(tool.Complete, nil, s.tools...)), Permit: r.permit, Store: s.store, Now: s.now, Guard: s.guard, Mark: s.mark})
	ctx, cancel := context.WithCancel(context.Background())
	watching, unwatch := context.WithCancel(context.Background())
	events := r.Events(watching, 0)
	var run, watch sync.WaitGroup
	run.Go(func() { r.Run(ctx) })
	watch.Go(func() { r.watch(events) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		run.Wait()
		unwatch()
		watch.Wait()
		r.model.Close()
		roots.Close()
	})
	t.Cleanup(r.stop)
	return r
}

func (r *room) watch(events iter.Seq[convo.Event]) {
	for e := range events {
		r.mu.Lock()
		r.seen = append(r.seen, e)
		r.mu.Unlock()
		select {
		case r.grown <- struct{}{}:
		default:
		}
	}
}

func (r *room) events() []convo.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// until waits for the n-th event for which ok holds.
func (r *room) until(n int, what string, ok func(convo.Event) bool) convo.Event {
	r.t.Helper()
	late := time.After(10 * time.Second)
	for {
		count := 0
		for _, e := range r.events() {
			if ok(e) {
				if count++; count == n {
					return e
				}
			}
		}
		select {
		case <-r.grown:
		case <-late:
			r.t.Fatalf("no %s came; events: %s", what, r.story())
		}
	}
}

func (r *room) end(n int) convo.End {
	r.t.Helper()
	return r.until(n, "end", func(e convo.Event) bool { return e.Kind == convo.KindEnd }).Body.(convo.End)
}

func (r *room) results() []tool.Result {
	var all []tool.Result
	for _, e := range r.events() {
		if b, ok := e.Body.(convo.ToolResult); ok {
			all = append(all, b.Result)
		}
	}
	return all
}

func (r *room) story() string {
	var b strings.Builder
	for _, e := range r.events() {
		fmt.Fprintf(&b, "\n  %d %s %q %+v", e.Seq, e.Kind, e.Text, e.Body)
	}
	return b.String()
}

func call(id, name, text string) fake.Call {
	raw, _ := json.Marshal(words{text})
	return fake.Call{ID: id, Name: name, Args: raw}
}

func calls(cs ...fake.Call) fake.Reply { return fake.Reply{Calls: cs, Pieces: 3} }

func TestPanickingToolBecomesAResult(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{calls(call("a", "crash", ""), call("b", "echo", "still here")), {Text: "ok"}},
		tools:  []tool.Tool{crash, echo("echo", tool.Read)},
	})
	r.Send(agent.Prompt{Text: "go"})
	if end := r.end(1); end.Stop != convo.StopDone {
		t.Fatalf("%+v", end)
	}
	got := r.results()
	if got[0].Code() != tool.ToolCrashed || !strings.Contains(got[0].Failure.Message, "out of cheese") {
		t.Errorf("the crash gave %+v", got[0])
	}
	if !got[1].OK() {
		t.Errorf("its neighbour gave %+v", got[1])
	}
}

func TestCancelKeepsPartialOutputAndRefusesTheRest(t *testing.T) {
	started := make(chan string, 1)
	r := open(t, setup{
		script: []fake.Reply{calls(call("a", "slow", "work"), call("b", "slow", "more"))},
		tools:  []tool.Tool{slow(started)},
	})
	r.Send(agent.Prompt{Text: "go"})
	<-started
	r.Send(agent.Interrupt{})
	if end := r.end(1); end.Stop != convo.StopCancelled {
		t.Fatalf("%+v", end)
	}
	got := r.results()
	if len(got) != 2 || got[0].CallID != "a" || got[0].Failure.Stdout != "half of work" {
		t.Errorf("the running call gave %+v", got)
	}
	if got[1].Code() != tool.CallCancelled {
		t.Errorf("the waiting call gave %+v", got[1])
	}
}

func TestCancelWhileTheModelTalksKeepsItsWords(t *testing.T) {
	r := open(t, setup{script: []fake.Reply{{Text: "one two three four", Pieces: 6, Stall: -1, After: 4}, {Text: "again"}}})
	r.Send(agent.Prompt{Text: "go"})
	r.until(1, "delta", func(e convo.Event) bool { return e.Kind == convo.KindDelta })
	r.Send(agent.Interrupt{})
	if end := r.end(1); end.Stop != convo.StopCancelled {
		t.Fatalf("%+v", end)
	}
	kept := r.until(1, "text", func(e convo.Event) bool { return e.Kind == convo.KindAssistant })
	if !strings.HasPrefix("one two three four", kept.Text) || kept.Text == "" {
		t.Errorf("kept %q", kept.Text)
	}
	r.Send(agent.Prompt{Text: "go on"})
	if end := r.end(2); end.Stop != convo.StopDone {
		t.Errorf("the next turn ended with %+v", end)
	}
}

func TestSteeringIsRecordedWhereEveryCallHasItsResult(t *testing.T) {
	started := make(chan string)
	steered := make(chan struct{})
	wait := toolkit.New(toolkit.Def[words, said]{
		Name: "wait", Doc: "wait", Effects: []tool.Effect{tool.Read},
		Run: func(context.Context, tool.Place, tool.Grant, words, tool.Progress) (said, error) {
			started <- ""
			<-steered
			return said{"done"}, nil
		},
	})
	r := open(t, setup{script: []fake.Reply{calls(call("a", "wait", "")), {Text: "ok"}}, tools: []tool.Tool{wait}})
	r.Send(agent.Prompt{Text: "go"})
	<-started
	r.Send(agent.Prompt{Text: "and be quick"})
	close(steered)
	r.end(1)
	second := string(r.model.Requests()[1])
	result, steer := strings.Index(second, `"role":"tool"`), strings.Index(second, "and be quick")
	if result < 0 || steer < result {
		t.Errorf("the second request is %s", second)
	}
}

func TestAnswersAreLearntAndLateOnesRefused(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{
			calls(call("a", "write", "x"), call("b", "write", "y")),
			{Text: "ok"},
			calls(call("c", "write", "z")),
			{Text: "ok"},
		},
		tools: []tool.Tool{echo("write", tool.Write)}, mode: permit.AskMode,
	})
	r.Send(agent.Prompt{Text: "go"})
	ask := r.until(1, "question", func(e convo.Event) bool { return e.Kind == convo.KindAsk })
	if n := len(ask.Body.(convo.Ask).Calls); n != 2 {
		t.Errorf("%d calls are asked at once, want 2", n)
	}
	r.Send(agent.Answer{Turn: ask.Turn + 1, CallID: "a", Allow: true}) // for a turn that is not there
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "nothing", Allow: true})
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "a", Allow: true, Scope: permit.Session})
	r.end(1)
	if got := r.results(); !got[0].OK() || !got[1].OK() {
		t.Errorf("the session's answer did not cover its neighbour: %+v", got)
	}
	r.Send(agent.Prompt{Text: "more"})
	r.end(2)
	asks := 0
	for _, e := range r.events() {
		if e.Kind == convo.KindAsk {
			asks++
		}
	}
	if asks != 1 {
		t.Errorf("asked %d times, want once", asks)
	}
}

func TestDenialReachesTheModelWithItsReason(t *testing.T) {
	r := open(t, setup{
		script: []fake.Reply{calls(call("a", "write", "x")), {Text: "ok", Expect: "not on a Sunday"}},
		tools:  []tool.Tool{echo("write", tool.Write)}, mode: permit.AskMode,
	})
	r.Send(agent.Prompt{Text: "go"})
	ask := r.until(1, "question", func(e convo.Event) bool { return e.Kind == convo.KindAsk })
	r.Send(agent.Answer{Turn: ask.Turn, CallID: "a", Reason: "not on a Sunday"})
	if end := r.end(1); end.Stop != convo.StopDone || end.Denied != 1 {
		t.Errorf("%+v", end)
	}
}

// full is a store on a disk that is full for a while. It keeps what it could
// not write, as stores do.
type full struct {
	store.Store
	mu    sync.Mutex // guards bad and queue
	bad   error
	queue []convo.Event
}

func (f *full) Append(ctx context.Context, s string, e convo.Event) error {
	f.mu.Lock()
	f.queue = append(f.queue, e)
	f.mu.Unlock()
	return f.Sync(ctx)
}

func (f *full) Sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bad == nil && len(f.queue) > 0 {
		if err := f.Store.Append(ctx, "s1", f.queue[0]); err != nil {
			return err
		}
		f.queue = f.queue[1:]
	}
	return f.bad
}

func TestStoreThatFailsIsToldOnceAndTheTurnGoesOn(t *testing.T) {
	s := &full{Store: memory.New(), bad: errors.New("no space left on device")}
	r := open(t, setup{script: []fake.Reply{{Text: "one"}, {Text: "two"}}, store: s})
	r.Send(agent.Prompt{Text: "go"})
	if end := r.end(1); end.Stop != convo.StopDone {
		t.Fatalf("%+v", end)
	}
	s.mu.Lock()
	s.bad = nil
	s.mu.Unlock()
	r.Send(agent.Prompt{Text: "go"})
	r.end(2)
	var notices []string
	for _, e := range r.events() {
		if e.Kind == convo.KindNotice {
			notices = append(notices, e.Text)
		}
	}
	if len(notices) != 2 || !strings.Contains(notices[0], "not saved") || !strings.Contains(notices[1], "saved again") {
		t.Errorf("notices: %q", notices)
	}
}

func TestWhatACrashLeftOpenIsClosed(t *testing.T) {
	stored := []convo.Event{
		{Seq: 1, Kind: convo.KindSystem, Text: "be brief"},
		{Seq: 2, Turn: 1, Kind: convo.KindUser, Text: "go"},
		{Seq: 3, Turn: 1, Kind: convo.KindToolCall, Body: convo.ToolCall{Call: tool.Call{ID: "a", Name: "echo", Args: json.RawMessage("{}")}}},
	}
	r := open(t, setup{script: []fake.Reply{{Text: "ok", Expect: "INTERRUPTED"}}, stored: stored, tools: []tool.Tool{echo("echo", tool.Read)}})
	r.Send(agent.Prompt{Text: "go on"})
	if end := r.end(1); end.Stop != convo.StopDone {
		t.Errorf("%+v", end)
	}
}

// watchman remembers when it was called.
type watchman struct {
	mu  sync.Mutex // guards log
	log []string
	bad error
}

func (w *watchman) note(what string, turn int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprint(what, " ", turn))
	return w.bad
}

func (w *watchman) Before(_ context.Context, turn int) error { return w.note("before", turn) }
func (w *watchman) After(_ context.Context, turn int) error  { return w.note("after", turn) }

func TestWorkspaceIsKeptOnceBeforeATurnThatMayChangeIt(t *testing.T) {
	w := &watchman{bad: errors.New("disk full")}
	r := open(t, setup{
		script: []fake.Reply{
			calls(call("a", "echo", "x")),
			{Text: "ok"},
			calls(call("b", "write", "x"), call("c", "write", "y")), calls(call("d", "write", "z")),
			{Text: "ok"},
		},
		tools: []tool.Tool{echo("echo", tool.Read), echo("write", tool.Write)}, guard: w,
	})
	r.Send(agent.Prompt{Text: "look"})
	r.end(1)
	r.Send(agent.Prompt{Text: "change"})
	if end := r.end(2); end.Stop != convo.StopDone {
		t.Errorf("a guard that fails ended the turn: %+v", end)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.log, ", "); got != "before 2, after 2" {
		t.Error(got)
	}
}

func TestTimeLimitEndsATurn(t *testing.T) {
	started := make(chan string, 1)
	r := open(t, setup{script: []fake.Reply{calls(call("a", "slow", "x"))}, tools: []tool.Tool{slow(started)}, time: 30 * time.Millisecond})
	r.Send(agent.Prompt{Text: "go"})
	if end := r.end(1); end.Stop != convo.StopLimit || end.Limit.Which != "time" {
		t.Errorf("%+v", end)
	}
}

func TestRunEndsWithItsContextAndLeavesNothing(t *testing.T) {
	started := make(chan string, 1)
	r := open(t, setup{script: []fake.Reply{calls(call("a", "slow", "x"))}, tools: []tool.Tool{slow(started)}})
	r.Send(agent.Prompt{Text: "go"})
	<-started
	r.stop()
	r.Send(agent.Prompt{Text: "anyone there?"}) // must not block
	if got := r.results(); len(got) != 1 || got[0].Failure.Stdout != "half of x" {
		t.Errorf("%+v", got)
	}
}

// TestRandomCancelAndSteer lets many turns run with a person who interrupts and
// steers at random, and checks the history of each.
func TestRandomCancelAndSteer(t *testing.T) {
	turns := 60
	if testing.Short() {
		turns = 15
	}
	for seed := range 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(seed), 7))
			var script []fake.Reply
			for i := range turns * 8 {
				c := calls(call(fmt.Sprint("a", i), "echo", "x"), call(fmt.Sprint("b", i), "write", "y"), call(fmt.Sprint("c", i), "echo", "z"))
				script = append(script, c, fake.Reply{Text: "some words at the end", Pieces: 4})
			}
			r := open(t, setup{script: script, tools: []tool.Tool{echo("echo", tool.Read), echo("write", tool.Write)}, limits: turn.Limits{Rounds: 3, CallsPerRound: 2}})
			for n := range turns {
				r.Send(agent.Prompt{Text: "go"})
				for range rnd.IntN(3) {
					time.Sleep(time.Duration(rnd.IntN(2000)) * time.Microsecond)
					if rnd.IntN(2) == 0 {
						r.Send(agent.Interrupt{})
					} else {
						r.Send(agent.Prompt{Text: "steer"})
					}
				}
				r.end(n + 1)
				// A steering word that came when the turn was over began another: let it end.
				r.Send(agent.Interrupt{})
			}
			r.stop()
			var durable []convo.Event
			for _, e := range r.events() {
				if e.Durable() {
					durable = append(durable, e)
				}
			}
			if err := convo.Check(durable); err != nil {
				t.Error(err)
			}
			for i, e := range durable {
				if e.Seq != int64(i+1) {
					t.Fatalf("event %d has number %d", i+1, e.Seq)
				}
			}
		})
	}
}

// feed puts events into a store that the room will open.
func feed(t *testing.T, s store.Store, events []convo.Event) {
	t.Helper()
	err := s.Begin(t.Context(), store.Session{ID: "s1"})
	for _, e := range events {
		err = errors.Join(err, s.Append(t.Context(), "s1", e))
	}
	if err := errors.Join(err, s.End(t.Context(), "s1")); err != nil {
		t.Fatal(err)
	}
}
