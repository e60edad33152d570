package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ikigai/internal/llm"
	"ikigai/internal/spell"
)

// Why a watch ended a request.
var (
	errConnect = errors.New("no connection in time")
	errFirst   = errors.New("no first event in time")
	errIdle    = errors.New("no further event in time")
	errSilent  = errors.New("nothing of a reply for too long")
	errLinger  = errors.New("the server did not close after its end signal")
)

// A cause is one way in which a connection does not come about.
type cause struct {
	is      func(error) bool
	text    string
	hint    string
	settled bool // trying again at once cannot help
}

func is(target error) func(error) bool { return func(e error) bool { return errors.Is(e, target) } }

func as[T error]() func(error) bool {
	return func(e error) bool { var t T; return errors.As(e, &t) }
}

func noSuchName(e error) bool {
	var d *net.DNSError
	return errors.As(e, &d) && d.IsNotFound
}

func timedOut(e error) bool {
	var n net.Error
	return errors.Is(e, errConnect) || errors.As(e, &n) && n.Timeout()
}

func isAny(targets []error) func(error) bool {
	return func(e error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(e, t) })
	}
}

// causes is read from the top: the first that fits names the trouble.
func causes() []cause {
	return []cause{
		{is: noSuchName, text: "DNS knows no such host", hint: "check the spelling of the host and the network", settled: true},
		{is: timedOut, text: "timeout: no connection in time", hint: "check the network, a firewall or the proxy settings"},
		{is: as[*net.DNSError](), text: "DNS does not answer", hint: "check the network"},
		{is: isAny(refused), text: "connection refused", hint: "check that the server runs and the port is right"},
		{is: as[x509.UnknownAuthorityError](), text: "TLS: its certificate is signed by an unknown authority", hint: "behind an inspecting proxy, name its authority in the setting for certificates", settled: true},
		{is: as[x509.HostnameError](), text: "TLS: its certificate is for another host", hint: "check the host name", settled: true},
		{is: as[x509.CertificateInvalidError](), text: "TLS: its certificate is not valid", hint: "it may have expired, or the clock of this machine is wrong", settled: true},
		{is: as[*tls.CertificateVerificationError](), text: "TLS: its certificate was not accepted", settled: true},
		{is: is(http.ErrSchemeMismatch), text: "TLS: it answers in plain HTTP", hint: "write http:// instead of https://", settled: true},
		{is: as[tls.RecordHeaderError](), text: "TLS: it does not speak TLS", hint: "check the port, or write http://", settled: true},
		{is: as[tls.AlertError](), text: "TLS: it refused the handshake", settled: true},
		{is: isAny(append([]error{io.EOF, io.ErrUnexpectedEOF}, hungUp...)), text: "it closed the connection"},
		{is: isAny(noRoute), text: "no route to it", hint: "check the network"},
	}
}

func causeOf(err error) cause {
	all := causes()
	if i := slices.IndexFunc(all, func(c cause) bool { return c.is(err) }); i >= 0 {
		return all[i]
	}
	return cause{text: inner(err).Error()}
}

// inner is err without the layers that repeat the URL.
func inner(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// settled reports whether a connection failed for a reason that stays.
func settled(err error) bool { return err != nil && causeOf(err).settled }

// unreachable says that no answer came: where to, why, and which setting named
// the place.
func (p *Provider) unreachable(err error) *llm.Error {
	c := causeOf(err)
	hint := c.hint
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		c.text, hint = "the proxy on the way: "+c.text, "check the proxy settings (HTTPS_PROXY, NO_PROXY)"
	}
	switch {
	case p.local() && p.row.Local():
		hint = "start it with `" + p.row.Start + "`, or name its address with --base-url"
	case p.at.from != "":
		hint = strings.TrimPrefix(hint+"; the address is set by "+p.at.from, "; ")
	case hint == "":
		hint = "check the network, or name another address with --base-url"
	}
	return &llm.Error{
		Class: llm.Unreachable, Err: inner(err), Hint: hint,
		Message: fmt.Sprintf("cannot reach %s at %s (%s): %s", p.row.Name, p.at.hostPort(), p.at.origin(), c.text),
	}
}

// overdue says which deadline passed.
func (p *Provider) overdue(why error, d Deadlines) *llm.Error {
	texts := map[error]string{
		errFirst:  fmt.Sprintf("%s sent no event within %s", p.at.hostPort(), d.FirstEvent),
		errIdle:   fmt.Sprintf("%s fell silent for %s in the middle of its reply", p.at.hostPort(), d.Idle),
		errSilent: fmt.Sprintf("%s sent nothing of a reply for %s", p.at.hostPort(), d.Silent),
	}
	hint := "try again, or allow more time in the settings"
	if p.local() {
		hint = "a large model may still be loading; try again, or allow more time in the settings"
	}
	return &llm.Error{Class: llm.Timeout, Message: texts[why], Hint: hint, Err: why}
}

func cancelled(ctx context.Context) *llm.Error {
	return &llm.Error{Class: llm.Cancelled, Message: "stopped", Err: context.Cause(ctx)}
}

func garbage(message, hint string) *llm.Error {
	return &llm.Error{Class: llm.Garbage, Message: message, Hint: hint}
}

// advise names the next step in terms of our own settings, which a dialect does
// not know.
func (p *Provider) advise(e *llm.Error, s secret) *llm.Error {
	if h := p.hint(e, s); h != "" {
		e.Hint = h
	}
	return e
}

func (p *Provider) hint(e *llm.Error, s secret) string {
	switch e.Class {
	case llm.Auth:
		if s.key == "" {
			return noKey(p.row).Hint
		}
		return fmt.Sprintf("the key came from %s; set %s anew, or run `ikigai key set %s`", s.from, strings.Join(p.row.KeyVars, " or "), p.row.Name)
	case llm.NotFound:
		if p.row.Pull != "" && p.local() {
			return fmt.Sprintf("get the model with `%s %s`; `ikigai models` lists what is there", p.row.Pull, p.model)
		}
		return fmt.Sprintf("%scheck the model name %q and the address %s (%s); `ikigai models` lists what is known", p.guess(), p.model, p.url.Redacted(), p.at.origin())
	case llm.RateLimited, llm.Overloaded:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("it asks to wait %s", e.RetryAfter.Round(time.Second))
		}
	case llm.TooLong:
		return "shorten the conversation with /compact, or start a new session"
	}
	return ""
}

// guess names the known model that is nearest to one that the provider refused.
func (p *Provider) guess() string {
	var known []string
	for _, m := range p.o.Catalogue.orBuiltin().All(p.row.Name) {
		known = append(known, strings.TrimPrefix(m.ID, p.row.Name+"/"))
	}
	if q := spell.DidYouMean(p.model, known); q != "" && !slices.Contains(known, p.model) {
		return q + " "
	}
	return ""
}

// Words about what was asked for before anything was sent.

func unknown(name string) *llm.Error {
	return &llm.Error{
		Class: llm.Config, Message: fmt.Sprintf("no provider is called %q%s", name, meant(name, Names())),
		Hint: "known are " + strings.Join(Names(), ", ") + ", demo; any other needs --base-url and --dialect",
	}
}

func unknownDialect(name string) *llm.Error {
	return &llm.Error{
		Class: llm.Config, Message: fmt.Sprintf("no wire format is called %q%s", name, meant(name, Dialects())),
		Hint: "--dialect takes " + strings.Join(Dialects(), ", "),
	}
}

func meant(word string, known []string) string {
	if q := spell.DidYouMean(word, known); q != "" {
		return "; " + q
	}
	return ""
}

func malformed(model string, c *Catalogue) *llm.Error {
	e := &llm.Error{Class: llm.Config, Message: fmt.Sprintf("%q is no model: a provider and a model are needed", model), Hint: "write it as PROVIDER/MODEL; `ikigai models` lists what is known"}
	if known := c.named(model); known != "" {
		e.Hint = "write it as " + known
	}
	return e
}

func noKey(row Row) *llm.Error {
	hint := "run `ikigai key set " + row.Name + "`"
	if len(row.KeyVars) > 0 {
		hint = "set " + strings.Join(row.KeyVars, " or ") + ", or " + hint
	}
	return &llm.Error{Class: llm.Config, Message: "no key for " + row.Name, Hint: hint}
}

func noAddress(row Row) *llm.Error {
	return &llm.Error{
		Class: llm.Config, Message: row.Name + " has no address of its own",
		Hint: "name it with --base-url or " + strings.Join(row.BaseVars, " or "),
	}
}
