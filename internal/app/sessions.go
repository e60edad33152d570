package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/view"
)

func (a *app) sessionCommand() *cobra.Command {
	c := &cobra.Command{Use: "session", Short: "List, show and tidy sessions", Args: cobra.NoArgs}
	c.AddCommand(
		a.sessionListCommand(), a.sessionShowCommand(), a.sessionSearchCommand(), a.sessionRenameCommand(),
		a.sessionForkCommand(), a.sessionRemoveCommand(), a.sessionPruneCommand(),
		a.sessionExportCommand(),
	)
	return c
}

// withStore opens the store for a command that needs nothing else.
func (a *app) withStore(c *cobra.Command, do func(context.Context, store.Store, string) error) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	cfg, err := a.settings(c, dir, false)
	if err != nil {
		return err
	}
	s, err := a.openStore(c.Context(), cfg)
	if err != nil {
		return err
	}
	err = do(c.Context(), s, dir)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}

func (a *app) sessionListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the sessions of this folder, the last used first", Args: cobra.NoArgs}
	c.Flags().Bool("all", false, "of every folder")
	c.Flags().Bool("json", false, "print one JSON array")
	c.RunE = func(c *cobra.Command, _ []string) error {
		all, _ := c.Flags().GetBool("all")
		asJSON, _ := c.Flags().GetBool("json")
		return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
			if all {
				dir = ""
			}
			list, err := collect(ctx, s, dir)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			return a.printSessions(list)
		})
	}
	return c
}

func collect(ctx context.Context, s store.Store, dir string) ([]store.Session, error) {
	list := []store.Session{}
	for one, err := range s.Sessions(ctx, store.Filter{Dir: dir}) {
		if err != nil {
			return nil, storeFault(err)
		}
		list = append(list, one)
	}
	return list, nil
}

func (a *app) printSessions(list []store.Session) error {
	if len(list) == 0 {
		fmt.Fprintln(a.env.Stdout, "no sessions here; --all lists those of every folder")
		return nil
	}
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUSED\tFOLDER\tBRANCH\tCALLS\tTITLE")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", s.ID, ago(time.Since(s.Updated)), clean.Line(filepath.Base(s.Dir)), clean.Line(s.Branch), s.Calls, clean.Line(s.Title))
	}
	return w.Flush()
}

// ago is a length of time as a person says it.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func (a *app) sessionShowCommand() *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show a whole session", Args: cobra.ExactArgs(1)}
	c.Flags().Bool("json", false, "print the stored events as one JSON array")
	c.Flags().Bool("jsonl", false, "print the stored events, one per line")
	c.Flags().Int64("event", 0, "only the event of this number, whole")
	c.RunE = func(c *cobra.Command, args []string) error {
		asJSON, _ := c.Flags().GetBool("json")
		lines, _ := c.Flags().GetBool("jsonl")
		event, _ := c.Flags().GetInt64("event")
		return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
			found, err := a.find(ctx, s, args[0])
			switch {
			case err != nil:
				return err
			case c.Flags().Changed("event"):
				return a.showOne(ctx, s, found, event, asJSON || lines)
			}
			return a.showEvents(ctx, s, found.ID, asJSON, lines)
		})
	}
	return c
}

func (a *app) showEvents(ctx context.Context, s store.Store, id string, asJSON, lines bool) error {
	all := []convo.Event{}
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return storeFault(err)
		}
		switch {
		case asJSON:
			all = append(all, e)
		case lines:
			if err := a.printJSON(e); err != nil {
				return err
			}
		default:
			a.showEvent(e)
		}
	}
	if asJSON {
		return a.printJSON(all)
	}
	return nil
}

// showOne prints one event, also one that a compaction left out of what the model
// sees.
func (a *app) showOne(ctx context.Context, s store.Store, in store.Session, seq int64, asJSON bool) error {
	e, err := eventOf(ctx, s, in.ID, seq)
	switch {
	case err != nil:
		return usage(fmt.Sprintf("it has %d", in.Events), "%s", err.Error())
	case asJSON:
		return a.printJSON(e)
	}
	a.showEvent(e)
	return nil
}

// showEvent prints an event with its whole text.
func (a *app) showEvent(e convo.Event) {
	if b, ok := e.Body.(convo.ToolCall); ok {
		fmt.Fprintf(a.env.Stdout, "● %s\n", view.Call(b.Call))
		return
	}
	for _, l := range view.Event(e) {
		fmt.Fprintln(a.env.Stdout, l)
	}
	if b, ok := e.Body.(convo.ToolResult); ok {
		fmt.Fprintln(a.env.Stdout, indented(b.Result))
	}
}

// indented is the whole answer of a tool, set off from what is around it.
func indented(r tool.Result) string {
	return "    " + strings.ReplaceAll(clean.Block(string(r.Envelope())), "\n", "\n    ")
}

func (a *app) sessionSearchCommand() *cobra.Command {
	c := &cobra.Command{Use: "search WORDS", Short: "Find words in all sessions", Args: cobra.MinimumNArgs(1)}
	c.Flags().Int("limit", 20, "at most so many")
	c.Flags().Bool("json", false, "print one JSON array")
	c.RunE = func(c *cobra.Command, args []string) error {
		limit, _ := c.Flags().GetInt("limit")
		asJSON, _ := c.Flags().GetBool("json")
		return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
			hits := []store.Hit{}
			searcher, ok := s.(store.Searcher)
			if !ok {
				return &fault{headless.ExitFailure, "this store cannot search", ""}
			}
			for h, err := range searcher.Search(ctx, strings.Join(args, " "), limit) {
				if err != nil {
					return storeFault(err)
				}
				hits = append(hits, h)
			}
			if asJSON {
				return a.printJSON(hits)
			}
			for _, h := range hits {
				fmt.Fprintf(a.env.Stdout, "%s  #%d %s  %s\n", h.Session, h.Seq, h.Kind, clean.Line(h.Excerpt))
			}
			return nil
		})
	}
	return c
}

func (a *app) sessionRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename ID TITLE", Short: "Give a session another title", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
				found, err := a.find(ctx, s, args[0])
				if err != nil {
					return err
				}
				found.Title = args[1]
				return storeFault(s.Update(ctx, found))
			})
		},
	}
}

func (a *app) sessionForkCommand() *cobra.Command {
	c := &cobra.Command{Use: "fork ID", Short: "Begin a session that shares the events of another", Args: cobra.ExactArgs(1)}
	c.Flags().Int("turn", 0, "up to the end of this turn; all when 0")
	c.RunE = func(c *cobra.Command, args []string) error {
		turn, _ := c.Flags().GetInt("turn")
		return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
			found, err := a.find(ctx, s, args[0])
			if err != nil {
				return err
			}
			seq, err := lastOfTurn(ctx, s, found.ID, turn)
			if err != nil {
				return err
			}
			id, err := uuid.NewV7()
			if err != nil {
				return fmt.Errorf("making a session id: %w", err)
			}
			forked, err := store.Fork(ctx, s, found.ID, seq, store.Session{ID: id.String(), Title: found.Title, Dir: found.Dir, Branch: found.Branch, Model: found.Model})
			if err != nil {
				return storeFault(err)
			}
			fmt.Fprintln(a.env.Stdout, forked.ID)
			return nil
		})
	}
	return c
}

// lastOfTurn is the last event of a turn, or of the whole session.
func lastOfTurn(ctx context.Context, s store.Store, id string, turn int) (int64, error) {
	var last int64
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return 0, storeFault(err)
		}
		if turn > 0 && e.Turn > turn {
			return last, nil
		}
		last = e.Seq
	}
	return last, nil
}

func (a *app) sessionRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID...", Short: "Delete sessions", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
				var ids []string
				for _, id := range args {
					found, err := a.find(ctx, s, id)
					if err != nil {
						return err
					}
					ids = append(ids, found.ID)
				}
				return a.remove(ctx, s, ids)
			})
		},
	}
}

// remove deletes sessions with all that belongs to them. What cannot be deleted
// keeps no other from being deleted.
func (a *app) remove(ctx context.Context, s store.Store, ids []string) error {
	var gone []string
	var errs []error
	for _, id := range ids {
		if err := s.Remove(ctx, id); err != nil {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, id)
		if err := os.RemoveAll(filepath.Join(a.places().Data, "sessions", id)); err != nil {
			errs = append(errs, fmt.Errorf("deleting the files of session %s: %w", id, err))
		}
		fmt.Fprintf(a.env.Stdout, "deleted %s\n", id)
	}
	errs = append(errs, a.forgetSnapshots(ctx, gone))
	return storeFault(errors.Join(errs...))
}

func (a *app) sessionPruneCommand() *cobra.Command {
	c := &cobra.Command{Use: "prune", Short: "Delete old sessions of this folder", Args: cobra.NoArgs}
	c.Flags().String("older", "", "not used for so long, such as 30d or 12h")
	c.Flags().Bool("all", false, "of every folder")
	c.RunE = func(c *cobra.Command, _ []string) error {
		text, _ := c.Flags().GetString("older")
		all, _ := c.Flags().GetBool("all")
		age, err := days(text)
		if err != nil {
			return usage("ikigai session prune --older 30d", "%q is no length of time", text)
		}
		return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
			if all {
				dir = ""
			}
			list, err := collect(ctx, s, dir)
			if err != nil {
				return err
			}
			var old []string
			for _, one := range list {
				if time.Since(one.Updated) > age {
					old = append(old, one.ID)
				}
			}
			return a.remove(ctx, s, old)
		})
	}
	return c
}

// days reads a duration that may be in days.
func days(text string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		count, err := strconv.Atoi(n)
		return time.Duration(count) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
