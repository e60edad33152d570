package window

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Summary is about to replace the older part of a conversation. Prompt asks a
// model for it; Offline is one that was made without a model.
type Summary struct {
	Through int64  // the last event that it replaces
	Prompt  string // a request of its own, with no tools and no other events
	Offline string
	Cut     []int64 // what the person said and is too long to be kept whole in a third of the room

	kept []kept
	gone int // things the person said of which not even the beginning fits
	open []string
	most int // bytes of the digest
}

// kept is something that stands in a summary word for word.
type kept struct {
	Seq  int64  `json:"seq"`
	From int    `json:"from"` // where it stands in the text
	To   int    `json:"to"`
	Said bool   `json:"said,omitempty"` // by the person
	Part bool   `json:"part,omitempty"` // only its beginning
	text string // while the summary is being made
}

// frame is how many bytes stand around what is kept.
const frame = len("\n\n[event 1234567]\n")

// summaryJSON is the data of a summary event.
type summaryJSON struct {
	Through int64  `json:"through"`
	Digest  int    `json:"digest"` // bytes of the text that are the digest
	Kept    []kept `json:"kept,omitempty"`
	Gone    int    `json:"gone,omitempty"`
}

// Event is the summary as an event. Its text is all the model will know of what
// it replaces: the digest, what the person said, what is pinned and what is open.
// A digest that is too long to save anything is cut.
func (s Summary) Event(digest string) convo.Event {
	if len(digest) > s.most {
		digest = head(digest, s.most) + "\n[cut]"
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(digest))
	j := summaryJSON{Through: s.Through, Digest: b.Len(), Gone: s.gone}
	write := func(title string, said bool) {
		for _, k := range s.kept {
			if k.Said != said {
				continue
			}
			if title != "" {
				b.WriteString("\n\n" + title)
				title = ""
			}
			fmt.Fprintf(&b, "\n\n[event %d]\n", k.Seq)
			k.From = b.Len()
			b.WriteString(k.text)
			k.To = b.Len()
			j.Kept = append(j.Kept, k)
		}
	}
	write("What the person said, word for word:", true)
	if s.gone > 0 {
		fmt.Fprintf(&b, "\n\n(%d older things that the person said do not fit here; the session keeps them.)", s.gone)
	}
	write("Pinned:", false)
	if len(s.open) > 0 {
		b.WriteString("\n\nNot done yet:\n- " + strings.Join(s.open, "\n- "))
	}
	data, err := tool.Encode(j)
	if err != nil {
		panic("encoding numbers: " + err.Error())
	}
	return convo.Event{Kind: convo.KindSummary, Text: b.String(), Body: convo.Unknown{Of: convo.KindSummary, Data: data}}
}

// summaryOf reads the data of a summary event. One of another making replaces
// everything before it.
func summaryOf(e convo.Event) summaryJSON {
	j := summaryJSON{Through: e.Seq, Digest: len(e.Text)}
	if u, ok := e.Body.(convo.Unknown); ok && json.Unmarshal(u.Data, &j) == nil {
		j.Digest = min(max(j.Digest, 0), len(e.Text))
		j.Kept = slices.DeleteFunc(j.Kept, func(k kept) bool { return k.From < 0 || k.From > k.To || k.To > len(e.Text) })
	}
	return j
}

// summarised is the view after a summary: what the system says, the summary,
// and what came after the events that it replaces.
func summarised(view []convo.Event, summary convo.Event) []convo.Event {
	through := summaryOf(summary).Through
	var before, after []convo.Event
	for _, e := range view {
		switch {
		case e.Kind == convo.KindSystem:
			before = append(before, e)
		case e.Seq > through && e.Kind != convo.KindSummary && e.Kind != convo.KindCommand:
			after = append(after, e)
		}
	}
	return slices.Concat(before, []convo.Event{summary}, after)
}

// summary plans to replace the view before a place, and says how many bytes that
// would free if the summary is as long as it may be: a third of what it replaces, or
// a sixteenth of the room.
func (w *Window) summary(before int, o Options) (Summary, int) {
	var s Summary
	var old []convo.Event
	bytes := 0
	for _, e := range w.view[:before] {
		if e.Kind == convo.KindSystem || e.Kind == convo.KindCommand {
			continue
		}
		old = append(old, e)
		bytes += size(e)
		if e.Kind == convo.KindSummary {
			s.Through = max(s.Through, summaryOf(e).Through)
		} else {
			s.Through = max(s.Through, e.Seq)
		}
	}
	s.most = min(w.meter.Bytes(o.room()/16), bytes/3)
	s.keep(old, w.meter.Bytes(o.room()/3), w.pinned)
	freed := bytes - s.most
	for _, k := range s.kept {
		freed -= len(k.text) + frame
	}
	if freed > 0 && len(old) > 1 { // one for one could be mistaken for the same view
		if o.Open != nil {
			s.open = o.Open()
		}
		s.Offline = head(Offline(old), s.most)
		s.Prompt = prompt(old, w.meter.Bytes(o.room()*3/4), s.most, o.About)
		return s, freed
	}
	return s, 0
}

// keep collects what must stand in the summary word for word. The person's words
// may take so many bytes; beyond that the oldest are shortened.
func (s *Summary) keep(old []convo.Event, most int, pinned map[int64]bool) {
	for _, e := range old {
		switch {
		case e.Kind == convo.KindSummary:
			j := summaryOf(e)
			s.gone = j.Gone
			for _, k := range j.Kept {
				if k.text = e.Text[k.From:k.To]; k.Said || pinned[k.Seq] {
					s.kept = append(s.kept, k)
				}
			}
		case Said(e):
			s.kept = append(s.kept, kept{Seq: e.Seq, Said: true, text: e.Text})
		case pinned[e.Seq]:
			s.kept = append(s.kept, kept{Seq: e.Seq, text: plain(e)})
		}
	}
	s.shorten(most)
}

// shorten goes from the newest words to the oldest. What does not fit keeps its
// beginning, and where even that is too much it is only counted.
func (s *Summary) shorten(most int) {
	for i := len(s.kept) - 1; i >= 0; i-- {
		k := &s.kept[i]
		if !k.Said {
			continue
		}
		if len(k.text)+frame > most {
			if !k.Part {
				s.Cut = append(s.Cut, k.Seq)
			}
			k.begin(most)
		}
		most -= len(k.text) + frame
	}
	all := len(s.kept)
	s.kept = slices.DeleteFunc(s.kept, func(k kept) bool { return k.text == "" })
	s.gone += all - len(s.kept)
	slices.Sort(s.Cut)
}

// begin leaves the first words of k and where the others are, or nothing when
// that does not fit.
func (k *kept) begin(most int) {
	short := fmt.Sprintf("%s [%d bytes; event %d has all of it]", head(k.text, 300), len(k.text), k.Seq)
	if k.Part || len(short)+frame > most {
		short = ""
	}
	k.text, k.Part = short, true
}

// plain is an event as text.
func plain(e convo.Event) string {
	switch b := e.Body.(type) {
	case convo.ToolCall:
		return b.Summary()
	case convo.ToolResult:
		return string(b.Envelope())
	}
	return e.Text
}

//go:embed summary.txt
var instructions string

// prompt asks a model for a summary of events, in so many bytes. About is what
// matters to the person.
func prompt(events []convo.Event, room, most int, about string) string {
	const line = "\n========================================\n"
	ask := fmt.Sprintf("%sAt most %d words.\n", instructions, most/8)
	if about != "" {
		ask += "The person says that this matters most: " + oneLine(about, 500) + "\n"
	}
	room -= len(ask) + 2*len(line)
	var text string
	for _, limit := range []int{2000, 600, 150} {
		if text = transcript(events, limit); len(text) <= room {
			break
		}
	}
	if len(text) > room {
		text = head(text, room/2) + "\n[...]\n" + end(text, room/2)
	}
	return ask + line + text + line
}

// transcript is events as text, with at most limit bytes of each result. The
// person's words and earlier summaries are given more.
func transcript(events []convo.Event, limit int) string {
	var b strings.Builder
	for _, e := range events {
		name, most := string(e.Kind), limit
		switch e.Kind {
		case convo.KindThinking, convo.KindOpaque:
			continue
		case convo.KindUser, convo.KindSummary, convo.KindAssistant:
			most = 4 * limit
		}
		fmt.Fprintf(&b, "[%d %s] %s\n", e.Seq, name, middleOut(plain(e), most))
	}
	return b.String()
}

// middleOut is s without its middle when it is too long.
func middleOut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s [%d bytes left out] %s", head(s, most/2), len(s)-most, end(s, most/2))
}
