package snapshot

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// A worker carries out a plan. It reaches the tree only through an os.Root, so
// no link leads it outside, whoever puts one there meanwhile.
type worker struct {
	*plan
	store   *Store
	root    *os.Root
	look    looker
	report  *Report
	handled map[string]bool // paths of steps that are over, well or not
	cleared map[string]bool // paths where clear made room
	folders map[string]bool // paths that are folders, as this pass over the steps has seen
}

// apply does what the plan says: first what is new or different, so that
// nothing is lost before all is there, then what has to go.
func (p *plan) apply(ctx context.Context, s *Store, report *Report) {
	report.Conflicts = append(report.Conflicts, p.conflicts...)
	report.Left = append(report.Left, p.left...)
	if err := p.tree.sweepScraps(); err != nil {
		report.Failed = append(report.Failed, Failed{p.tree.path, "", fmt.Errorf("removing what an earlier restoring left: %w", err)})
	}
	if len(p.steps) == 0 {
		return
	}
	w := &worker{plan: p, store: s, report: report, handled: map[string]bool{}, cleared: map[string]bool{}}
	if err := w.open(); err != nil {
		for _, step := range p.steps {
			w.fail(step, err)
		}
		return
	}
	defer w.root.Close()
	defer w.look.close()
	from := len(report.Done)
	w.each(ctx, backward, w.inTheWay, w.clear)
	w.each(ctx, forward, step.makesFolder, w.make)
	w.each(ctx, forward, step.makesContent, w.fill)
	w.remove(ctx)
	w.each(context.WithoutCancel(ctx), backward, step.makesFolder, w.finish)
	slices.SortStableFunc(report.Done[from:], func(a, b Done) int { return strings.Compare(a.Path, b.Path) })
}

func (w *worker) open() (err error) {
	if w.root, err = os.OpenRoot(w.tree.path); err != nil {
		return err
	}
	if w.look, err = newLooker(w.tree.path); err != nil {
		w.root.Close()
	}
	return err
}

type direction bool

const (
	forward  direction = false // folders before what is in them
	backward direction = true
)

func (s step) makesFolder() bool  { return s.want.kind == folder }
func (s step) makesContent() bool { return s.want.hasContent() }
func (s step) makesAbsent() bool  { return s.want.kind == absent }

// each gives the steps of one sort that are still open to do.
func (w *worker) each(ctx context.Context, d direction, of func(step) bool, do func(step) error) {
	w.folders = map[string]bool{}
	for i := range w.steps {
		if d == backward {
			i = len(w.steps) - 1 - i
		}
		step := w.steps[i]
		if w.handled[step.path] || !of(step) {
			continue
		}
		err := context.Cause(ctx)
		if err == nil {
			err = do(step)
		}
		if err != nil {
			w.fail(step, err)
		}
	}
}

func (w *worker) fail(s step, err error) {
	w.handled[s.path] = true
	var changed changedError
	if errors.As(err, &changed) {
		w.report.Conflicts = append(w.report.Conflicts, Conflict{w.tree.path, s.path, "it was changed just now"})
		return
	}
	w.report.Failed = append(w.report.Failed, Failed{w.tree.path, s.path, fmt.Errorf("restoring %s: %w", printable(s.path), err)})
}

func (w *worker) done(s step, note string) {
	w.handled[s.path] = true
	w.report.Done = append(w.report.Done, Done{w.tree.path, s.path, what(s.now, s.want), note})
}

// inTheWay reports a folder where a file was or a file where a folder was, and
// what is in such a folder. No ignored file can be among them that was there
// before, since the folder was not.
func (w *worker) inTheWay(s step) bool {
	if s.makesAbsent() {
		return w.insideRetyped(s.path)
	}
	return s.now.kind.kept() && s.want.kind != s.now.kind && (s.want.kind == folder || s.now.kind == folder)
}

// clear removes what is in the way.
func (w *worker) clear(s step) error {
	if err := w.unchanged(s); err != nil {
		return err
	}
	if err := w.inFolder(s.path, func() error { return w.root.Remove(s.path) }); err != nil {
		return err
	}
	w.cleared[s.path] = true
	if s.makesAbsent() {
		w.done(s, "")
	}
	return nil
}

// insideRetyped reports whether p is in a folder that was a file or a link.
func (w *worker) insideRetyped(p string) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		i, ok := slices.BinarySearchFunc(w.steps, dir, func(s step, p string) int { return strings.Compare(s.path, p) })
		if ok && w.steps[i].makesContent() {
			return true
		}
	}
	return false
}

// make makes folders, open to us until finish.
func (w *worker) make(s step) error {
	if s.now.kind == folder || s.now.kind == unreadable {
		if s.want.mode != s.now.mode&modeBits {
			return w.root.Chmod(s.path, s.want.mode|0o700)
		}
		return nil
	}
	if err := w.parent(s.path); err != nil {
		return err
	}
	return w.inFolder(s.path, func() error { return w.root.Mkdir(s.path, 0o700) })
}

// fill puts files and links back.
func (w *worker) fill(s step) error {
	if err := w.parent(s.path); err != nil {
		return err
	}
	if !s.rewrites() {
		if err := w.unchanged(s); err != nil {
			return err
		}
		note, err := w.dress(s.path, s.want, s.now.uid, s.now.gid)
		if err == nil {
			w.done(s, note)
		}
		return err
	}
	content, err := w.store.library.read(s.want.sum)
	if err != nil {
		return err
	}
	note := ""
	err = w.inFolder(s.path, func() error {
		note, err = w.replace(s, content)
		return err
	})
	if err == nil {
		w.done(s, note)
	}
	return err
}

// replace writes beside the path and renames, so that the path always holds
// one or the other, whole.
func (w *worker) replace(s step, content []byte) (note string, err error) {
	temp := path.Join(path.Dir(s.path), scrapPrefix+rand.Text())
	defer func() {
		if err != nil {
			w.root.Remove(temp) // mostly it was never made
		}
	}()
	if s.want.kind == link {
		err = w.root.Symlink(string(content), temp)
	} else {
		err = w.writeFile(temp, content)
	}
	if err != nil {
		return "", err
	}
	st, err := w.look.look(temp)
	if err != nil {
		return "", err
	}
	if note, err = w.dress(temp, s.want, st.uid, st.gid); err != nil {
		return "", err
	}
	if err := w.unchanged(s); err != nil {
		return "", err
	}
	return note, w.root.Rename(temp, s.path)
}

func (w *worker) writeFile(name string, content []byte) error {
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// dress gives a file owner and permissions, in this order: a new owner loses
// the set-user bit. An owner that we may not give is noted.
func (w *worker) dress(name string, want entry, uid, gid uint32) (note string, err error) {
	if want.uid != uid || want.gid != gid {
		if w.root.Lchown(name, int(want.uid), int(want.gid)) != nil {
			note = fmt.Sprintf("its owner was %d:%d", want.uid, want.gid)
		}
	}
	if want.kind == link {
		return note, nil
	}
	return note, w.root.Chmod(name, want.mode)
}

// remove removes what was not there. Once the ignore files are what they were,
// what they exclude may have been there before without being covered: that stays.
func (w *worker) remove(ctx context.Context) {
	may := func(string) bool { return true }
	drop := func(s step) error { return w.drop(s, may) }
	if slices.ContainsFunc(w.steps, step.isIgnoreFile) {
		may = w.covered(ctx)
		w.each(ctx, backward, func(s step) bool { return s.makesAbsent() && s.isIgnoreFile() }, drop)
		may = w.covered(ctx)
	}
	w.each(ctx, backward, step.makesAbsent, drop)
}

func (s step) isIgnoreFile() bool { return slices.Contains(ignoreFiles, path.Base(s.path)) }

// covered tells which paths the ignore files do not exclude now.
func (w *worker) covered(ctx context.Context) func(path string) bool {
	all := map[string]bool{}
	list, _ := w.tree.cache.List(ctx, w.store.o.walkOptions()) // what cannot be listed is not covered
	for _, e := range list {
		all[e.Path] = true
	}
	return func(p string) bool { return all[p] }
}

// drop removes one path.
func (w *worker) drop(s step, may func(path string) bool) error {
	if !may(s.path) {
		w.leave(s, "the ignore rules of then exclude it: it may have been there before")
		return nil
	}
	if err := w.unchanged(s); err != nil {
		return err
	}
	err := w.inFolder(s.path, func() error { return w.root.Remove(s.path) })
	switch {
	case err == nil || isMissing(err):
		w.done(s, "")
		return nil
	case errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist):
		w.leave(s, somethingStays)
		return nil
	}
	return err
}

func (w *worker) leave(s step, why string) {
	w.handled[s.path] = true
	w.report.Left = append(w.report.Left, Left{w.tree.path, s.path, why})
}

// finish gives folders their own permissions.
func (w *worker) finish(s step) error {
	st, err := w.look.look(s.path)
	if err != nil {
		return err
	}
	note, err := w.dress(s.path, s.want, st.uid, st.gid)
	if err == nil {
		w.done(s, note)
	}
	return err
}

// inFolder does something in the folder of p, and opens the folder for as long
// as that takes if it is ours and closed.
func (w *worker) inFolder(p string, do func() error) error {
	err := do()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	dir := path.Dir(p)
	info, lookErr := w.root.Lstat(dir)
	if lookErr != nil || !info.IsDir() || w.root.Chmod(dir, info.Mode()&modeBits|0o700) != nil {
		return err
	}
	again := do()
	return errors.Join(again, w.root.Chmod(dir, info.Mode()&modeBits))
}

// parent makes sure that p lies in folders only.
func (w *worker) parent(p string) error {
	for i := range p {
		if p[i] != '/' || w.folders[p[:i]] {
			continue
		}
		if info, err := w.root.Lstat(p[:i]); err != nil {
			return err
		} else if !info.IsDir() {
			return fmt.Errorf("%s is no folder", printable(p[:i]))
		}
		w.folders[p[:i]] = true
	}
	return nil
}

// changedError says that a file is not what it was when we looked.
type changedError struct{ path string }

func (e changedError) Error() string { return e.path + " was changed just now" }

// unchanged makes sure that nobody wrote to a path since we looked.
func (w *worker) unchanged(s step) error {
	st, err := w.look.look(s.path)
	if s.now.kind == absent || w.cleared[s.path] {
		if isMissing(err) {
			return nil
		}
		return cmp.Or(err, error(changedError{s.path}))
	}
	if err != nil {
		return changedError{s.path}
	}
	old, _ := w.index.find(s.path)
	a, b := old.stamp, st
	a.ctime, b.ctime = 0, 0 // renaming another name of the same file changes it
	if st.mode.IsDir() {
		a.size, a.mtime, b.size, b.mtime = 0, 0, 0, 0
		a.mode, b.mode = a.mode.Type(), b.mode.Type()
	}
	if a != b {
		return changedError{s.path}
	}
	return nil
}
