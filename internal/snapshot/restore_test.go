package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// play fills a workspace with one of everything.
func play(s *stage) {
	s.write("a.txt", "one\ntwo\nthree\n")
	s.write("b.txt", "bee\n")
	s.write("empty", "")
	s.write("src/main.go", "package main\n")
	s.write("src/deep/er/x.go", "package er\n")
	s.write("bin/run.sh", "#!/bin/sh\necho hi\n")
	s.must(os.Chmod(s.path("bin/run.sh"), 0o755))
	s.write("blob.bin", "\x00\x01\xff\xfe")
	s.must(os.MkdirAll(s.path("hollow/inner"), 0o755))
	s.write("odd names/new\nline", "n\n")
	s.write(".hidden", "h\n")
	if runtime.GOOS == "linux" {
		s.write("odd names/\xff\xfe", "not utf-8\n")
	}
	s.must(os.Symlink("a.txt", s.path("link")))
	s.must(os.Symlink("src", s.path("dirlink")))
	s.must(os.Symlink("nowhere/at/all", s.path("dangling")))
	s.must(os.Symlink("../out", s.path("away")))
}

// lines are shell lines that change a played workspace.
var lines = []struct{ name, line string }{
	{"a write", `echo new > a.txt`},
	{"an append", `echo more >> b.txt`},
	{"sed -i", `sed -i s/two/2/ a.txt`},
	{"rm -r", `rm -r src hollow`},
	{"rm of everything", `rm -rf ./* .hidden`},
	{"a rename", `mv a.txt z.txt`},
	{"a rename of a folder", `mv src lib`},
	{"a swap", `mv a.txt t && mv b.txt a.txt && mv t b.txt`},
	{"chmod", `chmod 600 a.txt && chmod +x b.txt && chmod 700 src/deep`},
	{"setuid", `chmod 4755 bin/run.sh`},
	{"a read-only folder", `echo x > src/deep/er/x.go && chmod 555 src/deep/er src/deep`},
	{"a link that points elsewhere", `ln -sfn b.txt link && ln -sfn hollow dirlink`},
	{"a link instead of a file", `rm a.txt && ln -s b.txt a.txt`},
	{"a file instead of a link", `rm link && echo own > link`},
	{"a folder instead of a file", `rm a.txt && mkdir a.txt && echo in > a.txt/in`},
	{"a file instead of a folder", `rm -r src && echo f > src`},
	{"a link instead of a folder", `mv src lib && ln -s lib src && echo x > src/main.go`},
	{"a link to the outside instead of a folder", `rm -r src && ln -s ../out src`},
	{"a folder instead of a link", `rm dirlink && mkdir -p dirlink/x && echo x > dirlink/x/y`},
	{"new things", `mkdir -p new/a/b new/e && echo n > new/a/b/c && ln -s c new/a/b/l && echo .x > .x`},
	{"empty folders", `rmdir hollow/inner && mkdir hollow/other`},
	{"odd names", `mv "odd names" even && touch "$(printf 'with\nline')"`},
	{"truncation", `: > a.txt && cp /dev/null blob.bin`},
	{"same size, other bytes", `printf 'eno\ntwo\nthree\n' > a.txt`},
	{"same size, other bytes, old time", `cp -p a.txt t && printf 'eno\ntwo\nthree\n' > a.txt && touch -r t a.txt && rm t`},
	{"a hard link", `ln a.txt hard && echo more >> hard`},
	{"a script", `command -v python3 >/dev/null || exit 77
python3 - <<'END'
import os, shutil
os.makedirs("gen/x")
open("gen/x/out.json", "w").write("{}")
shutil.copy("a.txt", "gen/copy")
os.remove("b.txt")
os.rename("src/main.go", "gen/main.go")
END`},
	{"git init and commit", `git init -q . && git add -A && git commit -qm x && echo y > a.txt && git stash -q`},
}

func shell(t testing.TB, dir, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skip("the program is not installed")
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func TestUndoIsExactWhateverChangedTheFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell lines")
	}
	for _, c := range lines {
		for _, settled := range []bool{false, true} {
			name := c.name
			if settled {
				name += ", later"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				t.Cleanup(func() { exec.Command("chmod", "-R", "u+rwx", s.ws).Run() })
				play(s)
				s.take()
				if settled {
					settle()
				}
				before := s.state(s.ws)
				outside := s.state(s.out)
				turn := s.turn(func() { shell(t, s.ws, c.line) })
				after := s.state(s.ws)
				if c.line[:3] != "git" && len(after) == len(before) {
					different := false
					for p := range after {
						different = different || after[p] != before[p]
					}
					if !different {
						t.Fatal("the line changed nothing")
					}
				}
				r := s.undo(turn)
				s.same("after undo", s.state(s.ws), before)
				s.same("the outside", s.state(s.out), outside)
				if len(r.Conflicts)+len(r.Left)+len(r.Failed) > 0 {
					t.Errorf("%s", r)
				}
				s.undo(r.Undone)
				s.same("after redo", s.state(s.ws), after)
			})
		}
	}
}

func TestAFolderThatATurnClosedIsOpenedAgain(t *testing.T) {
	s := newStage(t)
	play(s)
	before := s.state(s.ws)
	turn := s.turn(func() {
		s.write("src/deep/er/x.go", "changed")
		s.must(os.Chmod(s.path("src/deep/er"), 0))
	})
	s.take()
	r := s.undo(turn)
	s.same("after undo", s.state(s.ws), before)
	if len(r.Conflicts)+len(r.Left)+len(r.Failed) > 0 {
		t.Errorf("%s", r)
	}
}

func TestAFolderThatWasAlwaysClosedIsLeftAlone(t *testing.T) {
	s := newStage(t)
	play(s)
	s.must(os.Chmod(s.path("src"), 0))
	t.Cleanup(func() { os.Chmod(s.path("src"), 0o755) })
	turn := s.turn(func() {
		s.write("a.txt", "2")
		s.must(os.Chmod(s.path("src"), 0o755))
	})
	s.undo(turn)
	if s.read("a.txt") == "2" {
		t.Error("a.txt was not restored")
	}
	s.must(os.Chmod(s.path("src"), 0o755))
	if got := s.read("src/main.go"); got != "package main\n" {
		t.Errorf("src/main.go is %q", got)
	}
}

func TestUndoOfAGitCheckoutLeavesGitAlone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	s := newStage(t)
	play(s)
	shell(t, s.ws, `git init -q . && git add -A && git commit -qm one && git checkout -q -b other && echo o > a.txt && rm b.txt &&
		mkdir o && echo o > o/o && git add -A && git commit -qm two && git checkout -q -`)
	before := s.state(s.ws)
	turn := s.turn(func() { shell(t, s.ws, `git checkout -q other`) })
	git := s.state(s.path(".git"))
	s.undo(turn)
	s.same("the files", s.state(s.ws), before)
	s.same("git's own files", s.state(s.path(".git")), git)
}

func TestLaterEditsOfThePersonAreKeptUnlessForced(t *testing.T) {
	s := newStage(t)
	s.write("mine", "v1\n")
	s.write("both", "v1\n")
	s.write("theirs", "v1\n")
	s.write("gone", "v1\n")
	turn := s.turn(func() {
		s.write("both", "agent\n")
		s.write("theirs", "agent\n")
		s.write("made/by", "agent\n")
		s.remove("gone")
	})
	s.write("both", "person\n")
	s.write("mine", "person\n")
	s.write("made/by", "person\n")
	s.write("made/more", "person\n")
	s.write("gone", "person\n")

	p, err := s.Preview(context.Background(), []Turn{turn}, RestoreOptions{})
	s.must(err)
	r := s.undo(turn)
	for name, want := range map[string]string{"mine": "person\n", "both": "person\n", "theirs": "v1\n", "made/by": "person\n", "made/more": "person\n", "gone": "person\n"} {
		if got := s.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := paths(r.Conflicts); got != "both gone made/by" {
		t.Errorf("conflicts: %s", got)
	}
	if got := paths(p.Conflicts); got != "both gone made/by" {
		t.Errorf("conflicts of the preview: %s", got)
	}
	if len(p.Changes.List) != 1 || p.Changes.List[0].Path != "theirs" || !strings.Contains(p.Changes.List[0].Diff, "-agent\n+v1\n") {
		t.Errorf("preview: %+v", p.Changes)
	}
	if len(r.Left) != 1 || r.Left[0].Path != "made" {
		t.Errorf("left: %+v", r.Left)
	}

	r, err = s.Restore(context.Background(), []Turn{turn}, RestoreOptions{Force: true})
	s.must(err)
	if s.read("both") != "v1\n" || s.read("mine") != "person\n" || s.read("gone") != "v1\n" {
		t.Errorf("forced: %s", r)
	}
	s.undo(r.Undone)
	if s.read("both") != "person\n" || s.read("gone") != "person\n" {
		t.Error("redo did not bring the person's words back")
	}
}

func paths(all []Conflict) string {
	var names []string
	for _, c := range all {
		names = append(names, c.Path)
	}
	return strings.Join(names, " ")
}

func TestEditsBetweenTurnsAreSeen(t *testing.T) {
	s := newStage(t)
	s.write("a", "0\n")
	s.write("b", "0\n")
	one := s.turn(func() { s.write("a", "1\n") })
	s.write("a", "person\n")
	s.write("b", "person\n")
	two := s.turn(func() { s.write("a", "2\n"); s.write("b", "2\n") })
	r := s.undo(one, two)
	if s.read("a") != "2\n" || paths(r.Conflicts) != "a" {
		t.Errorf("a is %q; %s", s.read("a"), r)
	}
	if s.read("b") != "person\n" {
		t.Errorf("b is %q: the person wrote it before the turn that changed it", s.read("b"))
	}
}

func TestATurnThatNeverEndedCanBeTakenBack(t *testing.T) {
	s := newStage(t)
	play(s)
	before := s.state(s.ws)
	id := s.take()
	s.write("a.txt", "half\n")
	s.remove("src")
	s.reopen()
	s.undo(Turn{Before: id})
	s.same("after undo", s.state(s.ws), before)
}

func TestIgnoredFilesAreNeverTaken(t *testing.T) {
	s := newStage(t)
	s.write(".gitignore", "out/\n*.log\n")
	s.write("out/precious", "p\n")
	s.write("x.log", "p\n")
	s.write("src/a", "1\n")
	t.Run("when the turn lets them in", func(t *testing.T) {
		turn := s.turn(func() { s.write(".gitignore", ""); s.write("src/a", "2\n") })
		r := s.undo(turn)
		if s.read("out/precious") != "p\n" || s.read("x.log") != "p\n" || s.read("src/a") != "1\n" || s.read(".gitignore") != "out/\n*.log\n" {
			t.Errorf("%s", r)
		}
		if len(r.Left) != 3 {
			t.Errorf("left: %+v", r.Left)
		}
	})
	t.Run("when the turn shuts covered files out", func(t *testing.T) {
		before := s.state(s.ws)
		turn := s.turn(func() { s.write(".gitignore", "*\n"); s.write("src/a", "2\n"); s.write("src/b", "2\n") })
		s.undo(turn)
		s.remove("src/b") // new and ignored: nobody could know of it
		s.same("after undo", s.state(s.ws), before)
	})
	t.Run("when an ignore file came later than what it hides", func(t *testing.T) {
		before := s.state(s.ws)
		one := s.turn(func() { s.write("gen/a", "1\n") })
		two := s.turn(func() { s.write("sub/.gitignore", "x\n"); s.write(".ignore", "gen\n") })
		s.undo(one, two)
		s.same("after undo", s.state(s.ws), before)
	})
	t.Run("when they are named", func(t *testing.T) {
		s.o.Also = []string{"out/precious", "x.log", "../escape", "not/there"}
		s.reopen()
		before := s.state(s.ws)
		turn := s.turn(func() { s.write("out/precious", "2\n"); s.remove("x.log") })
		s.undo(turn)
		s.same("after undo", s.state(s.ws), before)
	})
	t.Run("when rules outside the workspace change", func(t *testing.T) {
		s.o.Also, s.o.Global = nil, filepath.Join(s.out, "excludes")
		s.must(os.WriteFile(s.o.Global, []byte("secret\n"), 0o644))
		s.reopen()
		s.write("secret", "s\n")
		turn := s.turn(func() { s.must(os.WriteFile(s.o.Global, nil, 0o644)) })
		if r := s.undo(turn); s.read("secret") != "s\n" || len(r.Left) != 1 {
			t.Errorf("%s", r)
		}
	})
}

func TestWhatIsNotCoveredIsSaidAndLeftAlone(t *testing.T) {
	s := newStage(t)
	s.o.MaxFile = 100
	s.reopen()
	big := strings.Repeat("x", 101)
	s.write("big", big)
	s.write("grows", "small")
	s.write("small", "s")
	s.write(".gitignore", "ign/\n")
	s.write("ign/x", "i")
	s.must(os.MkdirAll(s.path(".git/objects"), 0o755))
	turn := s.turn(func() {
		s.write("big", "shrunk")
		s.write("grows", big)
		s.write("small", "t")
	})
	all, err := s.Uncovered(context.Background())
	s.must(err)
	if got, want := Statement(all), "not covered (ignored): ign\nnot covered (version control): .git\nnot covered (too large): grows\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d, err := s.Diff(context.Background(), turn.Before, "")
	s.must(err)
	if len(d.List) != 1 || len(d.Unknown) != 2 {
		t.Errorf("%s", d)
	}
	r := s.undo(turn)
	if s.read("big") != "shrunk" || s.read("grows") != big || s.read("small") != "s" || len(r.Left) != 2 {
		t.Errorf("%s", r)
	}
}

func TestADamagedStoreChangesNothing(t *testing.T) {
	s := newStage(t)
	s.write("a", "precious\n")
	s.write("b", "other\n")
	turn := s.turn(func() { s.write("a", "agent\n"); s.write("b", "agent\n") })
	packs, err := filepath.Glob(filepath.Join(s.o.Folder, "content", "*"+packSuffix))
	s.must(err)
	for _, p := range packs {
		raw, err := os.ReadFile(p)
		s.must(err)
		s.must(os.WriteFile(p, []byte(strings.ReplaceAll(string(raw), "precious", "poisoned")), 0o600))
	}
	after := s.state(s.ws)
	_, err = s.Restore(context.Background(), []Turn{turn}, RestoreOptions{})
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), "reading a as it was") {
		t.Errorf("error: %v", err)
	}
	s.same("the workspace", s.state(s.ws), after)
	_, err = s.Restore(context.Background(), []Turn{{Before: "nothere"}}, RestoreOptions{ID: "x"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown snapshot: %v", err)
	}
}

func TestAStoppedRestoreSaysWhatItDidNot(t *testing.T) {
	s := newStage(t)
	play(s)
	turn := s.turn(func() { s.remove("src"); s.write("a.txt", "x"); s.write("n", "n") })
	after := s.state(s.ws)
	s.take()
	ctx, cancel := context.WithCancel(context.Background())
	var r Report
	p, err := s.plans([]Turn{turn}, manner{})
	s.must(err)
	cancel()
	for _, p := range p {
		p.apply(ctx, s.Store, &r)
	}
	s.same("the workspace", s.state(s.ws), after)
	if len(r.Done) != 0 || len(r.Failed) != len(p[0].steps) || !errors.Is(r.err(), context.Canceled) {
		t.Errorf("%s", r)
	}
}

func TestAFileThatChangesMeanwhileIsKept(t *testing.T) {
	s := newStage(t)
	s.write("a", "1\n")
	s.write("b", "1\n")
	turn := s.turn(func() { s.write("a", "2\n"); s.remove("b"); s.write("c", "2\n") })
	s.take()
	plans, err := s.plans([]Turn{turn}, manner{})
	s.must(err)
	for name := range map[string]bool{"a": true, "b": true, "c": true} {
		s.write(name, "person, just now\n")
	}
	var r Report
	plans[0].apply(context.Background(), s.Store, &r)
	if got := paths(r.Conflicts); got != "a b c" || len(r.Done) > 0 || r.err() != nil {
		t.Errorf("%s", r)
	}
	for _, name := range []string{"a", "b", "c"} {
		if s.read(name) != "person, just now\n" {
			t.Errorf("%s was overwritten", name)
		}
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	s := newStage(t)
	s.write("d/f", "1\n")
	turn := s.turn(func() { s.write("d/f", "2\n"); s.write("d/g", "2\n"); s.remove("d/f") })
	s.take()
	plans, err := s.plans([]Turn{turn}, manner{})
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.out, "g"), []byte("outside"), 0o644))
	outside := s.state(s.out)
	for _, target := range []string{"../out", s.out} {
		s.remove("d")
		s.must(os.Symlink(target, s.path("d")))
		var r Report
		plans[0].apply(context.Background(), s.Store, &r)
		s.same("the outside", s.state(s.out), outside)
		if len(r.Done) > 0 {
			t.Errorf("%s", r)
		}
	}
}

func TestDeepTreesComeBack(t *testing.T) {
	s := newStage(t)
	deep := strings.Repeat("d/", 150)
	s.write(deep+"f", "deep\n")
	before := s.state(s.ws)
	turn := s.turn(func() { s.remove("d") })
	s.undo(turn)
	s.same("after undo", s.state(s.ws), before)
}

func TestARaceWithinOneTickIsSeen(t *testing.T) {
	s := newStage(t)
	s.write("a", "aaaa")
	for i := range 20 {
		before := s.state(s.ws)
		turn := s.turn(func() { s.write("a", string(rune('a'+i))+"xyz") })
		s.undo(turn)
		s.same("after undo", s.state(s.ws), before)
	}
}

func TestTimesThatLieDoNotFoolUs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no time of change here but the one that can be set")
	}
	s := newStage(t)
	s.write("a", "aaaa")
	old := time.Unix(1_000_000_000, 0)
	s.must(os.Chtimes(s.path("a"), old, old))
	settle()
	before := s.state(s.ws)
	turn := s.turn(func() {
		s.write("a", "bbbb")
		s.must(os.Chtimes(s.path("a"), old, old))
	})
	s.undo(turn)
	s.same("after undo", s.state(s.ws), before)
}
