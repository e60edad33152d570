package stats

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Report is the numbers of all events until now. Its JSON form is what
// ikigai stats --json prints.
type Report struct {
	Sessions     int         `json:"sessions"`
	Turns        int         `json:"turns"` // prompts
	Events       int         `json:"events"`
	Calls        Tool        `json:"calls"` // of all tools together
	Tools        []Tool      `json:"tools"` // the most used first
	Depth        map[int]int `json:"depth"` // turns by how many rounds of calls they took; 0 is a turn without any
	Tokens       Tokens      `json:"tokens"`
	CacheShare   *float64    `json:"cache_share"` // of the prompt tokens of replies that report it
	WithTools    Side        `json:"with_tools"`  // turns that called tools
	WithoutTools Side        `json:"without_tools"`
	Total        Spent       `json:"total"`
	Models       []Spent     `json:"models"` // the dearest first
	Days         []Day       `json:"days"`   // in order
	Clocks       Clocks      `json:"clocks"`
	Decisions    Decisions   `json:"decisions"`
}

// A Tool is how the calls of one tool went. Calls is always the sum of OK,
// Failed, Denied and Open.
type Tool struct {
	Name      string                 `json:"name,omitempty"`
	Calls     int                    `json:"calls"`
	OK        int                    `json:"ok"`
	Failed    int                    `json:"failed"`
	Denied    int                    `json:"denied"` // by a person, a rule or a mode
	Open      int                    `json:"open"`   // no answer is recorded
	Failures  map[tool.ErrorType]int `json:"failures,omitempty"`
	ExitCodes map[int]int            `json:"exit_codes,omitempty"` // of the programs it ran
	P50, P95  time.Duration          `json:"-"`                    // of the calls that ran
	Ran       int                    `json:"ran"`
	Bytes     int64                  `json:"bytes"` // of the answers, as the model reads them
}

// MarshalJSON adds the durations in milliseconds; null where nothing ran.
func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	var p50, p95 *float64
	if t.Ran > 0 {
		p50, p95 = ptr(millis(t.P50)), ptr(millis(t.P95))
	}
	return json.Marshal(struct {
		plain
		NotZero int      `json:"exit_not_zero"`
		P50     *float64 `json:"p50_ms"`
		P95     *float64 `json:"p95_ms"`
	}{plain(t), t.NotZero(), p50, p95})
}

// NotZero is how many programs ended with another exit code than 0.
func (t Tool) NotZero() int {
	n := 0
	for code, times := range t.ExitCodes {
		if code != 0 {
			n += times
		}
	}
	return n
}

// TopFailure is the most frequent kind of failure; empty when there was none.
func (t Tool) TopFailure() tool.ErrorType {
	var top tool.ErrorType
	for _, k := range slices.Sorted(maps.Keys(t.Failures)) {
		if t.Failures[k] > t.Failures[top] {
			top = k
		}
	}
	return top
}

func (t *Tool) exit(code int) { t.ExitCodes[code]++ }

func (t *Tool) fail(k tool.ErrorType) {
	t.Failed++
	t.Failures[k]++
}

// Tokens are sums of what providers reported; what none reported is 0.
type Tokens struct {
	Input      int `json:"input"` // cached ones included
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
	Reasoning  int `json:"reasoning"`
}

func (t *Tokens) add(u convo.Usage) {
	t.plus(Tokens{or0(u.Input), or0(u.Output), or0(u.CacheRead), or0(u.CacheWrite), or0(u.Reasoning)})
}

func (t *Tokens) plus(o Tokens) {
	t.Input += o.Input
	t.Output += o.Output
	t.CacheRead += o.CacheRead
	t.CacheWrite += o.CacheWrite
	t.Reasoning += o.Reasoning
}

func or0(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// A Side is the turns with tools, or those without.
type Side struct {
	Turns  int    `json:"turns"`
	Tokens Tokens `json:"tokens"`
}

// Spent is what was used of one model.
type Spent struct {
	Model    string   `json:"model,omitempty"`
	Replies  int      `json:"replies"`
	Tokens   Tokens   `json:"tokens"`
	CostUSD  *float64 `json:"cost_usd"`           // of the replies whose cost is known; null when none is
	Unpriced int      `json:"unpriced,omitempty"` // replies whose cost is not known
}

func (s *Spent) add(u convo.Usage) {
	one := Spent{Replies: 1, CostUSD: u.CostUSD}
	one.Tokens.add(u)
	if u.CostUSD == nil {
		one.Unpriced = 1
	}
	s.plus(one)
}

func (s *Spent) plus(o Spent) {
	s.Replies += o.Replies
	s.Unpriced += o.Unpriced
	s.Tokens.plus(o.Tokens)
	if o.CostUSD != nil {
		s.CostUSD = ptr(*o.CostUSD + s.cost())
	}
}

func (s Spent) cost() float64 {
	if s.CostUSD == nil {
		return 0
	}
	return *s.CostUSD
}

// A Day is what happened on one day.
type Day struct {
	Day    string  `json:"day"` // 2026-11-15
	Calls  int     `json:"calls"`
	Spent  Spent   `json:"spent"`
	Models []Spent `json:"models"`
}

// Clocks say where the time went. Calls that ran side by side each count, so
// together they can be more than Turns.
type Clocks struct {
	Turns   time.Duration // from a prompt to the end of its turn
	Model   time.Duration
	Tools   time.Duration
	Waiting time.Duration // for a person's answer
}

// MarshalJSON writes milliseconds.
func (c Clocks) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Turns   float64 `json:"turns_ms"`
		Model   float64 `json:"model_ms"`
		Tools   float64 `json:"tools_ms"`
		Waiting float64 `json:"waiting_ms"`
	}{millis(c.Turns), millis(c.Model), millis(c.Tools), millis(c.Waiting)})
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Decisions count verdicts by who gave them and how far they reach.
type Decisions struct {
	Once    int `json:"once"` // allowed by a person
	Session int `json:"session"`
	Always  int `json:"always"`
	Refused int `json:"refused"` // by a person
	Allowed int `json:"allowed"` // by a rule or a mode
	Denied  int `json:"denied"`
}

func (d *Decisions) add(v convo.Decision) {
	switch {
	case v.By == convo.ByPerson && !v.Allowed:
		d.Refused++
	case v.By == convo.ByPerson && v.Scope == "session":
		d.Session++
	case v.By == convo.ByPerson && v.Scope == "always":
		d.Always++
	case v.By == convo.ByPerson:
		d.Once++
	case v.Allowed:
		d.Allowed++
	default:
		d.Denied++
	}
}

// Report gives the numbers of all events until now and ends the session at hand.
func (t *Tally) Report() Report {
	t.Begin()
	r := t.report
	r.Depth = maps.Clone(r.Depth)
	if t.cache.of > 0 {
		r.CacheShare = ptr(float64(t.cache.read) / float64(t.cache.of))
	}
	r.Tools, r.Calls = t.toolRows()
	r.Models = dearestFirst(t.models)
	r.Total = sum(r.Models)
	r.Days = t.dayRows()
	return r
}

func (t *Tally) toolRows() (rows []Tool, all Tool) {
	all = Tool{Failures: map[tool.ErrorType]int{}, ExitCodes: map[int]int{}}
	var took []time.Duration
	rows = []Tool{}
	for _, x := range t.tools {
		x.measure(x.took)
		rows = append(rows, x.Tool)
		all.plus(x.Tool)
		took = append(took, x.took...)
	}
	all.measure(took)
	slices.SortFunc(rows, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return rows, all
}

func (t *Tool) plus(o Tool) {
	t.Calls += o.Calls
	t.OK += o.OK
	t.Failed += o.Failed
	t.Denied += o.Denied
	t.Open += o.Open
	t.Bytes += o.Bytes
	for k, n := range o.Failures {
		t.Failures[k] += n
	}
	for k, n := range o.ExitCodes {
		t.ExitCodes[k] += n
	}
}

func (t *Tool) measure(took []time.Duration) {
	slices.Sort(took)
	t.Ran, t.P50, t.P95 = len(took), percentile(took, 50), percentile(took, 95)
}

// percentile is the smallest of the sorted values that p of a hundred do not
// exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}

func (t *Tally) dayRows() []Day {
	rows := []Day{}
	for _, name := range slices.Sorted(maps.Keys(t.days)) {
		models := dearestFirst(t.days[name].models)
		rows = append(rows, Day{Day: name, Calls: t.days[name].calls, Spent: sum(models), Models: models})
	}
	return rows
}

func dearestFirst(by map[string]*Spent) []Spent {
	rows := []Spent{}
	for _, s := range by {
		rows = append(rows, *s)
	}
	slices.SortFunc(rows, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(b.cost(), a.cost()), cmp.Compare(b.Replies, a.Replies), cmp.Compare(a.Model, b.Model))
	})
	return rows
}

func sum(rows []Spent) Spent {
	var all Spent
	for _, s := range rows {
		all.plus(s)
	}
	return all
}

func ptr[T any](v T) *T { return &v }
