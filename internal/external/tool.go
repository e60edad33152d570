package external

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// A Tool is an executable that said what it is.
type Tool struct {
	file     file
	known    *knowledge
	approved func(path string, sum [32]byte) bool
	document func() reading

	// listed is set before anybody else sees the tool. Until then Spec gives
	// the name and the origin only: that is all a Set needs to be built, and
	// reading the schemas of all known tools at every start would cost too much.
	listed bool
}

// Spec is what the tool said, with what is believed of it: see Claimed.
func (t *Tool) Spec() tool.Spec {
	s := tool.Spec{Name: t.known.name, Origin: t.file.origin, Path: t.file.path, Risk: tool.High}
	if !t.listed {
		return s
	}
	d, err := t.document().doc, t.document().err
	if err != nil {
		return s
	}
	s.Description, s.Parameters, s.Returns, s.Timeout = d.description, d.parameters, d.returns, d.timeout
	s.Risk, s.Effects = t.believed(d)
	return s
}

// Claimed is the risk and the effects as the tool states them. They are
// believed when they make it worse, and altogether after the person approved
// this executable with this schema.
func (t *Tool) Claimed() (tool.Risk, []tool.Effect) {
	d := t.document().doc
	if d == nil {
		return tool.High, nil
	}
	return d.risk, slices.Clone(d.effects)
}

// Env are the names of the variables that the tool asks for. They reach it
// after it was approved.
func (t *Tool) Env() []string {
	if d := t.document().doc; d != nil {
		return slices.Clone(d.env)
	}
	return nil
}

// Identity is what an approval is for.
func (t *Tool) Identity() Identity {
	return Identity{Path: t.file.path, Executable: t.known.sum, Schema: t.known.schema}
}

// Approved reports whether the person approved this executable with this schema.
func (t *Tool) Approved() bool { return t.approvedAs(t.Identity()) }

func (t *Tool) approvedAs(i Identity) bool {
	return t.approved != nil && t.approved(i.Path, i.Sum())
}

// believed is the risk and the effects that count.
func (t *Tool) believed(d *document) (tool.Risk, []tool.Effect) {
	effects := d.effects
	if d.marks().has("command") && !slices.Contains(effects, tool.Exec) {
		effects = append(slices.Clip(effects), tool.Exec)
	}
	switch {
	case !t.Approved() && !slices.Contains(effects, tool.Exec) && !slices.Contains(effects, tool.Net):
		return tool.High, nil // "it only reads" is a claim too
	case !t.Approved():
		return tool.High, effects
	case t.file.origin == tool.Project:
		return max(d.risk, tool.Medium), effects
	}
	return d.risk, effects
}

// Prepare reads the arguments by the schema and plans the call from what the
// schema marks; the executable is not started.
func (t *Tool) Prepare(_ context.Context, at tool.Place, raw json.RawMessage) (tool.Prepared, error) {
	d, err := t.document().doc, t.document().err
	if err != nil {
		return tool.Prepared{}, tool.Errorf(tool.ToolNotFound, "reading the schema of %s: %w; refresh the tools", t.known.name, err)
	}
	args, err := toolkit.Read(t.Spec(), raw)
	if err != nil {
		return tool.Prepared{}, err
	}
	plan, err := t.plan(d, at, args.Value)
	if err != nil {
		return tool.Prepared{}, err
	}
	plan.Notes = append(plan.Notes, args.Repairs...)
	if len(args.Dropped) > 0 {
		plan.Notes = append(plan.Notes, "unknown arguments dropped: "+strings.Join(args.Dropped, ", "))
	}
	run := func(ctx context.Context, g tool.Grant, p tool.Progress) tool.Result {
		return t.run(ctx, call{at: at, args: args.Value, grant: g, progress: p, limit: at.Limits.Deadline(t.Spec(), plan)})
	}
	return tool.Prepared{Plan: plan, Args: args.Value, Run: run}, nil
}

// plan says what a call would touch, as far as the schema marks it. A tool that
// does not say what it does to a path may read and write it.
func (t *Tool) plan(d *document, at tool.Place, args json.RawMessage) (tool.Plan, error) {
	p := tool.Plan{Summary: tool.Call{Name: d.name, Args: args}.Summary()}
	found := d.marks().find(args)
	p.Command = strings.Join(found["command"], "\n")
	writes := len(d.effects) == 0 || slices.Contains(d.effects, tool.Write)
	reads := slices.Contains(d.effects, tool.Read) || !slices.Contains(d.effects, tool.Write)
	for _, name := range found["path"] {
		real, err := at.Files.Locate(name)
		if err != nil {
			return p, err
		}
		if writes {
			p.Writes = append(p.Writes, real)
		}
		if reads {
			p.Reads = append(p.Reads, real)
		}
	}
	if len(d.env) > 0 && !t.Approved() {
		p.Notes = append(p.Notes, "asks for "+strings.Join(d.env, ", ")+" from your environment")
	}
	return p, nil
}
