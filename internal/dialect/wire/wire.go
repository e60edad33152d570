// Package wire shows what the wire formats do, for bug reports and for tests
// from outside: a response as events in one common form, and the request body
// that a conversation becomes.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/dialect/anthropic"
	"ikigai/internal/dialect/gemini"
	"ikigai/internal/dialect/ollama"
	"ikigai/internal/dialect/openai"
	"ikigai/internal/dialect/responses"
	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// Formats are all wire formats.
func Formats() []dialect.Format {
	return []dialect.Format{
		openai.Format(),
		responses.Format(),
		anthropic.Format(),
		gemini.Format(),
		ollama.Format(),
	}
}

// Find finds a format by the name of its folder or of its recordings.
func Find(name string) (dialect.Format, bool) {
	for _, f := range Formats() {
		if name == f.Name || name == f.Wire {
			return f, true
		}
	}
	return dialect.Format{}, false
}

// An Event is one line of the common form. Fields that are absent on the wire
// are absent here, but for those that the kind always has.
type Event struct {
	Kind string `json:"kind"`

	Text    *string `json:"text,omitempty"`
	Refusal bool    `json:"refusal,omitempty"`

	ID        *json.RawMessage `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Arguments *json.RawMessage `json:"arguments,omitempty"`
	ArgsRaw   *string          `json:"arguments_raw,omitempty"`
	Complete  *bool            `json:"complete,omitempty"`

	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	Encrypted string `json:"encrypted,omitempty"`
	ItemID    string `json:"item_id,omitempty"`

	Reason string `json:"reason,omitempty"`
	Native string `json:"native,omitempty"`

	Input      *int `json:"input,omitempty"`
	Output     *int `json:"output,omitempty"`
	CacheRead  *int `json:"cache_read,omitempty"`
	CacheWrite *int `json:"cache_write,omitempty"`
	Reasoning  *int `json:"reasoning,omitempty"`

	Message    string          `json:"message,omitempty"`
	Code       json.RawMessage `json:"code,omitempty"`
	Type       json.RawMessage `json:"type,omitempty"`
	Status     json.RawMessage `json:"status,omitempty"`
	RetryAfter string          `json:"retry_after,omitempty"`
	Class      string          `json:"class,omitempty"`
}

// Decode reads a response body and writes its events, one JSON each line.
func Decode(f dialect.Format, status int, body io.Reader, out io.Writer) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("reading a response body: %w", err)
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, event := range Events(f, status, func(yield func([]byte) bool) { yield(raw) }) {
		if err := e.Encode(event); err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
	}
	return nil
}

// Events reads a response body that comes in pieces.
func Events(f dialect.Format, status int, pieces iter.Seq[[]byte]) []Event {
	d := f.Decoder()
	if status >= 400 {
		var body []byte
		for p := range pieces {
			body = append(body, p...)
		}
		return []Event{fault(d.Fault(status, http.Header{}, body))}
	}
	wire := calls{at: map[int]int{}}
	reply, err := llm.Assemble(stream(d, pieces), wire.take)
	events := content(f, reply, wire.list)
	if reply.Stop != "" {
		events = append(events, Event{Kind: "finish", Reason: string(reply.Stop), Native: reply.Native})
	}
	if u := reply.Usage; u != nil {
		events = append(events, Event{Kind: "usage", Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning})
	}
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		events = append(events, fault(e))
	}
	return events
}

// calls are the calls as the wire had them, before they got ids and arguments
// where it gave none.
type calls struct {
	at   map[int]int
	list []rawCall
}

type rawCall struct{ id, args string }

func (c *calls) take(d llm.Delta) {
	if d.Kind != llm.CallPart {
		return
	}
	i, ok := c.at[d.Block]
	if !ok {
		i = len(c.list)
		c.at[d.Block] = i
		c.list = append(c.list, rawCall{})
	}
	c.list[i].args += d.Text
	if d.ID != "" {
		c.list[i].id = d.ID
	}
}

// stream runs a decoder over a body.
func stream(d dialect.Decoder, pieces iter.Seq[[]byte]) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		gone := false
		emit := func(x llm.Delta) { gone = gone || !yield(x, nil) }
		for p := range pieces {
			if err := d.Feed(p, emit); err != nil {
				yield(llm.Delta{}, err)
				return
			}
			if gone {
				return
			}
		}
		if err := d.Close(emit); err != nil && !gone {
			yield(llm.Delta{}, err)
		}
	}
}

// content shows the items of a reply; neighbouring texts are one.
func content(f dialect.Format, r llm.Reply, wire []rawCall) []Event {
	var events []Event
	for _, it := range r.Items {
		e := kept(f, it.Keep)
		switch it.Kind {
		case llm.Text:
			if n := len(events); n > 0 && events[n-1].Kind == "text" && events[n-1].Refusal == it.Refusal {
				text := *events[n-1].Text + it.Text
				events[n-1].Text = &text
				events[n-1].Signature += e.Signature
				continue
			}
			e.Kind, e.Text, e.Refusal, e.ItemID = "text", &it.Text, it.Refusal, ""
		case llm.Thinking:
			e.Kind, e.Text = "thinking", &it.Text
		case llm.CallPart:
			e = callEvent(e, it, wire[0])
			wire = wire[1:]
		default:
			continue
		}
		events = append(events, e)
	}
	return events
}

func callEvent(e Event, it llm.Item, wire rawCall) Event {
	null := json.RawMessage("null")
	e.Kind, e.Name = "tool_call", it.Call.Name
	e.ID, e.Arguments = &null, &null
	if wire.id != "" {
		raw := json.RawMessage(dialect.AppendString(nil, it.Call.ID))
		e.ID = &raw
	}
	if it.Complete && json.Valid(it.Call.Args) {
		e.Arguments = &it.Call.Args
		return e
	}
	no := false
	e.ArgsRaw, e.Complete = &wire.args, &no
	return e
}

func kept(f dialect.Format, o *convo.Opaque) Event {
	if o == nil || f.Kept == nil {
		return Event{}
	}
	k := f.Kept(o.Data)
	e := Event{Signature: k.Signature, Redacted: k.Redacted, Encrypted: k.Encrypted, ItemID: k.ItemID}
	if k.ID != "" {
		id := json.RawMessage(dialect.AppendString(nil, k.ID))
		e.ID = &id
	}
	return e
}

// fault shows an error with the provider's own words where there are some.
func fault(e *llm.Error) Event {
	out := Event{Kind: "error"}
	report := (*dialect.Report)(nil)
	switch {
	case errors.As(e.Err, &report):
		var own struct{ Code, Type, Status json.RawMessage }
		_ = json.Unmarshal(report.Raw, &own) // a report may be a mere string
		out.Message, out.Code, out.Type, out.Status = e.Message, present(own.Code), present(own.Type), present(own.Status)
		out.RetryAfter = retryDelay(report.Raw)
	case e.Class == llm.Truncated, e.Class == llm.Blocked:
		out.Class = string(e.Class)
		if e.Code != "" {
			out.Code = dialect.AppendString(nil, e.Code)
		}
	default:
		out.Class, out.Message = string(e.Class), e.Message
	}
	return out
}

func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func retryDelay(raw []byte) string {
	var own struct {
		Details []struct {
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	_ = json.Unmarshal(raw, &own) // a report may be a mere string
	for _, d := range own.Details {
		if d.RetryDelay != "" {
			return d.RetryDelay
		}
	}
	return ""
}

// Encode reads stored events, one JSON each line, and gives the body that would
// be sent.
func Encode(f dialect.Format, model string, tools []tool.Spec, events io.Reader) (dialect.Body, error) {
	list, err := readEvents(events)
	if err != nil {
		return dialect.Body{}, err
	}
	return f.Encoder(dialect.Quirks{}).Encode(llm.Request{Model: model, Events: list, Tools: tools})
}

func readEvents(r io.Reader) ([]convo.Event, error) {
	var list []convo.Event
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var e convo.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("reading event %d: %w", n, err)
			}
			list = append(list, e)
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading events: %w", err)
		}
	}
}
