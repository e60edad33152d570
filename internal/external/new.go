package external

import (
	_ "embed" // for the templates
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A Template is a whole tool to start from. As it is, it passes Check.
type Template struct {
	File   string      // what to call it
	Mode   fs.FileMode // with the bit that makes it executable, unless it must be built
	Source []byte
	Build  []string // the command that makes the executable, called like the tool, where one is needed
}

//go:embed templates/tool.sh
var shellTemplate string

//go:embed templates/tool.py
var pythonTemplate string

//go:embed templates/tool.go.txt
var goTemplate string

// New gives a tool called name, written in lang: sh, python or go.
func New(name, lang string) (Template, error) {
	if !goodName().MatchString(name) {
		return Template{}, fmt.Errorf("%q cannot be the name of a tool: want a letter, then letters, digits, _ or -, 64 at most", name)
	}
	all := map[string]Template{
		"sh":     {name, 0o755, []byte(shellTemplate), nil},
		"python": {name + ".py", 0o755, []byte(pythonTemplate), nil},
		"go":     {name + ".go", 0o644, []byte(goTemplate), []string{"go", "build", "-o", name, name + ".go"}},
	}
	t, ok := all[lang]
	if !ok {
		return t, fmt.Errorf("no template for %q: want one of %s", lang, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	t.Source = []byte(strings.ReplaceAll(string(t.Source), "NAME", name))
	return t, nil
}
