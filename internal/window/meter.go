package window

import (
	"math"

	"ikigai/internal/convo"
)

// A Meter tells tokens from bytes. It begins with what is usual for code and
// English and learns from what providers count.
type Meter struct {
	model string
	ratio float64 // bytes for one token; zero until something was learnt
}

const usualRatio = 3.5

// Tokens is about how many tokens so many bytes are, never too few by rounding.
func (m Meter) Tokens(bytes int) int {
	ratio := m.ratio
	if ratio == 0 {
		ratio = usualRatio
	}
	return int(math.Ceil(float64(bytes) / ratio))
}

// Bytes is about how many bytes so many tokens are.
func (m Meter) Bytes(tokens int) int {
	ratio := m.ratio
	if ratio == 0 {
		ratio = usualRatio
	}
	return int(float64(tokens) * ratio)
}

// Report says that a model counted so many tokens for so many bytes. Another
// model counts otherwise, so it starts anew. A count that cannot be, as where a
// server leaves out what it had cached or what it cut off, is not believed, and
// the answer is false.
func (m *Meter) Report(model string, bytes, tokens int) bool {
	const least, most, enough = 1.0, 9.0, 50
	ratio := float64(bytes) / float64(max(tokens, 1))
	if ratio < least || ratio > most || tokens < enough {
		return false
	}
	if m.ratio == 0 || m.model != model {
		m.model, m.ratio = model, ratio
		return true
	}
	m.ratio = (m.ratio + ratio) / 2
	return true
}

// Estimate is about how many tokens an event takes.
func Estimate(e convo.Event) int { return Meter{}.Tokens(size(e)) }

// Size is about how many bytes an event takes in memory and in a request.
func Size(e convo.Event) int {
	n := size(e) + len(e.Text)
	switch b := e.Body.(type) {
	case convo.ToolResult:
		n += len(b.Display)
	case convo.Words:
		for _, i := range b.Images {
			n += len(i.Data)
		}
	}
	return n
}

// pictureSize is what a picture takes of the window, as if it were text: about
// 1,500 tokens, whatever its bytes.
const pictureSize = 5_000

// size is how many bytes an event takes in a request, names and brackets included.
func size(e convo.Event) int {
	n := 16
	if e.Keep != nil {
		n += len(e.Keep.Data)
	}
	switch b := e.Body.(type) {
	case convo.ToolCall:
		return n + len(b.ID) + len(b.Name) + len(b.Args)
	case convo.ToolResult:
		n += 32 + len(b.CallID) + len(b.Data)
		if f := b.Failure; f != nil {
			n += len(f.Code) + len(f.Message) + len(f.Stdout) + len(f.Stderr)
		}
		return n
	case convo.Opaque:
		return n + len(b.Data)
	case convo.Command:
		return 0 // a marker, which no model sees
	case convo.Words:
		n += pictureSize * len(b.Images)
	}
	return n + len(e.Text)
}
