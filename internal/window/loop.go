package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
)

// A Verdict says whether the model goes round in circles.
type Verdict struct {
	Do      Guard
	Since   int64  // the first event of the circle
	Repeats int    // how often it was gone through
	Length  int    // calls in one round of it; 0 for repeated text
	Text    string // what it is, for the model or the person
}

// Guard is what to do about a circle.
type Guard uint8

const (
	GoOn Guard = iota
	Tell       // append Remark(Text): the model shall know
	Ask        // it was told and goes on all the same: ask the person
)

const (
	longestCycle = 4
	tooOften     = 3 // times in a row
)

// Loop looks at the end of a history, where every call has its result, for
// calls that are made again and again with the same results, one by one or in a
// circle of up to four, and for text that repeats itself. It starts anew
// whenever the person says or does something. A call with another result ends
// every circle; and changed, which may be nil, is asked last of all whether any
// file has changed since an event, in a circle of so many steps: while things
// change nobody is stopped.
func Loop(events []convo.Event, changed func(since int64, steps int) bool) Verdict {
	recent := sinceThePerson(events)
	if unheard(recent) {
		return Verdict{}
	}
	v, all := babble(recent), steps(recent)
	if v.Repeats == 0 {
		v = cycle(all)
	}
	if v.Repeats == 0 {
		v = refrain(all)
	}
	if v.Repeats == 0 || v.Length > 0 && changed != nil && changed(v.Since, v.Length) {
		return Verdict{}
	}
	v.Do = Tell
	if slices.ContainsFunc(recent, func(e convo.Event) bool { return e.Kind == convo.KindUser }) {
		v.Do = Ask // a remark of ours: the person's words are not among recent
	}
	return v
}

// sinceThePerson is what happened since the person last said or did something,
// and no more of it than a verdict needs.
func sinceThePerson(events []convo.Event) []convo.Event {
	const most = 200
	from := max(0, len(events)-most)
	for i := len(events) - 1; i >= from; i-- {
		if k := events[i].Kind; k != convo.KindUser && k != convo.KindCommand {
			continue
		}
		e := events[i]
		if _, ours := compactionOf(e); Said(e) || e.Kind == convo.KindCommand && !ours {
			return events[i+1:]
		}
	}
	return events[from:]
}

// unheard reports whether a remark of ours is still without an answer.
func unheard(events []convo.Event) bool {
	for i := len(events) - 1; i >= 0; i-- {
		if k := events[i].Kind; k == convo.KindUser || ofModel(k) {
			return k == convo.KindUser
		}
	}
	return false
}

// A step is a call with its result, and what the model said with it.
type step struct {
	seq    int64
	call   convo.ToolCall
	result convo.ToolResult
	text   string
	reply  string
	told   bool // the model was told of a circle before it
}

func steps(events []convo.Event) []step {
	results := make(map[string]convo.ToolResult, len(events)/2)
	for i := range events { // by place: an event is large, and this is done for every turn
		if r, ok := events[i].Body.(convo.ToolResult); ok {
			results[r.CallID] = r
		}
	}
	all := make([]step, 0, len(results))
	text, reply, told := "", "", false
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case convo.KindUser:
			told = true
		case convo.KindAssistant:
			text, reply = e.Text, e.Reply
		case convo.KindToolCall:
			c, ok := e.Body.(convo.ToolCall)
			r, answered := results[c.ID]
			if !ok || !answered {
				continue
			}
			if e.Reply != reply {
				text, reply = "", e.Reply
			}
			all = append(all, step{e.Seq, c, r, text, e.Reply, told})
			told = false
		}
	}
	return all
}

// same reports whether two calls were the same and had the same result.
func (s step) same(o step) bool {
	return s.call.Name == o.call.Name && sameJSON(s.call.Args, o.call.Args) && s.sameResult(o)
}

func (s step) sameResult(o step) bool {
	a, b := s.result, o.result
	if a.Failure == nil && b.Failure == nil {
		return bytes.Equal(a.Data, b.Data)
	}
	return a.Failure != nil && b.Failure != nil && bytes.Equal(a.Envelope(), b.Envelope())
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// cycle finds the shortest circle of calls at the end.
func cycle(all []step) Verdict {
	for length := 1; length <= longestCycle; length++ {
		from := len(all) - 1
		for from-length >= 0 && all[from-length].same(all[from]) {
			from--
		}
		n := len(all) - from + length - 1 // steps in the circle, its first round included
		repeats := n / length
		if from < 0 || repeats < tooOften || !wentOn(all[from-length+1:], length) {
			continue
		}
		first := all[from-length+1]
		return Verdict{
			Since: first.seq, Repeats: repeats, Length: length,
			Text: fmt.Sprintf("The same %s made %d times with the same results, beginning with %s. Nothing changes: try something else, or say what is in the way.",
				plural(length, "call was", "calls were"), repeats, oneLine(first.call.Summary(), 120)),
		}
	}
	return Verdict{}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// wentOn reports whether the circle was gone through once more after the model
// was told of it; without that it is too early to complain again.
func wentOn(circle []step, length int) bool {
	told := slices.IndexFunc(circle, func(s step) bool { return s.told })
	return told < 0 || len(circle)-told >= length
}

// refrain finds replies that say the same again and again although they call
// something else, when the results stay the same.
func refrain(all []step) Verdict {
	n := len(all)
	if n == 0 || len(strings.TrimSpace(all[n-1].text)) < 20 {
		return Verdict{}
	}
	from, replies := n-1, 1
	for from > 0 && all[from-1].text == all[n-1].text && all[from-1].sameResult(all[n-1]) {
		from--
		if all[from].reply != all[from+1].reply {
			replies++
		}
	}
	if replies < tooOften || !wentOn(all[from:], 1) {
		return Verdict{}
	}
	return Verdict{
		Since: all[from].seq, Repeats: replies, Length: 1,
		Text: fmt.Sprintf("The same was said %d times, with the same results: %s Nothing changes: try something else, or say what is in the way.", replies, oneLine(all[n-1].text, 120)),
	}
}

// babble finds a last answer that ends in one piece of text over and over.
func babble(events []convo.Event) Verdict {
	for _, e := range slices.Backward(events) {
		if e.Kind != convo.KindAssistant {
			continue
		}
		piece, n := repeated(strings.TrimSpace(e.Text))
		if n == 0 {
			break
		}
		return Verdict{
			Since: e.Seq, Repeats: n,
			Text: fmt.Sprintf("The last answer ends in the same text %d times over: %s Stop repeating it, and go on or say what is in the way.", n, oneLine(piece, 120)),
		}
	}
	return Verdict{}
}

// repeated is the shortest piece of words that fills the end of a text, and how
// often. Lines and dots that people draw do not count.
func repeated(text string) (piece string, times int) {
	const least, longest, often = 400, 400, 8
	for unit := 1; unit <= min(longest, len(text)/often); unit++ {
		piece, n := text[len(text)-unit:], 1
		for at := len(text) - 2*unit; at >= 0 && text[at:at+unit] == piece; at -= unit {
			n++
		}
		if n >= often && n*unit >= least {
			if strings.Trim(piece, "-=_*#.~+ \t\n|") == "" {
				return "", 0
			}
			return piece, n
		}
	}
	return "", 0
}
