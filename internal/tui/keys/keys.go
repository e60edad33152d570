// Package keys reads what a terminal sends into keys, pastes and changes of
// focus. It understands the classic sequences, those of xterm with modifiers and
// the keyboard protocol of kitty. Bytes may come cut anywhere. Of what a terminal
// answers only the brightness of its background is a key; the rest, and what
// nobody understands, vanishes.
package keys

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Key is one key, or a paste. Names are those a person would say: "a", "enter",
// "ctrl+c", "alt+enter", "shift+tab", "up", "paste", "focus", "blur"; "dark" and
// "light" tell of the background.
type Key struct {
	Name string
	Text string // what it types, or what was pasted; empty for a key that types nothing
}

// maxPaste is the most of one paste that is kept.
const maxPaste = 16 << 20

// Parser turns bytes into keys.
type Parser struct {
	held    []byte
	pasting bool
	seen    int // of a paste: so many bytes do not hold its end
}

// Feed takes bytes and gives the keys they complete.
func (p *Parser) Feed(b []byte) []Key {
	p.held = append(p.held, b...)
	return p.keys(false)
}

// Waiting reports whether something was begun that a lone escape key looks like.
func (p *Parser) Waiting() bool { return len(p.held) > 0 && !p.pasting }

// Flush gives what was held back: nothing followed, so an escape is the key.
func (p *Parser) Flush() []Key { return p.keys(true) }

func (p *Parser) keys(last bool) []Key {
	var out []Key
	for len(p.held) > 0 {
		if p.pasting {
			k, ok := p.paste()
			if !ok {
				break
			}
			out = append(out, k)
			continue
		}
		k, n := parse(p.held, last)
		if n == 0 {
			break
		}
		p.held = p.held[n:]
		switch k.Name {
		case "":
		case "paste":
			p.pasting = true
		default:
			out = append(out, k)
		}
	}
	if len(p.held) == 0 {
		p.held = nil
	}
	return out
}

var pasteEnd = []byte("\x1b[201~")

// paste looks for the end of a paste.
func (p *Parser) paste() (Key, bool) {
	from := max(0, min(p.seen, len(p.held))-len(pasteEnd))
	i := bytes.Index(p.held[from:], pasteEnd)
	if i < 0 {
		if len(p.held) > maxPaste { // the tail may hold the beginning of the end
			p.held = append(p.held[:maxPaste-len(pasteEnd):maxPaste-len(pasteEnd)], p.held[len(p.held)-len(pasteEnd):]...)
		}
		p.seen = len(p.held)
		return Key{}, false
	}
	i += from
	p.seen = 0
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(p.held[:i]))
	p.held, p.pasting = p.held[i+len(pasteEnd):], false
	return Key{Name: "paste", Text: text}, true
}

// parse reads one key; n is how many bytes it took, 0 when more are needed.
func parse(b []byte, last bool) (k Key, n int) {
	c := b[0]
	switch {
	case c == 0x1b:
		return escape(b, last)
	case c < ' ' || c == 0x7f:
		return Key{Name: control(c)}, 1
	}
	if !utf8.FullRune(b) && !last {
		return Key{}, 0
	}
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size == 1 {
		return Key{}, 1
	}
	return typed(r), size
}

func typed(r rune) Key {
	if r == ' ' {
		return Key{Name: "space", Text: " "}
	}
	return Key{Name: string(r), Text: string(r)}
}

var controls = map[byte]string{'\r': "enter", '\t': "tab", 0x7f: "backspace", 0x08: "backspace", 0: "ctrl+space", 0x1b: "esc", 0x1f: "ctrl+_", '\n': "ctrl+j"}

func control(c byte) string {
	if name, ok := controls[c]; ok {
		return name
	}
	return "ctrl+" + string(rune(c|0x60))
}

// escape reads what begins with an escape byte.
func escape(b []byte, last bool) (Key, int) {
	if len(b) == 1 {
		if last {
			return Key{Name: "esc"}, 1
		}
		return Key{}, 0
	}
	switch b[1] {
	case '[':
		return sequence(b, last)
	case 'O':
		if len(b) < 3 {
			return unfinished(b, last, "alt+O")
		}
		return Key{Name: letters[b[2]]}, 3
	case ']', 'P', '_', '^', 'X':
		return text(b, last)
	case 0x1b:
		return Key{Name: "esc"}, 1
	}
	k, n := parse(b[1:], last)
	if n == 0 {
		return Key{}, 0
	}
	if k.Name == "" {
		return k, n + 1
	}
	return Key{Name: "alt+" + k.Name}, n + 1
}

func unfinished(b []byte, last bool, name string) (Key, int) {
	if last {
		return Key{Name: name}, len(b)
	}
	return Key{}, 0
}

// text reads an answer of the terminal up to its end.
func text(b []byte, last bool) (Key, int) {
	for i := 2; i < len(b); i++ {
		if b[i] == 7 {
			return background(string(b[2:i])), i + 1
		}
		if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
			return background(string(b[2:i])), i + 2
		}
	}
	if last {
		return Key{Name: "alt+" + string(rune(b[1]))}, 2
	}
	return Key{}, 0
}

// background reads the colour behind the text, as in 11;rgb:ffff/ffff/ffff. A part
// has one to four digits.
func background(answer string) Key {
	rgb, ok := strings.CutPrefix(answer, "11;rgb")
	_, rgb, ok2 := strings.Cut(rgb, ":")
	parts := strings.Split(rgb, "/")
	if !ok || !ok2 || len(parts) < 3 {
		return Key{}
	}
	bright := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} { // as the eye sees them
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return Key{}
		}
		bright += weight * float64(n) / float64(uint(1)<<(4*len(parts[i]))-1)
	}
	return shade(bright > 0.5)
}

func shade(light bool) Key {
	if light {
		return Key{Name: "light"}
	}
	return Key{Name: "dark"}
}

// sequence reads ESC [ parameters final.
func sequence(b []byte, last bool) (Key, int) {
	for i := 2; i < len(b); i++ {
		if c := b[i]; c >= 0x40 && c <= 0x7e {
			return meaning(string(b[2:i]), c), i + 1
		} else if c < 0x20 || c > 0x7e {
			return Key{}, i // broken off: what follows is read by itself
		}
	}
	return unfinished(b, last, "alt+[")
}

var letters = map[byte]string{
	'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'Z': "shift+tab", 'I': "focus", 'O': "blur", 'M': "enter",
}

var numbers = map[int]string{
	1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end", 200: "paste",
}

// codes are the keys of the kitty protocol that type nothing.
var codes = map[int]string{9: "tab", 13: "enter", 27: "esc", 32: "space", 127: "backspace", 57414: "enter"}

func meaning(params string, final byte) Key {
	first, mods := numbersOf(params)
	switch final {
	case 'n':
		if now, ok := strings.CutPrefix(params, "?997;"); ok { // the person changed the colours
			return shade(now == "2")
		}
		return Key{}
	case 'u':
		return coded(first, mods)
	case '~':
		if parts := strings.Split(params, ";"); first == 27 && len(parts) == 3 { // xterm's modifyOtherKeys
			code, _ := strconv.Atoi(parts[2])
			return coded(code, mods)
		}
		return named(numbers[first], mods)
	case 'R', 'c', 'y', 't':
		return Key{} // an answer
	}
	return named(letters[final], mods)
}

// numbersOf reads the first parameter and the modifiers, which are one more than
// their bits.
func numbersOf(params string) (first, mods int) {
	parts := strings.SplitN(params, ";", 3)
	first, _ = strconv.Atoi(strings.SplitN(parts[0], ":", 2)[0])
	if len(parts) > 1 {
		m, kind, _ := strings.Cut(parts[1], ":")
		if kind == "3" {
			return 0, 0 // a key that was let go
		}
		mods, _ = strconv.Atoi(m)
		mods = max(mods-1, 0)
	}
	return first, mods
}

func named(name string, mods int) Key {
	if name == "" {
		return Key{}
	}
	return Key{Name: modified(name, mods)}
}

func coded(code, mods int) Key {
	if name, ok := codes[code]; ok {
		k := named(name, mods)
		if name == "space" && mods&^1 == 0 {
			k = typed(' ')
		}
		return k
	}
	if code < ' ' || code >= 57344 && code <= 63743 || !utf8.ValidRune(rune(code)) {
		return Key{}
	}
	if mods&^1 == 0 {
		return typed(rune(code))
	}
	return Key{Name: modified(string(rune(code)), mods)}
}

func modified(name string, mods int) string {
	for _, m := range []struct {
		bit  int
		name string
	}{{1, "shift+"}, {2, "alt+"}, {4, "ctrl+"}} {
		if mods&m.bit != 0 {
			name = m.name + name
		}
	}
	return name
}
