// Package filesystem is the one file tool of the swebash toolset, to the letter
// of its definition: it reads and never writes.
package filesystem

import (
	"context"
	"io/fs"
	"time"
	"unicode/utf8"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/text"
)

type input struct {
	Operation string `json:"operation" enum:"read,list,exists,metadata" doc:"The operation to perform"`
	Path      string `json:"path" doc:"The file or directory path (absolute or relative to cwd)" format:"path"`
}

// output has the fields of one operation; those of the others are left out.
type output struct {
	Content     *string `json:"content,omitempty"`
	Entries     []entry `json:"entries,omitzero"`
	Count       *int    `json:"count,omitempty"`
	Exists      *bool   `json:"exists,omitempty"`
	Type        string  `json:"type,omitempty"`
	Size        *int64  `json:"size,omitempty"`
	Modified    string  `json:"modified,omitempty"`
	Permissions string  `json:"permissions,omitempty"`
	Truncated   bool    `json:"truncated,omitempty"`
	FullOutput  string  `json:"full_output,omitempty"`
}

type entry struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Tool reads files, lists folders and tells what there is.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "filesystem",
	Doc:     "Read, write, list files and directories. Can read file contents, list directory contents, check if files exist, and get file metadata.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan: func(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
		return toolkit.Reading(at, in.Path, in.Operation+" "+in.Path)
	},
	Run: func(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
		out, err := operations[in.Operation](at, at.Files.With(g), in.Path)
		return out, toolkit.Missing(err, in.Path)
	},
})

var operations = map[string]func(tool.Place, tool.Files, string) (output, error){
	"read": read, "list": list, "exists": exists, "metadata": metadata,
}

func read(at tool.Place, files tool.Files, name string) (output, error) {
	info, err := files.Stat(name)
	if err != nil {
		return output{}, err
	}
	most := int64(toolkit.MaxOutput(at.Limits)) // 1 MB, unless the session sets another size
	if size := info.Size(); size > most && info.Mode().IsRegular() {
		return output{}, tool.Errorf("SIZE_FAILED", "%s has %d bytes; at most %d are read", name, size, most)
	}
	data, _, err := files.ReadFile(name)
	if err != nil {
		return output{}, err
	}
	if err := text.Check(name, data); err != nil {
		return output{}, err
	}
	if !utf8.Valid(data) {
		return output{}, tool.Errorf(tool.InvalidUTF8, "%s is not UTF-8", name)
	}
	size := int64(len(data))
	shown := toolkit.ShowFile(name, clean.Model(string(data)))
	return output{Content: &shown.Output, Size: &size, Truncated: shown.Truncated, FullOutput: shown.FullOutput}, nil
}

func list(_ tool.Place, files tool.Files, name string) (output, error) {
	if _, err := toolkit.Folder(files, name); err != nil {
		return output{}, err
	}
	found, err := files.ReadDir(name)
	if err != nil {
		return output{}, err
	}
	const most = 1000
	n := len(found)
	out := output{Entries: []entry{}, Count: &n, Truncated: n > most}
	for _, d := range found[:min(n, most)] {
		out.Entries = append(out.Entries, entry{clean.Model(d.Name()), kind(d.Type())})
	}
	return out, nil
}

func exists(_ tool.Place, files tool.Files, name string) (output, error) {
	_, err := files.Stat(name)
	there := err == nil
	if tool.CodeOf(err, "") == tool.FileNotFound {
		err = nil
	}
	return output{Exists: &there}, err
}

func metadata(_ tool.Place, files tool.Files, name string) (output, error) {
	info, err := files.Stat(name)
	if err != nil {
		return output{}, err
	}
	size := info.Size()
	return output{
		Type: kind(info.Mode()), Size: &size, Modified: info.ModTime().Format(time.RFC3339), Permissions: info.Mode().Perm().String(),
	}, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	case m.IsRegular():
		return "file"
	}
	return "other"
}

// Cut reports whether something was left out.
func (o output) Cut() bool { return o.Truncated }

// Aliases are none: where it is not offered, other tools answer to its name.
func Aliases() []toolkit.Alias { return nil }
