package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// A Toolset is what a model is offered and how it is spoken to.
type Toolset struct {
	Name   string
	Tools  []tool.Tool     // offered to the model
	Also   []toolkit.Alias // understood without being offered
	Jobs   []tool.Tool     // offered once a background job runs; understood always
	Past   []tool.Tool     // offered once something was left out of what the model sees; understood always
	Shape  func(tool.Result) []byte
	Limits Limits

	AskReads bool     // reading asks too, where a tool's risk is medium or more
	AskOnce  []string // these ask, once in a session
}

// Limits are those of a seed; zero leaves them to the settings.
type Limits struct {
	Turns int // model replies with calls, for one prompt
	Calls int // calls of one reply
}

// A nature is what else than its tools makes a set.
type nature struct {
	strict   bool // paths stay below the working folder
	shape    func(tool.Result) []byte
	limits   Limits
	askReads bool
}

var natures = map[string]nature{
	"default": {},
	"ikigai":  {},
	"localharness": {
		strict: true, shape: HarnessResult, limits: Limits{Turns: 10, Calls: 15}, askReads: true,
	},
	"swebash": {shape: SwebashResult, limits: Limits{Turns: 10, Calls: 10}},
}

// Set gives a toolset by its name, or reads one from a file: a JSON list of the
// names of tools.
func Set(name string, o Options) (Toolset, error) {
	n, known := natures[name]
	if !known {
		return fromFile(name, o)
	}
	s := Toolset{Name: name, Shape: n.shape, Limits: n.limits, AskReads: n.askReads}
	var understood []line
	for _, l := range table(o) {
		if s.take(l) {
			understood = append(understood, l)
		}
	}
	s.understand(understood)
	if n.strict || o.Strict {
		s.confine()
	}
	return s, nil
}

// take offers what the line has for the set, and reports whether the set
// understands its names.
func (s *Toolset) take(l line) bool {
	listed := func(words string) bool { return slices.Contains(strings.Fields(words), s.Name) }
	count := len(s.Tools)
	if listed(l.offered) {
		s.Tools = append(s.Tools, l.tool)
	}
	for _, a := range l.names() {
		if a.Set != s.Name {
			continue
		}
		s.Tools = append(s.Tools, a)
		if a.Once {
			s.AskOnce = append(s.AskOnce, a.Name.Name)
		}
	}
	switch {
	case l.past():
		s.Past = append(s.Past, l.tool)
	case listed(l.understood) && l.offered == "job":
		s.Jobs = append(s.Jobs, l.tool)
	}
	return len(s.Tools) > count || listed(l.understood) || l.past()
}

// past reports a tool of what was said before, which every set has.
func (l line) past() bool { return l.offered == "past" }

// understand adds all other names of the lines, each once.
func (s *Toolset) understand(lines []line) {
	taken := map[string]bool{}
	for _, t := range s.offers() {
		taken[t.Spec().Name] = true
	}
	byName := map[string][]toolkit.Alias{}
	var order []string
	add := func(a toolkit.Alias) {
		name := a.Name.Name
		if taken[name] || a.Set != "" {
			return
		}
		if byName[name] == nil {
			order = append(order, name)
		}
		byName[name] = append(byName[name], a)
	}
	for _, l := range lines {
		add(toolkit.Alias{Tool: l.tool, Name: toolkit.Name{Name: l.tool.Spec().Name}})
		for _, a := range l.names() {
			add(a)
		}
	}
	for _, name := range order {
		s.Also = append(s.Also, toolkit.OneOf(byName[name]...))
	}
}

// confine keeps the paths of all tools below the working folder.
func (s *Toolset) confine() {
	for _, list := range [][]tool.Tool{s.Tools, s.Jobs, s.Past} {
		for i, t := range list {
			list[i] = toolkit.Strict(t)
		}
	}
	for i, a := range s.Also {
		s.Also[i].Tool = toolkit.Strict(a.Tool)
	}
}

// All is everything the set understands: what a tool.Set is made of.
func (s Toolset) All() []tool.Tool {
	var all []tool.Tool
	for _, a := range s.Also {
		all = append(all, a)
	}
	return slices.Concat(all, s.offers())
}

// offers are all tools that are offered at some time.
func (s Toolset) offers() []tool.Tool { return slices.Concat(s.Past, s.Jobs, s.Tools) }

// Names are the other names of each tool, by the name it is offered under.
func (s Toolset) Names() map[string][]string {
	offered := map[string]string{} // from a tool's own name to the one it is offered under
	for _, t := range s.offers() {
		offered[leads(t)] = t.Spec().Name
	}
	names := map[string][]string{}
	for _, a := range s.Also {
		if to, ok := offered[leads(a)]; ok {
			names[to] = append(names[to], a.Name.Name)
		}
	}
	return names
}

// leads is the name of the tool that t really is.
func leads(t tool.Tool) string {
	if l, ok := t.(interface {
		Leads(json.RawMessage) tool.Tool
	}); ok {
		return l.Leads(json.RawMessage("{}")).Spec().Name
	}
	return t.Spec().Name
}

// Only leaves those tools that keep accepts, under all their names. Those of jobs
// stay as long as something is left that can start one. The past is left as it is:
// it holds nothing that the model was not told before.
func (s Toolset) Only(keep func(tool.Spec) bool) Toolset {
	drop := func(t tool.Tool) bool { return !keep(t.Spec()) }
	s.Tools = slices.DeleteFunc(slices.Clone(s.Tools), drop)
	starts := slices.ContainsFunc(s.Tools, func(t tool.Tool) bool { return t.Spec().Has(tool.Exec) })
	s.Also = slices.DeleteFunc(slices.Clone(s.Also), func(a toolkit.Alias) bool {
		if slices.ContainsFunc(s.Jobs, func(j tool.Tool) bool { return leads(j) == leads(a) }) {
			return !starts
		}
		return drop(a)
	})
	if !starts {
		s.Jobs = nil
	}
	return s
}

// fromFile reads a set that somebody put together.
func fromFile(name string, o Options) (Toolset, error) {
	var names []string
	for n := range natures {
		names = append(names, n)
	}
	slices.Sort(names)
	raw, err := os.ReadFile(name)
	if err != nil {
		return Toolset{}, fmt.Errorf("there is no toolset %q (there are %s), and as a file: %w", name, strings.Join(names, ", "), err)
	}
	var wanted []string
	if err := json.Unmarshal(raw, &wanted); err != nil {
		return Toolset{}, fmt.Errorf("reading the toolset %s, a JSON list of names of tools: %w", name, err)
	}
	s := Toolset{Name: name}
	var understood []line
	lines := table(o)
	for _, w := range wanted {
		i := slices.IndexFunc(lines, func(l line) bool { _, ok := l.find(w); return ok })
		if i < 0 {
			return Toolset{}, fmt.Errorf("reading the toolset %s: %w", name, tool.NotFound(w, tool.NewSet(tool.Complete, nil, every()...).Names()))
		}
		t, _ := lines[i].find(w)
		s.Tools = append(s.Tools, t)
		understood = append(understood, lines[i])
	}
	for _, l := range lines {
		if l.past() && !slices.ContainsFunc(s.Tools, func(t tool.Tool) bool { return leads(t) == l.tool.Spec().Name }) {
			s.Past = append(s.Past, l.tool)
		}
	}
	s.understand(understood)
	if o.Strict {
		s.confine()
	}
	return s, nil
}
