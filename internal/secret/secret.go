// Package secret takes known secret values out of everything that is stored,
// shown or sent.
//
// A secret is known by its value, not by its looks: the keys of providers, and
// the values of environment variables whose names look secret. Wherever such a
// value turns up, as it is or in one of the usual encodings, [secret NAME]
// stands in its place. Files on disk are never changed.
package secret

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
)

// minLength is the length below which a value is left alone: taking short
// words out of all text would harm more than it hides.
const minLength = 12

// A Redactor takes secrets out of text. It does not change once made and may
// be used from everywhere at once; the nil Redactor changes nothing.
type Redactor struct {
	patterns map[uint16][]pattern // by their first two bytes, longest first
	pairs    [1 << 10]uint64      // the keys of patterns, as bits
	first    [256]bool            // the first bytes of patterns
}

// A pattern is one form of a secret value and what to put in its place.
type pattern struct{ text, mask string }

// New knows the given provider keys, by name, and the secrets among env, whose
// entries are NAME=value. It is nil when there is nothing to hide.
func New(env []string, keys map[string]string) *Redactor {
	forms := map[string]string{} // each form of each value, and its mask
	learn := func(name, value string) {
		if value = strings.TrimSpace(value); len(value) < minLength {
			return
		}
		for _, f := range formsOf(value) {
			if _, known := forms[f]; !known {
				forms[f] = "[secret " + tidy(name) + "]"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		learn(name, keys[name])
	}
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); LooksSecret(name) && !looksHarmless(value) {
			learn(name, value)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	return build(forms)
}

func build(forms map[string]string) *Redactor {
	r := &Redactor{patterns: map[uint16][]pattern{}}
	for text, mask := range forms {
		k := key(text[0], text[1])
		r.patterns[k] = append(r.patterns[k], pattern{text, mask})
		r.pairs[k>>6] |= 1 << (k & 63)
		r.first[text[0]] = true
	}
	for _, ps := range r.patterns {
		slices.SortFunc(ps, func(a, b pattern) int {
			return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
		})
	}
	return r
}

// tidy is a name that fits into a mask, and a mask that fits into JSON.
func tidy(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || (r >= '0' && r <= '9') || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}

// Text is s without secrets.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	out, rest, _ := replace(r, s, true)
	if out == nil {
		return s
	}
	return string(append(out, s[rest:]...))
}

// Bytes is b without secrets; b itself when there are none, and never changed.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil {
		return b
	}
	out, rest, _ := replace(r, b, true)
	if out == nil {
		return b
	}
	return append(out, b[rest:]...)
}

// Writer gives a writer that passes on to w what is written, without secrets,
// also where one is cut across writes. What may yet become a secret is held
// until more is written; Close passes it on. It does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &writer{redactor: r, to: w} }

type writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte // begins like a secret; shorter than the longest form
}

func (w *writer) Write(p []byte) (int, error) {
	if w.redactor == nil {
		return w.to.Write(p)
	}
	input := append(w.held, p...)
	out, rest, end := replace(w.redactor, input, false)
	out = append(out, input[rest:end]...)
	w.held = slices.Clone(input[end:])
	if len(out) > 0 {
		if _, err := w.to.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (w *writer) Close() error {
	held := w.held
	w.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := w.to.Write(w.redactor.Bytes(held))
	return err
}

type text interface{ string | []byte }

// replace copies s with its secrets masked, up to and with the last of them,
// and says where the rest begins; without any it copies nothing. end is the end
// of s, or, unless last is set, the place of what may yet become a secret.
func replace[T text](r *Redactor, s T, last bool) (out []byte, rest, end int) {
	i := 0
	for i+1 < len(s) {
		k := key(s[i], s[i+1])
		if r.pairs[k>>6]&(1<<(k&63)) == 0 {
			i++
			continue
		}
		p, wait := matchAt(r.patterns[k], s, i, last)
		switch {
		case wait:
			return out, rest, i
		case p == nil:
			i++
		default:
			out = append(append(out, s[rest:i]...), p.mask...)
			i += len(p.text)
			rest = i
		}
	}
	if !last && i < len(s) && r.first[s[i]] {
		return out, rest, i
	}
	return out, rest, len(s)
}

// matchAt is the longest pattern at s[i:]. wait says that more text could make
// a longer match.
func matchAt[T text](ps []pattern, s T, i int, last bool) (p *pattern, wait bool) {
	for k := range ps {
		p := &ps[k]
		n := min(len(p.text), len(s)-i)
		if string(s[i:i+n]) != p.text[:n] {
			continue
		}
		if n == len(p.text) {
			return p, false
		}
		if !last {
			return nil, true
		}
	}
	return nil, false
}

func key(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }
