package provider

import (
	"strings"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// A rescue reads the text of a reply for calls that were printed instead of
// made, as small models on small servers do. While the beginning of the text
// looks like one it is held back, so that a person does not see it twice: as
// text and as a call.
type rescue struct {
	known   []string
	all     strings.Builder
	last    llm.Delta // the newest piece of text: its block
	holding bool
	block   int // above all blocks seen
}

func newRescue(tools []tool.Spec) *rescue {
	r := &rescue{holding: true}
	for _, t := range tools {
		r.known = append(r.known, t.Name)
	}
	return r
}

// take takes a piece of text and gives what to hand on now: nothing while the
// text may be a call, then all that was held, then piece by piece. What must go
// back to the vendor with the text is never held.
func (r *rescue) take(d llm.Delta) (llm.Delta, bool) {
	r.all.WriteString(d.Text)
	r.last, r.block = d, max(r.block, d.Block+1)
	if !r.holding {
		return d, true
	}
	if d.Keep == nil && !d.Refusal && mayCall(r.all.String()) {
		return d, false
	}
	return r.release()
}

// release ends holding and gives what was held, as one piece.
func (r *rescue) release() (llm.Delta, bool) {
	if !r.holding {
		return llm.Delta{}, false
	}
	r.holding = false
	d := r.last
	d.Text = r.all.String()
	return d, d.Text != "" || d.Keep != nil
}

// calls finds the calls in the text. Held text loses them.
func (r *rescue) calls() []llm.Delta {
	rest, calls := dialect.Rescue(r.all.String(), r.known, r.block)
	if len(calls) > 0 && r.holding {
		r.all.Reset()
		r.all.WriteString(rest)
	}
	return calls
}

// mayCall reports whether a text that begins so may be a printed call.
func mayCall(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	const enough = 16 // letters tell a tag from any other
	switch {
	case text == "" || strings.ContainsAny(text[:1], "{[`"):
		return true
	case text[0] != '<':
		return false
	case len(text) < enough:
		return true
	}
	tag := strings.ToLower(text[:enough])
	return strings.Contains(tag, "tool") || strings.Contains(tag, "func") || strings.Contains(tag, "|")
}
