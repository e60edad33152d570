package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// A Name is what a tool is called elsewhere: in another toolset, or by the
// agents that models were trained with.
type Name struct {
	Name string
	Doc  string    // what the model reads; empty means what the tool says
	Risk tool.Risk // the higher of this and the tool's own counts
	Set  string    // the toolset that offers the tool under this name; empty means: understood, never offered
	Once bool      // there it asks before its first call of a session

	// When picks calls of a name that several tools share: "command=view" those
	// whose argument command is view, "regex" those that have a regex at all.
	// The tool without a When gets the rest.
	When string
}

// An Alias is a tool under such a name. What was called is planned and run as the
// tool it leads to.
type Alias struct {
	tool.Tool
	Name
	Of tool.Tool // the tool it leads to, where Tool does not say
}

// Leads is the tool that a call really is, for whoever judges it: a rule about a
// tool holds under all of its names.
func (a Alias) Leads(raw json.RawMessage) tool.Tool {
	if a.Of != nil {
		return a.Of
	}
	if l, ok := a.Tool.(interface {
		Leads(json.RawMessage) tool.Tool
	}); ok {
		return l.Leads(raw)
	}
	return a.Tool
}

// Also gives t under further names, with the parameters it has.
func Also(t tool.Tool, names ...string) []Alias {
	var all []Alias
	for _, n := range names {
		all = append(all, newAlias(t, Name{Name: n}, t.Spec().Parameters, func(raw json.RawMessage) (any, error) { return raw, nil }))
	}
	return all
}

// As gives t under a name with parameters of its own, the fields of In. Arguments
// are read by these, and t runs with what to makes of them.
func As[In any](t tool.Tool, n Name, to func(In) (any, error)) Alias {
	return newAlias(t, n, schema.Of[In](), func(raw json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		return to(in)
	})
}

func newAlias(t tool.Tool, n Name, params schema.Object, to func(json.RawMessage) (any, error)) Alias {
	return Alias{Tool: &renamed{of: t, name: n, params: params, to: to}, Name: n}
}

type renamed struct {
	of     tool.Tool
	name   Name
	params schema.Object
	to     func(json.RawMessage) (any, error)
}

func (r *renamed) Leads(json.RawMessage) tool.Tool { return r.of }

func (r *renamed) Spec() tool.Spec {
	s := r.of.Spec()
	s.Name, s.Parameters, s.Risk = r.name.Name, r.params, max(s.Risk, r.name.Risk)
	if r.name.Doc != "" {
		s.Description = r.name.Doc
	}
	return s
}

func (r *renamed) Prepare(ctx context.Context, at tool.Place, raw json.RawMessage) (tool.Prepared, error) {
	args, err := Read(r.Spec(), raw)
	if err != nil {
		return tool.Prepared{}, err
	}
	mapped, err := r.to(args.Value)
	if err != nil {
		return tool.Prepared{}, &tool.Error{Code: tool.CodeOf(err, tool.InvalidParams), Text: err.Error(), Err: err}
	}
	if raw, err = tool.Encode(mapped); err != nil {
		return tool.Prepared{}, fmt.Errorf("handing the arguments of %s on: %w", r.name.Name, err)
	}
	p, err := r.of.Prepare(ctx, at, raw)
	p.Plan.Notes = append(p.Plan.Notes, notes(args)...)
	return p, err
}

// OneOf makes a single tool of several aliases with one name: each call goes to
// the one whose When it fits.
func OneOf(all ...Alias) Alias {
	if len(all) == 1 && all[0].When == "" {
		return all[0]
	}
	return Alias{Tool: &choice{all}, Name: Name{Name: all[0].Name.Name}}
}

type choice struct{ all []Alias }

// Spec has all effects that a call could have: until the arguments are read,
// nothing less is known.
func (c *choice) Spec() tool.Spec {
	s := c.all[0].Spec()
	s.Effects = nil
	for _, a := range c.all {
		spec := a.Spec()
		s.Risk = max(s.Risk, spec.Risk)
		for _, e := range spec.Effects {
			if !s.Has(e) {
				s.Effects = append(s.Effects, e)
			}
		}
	}
	return s
}

func (c *choice) Leads(raw json.RawMessage) tool.Tool {
	a, err := c.pick(raw)
	if err != nil {
		return c
	}
	return a.Leads(raw)
}

func (c *choice) Prepare(ctx context.Context, at tool.Place, raw json.RawMessage) (tool.Prepared, error) {
	a, err := c.pick(raw)
	if err != nil {
		return tool.Prepared{}, err
	}
	return a.Prepare(ctx, at, raw)
}

// pick finds the alias that a call means.
func (c *choice) pick(raw json.RawMessage) (Alias, error) {
	var rest *Alias
	var known []string
	for i, a := range c.all {
		if a.When == "" {
			rest = &c.all[i]
			continue
		}
		if fits(a.When, raw) {
			return a, nil
		}
		known = append(known, a.When)
	}
	if rest == nil {
		return Alias{}, tool.Errorf(tool.InvalidParams, "%s is understood with %s", c.all[0].Name.Name, strings.Join(known, ", "))
	}
	return *rest, nil
}

// fits reports whether the arguments have the value that when names, or any
// value where it names none. They are read as forgivingly as those of any call.
func fits(when string, raw json.RawMessage) bool {
	key, want, exact := strings.Cut(when, "=")
	flat, err := tool.Encode(map[string]any{key: struct{}{}})
	if err != nil {
		return false
	}
	params, err := schema.Parse(flat)
	if err != nil {
		return false
	}
	args, err := params.Read(raw, schema.DropUnknown)
	if err != nil {
		return false
	}
	var found map[string]any
	if json.Unmarshal(args.Value, &found) != nil {
		return false
	}
	got, given := found[key]
	return given && (!exact || fmt.Sprint(got) == want)
}
