package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"ikigai/internal/llm"
)

// A Status says whether a provider can be used now.
type Status struct {
	Provider string   `json:"provider"`
	Address  string   `json:"address,omitempty"`
	Dialect  string   `json:"dialect"`
	Local    bool     `json:"local"`
	Usable   bool     `json:"usable"`
	KeyFrom  string   `json:"key_from,omitempty"` // where the key was found, never the key
	Missing  string   `json:"missing,omitempty"`  // what is to be done first
	Models   []string `json:"models"`             // provider/model: what a local server offers, or what the catalogue knows
}

// ListOptions say where to look. Zero values mean the defaults.
type ListOptions struct {
	Keys      func(ctx context.Context, provider string, vars []string) (key, from string, err error)
	Getenv    func(name string) string
	Base      map[string]string // addresses from the settings, by provider
	Network   Network
	Transport http.RoundTripper
	Catalogue *Catalogue
	Timeout   time.Duration // for a local server to answer; 500 ms
}

// List says of every provider whether it is usable now and what is missing.
// Servers on this machine are asked, all at once; nothing else is dialled.
func List(ctx context.Context, o ListOptions) []Status {
	if o.Timeout == 0 {
		o.Timeout = 500 * time.Millisecond
	}
	soon, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	out := make([]Status, len(rows))
	var all sync.WaitGroup
	for i, row := range rows {
		p, err := open(o.open(row))
		if err != nil {
			out[i] = Status{Provider: row.Name, Dialect: row.Format, Missing: advice(err), Models: []string{}}
			continue
		}
		out[i] = p.status()
		if !row.Local() {
			p.hosted(ctx, &out[i])
			continue
		}
		all.Go(func() { p.offers(soon, &out[i]) })
	}
	all.Wait()
	return out
}

func (o ListOptions) open(row Row) Options {
	return Options{
		Model: row.Name + "/any", BaseURL: o.Base[row.Name], BaseFrom: "the settings",
		Keys: o.Keys, Getenv: o.Getenv, Network: o.Network, Transport: o.Transport, Catalogue: o.Catalogue,
	}
}

func (p *Provider) status() Status {
	return Status{Provider: p.row.Name, Address: p.at.base.Redacted(), Dialect: p.format.Name, Local: p.row.Local(), Models: []string{}}
}

// hosted looks for the key and believes the catalogue.
func (p *Provider) hosted(ctx context.Context, s *Status) {
	for _, m := range p.o.Catalogue.orBuiltin().All(p.row.Name) {
		s.Models = append(s.Models, m.ID)
	}
	key, err := p.lookup(ctx)
	if err != nil {
		s.Missing = advice(err)
		return
	}
	s.Usable, s.KeyFrom = true, key.from
}

// offers asks a server on this machine for its models.
func (p *Provider) offers(ctx context.Context, s *Status) {
	defer p.Close()
	names, err := p.models(ctx)
	switch {
	case err != nil:
		s.Missing = err.Error()
	case len(names) == 0:
		s.Missing = "it runs, but has no model yet"
	default:
		s.Usable = true
	}
	for _, n := range names {
		s.Models = append(s.Models, p.row.Name+"/"+n)
	}
}

// models are the names that the server gives for what it offers.
func (p *Provider) models(ctx context.Context) ([]string, error) {
	key, err := p.key(ctx)
	if err != nil {
		return nil, err
	}
	client, err := p.dial()
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: http.MethodGet, URL: p.at.models(p.format), Header: http.Header{"User-Agent": {"ikigai"}}}
	p.format.Header(key.key, req.Header)
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("nobody answers at %s; start it with `%s`", p.at.hostPort(), p.row.Start)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", p.at.hostPort(), resp.Status)
	}
	return modelNames(io.LimitReader(resp.Body, 4<<20), p.at.hostPort())
}

// modelNames reads a list of models in any of the forms that servers have.
func modelNames(r io.Reader, from string) ([]string, error) {
	var list struct {
		Data   []struct{ ID string }
		Models []struct{ Name string }
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s answered, but not with a list of models", from)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	if len(list.Data) > 0 {
		return names, nil
	}
	for _, m := range list.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	return names, nil
}

// advice is what to do about an error, in one line.
func advice(err error) string {
	if e, ok := err.(*llm.Error); ok && e.Hint != "" {
		return e.Message + ": " + e.Hint
	}
	return err.Error()
}
