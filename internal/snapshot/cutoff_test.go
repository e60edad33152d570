package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// dies restores turns and leaves the store as a process would that dies before
// its books are kept.
func (s *stage) dies(turns ...Turn) {
	s.Helper()
	dead := errors.New("dead")
	if _, err := s.Restore(context.Background(), turns, RestoreOptions{ID: "dead", Note: "note", Record: func(Report) error { return dead }}); !errors.Is(err, dead) {
		s.Fatalf("got %v", err)
	}
	s.reopen()
}

func TestHalfDoneWorkIsKnownAsOurs(t *testing.T) {
	s := newStage(t)
	play(s)
	s.write("open/file", "1")
	was := s.state(s.ws)
	turn := s.turn(func() {
		s.write("a.txt", "changed")
		s.remove("src")
		s.write("src", "a file where a folder was")
		s.write("open/file", "2")
		s.must(os.Chmod(s.path("open"), 0o500))
	})
	is := s.state(s.ws)
	t.Cleanup(func() { os.Chmod(s.path("open"), 0o700) })
	s.dies(turn)

	// as it could look when only a part was done
	s.remove("src")
	s.must(os.Mkdir(s.path("src"), 0o700))
	s.must(os.Chmod(s.path("open"), 0o700))
	s.write("open/file", "2")
	scrap := "open/" + scrapPrefix + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	s.write(scrap, "half of a fi")

	cut, err := s.CutOff()
	if err != nil || cut == nil || cut.Note != "note" || cut.Turns[0] != turn {
		t.Fatalf("cut off: %+v, %v", cut, err)
	}
	r := s.undo(turn)
	s.same("after undo", s.state(s.ws), was)
	if len(r.Conflicts)+len(r.Left)+len(r.Failed) > 0 {
		t.Errorf("%s", r)
	}
	if r.Undone.Before != "dead-before" {
		t.Errorf("it leads back to %s", r.Undone.Before)
	}
	if cut, err := s.CutOff(); cut != nil || err != nil {
		t.Errorf("still cut off: %+v, %v", cut, err)
	}
	s.undo(r.Undone)
	s.same("after redo", s.state(s.ws), is)
}

func TestFoldersOpenedOnlyForWhatIsInThemAreClosedAgain(t *testing.T) {
	s := newStage(t)
	s.write("closed/file", "1")
	s.must(os.Chmod(s.path("closed"), 0o555))
	t.Cleanup(func() { os.Chmod(s.path("closed"), 0o755) })
	was := s.state(s.ws)
	turn := s.turn(func() {
		s.must(os.Chmod(s.path("closed"), 0o755))
		s.write("closed/file", "2")
		s.must(os.Chmod(s.path("closed"), 0o555))
	})
	s.dies(turn)
	s.must(os.Chmod(s.path("closed"), 0o755))
	s.undo(turn)
	s.same("after undo", s.state(s.ws), was)
}

func TestEditsAfterADeathAreThePersons(t *testing.T) {
	s := newStage(t)
	s.write("a", "1")
	s.write("b", "1")
	open := Turn{Before: s.take()}
	s.write("a", "2")
	s.write("b", "2")
	s.dies(open)
	s.write("a", "mine")
	r := s.undo(open)
	if s.read("a") != "mine" || s.read("b") != "1" || len(r.Conflicts) != 1 {
		t.Errorf("a is %q, b is %q\n%s", s.read("a"), s.read("b"), r)
	}
}

func TestOtherRestoringWaitsForTheOneThatWasCutOff(t *testing.T) {
	s := newStage(t)
	s.write("a", "1")
	first := s.turn(func() { s.write("a", "2") })
	second := s.turn(func() { s.write("a", "3") })
	s.dies(second)
	if _, err := s.Restore(context.Background(), []Turn{first}, RestoreOptions{}); !errors.Is(err, ErrCutOff) {
		t.Errorf("got %v", err)
	}
	s.undo(second)
	s.undo(first)
	if got := s.read("a"); got != "1" {
		t.Errorf("a is %q", got)
	}
}

func TestOneThatCanNeverBeGoneOnWithBlocksNobody(t *testing.T) {
	s := newStage(t)
	s.write("a", "1")
	first := s.turn(func() { s.write("a", "2") })
	second := s.turn(func() { s.write("a", "3") })
	s.dies(second)
	s.must(os.Remove(filepath.Join(s.o.Folder, "snapshots", "dead-before.json")))
	if _, err := s.Restore(context.Background(), []Turn{second}, RestoreOptions{}); err == nil {
		t.Fatal("it went on without knowing how it began")
	}
	s.undo(second)
	s.undo(first)
	if got := s.read("a"); got != "1" {
		t.Errorf("a is %q", got)
	}
}
