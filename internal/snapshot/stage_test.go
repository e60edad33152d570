package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A stage is a workspace, an outside, and a store.
type stage struct {
	testing.TB
	ws, out string
	o       Options
	*Store
	taken int
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	tmp, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := &stage{TB: tb, ws: filepath.Join(tmp, "ws"), out: filepath.Join(tmp, "out")}
	for _, d := range []string{s.ws, s.out} {
		s.must(os.Mkdir(d, 0o755))
	}
	s.o = Options{Folder: filepath.Join(tmp, "data"), Roots: []string{s.ws}}
	s.reopen()
	return s
}

// reopen is what another process would see.
func (s *stage) reopen() {
	s.Helper()
	store, err := Open(s.o)
	s.must(err)
	s.Store = store
}

func (s *stage) must(err error) {
	if err != nil {
		s.Helper()
		s.Fatal(err)
	}
}

func (s *stage) path(name string) string { return filepath.Join(s.ws, name) }

func (s *stage) write(name, content string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(content), 0o644))
}

func (s *stage) remove(name string) {
	s.Helper()
	s.must(os.RemoveAll(s.path(name)))
}

func (s *stage) read(name string) string {
	s.Helper()
	raw, err := os.ReadFile(s.path(name))
	s.must(err)
	return string(raw)
}

// take keeps the workspace under a new id.
func (s *stage) take() string {
	s.Helper()
	s.taken++
	id := fmt.Sprintf("s%d", s.taken)
	_, err := s.Take(context.Background(), id)
	s.must(err)
	return id
}

// turn is what f does, between two snapshots.
func (s *stage) turn(f func()) Turn {
	s.Helper()
	before := s.take()
	f()
	s.taken++
	after := fmt.Sprintf("s%d", s.taken)
	_, err := s.TakeAfter(context.Background(), after, before)
	s.must(err)
	return Turn{before, after}
}

func (s *stage) undo(turns ...Turn) Report {
	s.Helper()
	r, err := s.Restore(context.Background(), turns, RestoreOptions{})
	s.must(err)
	return r
}

// state is everything under a folder that a person could see, but for times.
func (s *stage) state(dir string) map[string]string {
	s.Helper()
	all := map[string]string{}
	s.must(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		value := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			value += " " + string(raw)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			value += " " + target
		}
		all[strings.TrimPrefix(p, dir)] = value
		return nil
	}))
	return all
}

func (s *stage) same(what string, got, want map[string]string) {
	s.Helper()
	if d := cmp.Diff(want, got); d != "" {
		s.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// settle waits until the stamps of all files are old enough to be believed.
func settle() { time.Sleep(150 * time.Millisecond) }
