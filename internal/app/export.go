package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/export"
	"ikigai/internal/headless"
	"ikigai/internal/store"
)

// An exportForm is one way to write a session.
type exportForm struct {
	name  string // of the flag, and the end of a file's name
	doc   string
	write func(io.Writer, export.Session, export.Events) error
}

var exportForms = []exportForm{
	{"html", "one page that asks for nothing outside itself", export.HTML},
	{"md", "Markdown", export.Markdown},
	{"jsonl", "the stored events, one per line", func(w io.Writer, _ export.Session, e export.Events) error { return export.JSONL(w, e) }},
}

func (a *app) sessionExportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "export ID", Short: "Write a session for others to read", Args: cobra.ExactArgs(1),
		Long: `Write a session for others to read: as a page, as Markdown, or as the stored
events, which ikigai replay plays back.

--redact takes out, beyond the secrets that are never stored: what looks like a
key (tokens of known services, web tokens, private keys, passwords in addresses,
values of names such as password or api_key, long random words), e-mail
addresses, your home folder and user name, names in other home folders, and
blobs only the model's vendor can read. It knows looks, not meaning: read before
you share.`,
	}
	for _, f := range exportForms {
		c.Flags().Bool(f.name, false, f.doc)
	}
	c.MarkFlagsMutuallyExclusive("html", "md", "jsonl")
	c.Flags().Bool("redact", false, "take out what looks private")
	c.Flags().StringP("out", "o", "", "write to this file, not to standard output")
	c.RunE = func(c *cobra.Command, args []string) error {
		form, ok := chosenForm(c)
		if !ok {
			return usage("usage: "+c.UseLine(), "say in which form: --html, --md or --jsonl")
		}
		redact, _ := c.Flags().GetBool("redact")
		name, _ := c.Flags().GetString("out")
		return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
			found, err := a.find(ctx, s, args[0])
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return a.export(ctx, s, found, form, redact, w) }
			if name == "" {
				return write(a.env.Stdout)
			}
			if err := a.writeFile(name, write); err != nil {
				return err
			}
			fmt.Fprintf(a.env.Stderr, "wrote %s\n", name)
			return nil
		})
	}
	return c
}

func chosenForm(c *cobra.Command) (exportForm, bool) {
	i := slices.IndexFunc(exportForms, func(f exportForm) bool { yes, _ := c.Flags().GetBool(f.name); return yes })
	if i < 0 {
		return exportForm{}, false
	}
	return exportForms[i], true
}

// export writes a session in a form.
func (a *app) export(ctx context.Context, s store.Store, found store.Session, form exportForm, redact bool, w io.Writer) error {
	r, err := tally(ctx, s, []store.Session{found}, time.Time{})
	if err != nil {
		return err
	}
	about := export.Session{
		ID: found.ID, Title: found.Title, Dir: found.Dir, Branch: found.Branch, Model: found.Model, Created: found.Created,
		Facts: []string{several(r.Turns, "turn") + ", " + several(r.Calls.Calls, "call") + ", " + tokensUsed(r) + ", " + cost(r.Total), clocks(r.Clocks)},
	}
	events := s.Events(ctx, found.ID, 0)
	if redact {
		m := a.mask()
		about, events = m.Session(about), m.Events(events)
	}
	if err := form.write(w, about, events); err != nil {
		return &fault{headless.ExitFailure, fmt.Sprintf("writing session %s: %v", found.ID, err), ""}
	}
	return nil
}

// mask is what --redact takes out.
func (a *app) mask() *export.Mask {
	var known func(string) string
	if r := a.redactor(); r != nil {
		known = r.Text
	}
	user := a.variable("USER")
	if user == "" {
		user = filepath.Base(a.env.Home)
	}
	homes := []string{a.env.Home}
	if real, err := filepath.EvalSymlinks(a.env.Home); err == nil && real != a.env.Home {
		homes = append(homes, real)
	}
	return export.NewMask(known, user, homes...)
}

// writeFile writes a file whole or not at all, readable by its owner alone.
func (a *app) writeFile(name string, write func(io.Writer) error) error {
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.env.Dir, name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return &fault{headless.ExitFailure, "writing " + name + ": " + err.Error(), "choose another place with -o"}
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name()) // the first error is the one to tell
		return &fault{headless.ExitFailure, "writing " + name + ": " + err.Error(), ""}
	}
	return nil
}

// exportHere writes a session into its folder, for the command of that name in
// the terminal: the name of the form, html when empty.
func (a *app) exportHere(ctx context.Context, h *house, form string) (string, error) {
	if form == "" {
		form = "html"
	}
	i := slices.IndexFunc(exportForms, func(f exportForm) bool { return f.name == form })
	if i < 0 {
		return "", usage("", "there is no form %s: html, md or jsonl", form)
	}
	if err := h.store.Flush(ctx); err != nil {
		return "", err
	}
	found, err := h.store.Session(ctx, h.id)
	if err != nil {
		return "", err
	}
	name := filepath.Join(h.dir, "ikigai-"+h.id+"."+form)
	err = a.writeFile(name, func(w io.Writer) error { return a.export(ctx, h.store, found, exportForms[i], false, w) })
	return "Saved as " + name, err
}
