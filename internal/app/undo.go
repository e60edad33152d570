package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/snapshot"
	"ikigai/internal/store"
	"ikigai/internal/view"
)

// guard keeps the workspace before and after turns that may change it.
type guard struct {
	session string
	open    func() (*snapshot.Store, error)
}

// guard makes the session's guard; nothing is opened before the first turn that
// may change something.
func (a *app) guard(h *house) *guard {
	return &guard{h.id, sync.OnceValues(func() (*snapshot.Store, error) { return a.snapshots(h.roots) })}
}

func (a *app) snapshots(roots []string) (*snapshot.Store, error) {
	return snapshot.Open(snapshot.Options{Folder: filepath.Join(a.places().Data, "snapshots"), Roots: roots, Skip: a.ownFiles(), Home: a.env.Home})
}

func (g *guard) name(turn int, end string) string {
	return fmt.Sprintf("%s.%d.%s", g.session, turn, end)
}

// Before keeps the workspace as it is.
func (g *guard) Before(ctx context.Context, turn int) error {
	s, err := g.open()
	if err != nil {
		return err
	}
	_, err = s.Take(ctx, g.name(turn, "before"))
	return err
}

// After keeps it as the turn left it, so that later edits of the person are told
// from those of the turn.
func (g *guard) After(ctx context.Context, turn int) error {
	s, err := g.open()
	if err != nil {
		return err
	}
	_, err = s.TakeAfter(ctx, g.name(turn, "after"), g.name(turn, "before"))
	return err
}

func (a *app) undoCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "undo [TURN]", Short: "Put the files back as they were before a turn", Args: cobra.MaximumNArgs(1),
		Long: "Put the files of the workspace back as they were before a turn: the last one, or TURN and all after it.\nWhat you changed yourself since is left alone and named.",
	}
	c.Flags().Bool("list", false, "list the turns that can be undone")
	c.Flags().Bool("redo", false, "take the last undo back")
	c.Flags().Bool("force", false, "also where you changed a file since")
	c.Flags().Bool("yes", false, "do not ask in a terminal")
	c.Flags().String("session", "", "of this session; the newest of this folder when empty")
	c.Flags().StringArray("add-dir", nil, "further roots of the workspace")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
			u, err := a.undoing(ctx, c, s, dir)
			if err != nil {
				return err
			}
			if list, _ := c.Flags().GetBool("list"); list {
				return u.list()
			}
			if redo, _ := c.Flags().GetBool("redo"); redo {
				return u.redo(ctx)
			}
			return u.undo(ctx, args)
		})
	}
	return c
}

// undoing is one undo command under way.
type undoing struct {
	a       *app
	store   store.Store
	session store.Session
	snaps   *snapshot.Store
	known   []snapshot.Snapshot
	undone  map[int]bool
	last    *convo.Undo // the last undo that was not redone
	next    int64       // number of the next event
	turn    int
	o       snapshot.RestoreOptions
	yes     bool
}

func (a *app) undoing(ctx context.Context, c *cobra.Command, s store.Store, dir string) (*undoing, error) {
	id, _ := c.Flags().GetString("session")
	u := &undoing{a: a, store: s, undone: map[int]bool{}}
	u.o.Force, _ = c.Flags().GetBool("force")
	u.yes, _ = c.Flags().GetBool("yes")
	var err error
	if u.session, err = a.sessionOf(ctx, s, id, dir); err != nil {
		return nil, err
	}
	more, _ := c.Flags().GetStringArray("add-dir")
	if u.snaps, err = a.snapshots(append([]string{u.session.Dir}, more...)); err != nil {
		return nil, &fault{headless.ExitFailure, err.Error(), ""}
	}
	if u.known, err = u.snaps.List(); err != nil {
		return nil, &fault{headless.ExitFailure, err.Error(), ""}
	}
	return u, u.readTrail(ctx)
}

// sessionOf is the session with an id, or the newest of a folder.
func (a *app) sessionOf(ctx context.Context, s store.Store, id, dir string) (store.Session, error) {
	if id != "" {
		return a.find(ctx, s, id)
	}
	for one, err := range s.Sessions(ctx, store.Filter{Dir: dir, Limit: 1}) {
		return one, storeFault(err)
	}
	return store.Session{}, usage("ikigai session list --all names them", "there is no session of %s", dir)
}

// readTrail finds what was undone and redone before.
func (u *undoing) readTrail(ctx context.Context) error {
	for e, err := range u.store.Events(ctx, u.session.ID, 0) {
		if err != nil {
			return storeFault(err)
		}
		u.next, u.turn = e.Seq+1, e.Turn
		b, ok := e.Body.(convo.Undo)
		if !ok {
			continue
		}
		for _, t := range b.Turns {
			u.undone[t] = !b.Redo
		}
		u.last = nil
		if !b.Redo {
			u.last = &b
		}
	}
	return nil
}

// turns are the turns that can be undone, the oldest first.
func (u *undoing) turns() []int {
	var all []int
	for _, s := range u.known {
		rest, ok := strings.CutPrefix(s.ID, u.session.ID+".")
		number, before := strings.CutSuffix(rest, ".before")
		if n, err := strconv.Atoi(number); ok && before && err == nil && !u.undone[n] {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func (u *undoing) list() error {
	turns := u.turns()
	if len(turns) == 0 {
		fmt.Fprintf(u.a.env.Stdout, "session %s has changed nothing that can be undone\n", u.session.ID)
		return nil
	}
	fmt.Fprintf(u.a.env.Stdout, "session %s  %s\n", u.session.ID, clean.Line(u.session.Title))
	for _, t := range turns {
		fmt.Fprintf(u.a.env.Stdout, "  turn %d\n", t)
	}
	return nil
}

// undo takes back the last turn, or one and all after it.
func (u *undoing) undo(ctx context.Context, args []string) error {
	turns := u.turns()
	if len(args) == 1 {
		from, err := strconv.Atoi(args[0])
		if err != nil || !slices.Contains(turns, from) {
			return usage("ikigai undo --list names them", "turn %s of session %s cannot be undone", args[0], u.session.ID)
		}
		turns = turns[slices.Index(turns, from):]
	} else if n := len(turns); n > 1 {
		turns = turns[n-1:]
	}
	if len(turns) == 0 {
		return usage("ikigai undo --list", "session %s has changed nothing that can be undone", u.session.ID)
	}
	var spans []snapshot.Turn
	g := guard{session: u.session.ID}
	for _, t := range turns {
		span := snapshot.Turn{Before: g.name(t, "before")}
		if slices.ContainsFunc(u.known, func(s snapshot.Snapshot) bool { return s.ID == g.name(t, "after") }) {
			span.After = g.name(t, "after")
		}
		spans = append(spans, span)
	}
	return u.restore(ctx, spans, convo.Undo{Turns: turns})
}

func (u *undoing) redo(ctx context.Context) error {
	if u.last == nil {
		return usage("", "nothing was undone in session %s", u.session.ID)
	}
	span := snapshot.Turn{Before: u.last.Before, After: u.last.After}
	return u.restore(ctx, []snapshot.Turn{span}, convo.Undo{Turns: u.last.Turns, Redo: true})
}

// restore shows what would change, asks where somebody can answer, does it and
// records it.
func (u *undoing) restore(ctx context.Context, spans []snapshot.Turn, what convo.Undo) error {
	p, err := u.snaps.Preview(ctx, spans, u.o)
	if err != nil {
		return &fault{headless.ExitFailure, "nothing was restored: " + err.Error(), ""}
	}
	if isTerminal(u.a.env.Stdin) && isTerminal(u.a.env.Stdout) && !u.yes {
		u.show(p)
		if !u.agreed() {
			return &fault{headless.ExitFailure, "nothing was restored", ""}
		}
	}
	r, err := u.snaps.Restore(ctx, spans, u.o)
	for _, d := range r.Done {
		what.Files = append(what.Files, d.Path)
	}
	fmt.Fprintln(u.a.env.Stdout, clean.Block(r.String()))
	what.Before, what.After = r.Undone.Before, r.Undone.After
	if err == nil || len(r.Done) > 0 {
		err = errors.Join(err, u.record(ctx, what))
	}
	switch {
	case err != nil:
		return &fault{headless.ExitFailure, err.Error(), "what is named above was done, the rest was not"}
	case len(r.Failed) > 0:
		return &fault{headless.ExitFailure, fmt.Sprintf("%d files could not be restored", len(r.Failed)), ""}
	case len(r.Conflicts) > 0:
		return &fault{headless.ExitFailure, fmt.Sprintf("%d files were left alone, because you changed them since", len(r.Conflicts)), "--force restores them too"}
	}
	return nil
}

func (u *undoing) show(p snapshot.Preview) {
	for _, c := range p.Changes.List {
		fmt.Fprintf(u.a.env.Stdout, "%s %s +%d -%d\n", c.What, clean.Line(c.Path), c.Added, c.Removed)
		for _, l := range view.Diff(c.Diff) {
			fmt.Fprintln(u.a.env.Stdout, l)
		}
	}
	for _, c := range p.Conflicts {
		fmt.Fprintf(u.a.env.Stdout, "left alone: %s (%s)\n", clean.Line(c.Path), clean.Line(c.Why))
	}
}

func (u *undoing) agreed() bool {
	fmt.Fprint(u.a.env.Stdout, "restore these files? [y/N] ")
	line, err := bufio.NewReader(u.a.env.Stdin).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

// record adds the undo to the session's trail.
func (u *undoing) record(ctx context.Context, what convo.Undo) error {
	if err := u.store.Begin(ctx, u.session); err != nil {
		return err
	}
	word := "undid"
	if what.Redo {
		word = "redid"
	}
	e := convo.Of(fmt.Sprintf("%s turns %v: %d files", word, what.Turns, len(what.Files)), what)
	e.Seq, e.Turn, e.At = u.next, u.turn, time.Now()
	return errors.Join(u.store.Append(ctx, u.session.ID, e), u.store.Sync(ctx), u.store.End(ctx, u.session.ID))
}
