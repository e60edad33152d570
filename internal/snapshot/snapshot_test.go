package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	s := newStage(t)
	play(s)
	s.take()
	settle()
	s.take()
	for _, again := range []string{"in this process", "in another"} {
		settle()
		index := s.trees[0].index
		c, err := s.scan(t.Context(), s.trees[0], nil, nil)
		s.must(err)
		if len(c.fresh) > 0 || index != nil && c.index != index {
			t.Errorf("%s: %d files were read again", again, len(c.fresh))
		}
		s.reopen()
	}
	s.write("a.txt", "changed\n")
	c, err := s.scan(t.Context(), s.trees[0], nil, nil)
	s.must(err)
	if len(c.fresh) != 1 || c.fresh[0].path != "a.txt" {
		t.Errorf("%d files were read for one that changed", len(c.fresh))
	}
}

func TestAnUnchangedTreeCostsNoSpace(t *testing.T) {
	s := newStage(t)
	play(s)
	s.take()
	settle()
	s.take()
	size := s.size()
	for range 5 {
		s.take()
	}
	if grown := s.size() - size; grown != 0 {
		t.Errorf("five snapshots of an unchanged tree took %d bytes", grown)
	}
	s.write("a.txt", "changed\n")
	s.take()
	if grown := s.size() - size; grown > 1000 {
		t.Errorf("one changed file of 8 bytes took %d bytes", grown)
	}
}

func TestDiffTellsWhatHappened(t *testing.T) {
	s := newStage(t)
	play(s)
	turn := s.turn(func() {
		s.write("a.txt", "one\n2\nthree\n")
		s.must(os.Rename(s.path("src/main.go"), s.path("main.go")))
		s.remove("b.txt")
		s.write("new/file", "n\n")
		s.must(os.Chmod(s.path(".hidden"), 0o600))
		s.remove("link")
		s.write("link", "was a link\n")
		s.must(os.Mkdir(s.path("bare"), 0o755))
		s.write("blob.bin", "\x00\x02")
	})
	want := `modified a.txt +1 -1
removed  b.txt +0 -1
added    bare
modified blob.bin +1 -1
replaced link +1 -1
renamed  main.go (was src/main.go)
mode     .hidden
added    new/file +1 -0
`
	for _, later := range []string{turn.After, ""} {
		d, err := s.Diff(t.Context(), turn.Before, later)
		s.must(err)
		if got := sortedLines(d.String()); got != sortedLines(want) {
			t.Errorf("to %q: got\n%s", later, d)
		}
		for _, c := range d.List {
			if c.Path == "a.txt" && !strings.Contains(c.Diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n") {
				t.Errorf("diff of a.txt:\n%s", c.Diff)
			}
		}
	}
	same, err := s.Diff(t.Context(), turn.Before, turn.Before)
	if s.must(err); len(same.List) > 0 {
		t.Errorf("a snapshot differs from itself: %s", same)
	}
}

func sortedLines(s string) string {
	lines := strings.SplitAfter(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestPruneTakesWhatNobodyNeeds(t *testing.T) {
	s := newStage(t)
	play(s)
	for i := range 30 {
		s.write("a.txt", strings.Repeat(fmt.Sprintf("version %d\n", i), 1000))
		s.take()
	}
	keep := func(snap Snapshot) bool { return snap.ID == "s10" || snap.ID == "s20" }
	other, err := Open(s.o)
	s.must(err)
	_, err = other.Take(t.Context(), "other") // another process that knows all packs
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.o.Folder, "content", tempPrefix+"left"), []byte("x"), 0o600))
	before := s.size()
	got, err := s.Prune(t.Context(), keep)
	s.must(err)
	if got.Snapshots != 29 || got.Bytes != before-s.size() || s.size() > 60_000 {
		t.Errorf("%+v, %d bytes are left of %d", got, s.size(), before)
	}
	for _, store := range []*Store{s.Store, other} {
		s.Store = store
		for id, version := range map[string]string{"s10": "version 9\n", "s20": "version 19\n"} {
			s.undoTo(id)
			if !strings.HasPrefix(s.read("a.txt"), version) {
				t.Errorf("%s has %q", id, s.read("a.txt")[:12])
			}
		}
	}
	if _, err := s.Find("s11"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pruned snapshot: %v", err)
	}
	if _, err := s.Prune(t.Context(), func(Snapshot) bool { return false }); err != nil || s.size() > 0 {
		t.Errorf("pruning everything: %v, %d bytes are left", err, s.size())
	}
	play2 := s.state(s.ws)
	turn := s.turn(func() { s.remove("src") })
	s.undo(turn)
	s.same("after pruning everything", s.state(s.ws), play2)
}

func (s *stage) undoTo(id string) {
	s.Helper()
	_, err := s.Restore(context.Background(), []Turn{{Before: id}}, RestoreOptions{})
	s.must(err)
}

func TestSeveralProcessesShareAFolder(t *testing.T) {
	s := newStage(t)
	play(s)
	var group sync.WaitGroup
	for p := range 6 {
		group.Go(func() {
			store, err := Open(s.o) // locks of their own, as other processes have
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 10 {
				id := fmt.Sprintf("p%d-%d", p, i)
				os.WriteFile(s.path(fmt.Sprintf("f%d", p)), []byte(id), 0o644)
				if _, err := store.Take(t.Context(), id); err != nil {
					t.Error(err)
				}
				if p == 0 {
					if _, err := store.Prune(t.Context(), func(Snapshot) bool { return true }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	all, err := s.List()
	if s.must(err); len(all) != 60 {
		t.Errorf("%d snapshots, want 60", len(all))
	}
	for _, snap := range all {
		entries, err := s.entries(snap, s.trees[0])
		s.must(err)
		for _, e := range entries {
			if e.hasContent() {
				_, err := s.library.read(e.sum)
				s.must(err)
			}
		}
	}
}

func TestTheLockIsWaitedForNoLongerThanWanted(t *testing.T) {
	s := newStage(t)
	other, err := Open(s.o)
	s.must(err)
	unlock, err := other.locked(t.Context(), true)
	s.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Take(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("taken under another's lock: %v", err)
	}
	unlock()
	s.take()
}

func TestIDsAreTakenOnceAndChecked(t *testing.T) {
	s := newStage(t)
	s.take()
	if _, err := s.Take(t.Context(), "s1"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the same id again: %v", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "../x", "a b", "tmp-x", "\x00", strings.Repeat("x", 300)} {
		if _, err := s.Take(t.Context(), id); err == nil {
			t.Errorf("id %q was taken", id)
		}
		if _, err := s.Find(id); err == nil {
			t.Errorf("id %q was found", id)
		}
	}
}

func TestTooManyFilesAreRefusedSoon(t *testing.T) {
	s := newStage(t)
	play(s)
	s.o.MaxFiles = 5
	s.reopen()
	if _, err := s.Take(t.Context(), "x"); !errors.Is(err, ErrTooMany) {
		t.Errorf("error: %v", err)
	}
}

func TestBeyondTheTotalNothingIsCovered(t *testing.T) {
	s := newStage(t)
	s.o.MaxTotal = 10
	s.reopen()
	s.write("a", "12345678")
	s.write("b", "12345678")
	s.write("c", "12")
	snap, err := s.Take(t.Context(), "x")
	if s.must(err); snap.Files != 2 || snap.Bytes != 10 || snap.Uncovered != 1 {
		t.Errorf("%+v", snap)
	}
	s.remove("a")
	snap, err = s.Take(t.Context(), "y")
	if s.must(err); snap.Files != 2 || snap.Bytes != 10 || snap.Uncovered != 0 {
		t.Errorf("%+v: there is room now", snap)
	}
}

func TestTheStoreDoesNotSwallowItself(t *testing.T) {
	s := newStage(t)
	s.o.Folder = s.path("data/of/ours")
	s.reopen()
	s.write("a", "1")
	s.take()
	snap, err := s.Take(t.Context(), "x")
	if s.must(err); snap.Bytes != 1 {
		t.Errorf("%+v", snap)
	}
}

func TestSeveralRootsAreOneWorkspace(t *testing.T) {
	s := newStage(t)
	s.o.Roots = append(s.o.Roots, s.out)
	s.reopen()
	play(s)
	s.must(os.WriteFile(filepath.Join(s.out, "o"), []byte("1"), 0o644))
	ws, out := s.state(s.ws), s.state(s.out)
	turn := s.turn(func() {
		s.remove("src")
		s.must(os.WriteFile(filepath.Join(s.out, "o"), []byte("2"), 0o644))
	})
	s.undo(turn)
	s.same("the first root", s.state(s.ws), ws)
	s.same("the second root", s.state(s.out), out)
}

func TestATreeThatNeverStandsStill(t *testing.T) {
	s := newStage(t)
	play(s)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for w := range 3 {
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				dir := s.path(fmt.Sprintf("storm%d", w))
				os.MkdirAll(filepath.Join(dir, "x"), 0o755)
				os.WriteFile(filepath.Join(dir, "x", "f"), []byte(strings.Repeat("z", i%5000)), 0o644)
				os.WriteFile(s.path("a.txt"), fmt.Appendf(nil, "%d", i), 0o644)
				os.Remove(filepath.Join(dir, "x", "f"))
				os.Symlink("..", filepath.Join(dir, "x", "f"))
				os.RemoveAll(dir)
			}
		})
	}
	for range 20 {
		s.take()
	}
	close(stop)
	group.Wait()
	all, err := s.List()
	s.must(err)
	for _, snap := range all {
		if _, err := s.Diff(t.Context(), snap.ID, ""); err != nil {
			t.Error(err)
		}
	}
}

// Random operations on a small tree, taken and put back in random order.
func TestAnyTurnCanBeTakenBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "c"}
		name := func(label string) string { return s.path(rapid.SampledFrom(names).Draw(rt, label)) }
		operations := []func(){
			func() { os.WriteFile(name("write"), []byte(rapid.StringN(0, 4, 8).Draw(rt, "content")), 0o644) },
			func() { os.MkdirAll(name("mkdir"), 0o755) },
			func() { os.Remove(name("remove")) },
			func() { os.RemoveAll(name("removeall")) },
			func() { os.Rename(name("from"), name("to")) },
			func() { os.Symlink(rapid.SampledFrom(names).Draw(rt, "target"), name("link")) },
			func() {
				p := name("chmod")
				if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink == 0 {
					os.Chmod(p, fs.FileMode(rapid.SampledFrom([]int{0o700, 0o750, 0o755, 0o777}).Draw(rt, "mode")))
				}
			},
		}
		act := func() {
			for range rapid.IntRange(0, 8).Draw(rt, "operations") {
				rapid.SampledFrom(operations).Draw(rt, "operation")()
			}
		}
		act()
		var turns []Turn
		states := []map[string]string{s.state(s.ws)}
		for range rapid.IntRange(1, 4).Draw(rt, "turns") {
			turns = append(turns, s.turn(act))
			states = append(states, s.state(s.ws))
		}
		back := rapid.IntRange(0, len(turns)-1).Draw(rt, "back to")
		r := s.undo(turns[back:]...)
		s.same("after undo", s.state(s.ws), states[back])
		s.undo(r.Undone)
		s.same("after redo", s.state(s.ws), states[len(states)-1])
		if len(r.Conflicts)+len(r.Left)+len(r.Failed) > 0 {
			rt.Errorf("%s", r)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func FuzzDecoding(f *testing.F) {
	s := newStage(f)
	play(s)
	s.take()
	x := s.trees[0].index
	f.Add(x.encode(10))
	f.Add(between(sum{}, nil, x.records).encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		decodeIndex(raw, 10)
		if m, err := decodeManifest(raw); err == nil {
			again, err := decodeManifest(m.encode())
			if err != nil || len(again.entries) != len(m.entries) || !slices.Equal(again.removed, m.removed) {
				t.Errorf("it does not survive: %v", err)
			}
		}
	})
}
