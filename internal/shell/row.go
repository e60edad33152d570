package shell

import (
	"strings"
	"sync"
)

// A row says what one program, or one subcommand of it, does. Its key is the name, for a subcommand with the
// words before it: "git stash list".
type row struct {
	names string // the last word of the key, several separated by blanks when they are alike
	does  Verdict
	args  role
	flags string // see parseFlags
	check func(*call)
	why   string

	bare    *Verdict          // of a program with subcommands when none is given
	oneDash bool              // long flags have one dash, as in find and go
	deep    bool              // folders are taken whole without being asked to
	skip    int               // of a wrapper: operands in front of the command
	prepare func([]arg) []arg // puts old spellings into the usual form

	runner  bool // runs whatever it is given: no rule with a star is suggested
	key     string
	parent  *row
	flagset func() flagset
}

// takes says whether a flag has a value.
type takes uint8

const (
	none takes = iota
	optional
	required
)

// A flag is one spelling of an option.
type flag struct {
	name   string
	takes  takes
	effect string
}

// A flagset is the parsed form of the flags of a row.
type flagset struct {
	short   map[byte]flag
	long    map[string]flag
	numbers bool // -20 is a flag
	harmful bool // some flag does more than change the output
}

// find gives the flag of that name, or all that it may be short for.
func (s flagset) find(name string, oneDash bool) []flag {
	if f, ok := s.long[name]; ok {
		return []flag{f}
	}
	if oneDash || len(name) < 4 {
		return nil
	}
	var all []flag
	for long, f := range s.long {
		if strings.HasPrefix(long, name) {
			all = append(all, f)
		}
	}
	return all
}

// parseFlags reads the little language of the tables. Tokens are separated by blanks:
//
//	-abc            three flags without a value
//	-k=  --key=     a flag with a value
//	-i?  --color?   a flag with an optional value, glued to it
//	-#              numbers are flags, as in head -20
//	-o=,--output=:write    spellings of one flag, with an effect
//
// In rows with oneDash every token is one flag: -name.
func parseFlags(spec string, oneDash bool) flagset {
	s := flagset{short: map[byte]flag{}, long: map[string]flag{}}
	for token := range strings.FieldsSeq(spec) {
		if token == "-#" {
			s.numbers = true
			continue
		}
		names, effect, _ := strings.Cut(token, ":")
		s.harmful = s.harmful || !tame(effect)
		for name := range strings.SplitSeq(names, ",") {
			s.add(name, effect, oneDash)
		}
	}
	return s
}

// tame tells whether an effect neither writes nor runs nor asks.
func tame(effect string) bool {
	switch effect {
	case "", "read", "deep", "pattern", "patterns", "dir":
		return true
	}
	return false
}

func (s flagset) add(name, effect string, oneDash bool) {
	f := flag{effect: effect}
	switch {
	case strings.HasSuffix(name, "="):
		f.takes, name = required, name[:len(name)-1]
	case strings.HasSuffix(name, "?"):
		f.takes, name = optional, name[:len(name)-1]
	}
	if oneDash || strings.HasPrefix(name, "--") {
		f.name = name
		s.long[name] = f
		return
	}
	for i := 1; i < len(name); i++ {
		f.name = "-" + name[i:i+1]
		s.short[name[i]] = f
	}
}

// lookup finds a row by its key.
func lookup(key string) *row { return index.get(buildIndex)[key] }

// A lazy value is built on first use. It is what sync.OnceValue is, for values whose making needs the value's own
// users: rows have checks, and checks look rows up.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(build func() T) T {
	l.once.Do(func() { l.value = build() })
	return l.value
}

var index lazy[map[string]*row]

// buildIndex puts all rows under their keys; the flags of a row are parsed when the row is first met.
func buildIndex() map[string]*row {
	all := map[string]*row{}
	for _, t := range tables() {
		for _, r := range t.rows {
			for name := range strings.FieldsSeq(r.names) {
				one := r
				one.runner = one.runner || t.runner
				one.key = strings.TrimSpace(t.prefix + " " + strings.ReplaceAll(name, "/", " "))
				one.flagset = sync.OnceValue(func() flagset { return parseFlags(t.flags+" "+one.flags, one.oneDash) })
				if up, _, ok := cutLast(one.key); ok {
					one.parent = all[up]
				}
				all[one.key] = &one
			}
		}
	}
	return all
}

// cutLast splits a key before its last word.
func cutLast(key string) (before, last string, ok bool) {
	i := strings.LastIndexByte(key, ' ')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// A table is a group of rows. The prefix is put before the name of every row, the flags are common to all.
type table struct {
	prefix string
	flags  string
	runner bool
	rows   []row
}

// verdict gives a pointer, for the field bare.
func verdict(v Verdict) *Verdict { return &v }

// under puts every prefix before every name: the subcommands of programs that are alike.
func under(prefixes, names string) string {
	var b strings.Builder
	for p := range strings.FieldsSeq(prefixes) {
		for n := range strings.FieldsSeq(names) {
			b.WriteString(p + "/" + n + " ")
		}
	}
	return b.String()
}
