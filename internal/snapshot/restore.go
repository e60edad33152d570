package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Turn is what happened between two snapshots. Without After, as when the
// program died in the middle, it lasted until the next turn or until now.
type Turn struct{ Before, After string }

// RestoreOptions say how far Restore goes.
type RestoreOptions struct {
	Force bool   // also where somebody changed a file since
	ID    string // the snapshots that Restore takes are ID-before and ID-after; a time when empty
	Note  string // is kept in the CutOff when the process dies meanwhile

	// Record may keep books. Restore is over only when it has returned nil;
	// before that it counts as cut off.
	Record func(Report) error
}

// A Report says what Restore did, and what it did not do.
type Report struct {
	Done      []Done     // in the order of paths
	Conflicts []Conflict // changed by somebody else too: left as they are
	Left      []Left     // cannot be put back: left as they are
	Failed    []Failed   // tried, and as they were

	// Undone is what Restore itself did, as a turn: restoring that is redoing
	// what was undone. After is empty when the end could not be kept.
	Undone Turn
}

// Done is a path that is as it was again.
type Done struct {
	Root, Path string
	What       What   // what had to be done to it
	Note       string // what about it could not be put back; mostly empty
}

// A Conflict is a path that the turns changed, and somebody else as well.
type Conflict struct{ Root, Path, Why string }

// Left is a path that the turns changed and that cannot be put back.
type Left struct{ Root, Path, Why string }

// Failed is a path that could not be put back although it should.
type Failed struct {
	Root, Path string
	Err        error
}

// A Preview says what Restore would do. The changes lead from now to then.
type Preview struct {
	Changes   Changes
	Conflicts []Conflict
	Left      []Left
}

// Preview looks, and changes nothing.
func (s *Store) Preview(ctx context.Context, turns []Turn, o RestoreOptions) (Preview, error) {
	unlock, err := s.locked(ctx, false)
	if err != nil {
		return Preview{}, err
	}
	defer unlock()
	cut, err := s.CutOff()
	if err != nil {
		return Preview{}, err
	}
	cut = cut.of(turns)
	turns = cut.ended(turns)
	var p Preview
	for _, t := range s.trees {
		c, err := s.scan(ctx, t, nil, ids(turns))
		if err != nil {
			return Preview{}, fmt.Errorf("looking at %s: %w", t.path, err)
		}
		plan, err := s.plan(t, turns, c, manner{o.Force, cut})
		if err != nil {
			return Preview{}, err
		}
		from, to := map[string]entry{}, map[string]entry{}
		for _, step := range plan.steps {
			put(from, step.now)
			put(to, step.want)
		}
		if err := s.compare(t, from, to, &p.Changes); err != nil {
			return Preview{}, err
		}
		p.Conflicts, p.Left = append(p.Conflicts, plan.conflicts...), append(p.Left, plan.left...)
	}
	return p, nil
}

func put(m map[string]entry, e entry) {
	if e.kind != absent {
		m[e.path] = e
	}
}

// Restore takes back what turns did, which are given oldest first: each path
// that they changed becomes what it was before the first of them that changed
// it. What they did not change is left alone, and so is, unless Force is set,
// what somebody else changed after them or between them.
//
// First the workspace as it is now is kept, so that Restore can be taken back
// in turn. Nothing is touched before all that will be needed was read and found
// sound. Each file is replaced in one step. The error is about what could not be
// done; the report is right also then. Where the process dies on the way, the
// same Restore goes on; any other is refused with ErrCutOff until then.
func (s *Store) Restore(ctx context.Context, turns []Turn, o RestoreOptions) (Report, error) {
	unlock, err := s.locked(ctx, true)
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	cut, err := s.CutOff()
	if err == nil && cut != nil && cut.of(turns) == nil {
		err = ErrCutOff
	}
	if err != nil {
		return Report{}, fmt.Errorf("nothing was changed: %w", err)
	}
	r := &restoring{Store: s, turns: turns, o: o, cut: cut}
	return r.run(ctx)
}

// restoring is one Restore under way.
type restoring struct {
	*Store
	turns  []Turn
	o      RestoreOptions
	cut    *CutOff // what is gone on with; mostly nil
	report Report
}

func (r *restoring) run(ctx context.Context) (Report, error) {
	start := r.name()
	opened, err := r.round(ctx, start)
	if err != nil {
		if r.cut != nil {
			err = errors.Join(err, r.Forget()) // it can never be gone on with
		}
		return Report{}, fmt.Errorf("nothing was changed: %w", err)
	}
	if opened { // what is in there can be seen now
		r.report.Conflicts, r.report.Left, r.report.Failed = nil, nil, nil
		if _, err := r.round(ctx, r.o.ID+"-opened"); err != nil {
			r.report.Failed = append(r.report.Failed, Failed{Err: err})
		}
	}
	after := r.o.ID + "-after"
	if _, err := r.take(context.WithoutCancel(ctx), after, r.report.Undone.Before); err != nil {
		r.report.Failed = append(r.report.Failed, Failed{Err: fmt.Errorf("keeping the workspace as it is now: %w", err)})
	} else {
		r.report.Undone.After = after
	}
	return r.report, errors.Join(r.report.err(), r.over())
}

// name settles which snapshots are around this, and gives the id of the first
// one that has to be taken.
func (r *restoring) name() string {
	if r.cut != nil {
		r.o.ID = r.cut.ID
		r.report.Undone.Before = r.cut.before()
		return r.cut.ID + "-again"
	}
	if r.o.ID == "" {
		r.o.ID = "undo-" + r.Store.o.Now().UTC().Format("20060102-150405.000000000")
	}
	r.report.Undone.Before = r.o.ID + "-before"
	return r.report.Undone.Before
}

// over has the books kept and forgets what was noted for the case of death.
func (r *restoring) over() error {
	if r.o.Record != nil {
		if err := r.o.Record(r.report); err != nil {
			return err
		}
	}
	return r.Forget()
}

// round keeps the workspace as it is and restores all that can be seen. It
// reports whether a folder was opened that could not be looked into before. With
// an error nothing was changed.
func (r *restoring) round(ctx context.Context, id string) (opened bool, err error) {
	turns := r.cut.ended(r.turns)
	if _, err := r.take(ctx, id, ids(turns)...); err != nil {
		return false, fmt.Errorf("keeping the workspace as it is: %w", err)
	}
	plans, err := r.plans(turns, manner{r.o.Force, r.cut})
	if err != nil {
		return false, err
	}
	if err := r.remember(r.turns, r.o); err != nil {
		return false, err
	}
	for _, p := range plans {
		p.apply(ctx, r.Store, &r.report)
		opened = opened || slices.ContainsFunc(p.steps, func(s step) bool { return s.now.kind == unreadable })
	}
	return opened, nil
}

func (s *Store) plans(turns []Turn, m manner) ([]*plan, error) {
	var plans []*plan
	for _, t := range s.trees {
		p, err := s.plan(t, turns, &scan{index: t.index, rules: outsideRules(t.path, s.o.walkOptions())}, m)
		if err == nil {
			err = s.sound(p)
		}
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// sound reads all content that a plan needs.
func (s *Store) sound(p *plan) error {
	for _, step := range p.steps {
		if !step.rewrites() {
			continue
		}
		if _, err := s.library.read(step.want.sum); err != nil {
			return fmt.Errorf("reading %s as it was: %w", printable(step.path), err)
		}
	}
	return nil
}

func (r *Report) err() error {
	var errs []error
	for _, f := range r.Failed {
		errs = append(errs, f.Err)
	}
	return errors.Join(errs...)
}

// String says what was done and what was not, a line for each path.
func (r Report) String() string {
	var b strings.Builder
	for _, d := range r.Done {
		fmt.Fprintf(&b, "%-8s %s%s\n", did[d.What], printable(d.Path), note(d.Note))
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "kept     %s: %s\n", printable(c.Path), c.Why)
	}
	for _, l := range r.Left {
		fmt.Fprintf(&b, "left     %s: %s\n", printable(l.Path), l.Why)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(&b, "failed   %s: %v\n", printable(f.Path), f.Err)
	}
	return b.String()
}

// did says what happened to a file, for what had to be done to it.
var did = map[What]string{Added: "restored", Removed: "removed", Modified: "restored", Mode: "mode", Retyped: "restored"}

func note(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func ids(turns []Turn) []string {
	var all []string
	for _, t := range turns {
		for _, id := range []string{t.Before, t.After} {
			if id != "" && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// A step makes one path what it was.
type step struct {
	path      string
	want, now entry
}

// rewrites reports whether the step needs stored content.
func (s step) rewrites() bool {
	return s.want.hasContent() && (s.want.kind != s.now.kind || s.want.sum != s.now.sum)
}

// A plan is what Restore does in one tree.
type plan struct {
	tree      *tree
	index     *index // how the tree is now
	steps     []step // in the order of paths
	conflicts []Conflict
	left      []Left
}

// fate is what turns did to one path.
type fate struct {
	want     entry // before the first that changed it
	expected entry // after the last that changed it
	between  bool  // somebody else changed it between two of them
}

// A manner is how a Restore treats what is not as it expects.
type manner struct {
	force bool
	cut   *CutOff // whose half-done work is its own; may be nil
}

func (s *Store) plan(t *tree, turns []Turn, c *scan, m manner) (*plan, error) {
	now := c.index.entries()
	fates, err := s.fates(t, turns, now)
	if err != nil {
		return nil, err
	}
	first, err := s.Find(turns[0].Before)
	if err != nil {
		return nil, err
	}
	was, _ := first.tree(t)
	j := judge{plan: &plan{tree: t, index: c.index}, force: m.force, sameRules: was.Rules == c.rules, blocked: map[string]bool{}, unknown: map[string]bool{}}
	if m.cut != nil {
		if j.was, err = s.state(t, m.cut.before()); err != nil {
			return nil, err
		}
	}
	for _, p := range sorted(fates) {
		n := now[p]
		n.path = p
		j.judge(p, n, fates[p])
	}
	j.reclose(now, fates)
	j.keepHolders()
	return j.plan, nil
}

// keepHolders leaves the folders in which something stays.
func (p *plan) keepHolders() {
	goes := map[string]bool{}
	for _, s := range p.steps {
		goes[s.path] = s.makesAbsent()
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := p.steps[i]
		if s.makesAbsent() && s.now.kind == folder && p.index.anyBelow(s.path, func(path string) bool { return !goes[path] }) {
			goes[s.path] = false
			p.left = append(p.left, Left{p.tree.path, s.path, somethingStays})
			p.steps = slices.Delete(p.steps, i, i+1)
		}
	}
}

const somethingStays = "the folder holds something that stays"

// fates follows every path that turns changed.
func (s *Store) fates(t *tree, turns []Turn, now map[string]entry) (map[string]fate, error) {
	if len(turns) == 0 {
		return nil, errors.New("restoring: no turn was named")
	}
	fates := map[string]fate{}
	for i, turn := range turns {
		before, err := s.state(t, turn.Before)
		if err != nil {
			return nil, err
		}
		after := now
		switch {
		case turn.After != "":
			after, err = s.state(t, turn.After)
		case i+1 < len(turns):
			after, err = s.state(t, turns[i+1].Before)
		}
		if err != nil {
			return nil, err
		}
		if before == nil { // the root was added later
			continue
		}
		for _, p := range differing(before, after) {
			f, again := fates[p]
			if !again {
				f.want = before[p]
				f.want.path = p
			}
			f.between = f.between || again && !f.expected.same(before[p])
			f.expected = after[p]
			fates[p] = f
		}
	}
	return fates, nil
}

func (s *Store) state(t *tree, id string) (map[string]entry, error) {
	snap, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return s.entries(snap, t)
}

// A judge sorts paths into steps, conflicts and what must be left. It is given
// them in order, folders before what is in them.
type judge struct {
	*plan
	force     bool
	was       map[string]entry // how all was when a Restore that was cut off began; mostly nil
	sameRules bool             // the ignore files outside the tree are what they were
	blocked   map[string]bool  // paths that stay something else than a folder
	unknown   map[string]bool  // paths of which nobody knows what was in them
}

func (j *judge) judge(p string, now entry, f fate) {
	if now.same(f.want) {
		return
	}
	shut := now.kind == unreadable && now.mode.IsDir() && f.want.kind == folder
	switch {
	case under(p, j.unknown):
		j.leave(p, now, "the folder it is in was not covered")
	case under(p, j.blocked):
		j.conflicts = append(j.conflicts, Conflict{j.tree.path, p, "the folder it was in is something else now"})
	case !f.want.kind.kept() && f.want.kind != absent:
		j.unknown[p] = true
		j.leave(p, now, "it was not covered: "+string(whyOf[f.want.kind]))
	case now.kind > folder && !shut:
		j.leave(p, now, "it is not covered now: "+string(whyOf[now.kind]))
	case f.want.kind == absent && !j.sameRules:
		j.leave(p, now, "the ignore rules outside the workspace changed: it may have been there before")
	case !j.force && f.between:
		j.conflict(p, now, "it was also changed between the turns")
	case !j.force && !now.same(f.expected) && f.expected.kind != unreadable && !j.halfway(p, now, f):
		j.conflict(p, now, "it was changed after the turn")
	default:
		j.steps = append(j.steps, step{p, f.want, now})
	}
}

// halfway reports whether a path looks as it does because a Restore was cut off
// there.
func (j *judge) halfway(p string, now entry, f fate) bool {
	was := j.was[p]
	return j.was != nil && was.same(f.expected) && halfway(now, f.want, was)
}

func (j *judge) leave(p string, now entry, why string) {
	j.left = append(j.left, Left{j.tree.path, p, why})
	j.block(p, now)
}

func (j *judge) conflict(p string, now entry, why string) {
	j.conflicts = append(j.conflicts, Conflict{j.tree.path, p, why})
	j.block(p, now)
}

func (j *judge) block(p string, now entry) {
	if now.kind != folder {
		j.blocked[p] = true
	}
}

// under reports whether a folder above p is one of them.
func under(p string, them map[string]bool) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if them[dir] {
			return true
		}
	}
	return false
}
