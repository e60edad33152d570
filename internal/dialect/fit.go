package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A Fitting makes an id or a name one that a provider takes. It gives back what
// fits already. A later try gives another answer, for when one is taken.
type Fitting func(s string, try int) string

// Fit is the Fitting to names of at most most characters for which ok holds.
// What does not fit is cut and ends in a hash of the whole, so that two long
// names stay two. The first character is always a letter or a digit's underscore.
func Fit(most int, ok func(c byte) bool) Fitting {
	return func(s string, try int) string {
		if try == 0 && s != "" && len(s) <= most && all(s, ok) {
			return s
		}
		sum := hash(s, try)
		const digest = 8
		room := most - digest - 1
		if room < 1 || !ok('_') {
			return sum[:min(most, len(sum))]
		}
		stem := strings.Map(func(r rune) rune {
			if r < 0x80 && ok(byte(r)) {
				return r
			}
			return '_'
		}, s)
		if stem == "" {
			stem = "x"
		}
		return stem[:min(room, len(stem))] + "_" + sum[:digest]
	}
}

// Exactly is the Fitting to exactly n letters and digits.
func Exactly(n int) Fitting {
	fit := Fit(n, Alphanumeric)
	return func(s string, try int) string {
		if len(s) != n {
			return hash(s, try)[:n]
		}
		return fit(s, try)
	}
}

// Any is the Fitting of a provider that takes everything but an empty id.
func Any(s string, try int) string {
	if try == 0 && s != "" {
		return s
	}
	return "call_" + hash(s, try)[:12]
}

func hash(s string, try int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(try) + ":" + s))
	return hex.EncodeToString(sum[:])
}

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// Alphanumeric holds for ASCII letters and digits.
func Alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// WordByte holds for ASCII letters, digits, underscore and hyphen: what every
// provider takes in a name.
func WordByte(c byte) bool { return Alphanumeric(c) || c == '_' || c == '-' }

// Printable holds for visible ASCII.
func Printable(c byte) bool { return c > ' ' && c < 0x7f }

// ToolName is the Fitting of names that is safe for all providers: letters,
// digits, underscore and hyphen, not beginning with a digit or a hyphen, at most 64.
func ToolName(s string, try int) string {
	if s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') {
		s = "_" + s
	}
	return Fit(64, WordByte)(s, try)
}

// table remembers what became of each id or name, so that no two become one.
type table struct {
	fit     Fitting
	taken   map[string]bool
	known   map[string]string
	changed map[string]string // what it became, to what it was
}

func newTable(fit Fitting) table {
	return table{fit: fit, taken: map[string]bool{}, known: map[string]string{}}
}

// next fits s anew each time: the second call with one id gets another.
func (t *table) next(s string) string {
	for try := 0; ; try++ {
		if w := t.fit(s, try); !t.taken[w] {
			t.taken[w] = true
			return w
		}
	}
}

// of fits s once and gives the same answer from then on.
func (t *table) of(s string) string {
	if w, ok := t.known[s]; ok {
		return w
	}
	w := t.next(s)
	t.known[s] = w
	if w != s {
		if t.changed == nil {
			t.changed = map[string]string{}
		}
		t.changed[w] = s
	}
	return w
}
