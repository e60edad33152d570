// Package provider puts wire formats on the network. It knows the providers by
// name (one row each), their addresses and key variables; Open gives an
// llm.Provider that sends what a dialect encoded, feeds it what comes back, and
// turns every way in which that can go wrong into one clear llm.Error.
//
// Nothing is looked up, read or dialled before the first Stream.
package provider

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// Options say which model to open and how to get there. Zero values mean the
// defaults.
type Options struct {
	Model    string // provider/model; the model may hold slashes of its own
	BaseURL  string // another address than the row's
	BaseFrom string // the setting that named BaseURL, for errors; empty means --base-url
	Dialect  string // another wire format than the row's

	// Keys finds the key of a provider: in one of the variables, in the key
	// file, or by a command. It says where it found it, and gives an empty key
	// when there is none. It is asked at the first Stream, and again after a
	// key was refused.
	Keys   func(ctx context.Context, provider string, vars []string) (key, from string, err error)
	Getenv func(name string) string // for the variables that name an address; nil means none

	Network   Network
	Transport http.RoundTripper // instead of one made from Network
	Deadlines Deadlines
	Retry     Retry
	Limits    Limits
	Rescue    Rescue
	Quirks    *dialect.Quirks // instead of the row's, such as a probe has found
	Catalogue *Catalogue      // nil means the built-in one

	Notice func(text, hint string) // something a person should know; nil means nobody listens
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error // ends early, with an error, when ctx ends

	format *dialect.Format // a format of the tests' own
	tap    func([]byte)    // sees the bytes of a reply as they come, for Probe
}

// Deadlines bound silence. They count events, not bytes: a comment or a ping
// keeps a connection open, but it is no sign that the model is at work.
type Deadlines struct {
	Connect    time.Duration // until the connection stands, over all tries together; 10 s
	FirstEvent time.Duration // from then to the first event; 60 s
	Idle       time.Duration // between two events; 120 s
	Silent     time.Duration // between two events that carry something of the reply; 10 min
	Linger     time.Duration // for a server that does not close after its end signal; 1 s
}

// Limits bound what one reply may be.
type Limits struct {
	Bytes int64 // of the response body; 64 MiB
	Calls int   // tool calls; 1000
}

// Rescue says when a call that the model printed as text becomes a real one.
type Rescue uint8

const (
	RescueLocal Rescue = iota // from servers on this machine
	RescueAlways
	RescueNever
)

// Open finds the row, the wire format and the address of a model. Its errors
// are of class Config.
func Open(o Options) (llm.Provider, error) {
	p, err := open(o)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func open(o Options) (*Provider, error) {
	row, model, err := pick(o)
	if err != nil {
		return nil, err
	}
	p := &Provider{row: row, model: model, o: defaults(o), looking: make(chan struct{}, 1)}
	if p.at, err = p.o.address(row); err != nil {
		return nil, err
	}
	if p.format, err = o.formatOf(row, p.at); err != nil {
		return nil, err
	}
	p.url = p.at.endpoint(p.format, model)
	return p, nil
}

// pick splits provider/model and finds the row. A name outside the table is
// good when address and wire format are given.
func pick(o Options) (Row, string, error) {
	name, model, ok := strings.Cut(o.Model, "/")
	if !ok || name == "" || model == "" {
		return Row{}, "", malformed(o.Model, o.Catalogue.orBuiltin())
	}
	row, known := Find(name)
	if !known {
		if o.BaseURL == "" || o.Dialect == "" {
			return Row{}, "", unknown(name)
		}
		row = Row{Name: name, Format: o.Dialect, KeyVars: []string{variable(name)}}
	}
	if o.Quirks != nil {
		row.Quirks = *o.Quirks
	}
	return row, model, nil
}

// variable is where the key of a provider outside the table is looked for.
func variable(name string) string {
	upper := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}
	return strings.Map(upper, name) + "_API_KEY"
}

// formatOf is the wire format to speak: the one that was asked for, or the row's.
func (o Options) formatOf(row Row, at address) (dialect.Format, error) {
	name := o.Dialect
	if name == "" {
		name = row.Format
		if row.Elsewhere != "" && !at.own {
			name = row.Elsewhere
		}
	}
	if o.format != nil {
		return *o.format, nil
	}
	f, ok := FormatOf(name)
	if !ok {
		return dialect.Format{}, unknownDialect(name)
	}
	return f, nil
}

func defaults(o Options) Options {
	o.Deadlines = o.Deadlines.filled()
	o.Retry = o.Retry.filled()
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = 64 << 20
	}
	if o.Limits.Calls == 0 {
		o.Limits.Calls = 1000
	}
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func (d Deadlines) filled() Deadlines {
	for _, f := range []struct {
		at  *time.Duration
		def time.Duration
	}{
		{&d.Connect, 10 * time.Second},
		{&d.FirstEvent, 60 * time.Second},
		{&d.Idle, 120 * time.Second},
		{&d.Silent, 10 * time.Minute},
		{&d.Linger, time.Second},
	} {
		if *f.at == 0 {
			*f.at = f.def
		}
	}
	return d
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// A Provider is one model at one address. Its Conns share connections and key.
type Provider struct {
	o      Options
	row    Row
	model  string // without the provider's name
	format dialect.Format
	at     address
	url    *url.URL

	looking chan struct{} // holds one token while somebody looks for the key

	mu     sync.Mutex // guards what follows
	client *http.Client
	secret secret
	warned bool // that the key travels in the clear
}

// Open makes the Conn of one session.
func (p *Provider) Open(string) llm.Conn {
	info := p.Info()
	q := p.row.Quirks
	q.AdaptiveThinking = q.AdaptiveThinking || info.Adaptive
	q.Blind = q.Blind || info.Known && !info.Images // one that nobody knows may say so itself
	if q.Window == 0 {
		q.Window = info.Window
	}
	c := &conn{p: p, enc: p.format.Encoder(q), info: info}
	if info.Known && spellingOf(p.format.Name).limited {
		c.reply = min(info.Reply, info.Window/8)
	}
	return c
}

// Info is what the catalogue knows of the model.
func (p *Provider) Info() Info {
	return p.o.Catalogue.orBuiltin().Lookup(p.row.Name + "/" + p.model)
}

// Close drops idle connections. A Stream under way is not disturbed.
func (p *Provider) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		p.client.CloseIdleConnections()
	}
	return nil
}

// local reports whether the model runs on this machine.
func (p *Provider) local() bool { return p.at.loopback() }

// rescues reports whether calls printed as text are looked for.
func (p *Provider) rescues() bool {
	return p.o.Rescue == RescueAlways || p.o.Rescue == RescueLocal && (p.row.Local() || p.local())
}

// dial gives the HTTP client, made at the first use.
func (p *Provider) dial() (*http.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		return p.client, nil
	}
	rt := p.o.Transport
	if rt == nil {
		t, err := p.o.Network.transport()
		if err != nil {
			return nil, &llm.Error{Class: llm.Config, Message: err.Error(), Hint: "check the certificate and proxy settings", Err: err}
		}
		rt = t
	}
	p.client = &http.Client{Transport: rt, CheckRedirect: sameOrigin}
	return p.client, nil
}
