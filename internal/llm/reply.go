package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"iter"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Reply is what the model said, whole.
type Reply struct {
	Items  []Item // in the order of the wire
	Stop   Stop
	Native string
	Usage  *convo.Usage // nil when none was reported
}

// An Item is one text, one block of thinking, one call or one opaque block.
type Item struct {
	Kind     DeltaKind
	Text     string
	Refusal  bool
	Call     tool.Call // for CallPart: the arguments verbatim, {} when there were none
	Complete bool      // for CallPart: the arguments are whole; false is never executed
	Rescued  bool
	Keep     *convo.Opaque
}

// Calls are the calls of the reply, in order.
func (r Reply) Calls() []tool.Call {
	var calls []tool.Call
	for _, it := range r.Items {
		if it.Kind == CallPart {
			calls = append(calls, it.Call)
		}
	}
	return calls
}

// Text is all text of the reply.
func (r Reply) Text() string {
	var b strings.Builder
	for _, it := range r.Items {
		if it.Kind == Text {
			b.WriteString(it.Text)
		}
	}
	return b.String()
}

// Assemble folds a stream into a Reply and shows each delta to each on the way.
// With an error the reply holds what had arrived, and none of its calls may be
// executed. A stream that ends without its end signal is such an error.
func Assemble(s iter.Seq2[Delta, error], each func(Delta)) (Reply, error) {
	a := assembler{index: map[key]int{}}
	for d, err := range s {
		if err != nil {
			return a.reply(), err
		}
		a.take(d)
		if each != nil {
			each(d)
		}
	}
	r := a.reply()
	if !a.done {
		return r, &Error{Class: Truncated, Message: "the reply ended before its end signal"}
	}
	return r, nil
}

type key struct {
	kind  DeltaKind
	block int
}

// assembler collects the pieces of each item; argument pieces stay apart until
// the end, so that a thousand small ones cost no thousand copies.
type assembler struct {
	items []*part
	index map[key]int
	usage *convo.Usage
	stop  Stop
	nat   string
	done  bool
}

type part struct {
	Item
	text strings.Builder
}

func (a *assembler) take(d Delta) {
	switch d.Kind {
	case Done:
		a.done, a.stop, a.nat = true, d.Stop, d.Native
	case UsageDelta:
		a.usage = merge(a.usage, d.Usage)
	default:
		a.item(d).add(d)
	}
}

// item finds the item d belongs to. Neighbouring texts of different blocks stay
// apart only where the vendor wants something back with one of them.
func (a *assembler) item(d Delta) *part {
	k := key{d.Kind, d.Block}
	if i, ok := a.index[k]; ok {
		return a.items[i]
	}
	if n := len(a.items); d.Kind == Text && n > 0 && d.Keep == nil {
		if last := a.items[n-1]; last.Kind == Text && last.Keep == nil && last.Refusal == d.Refusal {
			a.index[k] = n - 1
			return last
		}
	}
	a.index[k] = len(a.items)
	p := &part{Item: Item{Kind: d.Kind, Complete: true}}
	a.items = append(a.items, p)
	return p
}

func (p *part) add(d Delta) {
	p.text.WriteString(d.Text)
	p.Refusal = p.Refusal || d.Refusal
	p.Rescued = p.Rescued || d.Rescued
	if d.Broken {
		p.Complete = false
	}
	if d.Keep != nil {
		p.Keep = d.Keep
	}
	if p.Call.ID == "" {
		p.Call.ID = d.ID
	}
	if p.Call.Name == "" {
		p.Call.Name = d.Name
	}
}

func (a *assembler) reply() Reply {
	r := Reply{Stop: a.stop, Native: a.nat, Usage: a.usage}
	seen := map[string]bool{}
	cut := !a.done || a.stop == Length
	for _, p := range a.items {
		it := p.finish(seen)
		if cut && it.Kind == CallPart && !json.Valid(it.Call.Args) {
			it.Complete = false
		}
		if it.Kind == Text && it.Text == "" && it.Keep == nil {
			continue
		}
		r.Items = append(r.Items, it)
	}
	if r.Stop == EndTurn && len(r.Calls()) > 0 {
		r.Stop = ToolUse // some providers say stop for every normal end
	}
	return r
}

// finish closes an item. A call without an id, or with one that another call of
// the reply has, gets a new one.
func (p *part) finish(seen map[string]bool) Item {
	it := p.Item
	if it.Kind != CallPart {
		it.Text = p.text.String()
		return it
	}
	args := bytes.TrimSpace([]byte(p.text.String()))
	if len(args) == 0 {
		args = []byte("{}")
	}
	it.Call.Args = json.RawMessage(args)
	if it.Call.ID == "" || seen[it.Call.ID] {
		it.Call.ID = NewID()
	}
	seen[it.Call.ID] = true
	return it
}

// merge takes the newer report field by field.
func merge(old, now *convo.Usage) *convo.Usage {
	if old == nil || now == nil {
		if now == nil {
			return old
		}
		return now
	}
	u := *old
	for _, f := range []struct{ to, from **int }{
		{&u.Input, &now.Input},
		{&u.Output, &now.Output},
		{&u.CacheRead, &now.CacheRead},
		{&u.CacheWrite, &now.CacheWrite},
		{&u.Reasoning, &now.Reasoning},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if now.CostUSD != nil {
		u.CostUSD = now.CostUSD
	}
	return &u
}

// NewID makes a call id that every provider accepts: nine letters and digits.
func NewID() string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
	var raw [9]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the program rather than return short
	for i, b := range raw {
		raw[i] = alphabet[b%32]
	}
	return string(raw[:])
}
