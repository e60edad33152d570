// Package address decides whether a web address may be fetched, so that no page
// and no model can make us talk to this machine, its network or its cloud.
//
// The text of an address is read by strict rules of our own, because parsers
// that forgive disagree about where an address leads. A name by itself means
// nothing: what counts is the network address that is dialled. Each hop looks
// its name up once, and the very address that was found public is the one that
// is dialled; looking up again would let the answer change in between.
package address

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// InvalidURL is the code of a text that is no web address. One that is, but
// must not be fetched, has tool.PermissionDenied.
const InvalidURL tool.Code = "INVALID_URL"

// MaxRedirects is how many hops are followed from the first address.
const MaxRedirects = 5

const (
	maxText  = 8192
	maxName  = 253
	maxLabel = 63
)

// A Target is a web address that may be fetched as far as its text can tell.
type Target struct {
	Scheme string     // http or https
	Host   string     // a name in lower case, or an address without brackets
	Addr   netip.Addr // set when Host is an address: it is never looked up
	Port   uint16

	authority   string // as written
	path, query string // with their marks; the fragment is not sent anywhere
}

// Check reads the text of a web address.
func Check(text string) (Target, error) {
	if err := checkText(text); err != nil {
		return Target{}, err
	}
	scheme, rest, found := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	port, known := defaultPorts[scheme]
	if !found || !known {
		return Target{}, invalid("an address begins with http:// or https://")
	}
	t := Target{Scheme: scheme, Port: port}
	t.authority, t.path, t.query = parts(rest)
	if err := checkPath(t.path); err != nil {
		return Target{}, err
	}
	if err := t.readAuthority(); err != nil {
		return Target{}, err
	}
	if !allowedPort(t.Port) {
		return Target{}, denied("port %d is not for web pages: only 80, 443 and those from 1024 up", t.Port)
	}
	return t, nil
}

var defaultPorts = map[string]uint16{"http": 80, "https": 443}

func allowedPort(p uint16) bool { return p == 80 || p == 443 || p >= 1024 }

func invalid(format string, args ...any) error { return tool.Errorf(InvalidURL, format, args...) }

func denied(format string, args ...any) error {
	return tool.Errorf(tool.PermissionDenied, format, args...)
}

// checkText refuses what parsers are known to drop, trim or read in two ways.
func checkText(s string) error {
	if len(s) > maxText {
		return invalid("the address has %d bytes, more than %d", len(s), maxText)
	}
	if !utf8.ValidString(s) {
		return invalid("the address is not valid UTF-8")
	}
	bad := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }
	if i := strings.IndexFunc(s, bad); i >= 0 {
		return invalid("the address has a blank, a backslash or a control character at byte %d", i)
	}
	return nil
}

// parts cuts what follows the slashes. The path begins with its slash or is
// empty, the query begins with its question mark or is empty.
func parts(s string) (authority, path, query string) {
	s, _, _ = strings.Cut(s, "#")
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s, query = s[:i], s[i:]
	}
	if i := strings.IndexByte(s, '/'); i >= 0 {
		s, path = s[:i], s[i:]
	}
	return s, path, query
}

// checkPath: behind every percent sign are two hex digits.
func checkPath(path string) error {
	for i := range len(path) {
		if path[i] == '%' && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])) {
			return invalid("the path has a broken escape: %q", path[i:min(i+3, len(path))])
		}
	}
	return nil
}

func isHex(c byte) bool { return isDigit(c) || (c|0x20 >= 'a' && c|0x20 <= 'f') }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readAuthority fills Host, Addr and Port from the authority.
func (t *Target) readAuthority() error {
	if strings.Contains(t.authority, "@") {
		return invalid("an address must not carry a user name")
	}
	host, port := splitPort(t.authority)
	var err error
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		t.Host = strings.TrimSuffix(inner, "]")
		t.Addr, err = bracketed(t.Host)
	} else {
		t.Host, t.Addr, err = readHost(host)
	}
	if err == nil && port != "" {
		t.Port, err = readPort(port)
	}
	return err
}

// splitPort cuts at the last colon that is not inside brackets.
func splitPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i+1:]
	}
	return authority, ""
}

// bracketed reads an IPv6 address: strict form, without a zone.
func bracketed(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.Zone() != "" {
		return netip.Addr{}, invalid("%q is not an IPv6 address", s)
	}
	return a, nil
}

// readHost reads a name, or an IPv4 address in its plain form. A name whose
// last label is a number could be read as an address by someone else, so it
// must be one.
func readHost(s string) (string, netip.Addr, error) {
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if len(name) > maxName {
		return "", netip.Addr{}, invalid("the host name is longer than %d characters", maxName)
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !isLabel(l) {
			return "", netip.Addr{}, invalid("%q is not a host name: it has letters, digits, - and _ with dots between", s)
		}
	}
	if !isNumber(labels[len(labels)-1]) {
		return name, netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(name)
	if err != nil || !a.Is4() {
		return "", netip.Addr{}, invalid("%q is not an IPv4 address in four plain decimal parts", s)
	}
	return name, a, nil
}

func isLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxLabel
}

// isNumber: digits only, or 0x and then hex digits or nothing.
func isNumber(label string) bool {
	digit := isDigit
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		label, digit = rest, isHex
	}
	for i := range len(label) {
		if !digit(label[i]) {
			return false
		}
	}
	return true
}

func readPort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || (s[0] == '0' && s != "0") || !isDigit(s[0]) {
		return 0, invalid("%q is not a port", s)
	}
	return uint16(n), nil
}

// String is the address as it is fetched: without a fragment, with the host in
// the form that was checked.
func (t Target) String() string {
	host := t.Host
	if t.Addr.Is6() {
		host = "[" + host + "]"
	}
	if t.Port != defaultPorts[t.Scheme] {
		host += ":" + strconv.Itoa(int(t.Port))
	}
	return t.Scheme + "://" + host + t.path + t.query
}

// Redirect is where a location in the answer of t leads. All rules hold for it
// as for the first address; whatever is wrong there is denied.
func (t Target) Redirect(location string) (Target, error) {
	next, err := Check(t.resolve(location))
	if err != nil {
		return Target{}, denied("the page leads to an address that must not be fetched: %v", err)
	}
	return next, nil
}

// resolve makes a location whole, as RFC 3986 section 5.2 says. It works on the
// text, so that Check sees every character that was sent.
func (t Target) resolve(location string) string {
	site := t.Scheme + "://" + t.authority
	switch {
	case hasScheme(location):
		return location
	case strings.HasPrefix(location, "//"):
		return t.Scheme + ":" + location
	case location == "", location[0] == '#':
		return site + t.path + t.query + location
	case location[0] == '?':
		return site + t.path + location
	}
	end := len(location)
	if i := strings.IndexAny(location, "?#"); i >= 0 {
		end = i
	}
	path := location[:end]
	if path[0] != '/' {
		path = "/" + strings.TrimPrefix(t.path[:strings.LastIndexByte(t.path, '/')+1], "/") + path
	}
	return site + withoutDots(path) + location[end:]
}

// hasScheme: a colon comes before anything that ends a scheme.
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i >= 0 && s[i] == ':'
}

// withoutDots walks the segments . and .. of a path that begins with a slash.
func withoutDots(path string) string {
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == ".." && len(out) > 0:
			out = out[:len(out)-1]
		case s != "." && s != "..":
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}
