// Package ls is the tool that lists one folder as a table.
package ls

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

const defaultEntries = 500

type input struct {
	Path    string `json:"path,omitempty" doc:"Default ." format:"path" alias:"dir,directory"`
	Hidden  bool   `json:"show_hidden,omitempty"`
	Sort    string `json:"sort_by,omitempty" enum:"name,size,modified"`
	Reverse bool   `json:"reverse,omitempty"`
	Most    int    `json:"max_entries,omitempty" doc:"Default 500" min:"1" max:"1000"`
}

type output struct {
	toolkit.Shown
	Count int `json:"count"`
}

// Tool lists a folder.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "ls",
	Doc:     "List a directory with type, size and time.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	dir := cmp.Or(in.Path, ".")
	return toolkit.Reading(at, dir, "list "+dir)
}

// An entry is one line of the table.
type entry struct {
	name     string
	kind     string
	size     int64
	modified time.Time
}

func run(_ context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	files, dir := at.Files.With(g), cmp.Or(in.Path, ".")
	if _, err := toolkit.Folder(files, dir); err != nil {
		return output{}, err
	}
	list, err := files.ReadDir(dir)
	if err != nil {
		return output{}, toolkit.Missing(err, dir)
	}
	entries := in.entries(list)
	in.sort(entries)
	return output{Shown: toolkit.Show(at, in.table(entries)), Count: len(entries)}, nil
}

func (in input) entries(list []fs.DirEntry) []entry {
	var all []entry
	for _, d := range list {
		if strings.HasPrefix(d.Name(), ".") && !in.Hidden {
			continue
		}
		e := entry{name: d.Name(), kind: kind(d.Type())}
		if info, err := d.Info(); err == nil { // one that vanished meanwhile is listed without
			e.modified = info.ModTime()
			if e.kind == "FILE" {
				e.size = info.Size()
			}
		}
		all = append(all, e)
	}
	return all
}

func kind(t fs.FileMode) string {
	switch {
	case t.IsDir():
		return "DIR"
	case t&fs.ModeSymlink != 0:
		return "LINK"
	}
	return "FILE"
}

var orders = map[string]func(a, b entry) int{
	"size":     func(a, b entry) int { return cmp.Compare(a.size, b.size) },
	"modified": func(a, b entry) int { return a.modified.Compare(b.modified) },
}

// sort puts the entries, which come by name, into the order asked for.
func (in input) sort(all []entry) {
	if by, ok := orders[in.Sort]; ok {
		slices.SortStableFunc(all, by)
	}
	if in.Reverse {
		slices.Reverse(all)
	}
}

func (in input) table(all []entry) string {
	shown := all[:min(len(all), cmp.Or(in.Most, defaultEntries))]
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TYPE\tSIZE\tMODIFIED\tNAME")
	for _, e := range shown {
		name, bytes := clean.Line(e.name), size(e.size)
		switch e.kind {
		case "DIR":
			name, bytes = name+"/", "-"
		case "LINK":
			bytes = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.kind, bytes, when(e.modified), name)
	}
	w.Flush() // into memory
	if left := len(all) - len(shown); left > 0 {
		fmt.Fprintf(&b, "[... %d more entries: raise max_entries]\n", left)
	}
	b.WriteString(totals(all))
	return b.String()
}

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("2006-01-02 15:04:05")
}

func totals(all []entry) string {
	var files, dirs, links int
	var bytes int64
	for _, e := range all {
		switch e.kind {
		case "DIR":
			dirs++
		case "LINK":
			links++
		default:
			files++
		}
		bytes += e.size
	}
	text := fmt.Sprintf("Total: %d files, %d directories, %s", files, dirs, size(bytes))
	if links > 0 {
		text = fmt.Sprintf("Total: %d files, %d directories, %d links, %s", files, dirs, links, size(bytes))
	}
	return text
}

// size is a number of bytes for a person.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), 0
	for ; value >= 1024 && unit < 4; unit++ {
		value /= 1024
	}
	return fmt.Sprintf("%.1f %s", value, []string{"B", "KB", "MB", "GB", "TB"}[unit])
}

// Summary says how many entries there are.
func (o output) Summary() string { return fmt.Sprintf("%d entries", o.Count) }

// Aliases are the names under which other agents list folders.
func Aliases() []toolkit.Alias {
	all := []toolkit.Alias{toolkit.As(Tool, toolkit.Name{Name: "filesystem", When: "operation=list"}, guess.input)}
	for _, n := range []string{"list_directory", "list_dir", "LS", "list_files", "list_folder", "read_directory", "dir"} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// guess has the parameters that such tools have in common.
type guess struct {
	Path   string `json:"path,omitempty" format:"path" alias:"dir_path,directory,dir,target_directory,relative_workspace_path,folder"`
	Hidden bool   `json:"show_hidden,omitempty" alias:"include_hidden,all"`
}

func (g guess) input() (any, error) { return input{Path: path.Clean(g.Path), Hidden: g.Hidden}, nil }
