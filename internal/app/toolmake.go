package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/external"
	"ikigai/internal/headless"
	"ikigai/internal/tool"
)

func (a *app) toolCheckCommand() *cobra.Command {
	c := &cobra.Command{Use: "check PATH", Short: "Test an executable against every rule of the tool protocol", Args: cobra.ExactArgs(1)}
	settingFlags(c, toolFlags...)
	c.RunE = func(c *cobra.Command, args []string) error {
		path := args[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.env.Dir, path)
		}
		return a.withHouse(c, func(h *house) error {
			bad := 0
			for _, f := range external.Check(c.Context(), path, external.Options{Start: h.jail.Start, Timeout: h.cfg.Tools.SchemaTimeout}) {
				fmt.Fprintln(a.env.Stdout, clean.Line(f.String()))
				if !f.OK {
					bad++
				}
			}
			if bad > 0 {
				return &fault{headless.ExitFailure, fmt.Sprintf("%s breaks %d rules", args[0], bad), "docs/tool-protocol.md explains them"}
			}
			return nil
		})
	}
	return c
}

func (a *app) toolNewCommand() *cobra.Command {
	c := &cobra.Command{Use: "new NAME --lang sh|python|go", Short: "Write a working tool to start from", Args: cobra.ExactArgs(1)}
	c.Flags().String("lang", "sh", "sh, python or go")
	c.Flags().String("dir", "", "where to; your own folder of tools when empty")
	c.RunE = func(c *cobra.Command, args []string) error {
		lang, _ := c.Flags().GetString("lang")
		dir, _ := c.Flags().GetString("dir")
		if dir == "" {
			dir = a.places().Tools()
		} else if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.env.Dir, dir)
		}
		t, err := external.New(args[0], lang)
		if err != nil {
			return usage("", "%s", err.Error())
		}
		return a.writeTool(dir, t)
	}
	return c
}

// writeTool writes a template; a file that exists is not replaced.
func (a *app) writeTool(dir string, t external.Template) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &fault{headless.ExitFailure, "making the folder of tools: " + err.Error(), ""}
	}
	name := filepath.Join(dir, t.File)
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, t.Mode)
	if err != nil {
		return &fault{headless.ExitFailure, "writing the tool: " + err.Error(), "choose another name, or delete that file"}
	}
	_, err = out.Write(t.Source)
	if err := errors.Join(err, out.Close()); err != nil {
		return &fault{headless.ExitFailure, "writing the tool: " + err.Error(), ""}
	}
	fmt.Fprintln(a.env.Stdout, name)
	if len(t.Build) > 0 {
		fmt.Fprintf(a.env.Stdout, "build it there: %s\n", strings.Join(t.Build, " "))
	}
	return nil
}

func (a *app) toolApproveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "approve NAME", Short: "Believe what an executable says of its risk and effects, and give it the variables it names",
		Args: cobra.ExactArgs(1),
	}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("trust", false, "trust this project for this command")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withHouse(c, func(h *house) error {
			found, ok := h.tools.Current().Lookup(args[0])
			if !ok {
				return usage("ikigai tool list names all", "%s", tool.NotFound(args[0], h.offeredNames()).Text)
			}
			t, ok := found.(*external.Tool)
			if !ok {
				return usage("", "%s is built in: there is nothing to approve", args[0])
			}
			risk, effects := t.Claimed()
			for _, line := range h.approvals.changed(t.Identity()) {
				fmt.Fprintf(a.env.Stdout, "changed since it was approved: %s\n", clean.Line(line))
			}
			if err := h.approvals.add(t.Identity()); err != nil {
				return &fault{headless.ExitFailure, err.Error(), ""}
			}
			fmt.Fprintf(a.env.Stdout, "approved %s\n  it says: risk %s, effects %v, variables %v\n  a change of the file or its schema asks again\n", clean.Line(t.Spec().Path), risk, effects, t.Env())
			return nil
		})
	}
	return c
}
