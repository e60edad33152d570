// Package dialect says what a wire format is: how a request becomes bytes and
// how bytes become deltas. The formats themselves are one folder each below
// this one; provider puts them on the network.
package dialect

import (
	"encoding/json"
	"io"
	"net/http"

	"ikigai/internal/llm"
)

// A Format is one wire format, as data and a few functions. It holds no state:
// an Encoder is made per session and a Decoder per response.
type Format struct {
	Name    string                          // the folder's name, such as openai
	Wire    string                          // the name used in recordings, such as openai-chat
	Path    func(model string) string       // what follows the base URL
	Header  func(key string, h http.Header) // how the key and the version travel
	Encoder func(q Quirks) Encoder
	Decoder func() Decoder
	Kept    func(raw json.RawMessage) Kept // what is in a Keep of this format
}

// Kept is what a Keep holds, in the words of the common form of recordings.
type Kept struct {
	Signature string // proves that thinking, or a call, is the model's own
	Redacted  string // thinking that nobody may read
	Encrypted string // thinking that only the vendor can read
	ItemID    string // the vendor's id of the item, which is not the id of a call
	ID        string // the id of a piece of thinking, where a gateway gives one
}

// An Encoder turns requests of one session into bodies. What was encoded once
// is kept and never encoded or changed again, so that a turn costs what is new
// and the provider's prompt cache stays warm.
type Encoder interface {
	Encode(r llm.Request) (Body, error)
}

// A Decoder turns the bytes of one response into deltas. Bytes may be cut
// anywhere. It skips what it does not know.
type Decoder interface {
	// Feed takes the next bytes. An error is an *llm.Error and ends the stream.
	Feed(p []byte, emit func(llm.Delta)) error
	// Close says that no more bytes come. A stream without its end signal is
	// an error of class Truncated.
	Close(emit func(llm.Delta)) error
	// Fault reads the body of a response whose status is an error.
	Fault(status int, h http.Header, body []byte) *llm.Error
}

// A Body is a request body made of segments that are never changed. It can be
// read again for a retry.
type Body struct {
	Segments [][]byte
	Notices  []string          // what had to be mended, and what made the provider's cache cold
	Model    string            // which model it asks
	Names    map[string]string // tools whose name the format does not take: name on the wire to own name
}

// Back wraps emit for the answer to this body: tools get their own names back,
// and what must be kept is marked with the model it came from.
func (b Body) Back(emit func(llm.Delta)) func(llm.Delta) {
	return func(d llm.Delta) {
		if d.Name != "" && b.Names != nil {
			if own, ok := b.Names[d.Name]; ok {
				d.Name = own
			}
		}
		if d.Keep != nil && d.Keep.Model == "" {
			kept := *d.Keep
			kept.Model = b.Model
			d.Keep = &kept
		}
		emit(d)
	}
}

// Len is the content length.
func (b Body) Len() int64 {
	var n int64
	for _, s := range b.Segments {
		n += int64(len(s))
	}
	return n
}

// Reader reads the body from its start.
func (b Body) Reader() io.ReadCloser { return &bodyReader{rest: b.Segments} }

// Bytes is the whole body in one piece.
func (b Body) Bytes() []byte {
	out := make([]byte, 0, b.Len())
	for _, s := range b.Segments {
		out = append(out, s...)
	}
	return out
}

type bodyReader struct {
	rest [][]byte
	at   int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.rest) > 0 {
		c := copy(p[n:], r.rest[0][r.at:])
		n, r.at = n+c, r.at+c
		if r.at == len(r.rest[0]) {
			r.rest, r.at = r.rest[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) Close() error { return nil }

// Quirks are the ways in which a server that speaks a format differs from it:
// data of its row, never a switch on its name.
type Quirks struct {
	NoStreamOptions bool   // refuses stream_options
	ToolChoiceAny   bool   // says any for required
	ShortIDs        bool   // call ids are exactly nine letters and digits
	NameInResult    bool   // result messages carry the tool's name too
	EchoReasoning   bool   // reasoning_content must go back with the calls it led to
	Developer       bool   // the system prompt travels as role developer
	MaxTokensField  string // max_tokens or max_completion_tokens; empty means the format's own
	ReasoningApart  bool   // output tokens are reported without the reasoning ones
	CacheMarks      bool   // takes cache_control on content parts
	Blind           bool   // takes no pictures

	AdaptiveThinking bool // anthropic: the model is told an effort, not a budget
	Bridge           bool // refuses the person's words right after results: a short reply stands between
	Window           int  // ollama: tokens of context to ask for; zero leaves it to the server
}
