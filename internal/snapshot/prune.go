package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Pruned says what Prune took away.
type Pruned struct {
	Snapshots int
	Bytes     int64 // of disk space
}

// Prune removes the snapshots that keep does not want, of all workspaces in the
// folder, and the content that nobody needs any more. What a Restore needs that
// was cut off stays. It waits until it is alone. When it ends early, what is kept
// is whole.
func (s *Store) Prune(ctx context.Context, keep func(Snapshot) bool) (Pruned, error) {
	unlock, err := s.locked(ctx, true)
	if err != nil {
		return Pruned{}, err
	}
	defer unlock()
	all, err := s.List()
	if err != nil {
		return Pruned{}, fmt.Errorf("pruning: %w", err) // what a damaged one needs is not known
	}
	if err := s.moveOn(); err != nil {
		return Pruned{}, fmt.Errorf("pruning: %w", err)
	}
	var out Pruned
	var roots []sum
	kept, needed := map[string]bool{}, s.neededByCutOffs()
	for _, snap := range all {
		if !keep(snap) && !needed[snap.ID] {
			if err := os.Remove(s.snapshotFile(snap.ID)); err != nil {
				return out, fmt.Errorf("pruning: %w", err)
			}
			out.Snapshots++
			continue
		}
		for _, t := range snap.Trees {
			roots = append(roots, t.Manifest)
			kept[t.Key] = true
		}
	}
	out.Bytes, err = s.sweep(ctx, append(roots, s.indexed(kept)...))
	if err != nil {
		return out, fmt.Errorf("pruning: %w", err)
	}
	return out, nil
}

// indexed are the manifests that the indexes on disk stand for. The index of a
// workspace without snapshots only saves work, so it goes.
func (s *Store) indexed(kept map[string]bool) []sum {
	dir := filepath.Join(s.o.Folder, "index")
	files, _ := os.ReadDir(dir) // without them everything is read again
	var all []sum
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		raw, err := os.ReadFile(name)
		rest, ok := bytes.CutPrefix(raw, []byte(indexMark))
		if err == nil && ok && kept[f.Name()] && len(rest) > len(sum{}) {
			all = append(all, sum(rest[:len(sum{})]))
		} else {
			os.Remove(name) // one that stays is found out when its manifest is looked for
		}
	}
	return all
}

// sweep removes all content that cannot be reached from roots. Packs that are
// mostly needed stay as they are; what is needed of the others, and of small
// ones, moves to a new pack first.
func (s *Store) sweep(ctx context.Context, roots []sum) (freed int64, err error) {
	if err := s.library.refresh(); err != nil {
		return 0, err
	}
	live, err := s.reach(ctx, roots)
	if err != nil {
		return 0, err
	}
	before := s.size()
	doomed := s.doomed(live)
	fresh := newLibrary(s.library.dir).newPacker() // it knows of nothing, so it takes everything it is given
	defer fresh.abort()
	for need := range live {
		if at, ok := s.library.find(need); ok && doomed[at.pack] {
			content, err := s.library.read(need)
			if err == nil {
				err = errors.Join(fresh.add(need, content), context.Cause(ctx))
			}
			if err != nil {
				return 0, err
			}
		}
	}
	if err := fresh.commit(); err != nil {
		return 0, err
	}
	for name := range doomed {
		err = errors.Join(err, os.Remove(filepath.Join(s.library.dir, name)))
	}
	s.removeTemps()
	return before - s.size(), errors.Join(err, s.library.refresh())
}

// reach follows manifests to the manifests they stand on and to all content
// they name.
func (s *Store) reach(ctx context.Context, roots []sum) (map[sum]bool, error) {
	live := map[sum]bool{}
	slices.SortFunc(roots, func(a, b sum) int { return bytes.Compare(a[:], b[:]) })
	for _, at := range slices.Compact(roots) {
		chain, err := s.library.chain(at)
		if err := cmp.Or(err, context.Cause(ctx)); err != nil {
			return nil, err
		}
		live[at] = true
		entries := map[string]entry{}
		for _, m := range slices.Backward(chain) {
			live[m.base] = true // the zero sum names nothing
			m.apply(entries)
		}
		for _, e := range entries {
			if e.hasContent() {
				live[e.sum] = true
			}
		}
	}
	return live, nil
}

// doomed are the packs of which less than half is needed, and small ones where
// there are many.
func (s *Store) doomed(live map[sum]bool) map[string]bool {
	const small, many = 1 << 20, 16
	used, total := map[string]int64{}, map[string]int64{}
	for at, p := range s.library.all() {
		total[p.pack] += p.size
		if live[at] {
			used[p.pack] += p.size + 1 // empty content is needed too
		}
	}
	doomed := map[string]bool{}
	var little []string
	for name := range s.library.tables {
		if used[name] <= total[name]/2 {
			doomed[name] = true
		} else if total[name] < small {
			little = append(little, name)
		}
	}
	if len(little) > many {
		for _, name := range little {
			doomed[name] = true
		}
	}
	return doomed
}

func (s *Store) size() (n int64) {
	files, _ := os.ReadDir(s.library.dir) // only a number for people
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// removeTemps removes what processes that died left behind; nobody writes now.
func (s *Store) removeTemps() {
	for _, dir := range []string{s.library.dir, filepath.Join(s.o.Folder, "snapshots"), filepath.Join(s.o.Folder, "index"), s.o.Folder} {
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			if strings.HasPrefix(f.Name(), tempPrefix) {
				os.Remove(filepath.Join(dir, f.Name())) // one that stays costs only space
			}
		}
	}
}
