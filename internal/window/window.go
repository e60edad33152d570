// Package window decides which events the model gets to see. A conversation
// grows without end and a model's window does not, so old tool output is thinned
// first, and then old events are replaced by a summary.
//
// Compaction is an event like any other: what the model sees is worked out from
// the history alone, so it is the same after a restart, it stays the same byte
// for byte between two compactions, and it can be undone. Nothing is lost: the
// history keeps every event, and what was left out is named by its number.
//
// Some things are never left out: the system's text, what the person said, what
// is pinned, and what the session says is still open.
package window

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ikigai/internal/convo"
)

// Options say how much room there is and what must stay.
type Options struct {
	Window    int             // tokens the model takes, its reply included; 32,000 when zero
	Reply     int             // tokens of it that are kept free for the reply; an eighth when zero
	Threshold float64         // how much of the rest may be used before something is done; 0.8 when zero
	Overhead  int             // bytes of what is sent beside the events: system prompt and tools
	Open      func() []string // what is not done yet: it stands in every summary; may be nil
	About     string          // what matters to the person, for the one who sums up
}

func (o Options) withDefaults() Options {
	o.Window = cmp.Or(o.Window, 32_000)
	o.Reply = min(cmp.Or(o.Reply, o.Window/8), o.Window/2)
	o.Threshold = cmp.Or(o.Threshold, 0.8)
	return o
}

// room is the tokens there are for a request.
func (o Options) room() int { return o.Window - o.Reply }

// A Window follows one session's history and knows what the model sees of it.
// It reads each event once. The session's goroutine owns it.
type Window struct {
	meter  Meter
	last   int64          // number of the last event that was read
	undone map[int64]bool // compactions that were taken back
	made   []int64        // compactions in force
	pinned map[int64]bool // by the person
	view   []convo.Event  // never changed once handed out, only appended to or replaced
	bytes  int            // of the view

	overhead int // bytes beside the events, as the last Fit was told

	exact int    // tokens of the view when the provider last counted; zero when unknown
	since int    // bytes of the view that came after
	reply string // the last model reply in the view
	tail  int    // bytes of that reply
}

// New starts before the first event.
func New() *Window { return &Window{undone: map[int64]bool{}, pinned: map[int64]bool{}} }

// What to do before the next request.
type Action uint8

const (
	Send      Action = iota // it fits
	Record                  // append Plan.Record to the history, and Fit again
	Summarise               // make a summary, append Plan.Summary.Event of it, and Fit again
	Full                    // it does not fit, and nothing can be left out
)

// A Plan says what the model would see and what must be done first. Events can
// be sent as they are whatever the action is: they may only be too many.
type Plan struct {
	Action  Action
	Events  []convo.Event
	Used    int // tokens, by the provider's count as far as it goes
	Room    int // tokens
	Record  convo.Event
	Summary Summary
}

// Fit plans the next request of a new session. A session that goes on keeps a
// Window.
func Fit(events []convo.Event, o Options) Plan { return New().Fit(events, o) }

// Fit reads the events that are new and plans the next request. Events are the
// history in order; those before the last compaction may be missing, unless a
// compaction was undone.
func (w *Window) Fit(events []convo.Event, o Options) Plan {
	w.overhead = o.Overhead
	w.follow(events)
	o = o.withDefaults()
	p := Plan{Events: w.Events(), Used: w.Used(), Room: o.room()}
	if float64(p.Used) > o.Threshold*float64(p.Room) {
		w.compact(&p, o)
	}
	return p
}

// Squeeze reads the events that are new and plans a summary of all that the model
// has answered, whether or not there is room. What is not worth a summary can be sent.
func (w *Window) Squeeze(events []convo.Event, o Options) Plan {
	w.overhead = o.Overhead
	w.follow(events)
	o = o.withDefaults()
	p := Plan{Events: w.Events(), Used: w.Used(), Room: o.room()}
	if s, freed := w.summary(w.answered(), o); freed > 0 && freed >= w.bytes/4 {
		p.Action, p.Summary = Summarise, s
	}
	return p
}

// Reread reads the whole history anew, as it must be after a compaction was undone
// whose events were let go.
func (w *Window) Reread(events []convo.Event) { w.rebuild(events) }

// Last is the last compaction in force, 0 when there is none.
func (w *Window) Last() int64 {
	if n := len(w.made); n > 0 {
		return w.made[n-1]
	}
	return 0
}

// Events are what the model sees now.
func (w *Window) Events() []convo.Event { return w.view[:len(w.view):len(w.view)] }

// Used is how many tokens a request would take now.
func (w *Window) Used() int {
	if w.exact > 0 {
		return w.exact + w.meter.Tokens(w.since)
	}
	return w.meter.Tokens(w.bytes + w.overhead)
}

// follow reads what is new.
func (w *Window) follow(events []convo.Event) {
	if w.last == 0 {
		w.rebuild(events)
		return
	}
	from, _ := slices.BinarySearchFunc(events, w.last+1, func(e convo.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	for _, e := range events[from:] {
		if c, ok := compactionOf(e); ok && c.undoes != 0 && !w.undone[c.undoes] {
			w.rebuild(events)
			return
		}
		w.take(e)
	}
}

// rebuild reads everything from the start.
func (w *Window) rebuild(events []convo.Event) {
	*w = Window{meter: w.meter, overhead: w.overhead, undone: map[int64]bool{}, pinned: map[int64]bool{}}
	for _, e := range events {
		if c, ok := compactionOf(e); ok && c.undoes != 0 {
			w.undone[c.undoes] = true
		}
	}
	for _, e := range events {
		w.take(e)
	}
}

// take reads one event.
func (w *Window) take(e convo.Event) {
	w.last = max(w.last, e.Seq)
	switch e.Kind {
	case convo.KindSummary:
		if !w.undone[e.Seq] {
			w.made = append(w.made, e.Seq)
			w.replace(summarised(w.view, e))
		}
	case convo.KindCommand:
		w.command(e)
	case convo.KindUsage:
		w.counted(e)
	case convo.KindSystem, convo.KindUser, convo.KindAssistant, convo.KindThinking,
		convo.KindToolCall, convo.KindToolResult, convo.KindOpaque:
		w.add(e)
	}
}

// command reads a command of the person or of ours.
func (w *Window) command(e convo.Event) {
	if seq, on, ok := pinOf(e); ok {
		w.pinned[seq] = on
		return
	}
	c, ok := compactionOf(e)
	if !ok {
		return
	}
	if c.undoes == 0 && !w.undone[e.Seq] {
		w.made = append(w.made, e.Seq)
	}
	w.replace(c.apply(w.view, e, w.undone[e.Seq]))
}

func (w *Window) add(e convo.Event) {
	n := size(e)
	w.view = append(w.view, e)
	w.bytes += n
	w.since += n
	if e.Reply != w.reply && e.Reply != "" {
		w.reply, w.tail = e.Reply, 0
	}
	if e.Reply != "" {
		w.tail += n
	}
}

// replace takes another view. The provider has not counted it yet.
func (w *Window) replace(view []convo.Event) {
	w.view, w.exact, w.since, w.bytes = view, 0, 0, 0
	for _, e := range view {
		w.bytes += size(e)
	}
}

// counted learns from the provider's count of the reply that was just read. A
// count of something else, as of a request for a summary, says nothing about us.
func (w *Window) counted(e convo.Event) {
	u, ok := e.Body.(convo.Usage)
	if !ok || u.Input == nil || e.Reply == "" || e.Reply != w.reply {
		return
	}
	if w.meter.Report(u.Model, w.bytes-w.tail+w.overhead, *u.Input) {
		w.exact, w.since = *u.Input, 0
		if u.Output != nil {
			w.exact += *u.Output
		}
	}
}

// Said reports whether an event is something the person said.
func Said(e convo.Event) bool { return e.Said() }

// Remark is something the harness says to the model.
func Remark(text string) convo.Event { return convo.Remark(text) }

// Compacts reports whether an event takes something from what the model sees.
func Compacts(e convo.Event) bool {
	c, ok := compactionOf(e)
	return e.Kind == convo.KindSummary || ok && c.undoes == 0
}

// Pin is the event that keeps another whole from now on, or no longer.
func Pin(seq int64, on bool) convo.Event {
	name, text := "pin", "event %d is pinned: no compaction leaves it out"
	if !on {
		name, text = "unpin", "event %d is no longer pinned"
	}
	return convo.Of(fmt.Sprintf(text, seq), convo.Command{Name: name, Args: fmt.Sprint(seq)})
}

func pinOf(e convo.Event) (seq int64, on, ok bool) {
	c, _ := e.Body.(convo.Command)
	if c.Name != "pin" && c.Name != "unpin" {
		return 0, false, false
	}
	seq, err := strconv.ParseInt(c.Args, 10, 64)
	return seq, c.Name == "pin", err == nil
}

// A compaction is what a command event of ours says. They stand first in the
// view: an encoder that goes on from what it sent before sees that every event
// has moved, and does not mistake the new view for the old one.
type compaction struct {
	through int64   // results up to this event are thinned
	keep    int     // to so many bytes
	except  []int64 // but for these
	undoes  int64   // or: this compaction is taken back
}

const commandName = "compact"

// Undo is the event that takes a compaction back, a summary or a thinning.
func Undo(compaction int64) convo.Event {
	return convo.Of(fmt.Sprintf("compaction %d was undone", compaction),
		convo.Command{Name: commandName, Args: fmt.Sprintf("undo %d", compaction)})
}

// event is the record of a thinning.
func (c compaction) event(count, freed int) convo.Event {
	args := fmt.Sprintf("thin %d %d", c.through, c.keep)
	for _, seq := range c.except {
		args += fmt.Sprintf(" %d", seq)
	}
	return convo.Of(fmt.Sprintf("thinned the output of %d calls (%d bytes)", count, freed), convo.Command{Name: commandName, Args: args})
}

func compactionOf(e convo.Event) (compaction, bool) {
	c, ok := e.Body.(convo.Command)
	if !ok || c.Name != commandName {
		return compaction{}, false
	}
	words := strings.Fields(c.Args)
	var numbers []int64
	for _, w := range words[min(1, len(words)):] {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return compaction{}, false
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(numbers) == 1 && words[0] == "undo":
		return compaction{undoes: numbers[0]}, true
	case len(numbers) >= 2 && words[0] == "thin":
		return compaction{through: numbers[0], keep: int(numbers[1]), except: numbers[2:]}, true
	}
	return compaction{}, false
}

// apply is the view after a compaction, with its record in front.
func (c compaction) apply(view []convo.Event, record convo.Event, undone bool) []convo.Event {
	out := make([]convo.Event, 0, len(view)+1+len(view)/4)
	out = append(out, record)
	for _, e := range view {
		if !undone && e.Seq <= c.through && !slices.Contains(c.except, e.Seq) {
			e = thinned(e, c.keep)
		}
		out = append(out, e)
	}
	return out
}
