package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// A Group is one step of a conversation that every provider accepts: what the
// person said, or what the model said, or the results of all calls of the group
// before it. The first is the person's, no two of one role are neighbours, and no
// text in them is blank.
type Group struct {
	Role    Role
	Said    []Part   // User
	Items   []Item   // Model
	Answers []Answer // Results, one for each call of the group before, in its order; Said may follow them
}

// A Part is a text of the person or, where Image is set, a picture. Pictures stand
// before the text they came with.
type Part struct {
	Text  string
	Image *convo.Image
}

// Text is all that the person said, without the pictures.
func (g Group) Text() string {
	var texts []string
	for _, p := range g.Said {
		if p.Image == nil {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Images are the pictures alone.
func (g Group) Images() []convo.Image {
	var all []convo.Image
	for _, p := range g.Said {
		if p.Image != nil {
			all = append(all, *p.Image)
		}
	}
	return all
}

// Role is whose step a Group is.
type Role uint8

const (
	User Role = iota
	Model
	Results
)

// An Item is one thing the model said.
type Item struct {
	Kind llm.DeltaKind // Text, Thinking, CallPart or Block
	Text string
	Call tool.Call       // for CallPart, with the id and the name as this provider takes them
	Keep json.RawMessage // what goes back with it; nil when it came from another format or model
}

// An Answer is the result of a call.
type Answer struct {
	Call   Item
	Result tool.Result
}

// Rules are what a format demands of a history.
type Rules struct {
	Dialect  string  // whose Keep goes back
	ID       Fitting // of calls
	Name     Fitting // of tools
	Thinking bool    // plain thinking goes back too, whoever thought it
	Bridge   bool    // the person's words may not stand right after results
	Merge    bool    // the person's words right after results are of one group with them
	Blind    bool    // the model takes no pictures: it is told of them
}

// A Thread turns the events of a session into groups and reads each event once.
// What it gives is the same whether the events come all at once or one by one.
// Calls without a result get one that says so, results stand behind their calls
// wherever they stood before, and what no provider would take is left out.
type Thread struct {
	rules  Rules
	model  string
	begun  bool   // a group was given out
	after  Role   // that of the last group that was given out
	user   []Part // what the person said last, while nothing of the model follows
	held   *Group // results that such words may still join
	reply  reply  // what the model said last
	system []string

	taken   int         // events that were read
	last    convo.Event // the last of them
	ids     table
	names   table
	made    map[string]bool // own ids of calls that were closed for want of a result
	called  []string        // names of the tools that were called, each once
	notices []string
}

// reply is the Model group in hand, with the results that came so far.
type reply struct {
	name  string // which reply; the last one where several are merged
	items []Item
	calls []call
}

// call is a call of the reply in hand. The group shows it with the id that fits
// the provider, the events with its own.
type call struct {
	own    string
	item   Item
	result *tool.Result
}

// NewThread starts an empty conversation with a model.
func NewThread(rules Rules, model string) *Thread {
	return &Thread{rules: rules, model: model, ids: newTable(rules.ID), names: newTable(rules.Name), made: map[string]bool{}}
}

// Follows reports whether events go on from those that were read. What was cut
// or replaced before them, a summary, or a late result of a call that was closed
// needs a new Thread.
func (t *Thread) Follows(events []convo.Event) bool {
	if t.taken == 0 {
		return true
	}
	if len(events) < t.taken || !same(events[t.taken-1], t.last) {
		return false
	}
	for _, e := range events[t.taken:] {
		if r, ok := e.Body.(convo.ToolResult); ok && t.made[r.CallID] || e.Kind == convo.KindSummary {
			return false
		}
	}
	return true
}

func same(a, b convo.Event) bool {
	return a.Seq == b.Seq && a.Kind == b.Kind && a.Reply == b.Reply && a.Text == b.Text
}

// Read takes the events that are new and gives the groups that are now whole.
func (t *Thread) Read(events []convo.Event) []Group {
	fresh := reading{Thread: t, events: events[t.taken:]}
	fresh.index()
	for i := range fresh.events {
		fresh.take(i)
	}
	if t.taken = len(events); t.taken > 0 {
		t.last = events[t.taken-1]
	}
	return fresh.whole
}

// Rest are the groups at the end that may still grow, as they stand now.
func (t *Thread) Rest() []Group {
	rest := t.words()
	if t.reply.substantial() {
		if !t.begun && len(rest) == 0 {
			rest = append(rest, placeholder())
		}
		rest = append(rest, t.reply.groups(t.orphan)...)
	}
	return rest
}

// words are what the person said last, as groups.
func (t *Thread) words() []Group {
	said := Group{Role: User, Said: t.user}
	switch {
	case t.held != nil:
		said.Role, said.Answers = Results, t.held.Answers
	case len(t.user) == 0:
		return nil
	}
	if t.rules.Bridge && t.begun && t.after == Results {
		return []Group{{Role: Model, Items: []Item{{Kind: llm.Text, Text: "Noted."}}}, said}
	}
	return []Group{said}
}

// System is the text of the system events.
func (t *Thread) System() string { return strings.Join(t.system, "\n\n") }

// Called are the names of the tools that were called, as this provider takes them.
func (t *Thread) Called() []string { return t.called }

// WireName is the name of a tool as this provider takes it.
func (t *Thread) WireName(name string) string { return t.names.of(name) }

// Renamed are the tools that have another name on the wire: wire name to own name.
func (t *Thread) Renamed() map[string]string { return t.names.changed }

// Notices are what had to be mended since the last question.
func (t *Thread) Notices() []string {
	n := t.notices
	t.notices = nil
	return n
}

func (t *Thread) notice(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(t.notices, text) {
		t.notices = append(t.notices, text)
	}
}

// orphan is the result of a call that has none.
func (t *Thread) orphan(c call) tool.Result {
	t.notice("the call %s of %s had no result: it was sent as interrupted", c.own, c.item.Call.Name)
	return tool.Fail(c.item.Call, tool.Interrupted, "the call was interrupted: nothing is known about its result")
}

// keep is what o holds when this format and this model want it back.
func (t *Thread) keep(o *convo.Opaque) json.RawMessage {
	if o == nil || o.Dialect != t.rules.Dialect || o.Model != "" && o.Model != t.model || !json.Valid(o.Data) {
		return nil
	}
	return o.Data
}

// placeholder stands where a conversation was cut so that the model spoke first.
func placeholder() Group {
	return Group{Role: User, Said: []Part{{Text: "(The conversation goes on.)"}}}
}

// A reading is one pass over events that are new.
type reading struct {
	*Thread
	events []convo.Event
	where  map[string][]place // calls and results of one own id, in order
	used   map[int]bool       // results that were given to a call before their turn
	whole  []Group
}

type place struct {
	at     int
	result *tool.Result // nil for a call
}

func (r *reading) index() {
	r.where, r.used = map[string][]place{}, map[int]bool{}
	for i, e := range r.events {
		switch b := e.Body.(type) {
		case convo.ToolCall:
			r.where[b.ID] = append(r.where[b.ID], place{at: i})
		case convo.ToolResult:
			r.where[b.CallID] = append(r.where[b.CallID], place{at: i, result: &b.Result})
		}
	}
}

func (r *reading) take(i int) {
	e := r.events[i]
	switch e.Kind {
	case convo.KindSystem:
		if !blank(e.Text) && !slices.Contains(r.system, e.Text) {
			r.system = append(r.system, e.Text)
		}
	case convo.KindUser:
		w, _ := e.Body.(convo.Words)
		r.said(i, e.Text, w.Images...)
	case convo.KindSummary:
		r.whole, r.user, r.held, r.reply, r.begun = nil, nil, nil, reply{}, false
		r.said(i, "What happened before, in short:\n\n"+e.Text)
	case convo.KindAssistant:
		r.item(i, Item{Kind: llm.Text, Text: e.Text, Keep: r.keep(e.Keep)})
	case convo.KindThinking:
		r.item(i, Item{Kind: llm.Thinking, Text: e.Text, Keep: r.keep(e.Keep)})
	case convo.KindOpaque:
		if o, ok := e.Body.(convo.Opaque); ok {
			r.item(i, Item{Kind: llm.Block, Keep: r.keep(&o)})
		}
	case convo.KindToolCall:
		if c, ok := e.Body.(convo.ToolCall); ok {
			r.item(i, Item{Kind: llm.CallPart, Call: c.Call, Keep: r.keep(e.Keep)})
		}
	case convo.KindToolResult:
		if b, ok := e.Body.(convo.ToolResult); ok && !r.used[i] && !r.reply.answer(b.Result) {
			r.notice("a result for the call %s was left out: no call waits for it", b.CallID)
		}
	}
}

func (r *reading) said(i int, text string, images ...convo.Image) {
	if r.rules.Blind {
		for _, image := range images {
			text += "\n\n" + image.NotSent(r.model+" takes no images")
		}
		images = nil
	}
	if blank(text) && len(images) == 0 {
		return
	}
	r.close(i)
	for _, image := range images {
		r.user = append(r.user, Part{Image: &image})
	}
	if !blank(text) {
		r.user = append(r.user, Part{Text: text})
	}
}

// item adds one thing the model said to the reply in hand, or begins another.
func (r *reading) item(i int, it Item) {
	if it.Keep == nil && !it.sendable(r.rules) {
		return
	}
	if !r.reply.goesOn(r.events[i].Reply) {
		r.close(i)
	}
	if it.Kind == llm.CallPart {
		own := it.Call.ID
		it.Call.ID, it.Call.Name = r.ids.next(own), r.names.of(it.Call.Name)
		r.reply.calls = append(r.reply.calls, call{own: own, item: it})
		if !slices.Contains(r.called, it.Call.Name) {
			r.called = append(r.called, it.Call.Name)
		}
	}
	r.reply.name = r.events[i].Reply
	r.reply.items = append(r.reply.items, it)
	if it.Kind != llm.Thinking {
		r.flush()
	}
}

// close ends the reply in hand, because event i does not belong to it. A reply
// of nothing but thinking is dropped: no provider takes it.
func (r *reading) close(i int) {
	if r.reply.substantial() {
		r.flush()
		r.fetch(i)
		if !r.begun {
			r.give(placeholder())
		}
		groups := r.reply.groups(func(c call) tool.Result {
			r.made[c.own] = true
			return r.orphan(c)
		})
		if last := len(groups) - 1; r.rules.Merge && groups[last].Role == Results {
			r.held, groups = &groups[last], groups[:last]
		}
		r.give(groups...)
	}
	r.reply = reply{}
}

// give gives groups out: they are whole.
func (r *reading) give(groups ...Group) {
	for _, g := range groups {
		r.whole = append(r.whole, g)
		r.begun, r.after = true, g.Role
	}
}

// flush gives out what the person said, once the model answered it.
func (r *reading) flush() {
	r.give(r.words()...)
	r.user, r.held = nil, nil
}

// fetch looks for results that stand behind event i, and so away from their
// calls. Past another call of the same id they belong to that one.
func (r *reading) fetch(i int) {
	for n := range r.reply.calls {
		c := &r.reply.calls[n]
		if c.result != nil {
			continue
		}
		for _, p := range r.where[c.own] {
			if p.at < i || r.used[p.at] {
				continue
			}
			if p.result != nil {
				c.result, r.used[p.at] = p.result, true
			}
			break
		}
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// sendable reports whether it can be sent although nothing of it is kept.
func (it Item) sendable(rules Rules) bool {
	switch it.Kind {
	case llm.CallPart:
		return true
	case llm.Text:
		return !blank(it.Text)
	case llm.Thinking:
		return rules.Thinking && !blank(it.Text)
	}
	return false
}

// goesOn reports whether an item of the reply called name belongs to p: it is
// the same reply, or nothing happened in between.
func (p *reply) goesOn(name string) bool {
	if len(p.calls) == 0 {
		return true
	}
	if name != "" || p.name != "" {
		return name == p.name
	}
	return !slices.ContainsFunc(p.calls, func(c call) bool { return c.result != nil })
}

// answer gives r to the first call that waits for it.
func (p *reply) answer(r tool.Result) bool {
	for n := range p.calls {
		if c := &p.calls[n]; c.own == r.CallID && c.result == nil {
			c.result = &r
			return true
		}
	}
	return false
}

func (p *reply) substantial() bool {
	return slices.ContainsFunc(p.items, func(it Item) bool { return it.Kind != llm.Thinking })
}

// groups gives the Model group and, when it has calls, that of their results.
func (p *reply) groups(orphan func(call) tool.Result) []Group {
	groups := []Group{{Role: Model, Items: ordered(p.items)}}
	if len(p.calls) == 0 {
		return groups
	}
	answers := make([]Answer, len(p.calls))
	for i, c := range p.calls {
		answers[i].Call = c.item
		if c.result != nil {
			answers[i].Result = *c.result
		} else {
			answers[i].Result = orphan(c)
		}
	}
	return append(groups, Group{Role: Results, Answers: answers})
}

// ordered puts thinking before text before calls, the order every provider
// takes. Where the vendor gave us something to keep, its own order stands.
func ordered(items []Item) []Item {
	if slices.ContainsFunc(items, func(it Item) bool { return it.Keep != nil }) {
		return items
	}
	rank := map[llm.DeltaKind]int{llm.Thinking: 0, llm.Text: 1, llm.CallPart: 2}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return rank[a.Kind] - rank[b.Kind] })
	return items
}
