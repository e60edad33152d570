package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	return snapshot.Open(snapshot.Options{Folder: a.snapshotFolder(), Roots: roots, Skip: a.ownFiles(), Home: a.env.Home})
}

func (a *app) snapshotFolder() string { return filepath.Join(a.places().Data, "snapshots") }

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

// forgetSnapshots removes what was kept for sessions that are no more.
func (a *app) forgetSnapshots(ctx context.Context, sessions []string) error {
	if _, err := os.Stat(a.snapshotFolder()); err != nil || len(sessions) == 0 {
		return nil // nothing was ever kept
	}
	s, err := a.snapshots(nil)
	if err != nil {
		return err
	}
	_, err = s.Prune(ctx, func(snap snapshot.Snapshot) bool {
		session, _, _ := strings.Cut(snap.ID, ".")
		return !slices.Contains(sessions, session)
	})
	return err
}

func (a *app) undoCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "undo [TURN]", Short: "Put the files back as they were before a turn", Args: cobra.MaximumNArgs(1),
		Long: `Put the files of the workspace back as they were before a turn: the last one, or
TURN and all after it. What you changed yourself since is left alone and named;
--force restores that too. An undo that was cut off is gone on with by the next.`,
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
				return u.list(ctx)
			}
			work := func() (job, error) { return u.undo(ctx, args) }
			if redo, _ := c.Flags().GetBool("redo"); redo {
				work = u.redo
			}
			return u.do(ctx, work)
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
	booked  map[string]bool // the undos in the session's trail, by the snapshot they began with
	stack   [][]convo.Undo  // what was undone and not redone; each is one undo with the tries it took
	since   int             // the turn after which the last of them was
	next    int64           // number of the next event
	turn    int
	o       snapshot.RestoreOptions
	yes     bool
}

func (a *app) undoing(ctx context.Context, c *cobra.Command, s store.Store, dir string) (*undoing, error) {
	id, _ := c.Flags().GetString("session")
	u := &undoing{a: a, store: s, undone: map[int]bool{}, booked: map[string]bool{}}
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
		fmt.Fprintf(a.env.Stderr, "note: %v\n", err) // those that can be read are there all the same
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
	u.stack = nil
	for e, err := range u.store.Events(ctx, u.session.ID, 0) {
		if err != nil {
			return storeFault(err)
		}
		u.next, u.turn = e.Seq+1, e.Turn
		if b, ok := e.Body.(convo.Undo); ok {
			u.follow(b)
			u.since = e.Turn
		}
	}
	return nil
}

// follow takes one undo or redo of the trail in.
func (u *undoing) follow(b convo.Undo) {
	u.booked[b.Before] = true
	for _, t := range b.Turns {
		u.undone[t] = !b.Redo
	}
	top := len(u.stack) - 1
	switch {
	case b.Redo:
		u.stack = u.stack[:max(top, 0)]
	case top >= 0 && u.unfinished(b.Turns):
		u.stack[top] = append(u.stack[top], b)
	default:
		u.stack = append(u.stack, []convo.Undo{b})
	}
}

// unfinished reports whether an undo of turns is another try of the last one:
// that failed in part, or left some files alone.
func (u *undoing) unfinished(turns []int) bool {
	tries := u.stack[len(u.stack)-1]
	last := tries[len(tries)-1]
	return len(last.Turns) == 0 || slices.Equal(last.Turns, turns)
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

// list names the turns that can be undone and what each changed, and says what
// no undo covers.
func (u *undoing) list(ctx context.Context) error {
	turns := u.turns()
	if len(turns) == 0 {
		fmt.Fprintf(u.a.env.Stdout, "session %s has changed nothing that can be undone\n", u.session.ID)
		return nil
	}
	fmt.Fprintf(u.a.env.Stdout, "session %s  %s\n", u.session.ID, clean.Line(u.session.Title))
	for i, span := range u.spans(turns) {
		fmt.Fprintf(u.a.env.Stdout, "  turn %d  %s\n", turns[i], clean.Line(u.changed(ctx, span)))
	}
	left, err := u.snaps.Uncovered(ctx)
	if err != nil {
		return &fault{headless.ExitFailure, err.Error(), ""}
	}
	fmt.Fprint(u.a.env.Stdout, clean.Block(snapshot.Statement(left)))
	return nil
}

// changed names some of the files that a turn changed.
func (u *undoing) changed(ctx context.Context, span snapshot.Turn) string {
	const most = 3
	if span.After == "" {
		return "(cut off)"
	}
	c, err := u.snaps.Diff(ctx, span.Before, span.After)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	var names []string
	for _, one := range c.List[:min(most, len(c.List))] {
		names = append(names, one.Path)
	}
	text := strings.Join(names, ", ")
	if more := len(c.List) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// A job is what to restore, and what the trail will say of it.
type job struct {
	spans []snapshot.Turn
	what  convo.Undo
}

// do finishes what was cut off, and then does what is asked, if that was not it.
// The session is ours meanwhile: one that is open elsewhere is not touched.
func (u *undoing) do(ctx context.Context, asked func() (job, error)) error {
	if err := u.store.Begin(ctx, u.session); err != nil {
		return storeFault(err)
	}
	defer u.store.End(context.WithoutCancel(ctx), u.session.ID) // Close does it too, and tells
	cut, err := u.cutOff(ctx)
	if err != nil {
		return err
	}
	j, askedErr := asked()
	if cut != nil && !slices.Equal(cut.spans, j.spans) {
		fmt.Fprintf(u.a.env.Stdout, "first an earlier %s that was cut off is finished\n", word(cut.what.Redo))
		if err := u.restore(ctx, *cut); err != nil {
			return err
		}
		if err := u.readTrail(ctx); err != nil {
			return err
		}
		j, askedErr = asked()
	}
	if askedErr != nil {
		return askedErr
	}
	return u.restore(ctx, j)
}

// cutOff is the undo of this session that was cut off. One that is in the trail
// was over but for a last stroke; one of another session is told.
func (u *undoing) cutOff(ctx context.Context) (*job, error) {
	cut, err := u.snaps.CutOff()
	if err != nil || cut == nil {
		return nil, err
	}
	var n noted
	if err := json.Unmarshal([]byte(cut.Note), &n); err != nil {
		return nil, fmt.Errorf("reading what was cut off: %w", err)
	}
	if u.booked[cut.ID+"-before"] {
		return nil, u.snaps.Forget()
	}
	if n.Session != u.session.ID {
		if _, err := u.store.Session(ctx, n.Session); errors.As(err, new(*store.NoSession)) {
			return nil, u.snaps.Forget() // nobody can finish it any more
		}
		return nil, &fault{headless.ExitFailure, "an undo of session " + n.Session + " was cut off in this folder", "ikigai undo --session " + n.Session + " finishes it"}
	}
	return &job{cut.Turns, convo.Undo{Turns: n.Turns, Redo: n.Redo}}, nil
}

// noted is what is kept of an undo for the case that it is cut off.
type noted struct {
	Session string `json:"session"`
	Turns   []int  `json:"turns"`
	Redo    bool   `json:"redo,omitempty"`
}

// undo takes back the last turn, or one and all after it.
func (u *undoing) undo(ctx context.Context, args []string) (job, error) {
	turns := u.turns()
	if len(args) == 1 {
		from, err := strconv.Atoi(args[0])
		if err != nil || !slices.Contains(turns, from) {
			return job{}, usage("ikigai undo --list names them", "turn %s of session %s cannot be undone", args[0], u.session.ID)
		}
		turns = turns[slices.Index(turns, from):]
	} else if n := len(turns); n > 1 {
		turns = turns[n-1:]
	}
	if len(args) == 0 {
		if left := u.leftAlone(ctx); len(left) > 0 {
			turns = left
		}
	}
	if len(turns) == 0 {
		return job{}, usage("ikigai undo --list", "session %s has changed nothing that can be undone", u.session.ID)
	}
	return job{u.spans(turns), convo.Undo{Turns: turns}}, nil
}

// leftAlone are the turns of the last undo, if it left files alone that are now
// wanted too.
func (u *undoing) leftAlone(ctx context.Context) []int {
	if !u.o.Force || len(u.stack) == 0 || u.turn != u.since {
		return nil
	}
	tries := u.stack[len(u.stack)-1]
	turns := tries[len(tries)-1].Turns
	if len(turns) == 0 {
		return nil
	}
	p, err := u.snaps.Preview(ctx, u.spans(turns), u.o)
	if err != nil || len(p.Changes.List) == 0 { // the error will come again, where it matters
		return nil
	}
	return turns
}

// spans are the snapshots around turns.
func (u *undoing) spans(turns []int) []snapshot.Turn {
	var spans []snapshot.Turn
	g := guard{session: u.session.ID}
	for _, t := range turns {
		span := snapshot.Turn{Before: g.name(t, "before")}
		if slices.ContainsFunc(u.known, func(s snapshot.Snapshot) bool { return s.ID == g.name(t, "after") }) {
			span.After = g.name(t, "after")
		}
		spans = append(spans, span)
	}
	return spans
}

// redo takes back the last undo, with all the tries it took.
func (u *undoing) redo() (job, error) {
	if len(u.stack) == 0 {
		return job{}, usage("", "nothing was undone in session %s", u.session.ID)
	}
	j := job{what: convo.Undo{Turns: []int{}, Redo: true}}
	for _, try := range u.stack[len(u.stack)-1] {
		j.spans = append(j.spans, snapshot.Turn{Before: try.Before, After: try.After})
		if len(try.Turns) > 0 {
			j.what.Turns = try.Turns
		}
	}
	return j, nil
}

// restore shows what would change, asks where somebody can answer, does it and
// records it.
func (u *undoing) restore(ctx context.Context, j job) error {
	p, err := u.snaps.Preview(ctx, j.spans, u.o)
	if err != nil {
		return &fault{headless.ExitFailure, "nothing was restored: " + err.Error(), ""}
	}
	u.warn(j)
	if isTerminal(u.a.env.Stdin) && isTerminal(u.a.env.Stdout) && !u.yes {
		u.show(p)
		if !u.agreed() {
			return &fault{headless.ExitFailure, "nothing was restored", ""}
		}
	}
	note, err := json.Marshal(noted{u.session.ID, j.what.Turns, j.what.Redo})
	if err != nil {
		return err
	}
	o := u.o
	o.Note = string(note)
	o.ID = u.session.ID + ".undo-" + time.Now().UTC().Format("20060102-150405.000000000")
	o.Record = func(r snapshot.Report) error { return u.record(ctx, j.what, r) }
	r, err := u.snaps.Restore(ctx, j.spans, o)
	fmt.Fprintln(u.a.env.Stdout, clean.Block(r.String()))
	switch {
	case err != nil:
		return &fault{headless.ExitFailure, "the " + word(j.what.Redo) + " failed: " + err.Error(), "what is named above was done, the rest was not"}
	case len(r.Conflicts) > 0:
		return &fault{headless.ExitFailure, fmt.Sprintf("%d files were left alone, because you changed them since", len(r.Conflicts)), "--force restores them too"}
	}
	return nil
}

func word(redo bool) string {
	if redo {
		return "redo"
	}
	return "undo"
}

// warn says of a turn that never ended that its end is not known.
func (u *undoing) warn(j job) {
	if j.what.Redo || !slices.ContainsFunc(j.spans, func(t snapshot.Turn) bool { return t.After == "" }) {
		return
	}
	fmt.Fprintln(u.a.env.Stderr, "note: a turn was cut off, so what you changed after it cannot be told from what it changed, and is taken back with it; ikigai undo --redo brings it back")
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

// named is a list of turns as a person says it.
func named(turns []int) string {
	if len(turns) == 1 {
		return fmt.Sprint("turn ", turns[0])
	}
	return "turns " + strings.Trim(fmt.Sprint(turns), "[]")
}

// record adds the undo to the session's trail. One that failed in part undoes no
// turn, so that it can be tried again; taking it back is possible all the same.
func (u *undoing) record(ctx context.Context, what convo.Undo, r snapshot.Report) error {
	if len(r.Done) == 0 && len(r.Failed)+len(r.Conflicts) > 0 {
		return nil
	}
	for _, d := range r.Done {
		what.Files = append(what.Files, d.Path)
	}
	what.Before, what.After = r.Undone.Before, r.Undone.After
	text := fmt.Sprintf("%s of %s: %s", word(what.Redo), named(what.Turns), several(len(what.Files), "file"))
	if len(r.Failed) > 0 {
		text += fmt.Sprintf(", %d could not be restored", len(r.Failed))
		what.Turns = []int{}
	}
	e := convo.Of(text, what)
	e.Seq, e.Turn, e.At = u.next, u.turn, time.Now()
	return errors.Join(u.store.Append(ctx, u.session.ID, e), u.store.Sync(ctx))
}
