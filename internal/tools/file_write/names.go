package file_write

import "ikigai/internal/toolkit"

// Aliases are the names under which other agents write files.
func Aliases() []toolkit.Alias {
	all := []toolkit.Alias{
		toolkit.As(Tool, toolkit.Name{Name: "write_file", Set: "localharness", Doc: "Create or overwrite a file with content"}, harness.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_editor", When: "command=create"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_based_edit_tool", When: "command=create"}, guess.input),
	}
	for _, n := range []string{"write_file", "create_file", "write_to_file", "save_file", "create", "write", "Write", "fs_write", "new_file"} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// harness is write_file of the Local Harness.
type harness struct {
	Path    string `json:"path" doc:"File path relative to project root" format:"path"`
	Content string `json:"content" doc:"File content to write"`
}

func (h harness) input() (any, error) { return input(h), nil }

// guess has the parameters that such tools have in common.
type guess struct {
	Path    string `json:"path" format:"path" alias:"file_path,filePath,absolute_path,target_file,file,filename"`
	Content string `json:"content" alias:"contents,file_text,text,file_content,code"`
}

func (g guess) input() (any, error) { return input(g), nil }
