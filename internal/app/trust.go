package app

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/headless"
	"ikigai/internal/trust"
)

func (a *app) book() trust.Book {
	return trust.Book{Path: filepath.Join(a.places().Data, "trust.json")}
}

// trusted says whether a project may enable what it brings: trusted as it is,
// or for this run by --trust. What cannot be looked at is not trusted.
func (a *app) trusts(c *cobra.Command, dir string) bool {
	if yes, _ := c.Flags().GetBool("trust"); yes {
		return true
	}
	state, err := a.book().Look(dir)
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "note: %v\n  the project is not trusted\n", err)
		return false
	}
	if !state.Trusted {
		fmt.Fprintf(a.env.Stderr, "note: this project is not trusted; what it would enable stays off (%d files below .ikigai)\n  ikigai trust shows them and trusts them\n", len(state.Items))
		for _, change := range state.Changes {
			fmt.Fprintf(a.env.Stderr, "  %s\n", clean.Line(change))
		}
	}
	return state.Trusted
}

func (a *app) trustCommand() *cobra.Command {
	c := &cobra.Command{Use: "trust [DIR]", Short: "Trust what a project would enable, by name and content", Args: cobra.MaximumNArgs(1)}
	c.Flags().Bool("list", false, "list the trusted projects")
	c.Flags().Bool("revoke", false, "trust the project no longer")
	c.RunE = func(c *cobra.Command, args []string) error {
		if list, _ := c.Flags().GetBool("list"); list {
			return a.listTrusted()
		}
		if len(args) == 1 {
			a.cwd = args[0]
		}
		dir, err := a.dir()
		if err != nil {
			return err
		}
		if revoke, _ := c.Flags().GetBool("revoke"); revoke {
			if err := a.book().Revoke(dir); err != nil {
				return &fault{headless.ExitFailure, err.Error(), ""}
			}
			fmt.Fprintf(a.env.Stdout, "%s is no longer trusted\n", dir)
			return nil
		}
		return a.trustNow(dir)
	}
	return c
}

func (a *app) trustNow(dir string) error {
	g, err := a.book().Trust(dir, time.Now())
	if err != nil {
		return &fault{headless.ExitFailure, err.Error(), ""}
	}
	fmt.Fprintf(a.env.Stdout, "%s is trusted with %d files:\n", dir, len(g.Items))
	for _, it := range g.Items {
		fmt.Fprintf(a.env.Stdout, "  %.12s  %s\n", it.Hash, clean.Line(it.Path))
	}
	return nil
}

func (a *app) listTrusted() error {
	grants, err := a.book().Grants()
	if err != nil {
		return &fault{headless.ExitConfig, err.Error(), ""}
	}
	for _, g := range grants {
		fmt.Fprintf(a.env.Stdout, "%s  %s  %d files\n", g.Date.Local().Format(time.DateTime), clean.Line(g.Dir), len(g.Items))
	}
	if len(grants) == 0 {
		fmt.Fprintln(a.env.Stdout, "no project is trusted")
	}
	return nil
}
