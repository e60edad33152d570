package shell

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Rule names simple commands. Its words must be equal to those of the command after quote removal; a last word
// that is * stands for any further words, also none, and a last word that ends in * is the beginning of exactly one.
type Rule struct {
	words []string // without the star or the prefix at the end
	tail  tail
	start string // of the one word that a prefix rule lets pass
}

type tail uint8

const (
	exactly tail = iota
	anything
	prefix
)

func (r Rule) String() string {
	words := slices.Clone(r.words)
	switch r.tail {
	case anything:
		words = append(words, "*")
	case prefix:
		words = append(words, r.start+"*")
	}
	return strings.Join(words, " ")
}

// ParseRule reads a rule. One that could never match, or that a person would read differently than it works, is
// refused with the reason.
func ParseRule(spec string) (Rule, error) {
	words := strings.Fields(spec)
	if len(words) == 0 {
		return Rule{}, errors.New("reading a rule: it has no words")
	}
	if bad := hidden(spec); bad != "" {
		return Rule{}, fmt.Errorf("reading rule %q: it has %s", spec, bad)
	}
	r := Rule{words: words}
	last := words[len(words)-1]
	if before, ok := strings.CutSuffix(last, "*"); ok {
		r.words = words[:len(words)-1]
		r.tail, r.start = prefix, before
		if before == "" {
			r.tail = anything
		}
	}
	for _, w := range append(slices.Clone(r.words), r.start) {
		if err := neverMatches(w); err != nil {
			return Rule{}, fmt.Errorf("reading rule %q: %w", spec, err)
		}
	}
	return r, nil
}

// neverMatches tells why a word of a rule can be no word of a command.
func neverMatches(w string) error {
	switch {
	case strings.Contains(w, "*"):
		return fmt.Errorf("the word %q has a star that is not at the end of the rule", w)
	case strings.ContainsAny(w, `"'\`):
		return fmt.Errorf("the word %q has a quote: rules are compared after quote removal", w)
	case strings.ContainsAny(w, "$`"):
		return fmt.Errorf("the word %q is only known at run time", w)
	case strings.ContainsAny(w, ";&|<>()\n"):
		return fmt.Errorf("the word %q joins commands: a rule is about one", w)
	}
	return nil
}

// Allows tells whether the whole line may run unasked with this as the only rule.
func (r Rule) Allows(line string, at Place) bool {
	ok, _ := AllowedBy([]Rule{r}, line, at)
	return ok
}

// Denies tells whether some simple command of the line, however deep or wrapped, is one that the rule names. A
// program that is only known at run time is not denied; it is asked, see [Classify].
func (r Rule) Denies(line string, at Place) bool {
	_, ok := DeniedBy([]Rule{r}, line, at)
	return ok
}

// AllowedBy tells whether every part of the line is covered by some rule, and by which one. There is an index for each
// part; it is -1 for a part that no rule covers, and for one that was found inside another: that other is covered.
func AllowedBy(rules []Rule, line string, at Place) (bool, []int) {
	a := Classify(line, at)
	return a.AllowedBy(rules)
}

// AllowedBy is [AllowedBy] for a line that was classified before.
func (a Assessment) AllowedBy(rules []Rule) (bool, []int) {
	which := make([]int, len(a.Parts))
	all, own := a.unruly == "", 0
	for i, p := range a.Parts {
		which[i] = -1
		if p.inner {
			all = all && p.Verdict < MustAsk
			continue
		}
		which[i] = slices.IndexFunc(rules, func(r Rule) bool { return r.covers(p) })
		all, own = all && which[i] >= 0, own+1
	}
	return all && own > 0 && a.within(), which
}

// within tells whether all of the verdict comes from the parts: what was found beside them (an expansion, a
// redirect) is covered by no rule.
func (a Assessment) within() bool {
	return a.Verdict < MustAsk || slices.ContainsFunc(a.Parts, func(p Part) bool { return p.Verdict == a.Verdict && p.Reason == a.Reason })
}

// DeniedBy gives the first rule that names a part of the line.
func DeniedBy(rules []Rule, line string, at Place) (int, bool) {
	a := Classify(line, at)
	return a.DeniedBy(rules)
}

// DeniedBy is [DeniedBy] for a line that was classified before.
func (a Assessment) DeniedBy(rules []Rule) (int, bool) {
	for i, r := range rules {
		if slices.ContainsFunc(a.Parts, r.names) {
			return i, true
		}
	}
	return -1, false
}

// covers tells whether the rule lets the part run. A star covers no word that makes the program write a file or
// run another one, and nothing that is dangerous or not understood because of what the star covers.
func (r Rule) covers(p Part) bool {
	if !r.matches(p.args) || slices.ContainsFunc(p.args[:len(r.words)], func(a arg) bool { return a.braced }) {
		return false
	}
	if r.tail == exactly {
		return !slices.ContainsFunc(p.args, arg.dynamic)
	}
	if p.exact || p.Verdict == Dangerous || p.Verdict == MustAsk && !p.opaque {
		return false
	}
	if p.args[0].text != "echo" && p.args[0].text != "printf" && slices.ContainsFunc(p.args, func(a arg) bool { return a.split }) {
		return false // only a program that prints its words may get more of them than were seen
	}
	return !slices.ContainsFunc(p.risky, func(i int) bool { return i >= len(r.words) })
}

// names tells whether the rule is about this part, for a denial: a path to the program and options before its
// subcommand do not hide it.
func (r Rule) names(p Part) bool {
	if r.matches(p.args) {
		return true
	}
	args := slices.Clone(p.args)
	if len(args) == 0 {
		return false
	}
	args[0].text = path.Base(args[0].text)
	if p.sub > 1 && p.sub < len(args) {
		args = append(args[:1], args[firstSub(p):]...)
	}
	return r.matches(args)
}

// firstSub finds the first word of the subcommand: the row's key has as many words as it takes to get there.
func firstSub(p Part) int {
	for i := 1; i <= p.sub; i++ {
		if lookup(path.Base(p.args[0].text)+" "+p.args[i].text) != nil {
			return i
		}
	}
	return p.sub
}

// matches compares word by word. A word with a hole or a pattern is equal to nothing, but a star covers it.
func (r Rule) matches(args []arg) bool {
	if len(args) < len(r.words) || r.tail == exactly && len(args) > len(r.words) {
		return false
	}
	for i, w := range r.words {
		if a := args[i]; a.text != w || a.glob && i == 0 && w != "[" || a.dynamic() {
			return false
		}
	}
	rest := args[len(r.words):]
	if r.tail != prefix {
		return true
	}
	return len(rest) == 1 && !rest[0].dynamic() && !rest[0].glob && strings.HasPrefix(rest[0].text, r.start) && !climbs(rest[0].text[len(r.start):])
}

// climbs tells whether a path goes up, out of what a prefix named.
func climbs(s string) bool {
	return slices.Contains(strings.Split(s, "/"), "..")
}
