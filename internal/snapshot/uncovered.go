package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Uncovered is something in the workspace that no snapshot holds and that
// Restore leaves alone.
type Uncovered struct {
	Root, Path string
	Why        Why
	Size       int64 // zero for a folder
}

// Why says in a few words why something is not covered.
type Why string

const (
	Large          Why = "too large"
	TooMuch        Why = "the workspace is too large"
	Special        Why = "no regular file"
	Unreadable     Why = "cannot be read"
	Ignored        Why = "ignored"
	VersionControl Why = "version control"
)

var whyOf = map[kind]Why{large: Large, excess: TooMuch, special: Special, unreadable: Unreadable}

func uncovered(root, path string, k kind, size int64) Uncovered {
	return Uncovered{Root: root, Path: path, Why: whyOf[k], Size: size}
}

// Uncovered looks at the workspace and names what is not covered, in the order
// of paths. Of a folder that is left out whole only the folder is named. It
// lists every folder, so it is for when a person asks.
func (s *Store) Uncovered(ctx context.Context) ([]Uncovered, error) {
	unlock, err := s.locked(ctx, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var all []Uncovered
	for _, t := range s.trees {
		c, err := s.scan(ctx, t, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", t.path, err)
		}
		all = append(all, c.leftOut(ctx, "")...)
		for i := range c.index.records {
			r := &c.index.records[i]
			if !r.kind.kept() {
				all = append(all, uncovered(t.path, r.path, r.kind, r.size))
			} else if r.kind == folder {
				all = append(all, c.leftOut(ctx, r.path)...)
			}
		}
	}
	slices.SortFunc(all, func(a, b Uncovered) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Path, b.Path))
	})
	return all, ctx.Err()
}

// leftOut names what is in a folder and not in the index.
func (c *scan) leftOut(ctx context.Context, dir string) []Uncovered {
	if ctx.Err() != nil {
		return nil
	}
	list, _ := os.ReadDir(filepath.Join(c.tree.path, dir)) // one that cannot be read is named already
	own := c.ownFolders()
	var all []Uncovered
	for _, e := range list {
		p := strings.TrimPrefix(dir+"/"+e.Name(), "/")
		if _, ok := c.index.at[p]; ok || own.hold(p) {
			continue
		}
		u := Uncovered{Root: c.tree.path, Path: p, Why: Ignored}
		if slices.Contains([]string{".git", ".hg", ".svn", ".bzr"}, e.Name()) {
			u.Why = VersionControl
		}
		if info, err := e.Info(); err == nil && !e.IsDir() {
			u.Size = info.Size()
		}
		all = append(all, u)
	}
	return all
}

// Statement says in a line for each reason what is not covered.
func Statement(all []Uncovered) string {
	const most = 5
	byWhy := map[Why][]string{}
	for _, u := range all {
		byWhy[u.Why] = append(byWhy[u.Why], printable(u.Path))
	}
	var b strings.Builder
	for _, why := range []Why{Ignored, VersionControl, Large, TooMuch, Unreadable, Special} {
		names := byWhy[why]
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(&b, "not covered (%s): %s", why, strings.Join(names[:min(most, len(names))], ", "))
		if more := len(names) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
