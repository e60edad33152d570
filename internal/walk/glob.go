package walk

import "strings"

// A glob is a pattern of git's wildmatch, ready to be compared. It works on
// bytes, as git does: a question mark is one byte, not one letter.
type glob []token

// A token is one thing a pattern is made of.
type token struct {
	what tokenKind
	c    byte // for one
	set  *[4]uint64
}

type tokenKind uint8

const (
	one    tokenKind = iota // this very byte
	any1                    // ? any byte but a slash
	set                     // [...] one of these bytes
	some                    // * any bytes but slashes
	deep                    // ** any bytes
	levels                  // **/ any number of whole folders, also none
)

// parseGlob reads a pattern from its first special character on. In a path a
// double star that fills a whole part crosses slashes; git also takes one that
// is the first special character for such, whatever stands before it. It is
// false for a pattern that can fit nothing, such as one with an open bracket.
func parseGlob(text string, path bool) (g glob, ok bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\\':
			if i+1 == len(text) {
				return nil, false
			}
			g = append(g, token{what: one, c: text[i+1]})
			i += 2
		case '?':
			g = append(g, token{what: any1})
			i++
		case '[':
			members, end, ok := parseSet(text, i+1)
			if !ok {
				return nil, false
			}
			g = append(g, token{what: set, set: members})
			i = end
		case '*':
			t, end := parseStars(text, i, path)
			g = append(g, t)
			i = end
		default:
			g = append(g, token{what: one, c: c})
			i++
		}
	}
	return g, true
}

// parseStars reads a run of stars that begins at i.
func parseStars(text string, i int, path bool) (t token, end int) {
	end = i + len(text[i:]) - len(strings.TrimLeft(text[i:], "*"))
	rest := text[end:]
	switch whole := path && end-i > 1 && (i == 0 || text[i-1] == '/'); {
	case whole && strings.HasPrefix(rest, "/"):
		return token{what: levels}, end + 1
	case whole && (rest == "" || strings.HasPrefix(rest, `\/`)):
		return token{what: deep}, end
	}
	return token{what: some}, end
}

// match compares the whole text. A star takes as little as will do and more
// when what follows does not fit: only the last star of each reach need ever be
// gone back to, so the time is bounded by the product of the lengths.
func (g glob) match(text string) bool {
	if last := g[len(g)-1]; last.what == one && (text == "" || text[len(text)-1] != last.c) {
		return false // most names fail here
	}
	near, far := retry{g: -1}, retry{g: -1}
	for i, at := 0, 0; ; {
		if i < len(g) {
			switch t := g[i]; t.what {
			case some:
				i++
				near = retry{i, at}
				continue
			case deep, levels:
				i++
				near, far = retry{g: -1}, retry{i, at}
				continue
			default:
				if at < len(text) && t.fits(text[at]) {
					i, at = i+1, at+1
					continue
				}
			}
		} else if at == len(text) {
			return true
		}
		switch {
		case near.g >= 0 && near.at < len(text) && text[near.at] != '/':
			near.at++
			i, at = near.g, near.at
		case far.g >= 0 && far.advance(text, g[far.g-1].what):
			near = retry{g: -1}
			i, at = far.g, far.at
		default:
			return false
		}
	}
}

// A retry is where to go on when the text after a star did not fit.
type retry struct{ g, at int }

// advance lets a star that crosses slashes take more: a byte, or a whole folder.
func (r *retry) advance(text string, what tokenKind) bool {
	if r.at >= len(text) {
		return false
	}
	if what == deep {
		r.at++
		return true
	}
	slash := strings.IndexByte(text[r.at:], '/')
	r.at += slash + 1
	return slash >= 0
}

func (t token) fits(c byte) bool {
	switch t.what {
	case one:
		return c == t.c
	case any1:
		return c != '/'
	}
	return c != '/' && t.set[c>>6]&(1<<(c&63)) != 0
}

// parseSet reads a bracket from the character after its opening to the one
// after its closing.
func parseSet(text string, i int) (members *[4]uint64, end int, ok bool) {
	members = new([4]uint64)
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	from := -1 // the character a range could begin with
	for first := true; first || i < len(text) && text[i] != ']'; first = false {
		if i >= len(text) {
			return nil, 0, false
		}
		if i, from, ok = parseMember(text, i, from, members); !ok {
			return nil, 0, false
		}
	}
	if i >= len(text) {
		return nil, 0, false
	}
	if negated {
		for k := range members {
			members[k] = ^members[k]
		}
	}
	return members, i + 1, true
}

// parseMember reads a character, the rest of a range or a named class.
func parseMember(text string, i, from int, m *[4]uint64) (next, low int, ok bool) {
	switch {
	case text[i] == '-' && from > 0 && i+1 < len(text) && text[i+1] != ']':
		high, next, ok := character(text, i+1)
		for c := from; c <= high; c++ {
			add(m, byte(c))
		}
		return next, -1, ok
	case strings.HasPrefix(text[i:], "[:"):
		if name, next, ok := className(text, i+2); ok {
			return next, -1, addClass(m, name)
		} else if next < 0 {
			return 0, 0, false
		}
	}
	c, next, ok := character(text, i)
	add(m, byte(c))
	return next, c, ok
}

// character reads one character, escaped or not.
func character(text string, i int) (c, next int, ok bool) {
	if text[i] == '\\' {
		i++
	}
	if i >= len(text) {
		return 0, 0, false
	}
	return int(text[i]), i + 1, true
}

// className reads a name up to ":]". It is not one when the next closing
// bracket has no colon before it; without any bracket next is negative.
func className(text string, i int) (name string, next int, ok bool) {
	end := strings.IndexByte(text[i:], ']')
	if end < 0 {
		return "", -1, false
	}
	if end == 0 || text[i+end-1] != ':' {
		return "", 0, false
	}
	return text[i : i+end-1], i + end + 1, true
}

func add(m *[4]uint64, c byte) { m[c>>6] |= 1 << (c & 63) }

// addClass adds a named class of ASCII; an unknown one spoils the pattern.
func addClass(m *[4]uint64, name string) bool {
	ranges, ok := classes[name]
	for i := 0; i < len(ranges); i += 2 {
		for c := int(ranges[i]); c <= int(ranges[i+1]); c++ {
			add(m, byte(c))
		}
	}
	return ok
}

// classes are the named ones, as pairs of first and last.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "  \t\r",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}
