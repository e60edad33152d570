package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"ikigai/internal/tool"
)

// Choose picks what to dial for t: its own address, or the first public one of
// those that its name was found to have. There is no other way to dial it.
func (t Target) Choose(found ...netip.Addr) (netip.AddrPort, error) {
	all, err := t.dialable(found)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return all[0], nil
}

// dialable lists all of found that are public, in order; it is never empty
// without an error.
func (t Target) dialable(found []netip.Addr) ([]netip.AddrPort, error) {
	if t.Addr.IsValid() {
		found = []netip.Addr{t.Addr}
	}
	var out []netip.AddrPort
	for _, a := range found {
		if Public(a) {
			out = append(out, netip.AddrPortFrom(a.Unmap(), t.Port))
		}
	}
	switch {
	case len(found) == 0:
		return nil, denied("%s has no address", t.Host)
	case len(out) == 0:
		return nil, denied("%s leads to %v, which is not on the public internet", t.Host, found[0])
	}
	return out, nil
}

// The outcomes of Judge.
const (
	Allowed          = "allowed"
	Denied           = "denied"
	ValidationFailed = "validation_failed"
)

// Judge walks from url over the given redirects without fetching anything. It
// says how that ends and, when allowed, what would be dialled last.
func Judge(url string, lookup func(name string) []string, redirects []string) (outcome, dial string) {
	t, err := Check(url)
	if tool.CodeOf(err, "") == InvalidURL {
		return ValidationFailed, ""
	}
	for hop := 0; err == nil; hop++ {
		var to netip.AddrPort
		if to, err = t.Choose(t.lookUp(lookup)...); err != nil {
			break
		}
		if hop == len(redirects) {
			return Allowed, to.String()
		}
		if hop == MaxRedirects {
			break
		}
		t, err = t.Redirect(redirects[hop])
	}
	return Denied, ""
}

// lookUp asks for the addresses of a name; text that is none is skipped.
func (t Target) lookUp(lookup func(name string) []string) []netip.Addr {
	if t.Addr.IsValid() {
		return nil
	}
	var out []netip.Addr
	for _, s := range lookup(t.Host) {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// A Dialer connects to public addresses only. Its DialContext is for an
// http.Transport, which then cannot reach anything else, whatever it makes of
// an address and of redirects.
type Dialer struct {
	// Lookup finds the addresses of a name; the system's resolver when nil.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address and port; a plain net.Dialer when nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// DialContext looks the name up once and dials the addresses that were found
// public, in order, until one answers.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	t, err := Check("http://" + address) // host:port of a transport, by the same rules
	if err != nil {
		return nil, err
	}
	var found []netip.Addr
	if !t.Addr.IsValid() {
		if found, err = d.lookup(ctx, t.Host); err != nil {
			return nil, fmt.Errorf("looking up %s: %w", t.Host, err)
		}
	}
	all, err := t.dialable(found)
	if err != nil {
		return nil, err
	}
	return d.dialFirst(ctx, network, all)
}

func (d Dialer) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if d.Lookup != nil {
		return d.Lookup(ctx, name)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".") // no search list: the name that was checked
}

func (d Dialer) dialFirst(ctx context.Context, network string, all []netip.AddrPort) (net.Conn, error) {
	dial := d.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	var errs []error
	for _, a := range all {
		conn, err := dial(ctx, network, a.String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}
