package provider

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"ikigai/internal/llm"
)

// A secret is a key and where it was found. Only the header of a request ever
// holds its value.
type secret struct {
	key, from string
	known     bool
}

// key gives the provider's key, looked up at the first use. Several sessions
// may ask at once; the first one looks and the others wait for it, no longer
// than their context lasts.
func (p *Provider) key(ctx context.Context) (secret, error) {
	select {
	case p.looking <- struct{}{}:
		defer func() { <-p.looking }()
	case <-ctx.Done():
		return secret{}, cancelled(ctx)
	}
	if s := p.remembered(); s.known {
		return s, nil
	}
	s, err := p.lookup(ctx)
	if err != nil {
		return secret{}, err
	}
	if p.remember(s) {
		p.o.Notice(fmt.Sprintf("the key of %s travels unencrypted to %s", p.row.Name, p.at.hostPort()), "use an https address")
	}
	return s, nil
}

func (p *Provider) remembered() secret {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.secret
}

// remember keeps the key, and reports whether the person should be warned now.
func (p *Provider) remember(s secret) (warn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret = s
	warn = s.key != "" && p.at.base.Scheme == "http" && !p.local() && !p.warned
	p.warned = p.warned || warn
	return warn
}

func (p *Provider) lookup(ctx context.Context) (secret, error) {
	s := secret{known: true}
	if p.o.Keys != nil {
		key, from, err := p.o.Keys(ctx, p.row.Name, p.row.KeyVars)
		if err != nil {
			return secret{}, &llm.Error{
				Class: llm.Config, Message: fmt.Sprintf("reading the key of %s: %v", p.row.Name, err), Err: err,
				Hint: "set " + strings.Join(p.row.KeyVars, " or ") + ", or run `ikigai key set " + p.row.Name + "`",
			}
		}
		s.key, s.from = strings.TrimSpace(key), from
	}
	if strings.ContainsFunc(s.key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return secret{}, &llm.Error{
			Class: llm.Config, Message: fmt.Sprintf("the key of %s (from %s) holds characters that no key has", p.row.Name, s.from),
			Hint: "copy it again, or run `ikigai key set " + p.row.Name + "`",
		}
	}
	if s.key == "" && p.row.NeedsKey && (p.at.own || p.row.Base == "") {
		return secret{}, noKey(p.row)
	}
	return s, nil
}

// forget drops a key that was refused, so that a new one is found without a restart.
func (p *Provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret = secret{}
}

// scrub takes the key out of a text, also in the forms it has in a URL or in JSON.
func (s secret) scrub(text string) string {
	if len(s.key) < 4 {
		return text
	}
	for _, form := range []string{s.key, url.QueryEscape(s.key), url.PathEscape(s.key), strings.ReplaceAll(s.key, `/`, `\/`)} {
		text = strings.ReplaceAll(text, form, "[key]")
	}
	return text
}

// clean is e without the key in any of its words.
func (s secret) clean(e *llm.Error) *llm.Error {
	e.Message, e.Hint = s.scrub(e.Message), s.scrub(e.Hint)
	e.Code, e.Type = s.scrub(e.Code), s.scrub(e.Type)
	if e.Err == nil {
		return e
	}
	if text := e.Err.Error(); s.scrub(text) != text {
		e.Err = nil // its text cannot be changed, and e says the same
	}
	return e
}
