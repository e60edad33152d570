// Package file_edit is the tool that replaces pieces of a file.
package file_edit

import (
	"context"
	"fmt"

	"ikigai/internal/diff"
	"ikigai/internal/edit"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

type replacement struct {
	OldText    string `json:"old_text" doc:"Unique in the file" alias:"old_string,old_str,oldText"`
	NewText    string `json:"new_text" alias:"new_string,new_str,newText"`
	ReplaceAll bool   `json:"replace_all,omitempty" alias:"replaceAll"`
}

// input has the list of edits; one edit may also be written at the top, as
// other agents' tools have it.
type input struct {
	Path       string        `json:"path" doc:"File" format:"path" alias:"file_path,filename,filePath"`
	Edits      []replacement `json:"edits,omitempty"`
	OldText    *string       `json:"old_text,omitempty" hidden:"true" alias:"old_string,old_str"`
	NewText    *string       `json:"new_text,omitempty" hidden:"true" alias:"new_string,new_str"`
	ReplaceAll bool          `json:"replace_all,omitempty" hidden:"true"`
}

type output struct {
	Output       string   `json:"output"`
	Replacements int      `json:"replacements"`
	Notes        []string `json:"notes,omitempty"`
}

// Tool replaces text in a file.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "file_edit",
	Doc:     "Replace text in a file. Edits apply to the file as it was: all, or none.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Write},
	Plan:    plan,
	Run:     run,
})

func (in input) edits() ([]edit.Edit, error) {
	if in.OldText != nil || in.NewText != nil {
		if in.OldText == nil || in.NewText == nil {
			return nil, tool.Errorf(tool.InvalidParams, "old_text and new_text belong together")
		}
		if len(in.Edits) > 0 {
			return nil, tool.Errorf(tool.InvalidParams, "give edits, or old_text and new_text, not both")
		}
		return []edit.Edit{{OldText: *in.OldText, NewText: *in.NewText, ReplaceAll: in.ReplaceAll}}, nil
	}
	var edits []edit.Edit
	for _, e := range in.Edits {
		edits = append(edits, edit.Edit(e))
	}
	return edits, nil
}

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	if _, err := in.edits(); err != nil {
		return tool.Plan{}, err
	}
	real, err := at.Files.Locate(in.Path)
	if err != nil {
		return tool.Plan{}, err
	}
	p := tool.Plan{Summary: "edit " + in.Path, Writes: []string{real}}
	if old, out, _, err := apply(at.Files, in); err == nil { // what is wrong is told by Run
		p.Preview = diff.Unified("a/"+in.Path, "b/"+in.Path, old, out.Text, 3)
		added, removed := diff.Stat(old, out.Text)
		p.Summary += fmt.Sprintf(" +%d -%d", added, removed)
	}
	return p, nil
}

// apply works out the new text, without writing it.
func apply(files tool.Files, in input) (old []byte, out edit.Outcome, stamp tool.Stamp, err error) {
	edits, err := in.edits()
	if err != nil {
		return nil, out, stamp, err
	}
	if old, stamp, err = toolkit.Current(files, in.Path); err != nil {
		return nil, out, stamp, err
	}
	out, err = edit.Apply(old, edits, edit.Fuzzy)
	return old, out, stamp, err
}

func run(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	files := at.Files.With(g)
	_, out, stamp, err := apply(files, in)
	if err != nil {
		return output{}, err
	}
	if err := files.WriteFile(in.Path, out.Text, stamp); err != nil {
		return output{}, err
	}
	o := output{Output: fmt.Sprintf("Replaced %d in %s", out.Replacements, in.Path), Replacements: out.Replacements}
	for _, l := range out.Fuzzy {
		o.Notes = append(o.Notes, fmt.Sprintf("edit %d matched although %s", l.Edit+1, l.Rung))
	}
	return o, nil
}

// Summary is what was done.
func (o output) Summary() string { return o.Output }
