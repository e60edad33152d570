package sandbox

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// starting are the ways to start a process, by package.
var starting = map[string][]string{
	"exec":    {"Command", "CommandContext", "Cmd"},
	"os":      {"StartProcess"},
	"syscall": {"ForkExec", "StartProcess", "Exec", "CreateProcess"},
	"unix":    {"Exec", "ForkExec"},
	"pty":     {"Start", "StartWithSize", "StartWithAttrs"},
}

// TestNoOtherPackageStartsAProcess reads the whole module: whoever starts a
// process elsewhere starts it without a jail and without a keeper. Packages
// for tests, whose names end in test, are let be.
func TestNoOtherPackageStartsAProcess(t *testing.T) {
	seen := 0
	for _, top := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return skip(path)
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				seen++
				startsNothing(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d files seen: the walk is broken", seen)
	}
}

func skip(dir string) error {
	name := filepath.Base(dir)
	if name == "sandbox" || name == "testdata" || strings.HasSuffix(name, "test") {
		return filepath.SkipDir
	}
	return nil
}

func startsNothing(t *testing.T, path string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, name := range starting[pkg.Name] {
			if sel.Sel.Name == name {
				t.Errorf("%s: %s.%s: only package sandbox starts processes", set.Position(n.Pos()), pkg.Name, name)
			}
		}
		return true
	})
}
