package tools

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// To add a tool is one folder and one line.
func TestEveryFolderHasItsLine(t *testing.T) {
	rows := tableRows(t)
	for _, problem := range unlisted(folders(t), rows) {
		t.Error(problem)
	}
	if len(rows) != len(folders(t)) {
		t.Errorf("%d lines, %d folders", len(rows), len(folders(t)))
	}
}

func TestAFolderWithoutALineIsNoticed(t *testing.T) {
	rows := tableRows(t)
	if got := unlisted(append(folders(t), "new_tool"), rows); len(got) != 1 || !strings.Contains(got[0], "new_tool") {
		t.Errorf("a new folder is not noticed: %v", got)
	}
	if got := unlisted(folders(t), append(rows, []string{"bash"})); len(got) != 1 || !strings.Contains(got[0], "bash") {
		t.Errorf("a second line is not noticed: %v", got)
	}
}

func folders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && e.Name() != "testdata" {
			names = append(names, e.Name())
		}
	}
	return names
}

// unlisted says which folders do not have exactly one row.
func unlisted(folders []string, rows [][]string) []string {
	var problems []string
	for _, f := range folders {
		n := 0
		for _, row := range rows {
			if slices.Contains(row, f) {
				n++
			}
		}
		if n != 1 {
			problems = append(problems, fmt.Sprintf("the folder %s has %d lines in the table of tools.go", f, n))
		}
	}
	return problems
}

// tableRows gives, for each row of the table, the packages it speaks of.
func tableRows(t *testing.T) [][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "tools.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	table := file.Scope.Lookup("table").Decl.(*ast.FuncDecl)
	ast.Inspect(table, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, ok := list.Type.(*ast.ArrayType); !ok {
			return true
		}
		for _, row := range list.Elts {
			rows = append(rows, packages(row))
		}
		return false
	})
	return rows
}

func packages(row ast.Node) []string {
	var names []string
	ast.Inspect(row, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
		return true
	})
	return names
}

func TestAToolIsNamedLikeItsFolder(t *testing.T) {
	var names []string
	for _, tl := range every() {
		names = append(names, tl.Spec().Name)
	}
	slices.Sort(names)
	if got := folders(t); !slices.Equal(got, names) {
		t.Errorf("folders %v\ntools   %v", got, names)
	}
}
