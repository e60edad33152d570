package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// A Report is what a probe of a live endpoint found.
type Report struct {
	Model    string         `json:"model"`
	Address  string         `json:"address"`
	Dialect  string         `json:"dialect"`
	Findings []Finding      `json:"findings"`
	Quirks   dialect.Quirks `json:"quirks"` // what to give to Open from now on
}

// A Finding answers one question about an endpoint.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Probe asks a live endpoint a few small questions: does it stream, report its
// tokens, call tools, several at once, with ids and arguments of the right
// types, and does it understand results? What keeps the first question from
// being answered at all is the error.
func Probe(ctx context.Context, o Options) (Report, error) {
	p := &probe{ctx: ctx, o: o}
	p.o.Rescue = RescueAlways
	p.o.tap = func(b []byte) { p.wire = append(p.wire, b[:min(len(b), 1<<20-min(len(p.wire), 1<<20))]...) }
	if err := p.connect(); err != nil {
		return Report{}, err
	}
	defer p.provider.Close()
	r := Report{Model: o.Model, Address: p.provider.at.base.Redacted(), Dialect: p.provider.format.Name}
	for _, ask := range []func(*probe) ([]Finding, error){(*probe).talks, (*probe).calls, (*probe).parallel, (*probe).results, (*probe).holds} {
		found, err := ask(p)
		if err != nil && (len(r.Findings) == 0 || ctx.Err() != nil) {
			return r, err
		}
		if err != nil {
			found = append(found, Finding{Name: "answers every question", Detail: err.Error()})
		}
		r.Findings = append(r.Findings, found...)
	}
	r.Quirks = p.provider.row.Quirks
	return r, nil
}

// A probe holds a conversation with an endpoint.
type probe struct {
	ctx      context.Context
	o        Options
	provider *Provider
	conn     llm.Conn
	wire     []byte // the last reply as it came
}

func (p *probe) connect() (err error) {
	if p.provider, err = open(p.o); err == nil {
		p.conn = p.provider.Open("probe")
	}
	return err
}

// An answer is a reply and how it came.
type answer struct {
	llm.Reply
	pieces int // of text
	ids    int // calls that had an id on the wire
}

func (p *probe) ask(r llm.Request) (answer, error) {
	for range 3 {
		a, err := p.once(r)
		if err == nil || !p.yields(err) {
			return a, err
		}
	}
	return p.once(r)
}

func (p *probe) once(r llm.Request) (a answer, err error) {
	p.wire = p.wire[:0]
	a.Reply, err = llm.Assemble(p.conn.Stream(p.ctx, r), func(d llm.Delta) {
		switch {
		case d.Kind == llm.Text:
			a.pieces++
		case d.Kind == llm.CallPart && d.ID != "" && !d.Rescued:
			a.ids++
		}
	})
	return a, err
}

// yields learns from a refusal: a server that names what it does not take is
// asked again without it.
func (p *probe) yields(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.BadRequest {
		return false
	}
	q := p.provider.row.Quirks
	for _, l := range []struct {
		word  string
		learn func()
	}{
		{"stream_options", func() { q.NoStreamOptions = true }},
		{"max_completion_tokens", func() { q.MaxTokensField = "max_completion_tokens" }},
		{"tool_choice", func() { q.ToolChoiceAny = true }},
		{"reasoning_content", func() { q.EchoReasoning = true }},
		{"tool_call_id", func() { q.ShortIDs = true }},
		{"tool call id", func() { q.ShortIDs = true }},
	} {
		if strings.Contains(strings.ToLower(e.Message), l.word) {
			l.learn()
		}
	}
	if q == p.provider.row.Quirks {
		return false
	}
	p.o.Quirks = &q
	p.provider.Close()
	return p.connect() == nil
}

func (p *probe) talks() ([]Finding, error) {
	a, err := p.ask(llm.Request{Events: prompt("Count from one to ten in words, separated by spaces."), MaxReply: 1024})
	if err != nil {
		return nil, err
	}
	return []Finding{
		{"answers", a.Text() != "", fmt.Sprintf("%d characters, ended with %q", len(a.Text()), a.Native)},
		{"streams", a.pieces > 1, fmt.Sprintf("the text came in %d pieces", a.pieces)},
		{"reports tokens", a.Usage != nil && a.Usage.Input != nil && a.Usage.Output != nil, tokens(a.Usage)},
	}, nil
}

func (p *probe) calls() ([]Finding, error) {
	a, err := p.ask(p.question("What is the weather in Oslo for the next 3 days? Use the tool."))
	if err != nil {
		return nil, err
	}
	calls := a.Calls()
	found := []Finding{{"calls a tool", len(calls) > 0 && calls[0].Name == weather, fmt.Sprintf("%d calls", len(calls))}}
	if len(calls) == 0 {
		return found, nil
	}
	rescued := 0
	for _, it := range a.Items {
		if it.Rescued {
			rescued++
		}
	}
	var args struct {
		City string
		Days int
	}
	err = json.Unmarshal(calls[0].Args, &args)
	return append(found,
		Finding{"calls in the wire's own form", rescued == 0, fmt.Sprintf("%d of %d calls were printed as text", rescued, len(calls))},
		Finding{"arguments are right", err == nil && args.City != "" && args.Days == 3, string(calls[0].Args)},
		Finding{"arguments on the wire", true, p.argumentForm()},
		Finding{"calls have ids", a.ids == len(calls), fmt.Sprintf("%d of %d", a.ids, len(calls))},
	), nil
}

func (p *probe) parallel() ([]Finding, error) {
	a, err := p.ask(p.question("What is the weather in Oslo and in Lima for 1 day? Call the tool for both cities at once."))
	if err != nil {
		return nil, err
	}
	n := len(a.Calls())
	return []Finding{{"several calls at once", n == 2, fmt.Sprintf("%d calls in one reply", n)}}, nil
}

// results goes through a whole round: a call, its result, and the words about it.
func (p *probe) results() ([]Finding, error) {
	r := p.question("What is the weather in Oslo for 1 day? Use the tool, then tell me the temperature.")
	a, err := p.ask(r)
	if err != nil {
		return nil, err
	}
	h := convo.NewHistory(r.Events)
	for _, it := range a.Items {
		h.Append(eventOf(it))
	}
	for _, c := range a.Calls() {
		h.Append(convo.Of("", convo.ToolResult{Result: tool.Result{CallID: c.ID, Name: c.Name, Data: json.RawMessage(`{"temperature_celsius":17}`)}}))
	}
	r.Events = h.Events()
	if len(a.Calls()) == 0 {
		return []Finding{{"understands results", false, "no tool was called"}}, nil
	}
	a, err = p.ask(r)
	if err != nil {
		return nil, err
	}
	return []Finding{{"understands results", strings.Contains(a.Text(), "17"), a.Text()}}, nil
}

// holds asks for words although there are tools.
func (p *probe) holds() ([]Finding, error) {
	r := p.question("What is the weather in Oslo? Guess, without any tool.")
	r.Choice = llm.NoTools
	a, err := p.ask(r)
	if err != nil {
		return nil, err
	}
	return []Finding{{"can be kept from calling", len(a.Calls()) == 0 && a.Text() != "", fmt.Sprintf("%d calls", len(a.Calls()))}}, nil
}

const weather = "get_weather"

func (p *probe) question(words string) llm.Request {
	type in struct {
		City string `json:"city" doc:"name of the city"`
		Days int    `json:"days" doc:"number of days"`
	}
	return llm.Request{
		Events: prompt(words), MaxReply: 2048,
		Tools: []tool.Spec{{Name: weather, Description: "Weather forecast of a city.", Parameters: schema.Of[in]()}},
	}
}

func prompt(words string) []convo.Event {
	return []convo.Event{{Seq: 1, Turn: 1, Kind: convo.KindUser, Text: words}}
}

// eventOf is an item of a reply as part of the conversation.
func eventOf(it llm.Item) convo.Event {
	e := convo.Event{Turn: 1, Kind: convo.KindAssistant, Text: it.Text, Reply: "1", Keep: it.Keep}
	switch it.Kind {
	case llm.Thinking:
		e.Kind = convo.KindThinking
	case llm.CallPart:
		e.Kind, e.Body = convo.KindToolCall, convo.ToolCall{Call: it.Call}
	case llm.Block:
		e.Kind, e.Body = convo.KindOpaque, *it.Keep
	}
	return e
}

// argumentForm looks at the last reply as it came.
func (p *probe) argumentForm() string {
	for _, key := range []string{`"arguments"`, `"partial_json"`, `"args"`, `"input"`} {
		_, rest, ok := bytes.Cut(p.wire, []byte(key))
		rest = bytes.TrimLeft(rest, " :\t\r\n")
		switch {
		case !ok || len(rest) == 0:
		case rest[0] == '"':
			return "a string"
		case rest[0] == '{':
			return "an object"
		}
	}
	return "in a form of its own"
}

func tokens(u *convo.Usage) string {
	if u == nil {
		return "none"
	}
	return fmt.Sprintf("%d in, %d out", count(u.Input), count(u.Output))
}
