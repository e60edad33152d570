package file_read

import (
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// Aliases are the names under which other agents read files.
func Aliases() []toolkit.Alias {
	all := []toolkit.Alias{
		toolkit.As(Tool, toolkit.Name{
			Name: "read_file", Set: "localharness", Risk: tool.Medium,
			Doc: "Read file contents with line numbers (1-indexed)",
		}, harness.input),
		toolkit.As(Tool, toolkit.Name{Name: "filesystem", When: "operation=read"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_editor", When: "command=view"}, guess.input),
		toolkit.As(Tool, toolkit.Name{Name: "str_replace_based_edit_tool", When: "command=view"}, guess.input),
	}
	for _, n := range []string{"read_file", "view_file", "view", "open_file", "cat", "read", "Read", "fs_read", "get_file_contents", "read_text_file"} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// harness is read_file of the Local Harness: a path, and numbered lines back.
type harness struct {
	Path string `json:"path" doc:"File path relative to project root" format:"path"`
}

func (h harness) input() (any, error) { return input{Path: h.Path, Numbers: true}, nil }

// guess has the parameters that such tools have in common.
type guess struct {
	Path   string `json:"path" format:"path" alias:"file_path,filePath,absolute_path,target_file,file,filename"`
	First  int    `json:"offset,omitempty" min:"0" alias:"start_line,line_start,start_line_one_indexed,startLine,line_offset"`
	Lines  int    `json:"limit,omitempty" min:"1" alias:"num_lines,n_lines,max_lines"`
	Last   int    `json:"end_line,omitempty" min:"-1" alias:"line_end,end_line_one_indexed_inclusive,endLine"`
	Range  []int  `json:"view_range,omitempty"`
	Number bool   `json:"line_numbers,omitempty" alias:"show_line_numbers"`
}

func (g guess) input() (any, error) {
	in := input{Path: g.Path, Offset: g.First, Limit: g.Lines, Numbers: g.Number}
	last := g.Last
	if len(g.Range) == 2 {
		in.Offset, last = max(g.Range[0], 0), g.Range[1]
	}
	if first := max(in.Offset, 1); last > 0 && in.Limit == 0 {
		if last < first {
			return nil, tool.Errorf(tool.InvalidParams, "the last line, %d, is before the first, %d", last, first)
		}
		in.Limit = last - first + 1
	}
	return in, nil
}
