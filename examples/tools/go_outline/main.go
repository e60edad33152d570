// Go_outline lists what a Go file or package declares: every type, function,
// method, constant and variable with its line and the first sentence of its
// comment, so that a model can find its way without reading whole files.
//
//	go build -o ~/.ikigai/tools/go_outline ./examples/tools/go_outline
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const schema = `{
  "name": "go_outline",
  "description": "List the declarations of a Go file, or of all Go files in a folder, with line numbers and the first sentence of each comment.",
  "parameters": {
    "path": {"type": "string", "description": "A .go file or a folder", "format": "path", "default": "."},
    "exported": {"type": "boolean", "description": "Only what other packages can use"}
  },
  "returns": {
    "type": "object",
    "properties": {"output": {"type": "string"}, "count": {"type": "integer"}}
  },
  "risk": "safe",
  "effects": ["read"]
}`

type arguments struct {
	Path     string `json:"path"`
	Exported bool   `json:"exported"`
}

type answer struct {
	Output string `json:"output"`
	Count  int    `json:"count"`
}

// A toolError is told to the model. The tool itself worked.
type toolError struct {
	Text string `json:"error"`
	Code string `json:"error_code"`
}

func (e toolError) Error() string { return e.Text }

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--schema" {
		fmt.Println(schema)
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(respond()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func respond() any {
	args := arguments{Path: "."}
	if err := json.NewDecoder(os.Stdin).Decode(&args); err != nil {
		return toolError{"the arguments are not one JSON object: " + err.Error(), "INVALID_PARAMS"}
	}
	out, err := outline(args)
	if err != nil {
		return err
	}
	return out
}

// outline goes through the files that path names.
func outline(args arguments) (answer, error) {
	files, err := filesOf(args.Path)
	if err != nil {
		return answer{}, err
	}
	o := outliner{exported: args.Exported, positions: token.NewFileSet()}
	for _, path := range files {
		if err := o.add(path); err != nil {
			return answer{}, toolError{err.Error(), "PARSE_ERROR"}
		}
	}
	return answer{o.text.String(), o.count}, nil
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, toolError{"File not found: " + path, "FILE_NOT_FOUND"}
	case err != nil:
		return nil, toolError{err.Error(), "READ_FAILED"}
	case !info.IsDir():
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, toolError{"there is no Go file in " + path, "FILE_NOT_FOUND"}
	}
	return files, nil
}

// An outliner writes one line per declaration.
type outliner struct {
	exported  bool
	positions *token.FileSet
	text      strings.Builder
	count     int
}

func (o *outliner) add(path string) error {
	file, err := parser.ParseFile(o.positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	fmt.Fprintf(&o.text, "%s (package %s)\n", path, file.Name.Name)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			o.function(d)
		case *ast.GenDecl:
			o.group(d)
		}
	}
	return nil
}

func (o *outliner) function(f *ast.FuncDecl) {
	signature := *f
	signature.Doc, signature.Body = nil, nil
	o.line(f.Name, o.source(&signature), f.Doc)
}

func (o *outliner) group(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			o.line(s.Name, "type "+s.Name.Name+" "+kindOf(s.Type), firstOf(s.Doc, g.Doc))
		case *ast.ValueSpec:
			for _, name := range s.Names {
				o.line(name, g.Tok.String()+" "+name.Name, firstOf(s.Doc, s.Comment, g.Doc))
			}
		}
	}
}

func (o *outliner) line(name *ast.Ident, text string, comment *ast.CommentGroup) {
	if o.exported && !name.IsExported() {
		return
	}
	o.count++
	fmt.Fprintf(&o.text, "%5d  %s", o.positions.Position(name.Pos()).Line, text)
	if said := new(doc.Package).Synopsis(comment.Text()); said != "" {
		fmt.Fprintf(&o.text, "  // %s", said)
	}
	o.text.WriteByte('\n')
}

// source prints a declaration on one line.
func (o *outliner) source(n ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func kindOf(t ast.Expr) string {
	switch t.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	case *ast.FuncType:
		return "func"
	case *ast.MapType:
		return "map"
	}
	return ""
}

func firstOf(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, g := range groups {
		if g != nil {
			return g
		}
	}
	return nil
}
