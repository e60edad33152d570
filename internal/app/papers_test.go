package app

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/provider"
)

func paper(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// tableRow is the row of a Markdown table whose first cell is that name.
func tableRow(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `"+name+"` |") {
			return line
		}
	}
	return ""
}

func TestThePaperOfProvidersIsTheTable(t *testing.T) {
	text := paper(t, "providers.md")
	for _, r := range provider.Rows() {
		line := tableRow(text, r.Name)
		facts := append([]string{r.Format, r.Base, r.Elsewhere}, append(r.KeyVars, r.BaseVars...)...)
		for _, fact := range facts {
			if !strings.Contains(line, fact) {
				t.Errorf("%s: %s is not in its row: %s", r.Name, fact, line)
			}
		}
		if !r.NeedsKey && !strings.Contains(line, "none needed") {
			t.Errorf("%s needs no key: %s", r.Name, line)
		}
		if r.Local() && !strings.Contains(text, r.Start) {
			t.Errorf("%s: how to start it is not said: %s", r.Name, r.Start)
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != len(provider.Rows()) {
		t.Errorf("the paper has %d rows, the table %d", rows, len(provider.Rows()))
	}
}

func TestThePaperOfDependenciesNamesEveryModule(t *testing.T) {
	text := paper(t, "dependencies.md")
	modules := requiredModules(t)
	seen := map[string]bool{}
	eachImport(t, func(file, path string) {
		for _, m := range modules {
			if (path == m || strings.HasPrefix(path, m+"/")) && !seen[m] {
				seen[m] = true
				if tableRow(text, m) == "" {
					t.Errorf("%s imports %s, which docs/dependencies.md does not name", file, m)
				}
			}
		}
	})
	for _, m := range modules {
		if !seen[m] && tableRow(text, m) != "" {
			t.Errorf("docs/dependencies.md names %s, which nobody imports", m)
		}
	}
}

// requiredModules are the modules of go.mod.
func requiredModules(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(line, "\t") {
			modules = append(modules, words[0])
		}
	}
	return modules
}

// eachImport reads the imports of every Go file of ours, tests included.
func eachImport(t *testing.T, do func(file, path string)) {
	t.Helper()
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, imp := range f.Imports {
				do(name, strings.Trim(imp.Path.Value, `"`))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
