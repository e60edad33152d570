package address

import (
	"net/netip"
	"sync"
)

// Public reports whether a is an address of the open internet: not of this
// machine, its networks, its cloud's services, nor one kept for special use.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	nets := special()
	a = a.Unmap()
	if nets.translated.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:])) // what the translator will talk to
	}
	if a.Is6() && !nets.global.Contains(a) {
		return false
	}
	for _, p := range nets.closed {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

type networks struct {
	global     netip.Prefix // the only IPv6 addresses given out
	translated netip.Prefix // IPv4 addresses as IPv6 ones, behind NAT64
	closed     []netip.Prefix
}

var special = sync.OnceValue(func() networks {
	n := networks{global: netip.MustParsePrefix("2000::/3"), translated: netip.MustParsePrefix("64:ff9b::/96")}
	for _, s := range []string{
		"0.0.0.0/8",        // this network; reaches this host
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // shared by carriers; some clouds keep metadata here
		"127.0.0.0/8",      // this host
		"168.63.129.16/32", // a cloud's host service
		"169.254.0.0/16",   // link-local, metadata of most clouds
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocol assignments
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // old 6to4 relays
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, broadcast
		"2001::/23",        // Teredo, ORCHID and other protocols
		"2001:db8::/32",    // documentation
		"2002::/16",        // 6to4, could lead to any IPv4 address
		"3fff::/20",        // documentation
	} {
		n.closed = append(n.closed, netip.MustParsePrefix(s))
	}
	return n
})
