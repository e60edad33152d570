package provider

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// An address is where a provider is, and who said so.
type address struct {
	base *url.URL
	from string // the setting that named it; empty for the row's own
	own  bool   // it is the row's own address
}

// address takes the base URL from the options, a variable, or the row.
func (o Options) address(row Row) (address, error) {
	text, from := o.BaseURL, o.BaseFrom
	if text != "" && from == "" {
		from = "--base-url"
	}
	if text == "" && o.Getenv != nil {
		for _, v := range row.BaseVars {
			if text = o.Getenv(v); text != "" {
				from = v
				break
			}
		}
	}
	if text == "" {
		text = row.Base
	}
	if text == "" {
		return address{}, noAddress(row)
	}
	u, err := parseBase(text, row)
	if err != nil {
		return address{}, &llm.Error{
			Class: llm.Config, Message: fmt.Sprintf("%s: %v", from, err), Err: err,
			Hint: "write it as " + example(row),
		}
	}
	return address{base: u, from: from, own: sameBase(u, row.Base)}, nil
}

func example(row Row) string {
	if row.Base != "" {
		return row.Base
	}
	return "https://HOST/v1"
}

// parseBase reads a base URL. The scheme may be left out: a bare host is https,
// a host on this machine http. A listening address such as 0.0.0.0 is taken as
// this machine, because that is what servers' own variables hold.
func parseBase(text string, row Row) (*url.URL, error) {
	bare := !strings.Contains(text, "://")
	if bare {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", redacted(text))
	}
	if u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no http or https address", redacted(text))
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		u.Host = strings.TrimSuffix(net.JoinHostPort("127.0.0.1", u.Port()), ":")
	}
	if row.Root != "" && strings.Trim(u.Path, "/") == "" {
		u.Path = row.Root
	}
	if own, err := url.Parse(row.Base); bare && u.Port() == "" && row.Local() && err == nil {
		u.Host = net.JoinHostPort(u.Hostname(), own.Port())
	}
	if bare && !loopback(u.Hostname()) && !row.Local() {
		u.Scheme = "https"
	}
	u.Fragment = ""
	return u, nil
}

// redacted keeps a password in an address out of the error about it.
func redacted(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		return "..." + text[at:]
	}
	return text
}

func sameBase(u *url.URL, base string) bool {
	own, err := url.Parse(base)
	return err == nil && base != "" && u.Scheme == own.Scheme && u.Host == own.Host
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (a address) loopback() bool { return loopback(a.base.Hostname()) }

// hostPort is the address as people know it from other programs' errors.
func (a address) hostPort() string {
	port := a.base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[a.base.Scheme]
	}
	return net.JoinHostPort(a.base.Hostname(), port)
}

// origin says where the address comes from, for errors.
func (a address) origin() string {
	if a.from == "" {
		return "its usual address"
	}
	return "named by " + a.from
}

// endpoint is the URL to post to. The base may lack the version that the format
// wants in it, or have one too many, or be the whole endpoint: all of these are
// pasted from documentation every day.
func (a address) endpoint(f dialect.Format, model string) *url.URL {
	tail, query, _ := strings.Cut(f.Path(model), "?")
	base := strings.TrimSuffix(strings.TrimRight(a.base.EscapedPath(), "/"), tail)
	spelt := spellingOf(f.Name)
	for _, extra := range spelt.extra {
		base = strings.TrimSuffix(base, extra)
	}
	if base == "" {
		base = spelt.root
	}
	u := *a.base
	u.RawPath = base + tail
	if p, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = p
	}
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
	return &u
}

// models is the URL at which a server of this format lists its models.
func (a address) models(f dialect.Format) *url.URL {
	list := f
	list.Path = func(string) string { return spellingOf(f.Name).list }
	return a.endpoint(list, "")
}
