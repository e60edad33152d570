package external

import (
	"bytes"

	"ikigai/internal/tool"
)

// Changes are what a new scan found different.
type Changes struct {
	Added   []string // names
	Removed []string
	Changed []Change
	Failed  []tool.Problem // every file that is no tool now
}

// A Change is a tool that is not what it was, and in which ways.
type Change struct {
	Name  string
	Lines []string
}

// Compare says what is different in now.
func Compare(old, now *tool.Set) Changes {
	c := Changes{Failed: now.Problems}
	for t := range now.All() {
		name := t.Spec().Name
		before, ok := old.Lookup(name)
		if !ok {
			c.Added = append(c.Added, name)
			continue
		}
		if lines := differ(before, t); len(lines) > 0 {
			c.Changed = append(c.Changed, Change{name, lines})
		}
	}
	for _, name := range old.Names() {
		if _, ok := now.Lookup(name); !ok {
			c.Removed = append(c.Removed, name)
		}
	}
	return c
}

// differ compares two tools of one name. What is no executable is known by its
// origin and its parameters.
func differ(old, now tool.Tool) []string {
	was, wasExternal := old.(*Tool)
	is, isExternal := now.(*Tool)
	a, b := old.Spec(), now.Spec()
	switch {
	case wasExternal && isExternal:
		return Changed(was.Identity(), is.Identity())
	case a.Origin != b.Origin || a.Path != b.Path:
		return []string{"it is now the " + b.Origin.String() + " one, was " + a.Origin.String()}
	case a.Description != b.Description || !bytes.Equal(a.Parameters.JSON(), b.Parameters.JSON()):
		return []string{"it describes itself in another way"}
	}
	return nil
}
