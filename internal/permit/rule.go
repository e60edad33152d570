package permit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ikigai/internal/shell"
	"ikigai/internal/tool"
)

// A Rule says what becomes of the calls it matches: a tool's name, or *, and in
// brackets what of it: bash(go test *), file_edit(src/**), web_fetch(docs.example.com).
type Rule struct {
	Decision Decision
	Text     string // as written
	Source   string // file:line, --allow, session
	Why      string
	name     string
	spec     string
	words    *shell.Rule // spec as shell words, where it is that
}

// Name is how the rule is shown: its text and where it is written.
func (r Rule) Name() string {
	if r.Source == "" {
		return r.Text
	}
	return r.Text + " (" + r.Source + ")"
}

// TextOf is the text of the rule that Name showed.
func TextOf(name string) string {
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
		return name[:i]
	}
	return name
}

// ParseRule reads Tool or Tool(spec). A rule that can never match is refused.
func ParseRule(d Decision, text string) (Rule, error) {
	text = strings.TrimSpace(text)
	r := Rule{Decision: d, Text: text, name: text}
	if open := strings.IndexByte(text, '('); open >= 0 {
		if !strings.HasSuffix(text, ")") {
			return Rule{}, fmt.Errorf("rule %q: the bracket is not closed; write Tool(spec), such as bash(go test *)", text)
		}
		r.name, r.spec = strings.TrimSpace(text[:open]), text[open+1:len(text)-1]
		if strings.TrimSpace(r.spec) == "" {
			return Rule{}, fmt.Errorf("rule %q matches nothing: the brackets are empty; leave them out to mean every call", text)
		}
	}
	if r.name == "" || strings.ContainsAny(r.name, " \t") {
		return Rule{}, fmt.Errorf("rule %q names no tool; write Tool or Tool(spec)", text)
	}
	if words, err := shell.ParseRule(r.spec); err == nil {
		r.words = &words
	} else if !doublestar.ValidatePattern(filepath.ToSlash(r.spec)) {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return r, nil
}

// Suits reports why a rule can never match a call of a tool it names: its spec
// is no pattern for paths or hosts, or no words for a shell line.
func (r Rule) Suits(s tool.Spec) error {
	switch {
	case r.spec == "" || !r.names(s.Name):
		return nil
	case s.Has(tool.Exec) && r.words == nil:
		return fmt.Errorf("rule %q can never match: %q is no shell command", r.Text, r.spec)
	case !s.Has(tool.Exec) && !doublestar.ValidatePattern(filepath.ToSlash(r.spec)):
		return fmt.Errorf("rule %q can never match: %q is no pattern for a path or host", r.Text, r.spec)
	}
	return nil
}

// decide asks the rules: deny over ask over allow.
func decide(rules []Rule, r Request, f finding) (Decision, Rule, bool) {
	for _, d := range []Decision{Deny, Ask} {
		for _, rule := range rules {
			if rule.Decision == d && rule.touches(r, f) {
				return d, rule, true
			}
		}
	}
	if rule, ok := allowedBy(rules, r, f); ok {
		return Allow, rule, true
	}
	return Ask, Rule{}, false
}

func (r Rule) names(tool string) bool { return r.name == "*" || r.name == tool }

// touches reports whether a denying or asking rule speaks of any part of the call.
func (r Rule) touches(q Request, f finding) bool {
	switch {
	case !r.names(q.Spec.Name):
		return false
	case r.spec == "":
		return true
	case f.line != nil:
		if r.words == nil {
			return false
		}
		_, denied := f.line.DeniedBy([]shell.Rule{*r.words})
		return denied
	}
	for _, p := range append(paths(q), q.Plan.Hosts...) {
		if r.matches(p, f) {
			return true
		}
	}
	return false
}

// allowedBy finds the rule, or the first of several, that cover the whole call.
func allowedBy(rules []Rule, q Request, f finding) (Rule, bool) {
	var mine []Rule
	for _, r := range rules {
		if r.Decision == Allow && r.names(q.Spec.Name) {
			mine = append(mine, r)
		}
	}
	for _, r := range mine {
		if r.spec == "" {
			return r, true
		}
	}
	if f.line != nil {
		return allowedLine(mine, f)
	}
	return allowedThings(mine, q, f)
}

// allowedLine wants a rule for every simple command of a shell line.
func allowedLine(rules []Rule, f finding) (Rule, bool) {
	var words []shell.Rule
	var from []Rule
	for _, r := range rules {
		if r.words != nil {
			words, from = append(words, *r.words), append(from, r)
		}
	}
	ok, by := f.line.AllowedBy(words)
	if !ok {
		return Rule{}, false
	}
	var first Rule
	for i, n := range slices.Backward(by) {
		if n >= 0 { // another part covers the rest
			f.parts[i].Rule, first = from[n].Name(), from[n]
		}
	}
	return first, true
}

// allowedThings wants a rule for every path and host of a call.
func allowedThings(rules []Rule, q Request, f finding) (Rule, bool) {
	things := append(paths(q), q.Plan.Hosts...)
	if len(things) == 0 {
		return Rule{}, false
	}
	var first Rule
	for _, thing := range things {
		i := indexFunc(rules, func(r Rule) bool { return r.matches(thing, f) })
		if i < 0 {
			return Rule{}, false
		}
		if first.Text == "" {
			first = rules[i]
		}
	}
	return first, true
}

func indexFunc(rules []Rule, ok func(Rule) bool) int {
	for i, r := range rules {
		if ok(r) {
			return i
		}
	}
	return -1
}

func paths(q Request) []string {
	return append(append([]string{}, q.Plan.Reads...), q.Plan.Writes...)
}

// matches compares a path or a host. A pattern that does not begin at the root
// or at home is meant from a root of the workspace.
func (r Rule) matches(thing string, f finding) bool {
	pattern := filepath.ToSlash(r.spec)
	thing = filepath.ToSlash(thing)
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.ToSlash(filepath.Join(f.at.Home, rest))
	}
	if strings.HasPrefix(pattern, "/") || !strings.HasPrefix(thing, "/") {
		return doublestar.MatchUnvalidated(pattern, thing)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	for _, root := range f.at.Roots {
		if rel, err := filepath.Rel(root, thing); err == nil && doublestar.MatchUnvalidated(pattern, filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}

// suggest gives the rules that would allow this call from now on: one per
// simple command of a shell line, the folder of each path, each host. Nothing is
// suggested for what is dangerous.
func suggest(q Request, f finding) []string {
	if f.class == danger {
		return nil
	}
	var specs []string
	switch {
	case f.line != nil:
		specs = shell.Suggest(*f.line)
	case len(q.Plan.Hosts) > 0:
		specs = q.Plan.Hosts
	default:
		specs = folders(q, f)
	}
	var rules []string
	for _, s := range specs {
		rules = append(rules, q.Spec.Name+"("+s+")")
	}
	if len(rules) == 0 && !q.Spec.Has(tool.Exec) {
		rules = []string{q.Spec.Name}
	}
	return rules
}

// folders gives a pattern for the folder of each path inside the workspace, or
// the path itself where that folder is the whole workspace.
func folders(q Request, f finding) []string {
	var specs []string
	seen := map[string]bool{}
	for _, p := range paths(q) {
		for _, root := range f.at.Roots {
			rel, err := filepath.Rel(root, p)
			if err != nil || strings.HasPrefix(rel, "..") {
				continue
			}
			spec := filepath.ToSlash(rel) // a file at the top: its folder would be everything
			if dir := filepath.Dir(rel); dir != "." {
				spec = filepath.ToSlash(dir) + "/**"
			}
			if !seen[spec] {
				seen[spec] = true
				specs = append(specs, spec)
			}
			break
		}
	}
	return specs
}

// Try tests a rule against examples of what it must and must not match: shell
// lines, or paths from a root of the workspace, or hosts. A rule that fails them
// does not mean what its author thinks.
func (r Rule) Try(match, noMatch []string) error {
	for _, group := range []struct {
		examples []string
		want     bool
		word     string
	}{{match, true, "does not match"}, {noMatch, false, "matches"}} {
		for _, ex := range group.examples {
			if r.hits(ex) != group.want {
				return fmt.Errorf("rule %s %s its own example %q", r.Text, group.word, ex)
			}
		}
	}
	return nil
}

// hits reports whether the rule speaks of an example, read as a command line or
// as a path or host.
func (r Rule) hits(example string) bool {
	at := shell.Place{Dir: "/", Roots: []string{"/"}}
	if r.spec == "" {
		return true
	}
	if r.words != nil {
		if r.Decision == Allow && r.words.Allows(example, at) || r.Decision != Allow && r.words.Denies(example, at) {
			return true
		}
	}
	return r.matches(example, finding{at: at}) || r.matches("/"+example, finding{at: at})
}
