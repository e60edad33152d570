package app

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ikigai/internal/edit"
	"ikigai/internal/tool"
)

func (a *app) debugEditCommand() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Replace pieces of a text as the tool that edits would", Args: cobra.NoArgs,
		Long: `Replace pieces of a text as the tool that edits would.

  {"id","mode":"exact"|"fuzzy","file","edits":[{"old_text","new_text","replace_all"}]}
      -> {"id","result"} or {"id","error","reason"}

A result that is not UTF-8 is printed as result_b64. All edits are made, or none.`,
		RunE: func(*cobra.Command, []string) error { return a.eachLine(tryEdit) },
	}
}

type editAnswer struct {
	Result    *string   `json:"result,omitempty"`
	ResultB64 string    `json:"result_b64,omitempty"`
	Error     tool.Code `json:"error,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

func tryEdit(r row) (any, error) {
	mode, err := editMode(r)
	if err != nil {
		return nil, err
	}
	file, err := r.text("file")
	if err != nil {
		return nil, err
	}
	edits, err := readEdits(r)
	if err != nil {
		return nil, err
	}
	out, err := edit.Apply([]byte(file), edits, mode)
	if err != nil {
		return editAnswer{Error: tool.CodeOf(err, "EDIT_FAILED"), Reason: err.Error()}, nil
	}
	return edited(string(out.Text)), nil
}

// edited is an answer with the new text, in a form that JSON can carry.
func edited(text string) editAnswer {
	if !utf8.ValidString(text) {
		return editAnswer{ResultB64: base64Text([]byte(text))}
	}
	return editAnswer{Result: &text}
}

func editMode(r row) (edit.Mode, error) {
	name, err := r.text("mode")
	switch {
	case err != nil:
		return 0, err
	case name == "exact":
		return edit.Exact, nil
	case name == "fuzzy":
		return edit.Fuzzy, nil
	}
	return 0, fmt.Errorf("mode is %q; it is exact or fuzzy", name)
}

func readEdits(r row) ([]edit.Edit, error) {
	var list []row
	if err := r.value("edits", &list); err != nil {
		return nil, err
	}
	var edits []edit.Edit
	for i, e := range list {
		var one edit.Edit
		var err error
		if one.OldText, err = e.text("old_text"); err == nil {
			one.NewText, err = e.text("new_text")
		}
		if err == nil {
			err = e.value("replace_all", &one.ReplaceAll)
		}
		if err != nil {
			return nil, fmt.Errorf("edit %d: %w", i+1, err)
		}
		edits = append(edits, one)
	}
	return edits, nil
}
