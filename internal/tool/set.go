package tool

import (
	"iter"
	"sort"
	"strings"
	"sync/atomic"

	"ikigai/internal/spell"
)

// ScanState is how far the search for tools has come.
type ScanState uint8

const (
	NotStarted ScanState = iota
	InProgress
	Complete
	Failed
)

var scanNames = [...]string{"TOOL_SCAN_NOT_STARTED", "TOOL_SCAN_IN_PROGRESS", "TOOL_SCAN_COMPLETE", "TOOL_SCAN_FAILED"}

// String is the seed's word for the state.
func (s ScanState) String() string { return scanNames[min(int(s), len(scanNames)-1)] }

// A Problem is a file that could have been a tool and is not, and why.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // a discover code, such as SCHEMA_TIMEOUT
	Detail string `json:"detail"`
}

// A Set is an unchanging collection of tools. Where names meet, the origin that
// comes later in the list of Origins wins, and the others are remembered as
// shadowed.
type Set struct {
	State    ScanState
	Problems []Problem
	tools    map[string]Tool
	shadowed map[string][]Spec
	names    []string
}

// NewSet collects tools. Of two with one name and one origin the later wins.
func NewSet(state ScanState, problems []Problem, tools ...Tool) *Set {
	s := &Set{State: state, Problems: problems, tools: make(map[string]Tool, len(tools)), shadowed: map[string][]Spec{}}
	for _, t := range tools {
		s.add(t)
	}
	for name := range s.tools {
		s.names = append(s.names, name)
	}
	sort.Strings(s.names)
	return s
}

func (s *Set) add(t Tool) {
	spec := t.Spec()
	old, taken := s.tools[spec.Name]
	switch {
	case !taken:
		s.tools[spec.Name] = t
	case spec.Origin >= old.Spec().Origin:
		s.shadowed[spec.Name] = append(s.shadowed[spec.Name], old.Spec())
		s.tools[spec.Name] = t
	default:
		s.shadowed[spec.Name] = append(s.shadowed[spec.Name], spec)
	}
}

// Lookup finds a tool by its name.
func (s *Set) Lookup(name string) (Tool, bool) {
	t, ok := s.tools[name]
	return t, ok
}

// All gives the tools in name order.
func (s *Set) All() iter.Seq[Tool] {
	return func(yield func(Tool) bool) {
		for _, n := range s.names {
			if !yield(s.tools[n]) {
				return
			}
		}
	}
}

// Names are the names of all tools, in order.
func (s *Set) Names() []string { return s.names }

// Shadowed are the tools that name hides.
func (s *Set) Shadowed(name string) []Spec { return s.shadowed[name] }

// A Registry holds the current Set. A scan builds a new Set and replaces the
// old one whole, so that a request sees one state of the world.
type Registry struct{ current atomic.Pointer[Set] }

// NewRegistry starts with s.
func NewRegistry(s *Set) *Registry {
	r := &Registry{}
	r.Replace(s)
	return r
}

// Current is the Set of this moment.
func (r *Registry) Current() *Set { return r.current.Load() }

// Replace puts s in the place of the current Set.
func (r *Registry) Replace(s *Set) { r.current.Store(s) }

// NotFound says that there is no tool of that name, and which of the names
// offered come nearest.
func NotFound(name string, offered []string) *Error {
	if len(offered) == 0 {
		return Errorf(ToolNotFound, "there is no tool %q: no tools available", name)
	}
	all := strings.Join(offered, ", ")
	if hint := spell.DidYouMean(name, offered); hint != "" {
		return Errorf(ToolNotFound, "there is no tool %q; %s All tools: %s", name, hint, all)
	}
	return Errorf(ToolNotFound, "there is no tool %q. All tools: %s", name, all)
}
