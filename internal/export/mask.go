package export

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Mask takes out of a session what should not leave the house:
//
//   - the secrets that are known by their value
//   - what looks like a key: private key blocks, tokens with the prefix of a
//     known service, web tokens, passwords in addresses, values of names such as
//     password, token or api_key, and long random-looking words
//   - e-mail addresses
//   - the person's home folder, which becomes ~, and names in others' home folders
//   - the person's user name
//   - blobs of vendors, which nobody but the vendor can read
//
// It knows looks, not meaning: names of people and companies, host names and
// hashes in hexadecimal stay. Read before you share.
type Mask struct {
	known func(string) string
	home  []string
	user  *look // nil when the name is too common to look for
}

// NewMask makes a mask. known takes out known secrets and may be nil; homes are
// the person's home folder by all its names; user is the login name.
func NewMask(known func(string) string, user string, homes ...string) *Mask {
	m := &Mask{known: known}
	for _, h := range homes {
		if h = strings.TrimRight(h, `/\`); len(h) > 1 {
			m.home = append(m.home, h)
		}
	}
	if len(user) > 2 && !commonUsers[strings.ToLower(user)] {
		m.user = &look{[]string{strings.ToLower(user)}, regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(user) + `\b`), "[user]"}
	}
	return m
}

// commonUsers are login names that are words of other meanings as well.
var commonUsers = map[string]bool{
	"root": true, "user": true, "admin": true, "test": true, "dev": true, "build": true, "runner": true, "node": true, "git": true, "app": true, "guest": true, "home": true, "ubuntu": true, "debian": true,
}

// Text is s with everything masked.
func (m *Mask) Text(s string) string {
	if m.known != nil {
		s = m.known(s)
	}
	if strings.Contains(s, "PRIVATE KEY-----") {
		s = keyBlocks().ReplaceAllString(s, "[key]")
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(m.line(line))
	}
	return b.String()
}

// line masks one line.
func (m *Mask) line(s string) string {
	small := strings.ToLower(s)
	for _, l := range looks() {
		if l.maybe(small) {
			s = l.pattern.ReplaceAllString(s, l.by)
		}
	}
	s = maskRandom(s)
	for _, h := range m.home {
		s = replacePath(s, h, "~")
	}
	if l := otherHomes(); l.maybe(small) {
		s = l.pattern.ReplaceAllString(s, l.by)
	}
	if m.user != nil && m.user.maybe(small) {
		s = m.user.pattern.ReplaceAllString(s, m.user.by)
	}
	return s
}

// replacePath replaces a path where it ends as a name does: /home/ann is not a
// part of /home/anna.
func replacePath(s, path, by string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, path)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after == "" || !isNamePart(after[0]) {
			b.WriteString(by)
		} else {
			b.WriteString(path)
		}
		s = after
	}
}

func isNamePart(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// A look is how something that should not leave looks, and what stands for it.
type look struct {
	signs   []string // it has one of these, in small letters: nearly all text is passed by them alone
	pattern *regexp.Regexp
	by      string
}

func (l look) maybe(small string) bool {
	return slices.ContainsFunc(l.signs, func(sign string) bool { return strings.Contains(small, sign) })
}

var keyBlocks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)
})

var looks = sync.OnceValue(func() []look {
	table := []struct{ signs, pattern, by string }{
		{`://`, `\b([a-z][a-z0-9+.-]*://)[^\s/:@"'<>]*:[^\s/@"'<>]+@`, "${1}[login]@"},
		{`bearer basic`, `(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}`, "${1} [key]"},
		{`eyj`, `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, "[key]"},
		{`sk- sk_ rk- rk_ pk- pk_`, `\b[srp]k[-_][A-Za-z0-9_.-]{16,}`, "[key]"},
		{`gho_ ghp_ ghr_ ghs_ ghu_ github_pat_ glpat-`, `\b(?:gh[oprsu]|github_pat|glpat)[-_][A-Za-z0-9_.-]{16,}`, "[key]"},
		{`xox`, `\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "[key]"},
		{`tvly- pplx- nvapi- xai- gsk_ shpat_ shpss_`, `\b(?:tvly-|pplx-|nvapi-|xai-|gsk_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}`, "[key]"},
		{`hf_ npm_ r8_ dop_v1_`, `\b(?:hf|npm|r8|dop_v1)_[A-Za-z0-9]{30,}`, "[key]"},
		{`pypi- ya29. aiza sg.`, `\b(?:pypi-[A-Za-z0-9_-]{40,}|ya29\.[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})`, "[key]"},
		{`akia asia aroa aida`, `\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b`, "[key]"},
		{
			`pass secret token key credential`,
			`(?i)((?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)["']?\s*(?:=|:|=>)\s*["']?)[^\s"'\[\],;{}<>]{6,}`,
			"${1}[key]",
		},
		{`@`, `[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`, "[mail]"},
	}
	var all []look
	for _, t := range table {
		all = append(all, look{strings.Fields(t.signs), regexp.MustCompile(t.pattern), t.by})
	}
	return all
})

var otherHomes = sync.OnceValue(func() look {
	return look{
		[]string{"/home", "/users", `\users`},
		regexp.MustCompile(`((?:/home|/Users|\b[A-Za-z]:\\+Users)[/\\]+)[^\s/\\:"'<>|\[\]]+`), "${1}[user]",
	}
})

// maskRandom masks the long words of s that look random.
func maskRandom(s string) string {
	const long = 24
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		n := wordLength(s[i:])
		if n >= long && isRandom(s[i:i+n]) {
			b.WriteString(s[done:i] + "[key]")
			done = i + n
		}
		i += max(n, 1)
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

func wordLength(s string) int {
	for i := range len(s) {
		if c := s[i]; kindOf(c) < 0 && c != '+' && c != '_' && c != '=' && c != '-' {
			return i
		}
	}
	return len(s)
}

// isRandom reports a word in which small letters, capitals and digits take turns
// as chance has it. Names in code change from one to the other far less often.
func isRandom(word string) bool {
	var seen [3]int
	turns, before := 0, -1
	for i := range len(word) {
		kind := kindOf(word[i])
		if kind < 0 {
			continue
		}
		seen[kind]++
		if before >= 0 && kind != before {
			turns++
		}
		before = kind
	}
	return seen[0] > 2 && seen[1] > 2 && seen[2] > 1 && turns*5 >= len(word)*2
}

func kindOf(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return 0
	case c >= 'A' && c <= 'Z':
		return 1
	case c >= '0' && c <= '9':
		return 2
	}
	return -1
}

// Session is s with everything masked.
func (m *Mask) Session(s Session) Session {
	s.Title, s.Dir, s.Branch = m.Text(s.Title), m.Text(s.Dir), m.Text(s.Branch)
	return s
}

// Events are events with everything masked.
func (m *Mask) Events(events Events) Events {
	return func(yield func(convo.Event, error) bool) {
		for e, err := range events {
			if !yield(m.Event(e), err) {
				return
			}
		}
	}
}

// Event is e with everything masked. Its ids stay: they bind a session together
// and say nothing.
func (m *Mask) Event(e convo.Event) convo.Event {
	e.Text, e.Keep = m.Text(e.Text), nil
	switch b := e.Body.(type) {
	case nil:
	case convo.ToolCall:
		b.Name, b.Args = m.Text(b.Name), m.json(b.Args)
		e.Body = b
	case convo.ToolResult:
		b.Result = m.result(b.Result)
		e.Body = b
	case convo.Opaque:
		b.Data = json.RawMessage(`"[removed]"`)
		e.Body = b
	default:
		e.Body = m.body(e)
	}
	return e
}

// body masks the texts of any other body by way of its JSON.
func (m *Mask) body(e convo.Event) convo.Body {
	raw, err := e.Data()
	if err != nil {
		return nil // what cannot be written cannot be kept either
	}
	masked := m.json(raw)
	b, err := convo.DecodeBody(e.Kind, masked)
	if err != nil {
		return convo.Unknown{Of: e.Kind, Data: masked}
	}
	return b
}

func (m *Mask) result(r tool.Result) tool.Result {
	r.Name, r.Summary, r.Data, r.Display = m.Text(r.Name), m.Text(r.Summary), m.json(r.Data), m.json(r.Display)
	notes := r.Notes
	r.Notes = nil
	for _, n := range notes {
		r.Notes = append(r.Notes, m.Text(n))
	}
	if r.Failure != nil {
		f := *r.Failure
		f.Code = tool.Code(m.Text(string(f.Code)))
		f.Message, f.Stdout, f.Stderr = m.Text(f.Message), m.Text(f.Stdout), m.Text(f.Stderr)
		r.Failure = &f
	}
	return r
}

// json masks each string of a JSON text and changes nothing else. A name that
// says secret masks its whole value.
func (m *Mask) json(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return json.RawMessage(m.Text(string(raw)))
	}
	var out bytes.Buffer
	name := ""
	for rest := []byte(raw); len(rest) > 0; {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			out.Write(rest)
			break
		}
		end := start + stringLength(rest[start:])
		out.Write(rest[:start])
		isName := bytes.HasPrefix(bytes.TrimLeft(rest[end:], " \t\r\n"), []byte(":"))
		text, literal := m.literal(rest[start:end], name, isName)
		out.Write(literal)
		if name = ""; isName {
			name = text
		}
		rest = rest[end:]
	}
	return out.Bytes()
}

// literal masks one string. One that is not changed stays byte for byte.
func (m *Mask) literal(lit []byte, name string, isName bool) (text string, masked []byte) {
	if json.Unmarshal(lit, &text) != nil {
		return "", lit // cannot be: the whole is valid
	}
	clean := m.Text(text)
	if !isName && len(text) > 5 && secretName().MatchString(name) {
		clean = "[key]"
	}
	if clean == text {
		return text, lit
	}
	quoted, err := tool.Encode(clean)
	if err != nil {
		return text, []byte(`""`) // cannot be: strings always encode
	}
	return text, quoted
}

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(.*[_-])?(password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key)$`)
})

// stringLength is the length of the JSON string that b begins with.
func stringLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
