package shell

import (
	"slices"
	"strings"
)

// Suggest gives, for each simple command of a line, a rule that a person could want to remember. The rule is no
// wider than sensible: a program that runs whatever it is given, or that is dangerous, is remembered word for
// word. A line that no rule may let pass gets none.
func Suggest(a Assessment) []string {
	if a.unruly != "" || !a.within() {
		return nil
	}
	var out []string
	for _, p := range a.Parts {
		if p.inner {
			continue
		}
		if s := p.suggest(); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// suggest prefers the program with its subcommand and a star, and falls back to the exact words.
func (p Part) suggest() string {
	if p.Words == nil && (p.opaque || p.exact || p.Verdict >= MustAsk) {
		return ""
	}
	exact := strings.Join(p.Words, " ")
	if p.opaque || p.exact || p.Verdict >= MustAsk || len(p.risky) > 0 || p.runner() {
		return sound(exact, p)
	}
	head := p.args[:p.sub+1]
	if p.sub == 0 && p.project() && len(p.Words) > 1 { // make test, not make *
		return sound(exact, p)
	}
	var words []string
	for _, a := range head {
		words = append(words, a.text)
	}
	if len(head) == len(p.args) && p.sub > 0 {
		return sound(exact, p)
	}
	if p.scripted() && len(p.args) > len(head) {
		words = append(words, p.args[len(head)].text)
	}
	return sound(strings.Join(words, " ")+" *", p)
}

// runner tells whether the program runs whatever it is given.
func (p Part) runner() bool {
	r := lookup(p.args[0].text)
	return r != nil && r.runner
}

// project tells whether the program runs recipes of the project under names of its own.
func (p Part) project() bool {
	r := lookup(p.args[0].text)
	return r != nil && (r.why == project || r.does >= Network)
}

// scripted tells whether the word after the subcommand names a script of the project: npm run build.
func (p Part) scripted() bool {
	return p.sub > 0 && strings.HasPrefix(p.args[p.sub].text, "run")
}

// sound gives the rule if it does what it says for this very part.
func sound(spec string, p Part) string {
	r, err := ParseRule(spec)
	if err != nil || !r.covers(p) {
		return ""
	}
	return r.String()
}
