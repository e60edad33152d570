package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// formsOf lists how a value may turn up: as it is, escaped in JSON or in a web
// address, in base64 at any place of a longer text, and, when it has many
// lines, each telling line by itself, as a diff or a listing shows it.
func formsOf(value string) []string {
	forms := []string{value}
	for _, v := range append(longLines(value), value) {
		forms = append(forms, v)
		forms = append(forms, inJSON(v)...)
		forms = append(forms, inURL(v)...)
		forms = append(forms, inBase64(v)...)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// longLines are the lines of a many-line value that tell something: not its
// head and foot, and none so short that it could be anything.
func longLines(value string) []string {
	if !strings.Contains(value, "\n") {
		return nil
	}
	var out []string
	for l := range strings.Lines(value) {
		if l = strings.TrimSpace(l); len(l) >= 2*minLength && !strings.HasPrefix(l, "-----") {
			out = append(out, l)
		}
	}
	return out
}

// inJSON lists what v is between the quotes of a JSON string, with the letters
// that matter in HTML and the slash escaped or not.
func inJSON(v string) []string {
	q := string(quote(v))
	plain := q[1 : len(q)-1]
	html := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(plain)
	return []string{plain, html, strings.ReplaceAll(plain, "/", `\/`)}
}

// inURL lists the percent-encoded forms, with capital and small hex digits.
func inURL(v string) []string {
	var out []string
	for _, e := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		out = append(out, e, smallHex(e))
	}
	return out
}

func smallHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1] |= 0x20 // digits have that bit already
			b[i+2] |= 0x20
		}
	}
	return string(b)
}

// inBase64 lists the letters that depend on v alone when v is encoded as part
// of a longer text, for each of the three ways it can lie in the groups.
func inBase64(v string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			s := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
			first := (before*8 + 5) / 6        // letters that hold bits of what is before
			whole := (before + len(v)) * 8 / 6 // letters that hold no bit of what is behind
			out = append(out, s[first:whole])
		}
	}
	return out
}
