package file_edit

import "ikigai/internal/toolkit"

// Aliases are the names under which other agents replace text in files.
func Aliases() []toolkit.Alias {
	all := []toolkit.Alias{
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_editor", When: "command=str_replace"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_based_edit_tool", When: "command=str_replace"}, guess.input),
	}
	for _, n := range []string{
		"edit_file", "str_replace", "search_replace", "replace", "edit", "Edit", "multi_edit", "MultiEdit", "replace_in_file",
		"replace_string_in_file", "string_replace", "update_file",
	} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// guess has the parameters that such tools have in common. A missing new text
// means that the old one goes.
type guess struct {
	Path  string        `json:"path" format:"path" alias:"file_path,filePath,absolute_path,target_file,file,filename"`
	Edits []replacement `json:"edits,omitempty" alias:"replacements"`
	Old   *string       `json:"old_text,omitempty" alias:"old_string,old_str,oldString,search,old"`
	New   string        `json:"new_text,omitempty" alias:"new_string,new_str,newString,new"`
	All   bool          `json:"replace_all,omitempty" alias:"replaceAll,allow_multiple"`
}

func (g guess) input() (any, error) {
	in := input{Path: g.Path, Edits: g.Edits}
	if g.Old != nil {
		in.OldText, in.NewText, in.ReplaceAll = g.Old, &g.New, g.All
	}
	return in, nil
}
