package app

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"ikigai/internal/files"
	"ikigai/internal/tool"
)

func (a *app) debugPathCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "path --root DIR [--add-dir DIR]", Short: "Read, write, list or make a path as the file tools would", Args: cobra.NoArgs,
		Long: `Read, write, list or make a path as the file tools would. The operation is really done.

  {"id","op":"read"|"write"|"list"|"mkdir","path","content"} -> {"id","outcome","reason"}

The outcomes: allowed, denied, not_found, validation_failed, or the kind of another error.
Without content a line of our own is written.`,
	}
	root := c.Flags().String("root", "", "the workspace")
	more := c.Flags().StringArray("add-dir", nil, "one more root")
	c.RunE = func(*cobra.Command, []string) error {
		if *root == "" {
			return usage("ikigai debug path --root DIR < paths.jsonl", "--root is missing")
		}
		var dirs []string
		for _, d := range *more {
			dirs = append(dirs, a.under(d))
		}
		roots, err := files.Open(a.under(*root), dirs...)
		if err != nil {
			return usage("give existing folders", "%v", err)
		}
		defer roots.Close() // nothing was left open that could matter
		return a.eachLine(func(r row) (any, error) { return tryPath(r, roots) })
	}
	return c
}

// under is the name of a file that was given on the command line.
func (a *app) under(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.env.Dir, name)
}

type pathAnswer struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// pathOps are the operations by name; the last argument is what would be written.
var pathOps = map[string]func(r *files.Roots, path, content string) error{
	"read": func(r *files.Roots, path, _ string) error {
		_, _, err := r.ReadFile(path)
		return err
	},
	"write": func(r *files.Roots, path, content string) error {
		return r.WriteFile(path, []byte(content), tool.Stamp{})
	},
	"list": func(r *files.Roots, path, _ string) error {
		_, err := r.ReadDir(path)
		return err
	},
	"mkdir": func(r *files.Roots, path, _ string) error { return r.Mkdir(path) },
}

func tryPath(r row, roots *files.Roots) (any, error) {
	name, err := r.text("op")
	if err != nil {
		return nil, err
	}
	op, ok := pathOps[name]
	if !ok {
		return nil, errors.New(unknownWord("there is no op", name, []string{"read", "write", "list", "mkdir"}))
	}
	path, err := r.text("path")
	if err != nil {
		return nil, err
	}
	content, err := r.text("content")
	if err != nil {
		content = "written by ikigai debug path\n"
	}
	err = op(roots, path, content)
	out := pathAnswer{Outcome: files.Outcome(err)}
	if err != nil {
		out.Reason = err.Error()
	}
	return out, nil
}
