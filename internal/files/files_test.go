package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

func TestAbsoluteAndCrossRootLinksInsideTheRootsWork(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "a")
	s.file("{TMP}/second/b.txt", "b")
	s.link("abs", "{WS}/a.txt")
	s.link("cross", "{TMP}/second")
	s.link("round", "../ws/a.txt")
	s.link("chain", "cross/back")
	s.must(os.Symlink(s.path("abs"), s.path("{TMP}/second/back")))
	r, err := Open(s.ws(), s.path("{TMP}/second"))
	s.must(err)
	defer r.Close()
	for name, want := range map[string]string{
		"abs": "a", "cross/b.txt": "b", "round": "a", "chain": "a", "../second/b.txt": "b", s.path("a.txt"): "a",
	} {
		data, _, err := r.ReadFile(name)
		if err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if got := r.Roots(); !slices.Equal(got, []string{s.ws(), s.path("{TMP}/second")}) {
		t.Errorf("roots are %v", got)
	}
}

func TestARootReachedThroughAnAliasIsTheSameRoot(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "a")
	s.must(os.Symlink(s.tmp, s.path("{TMP}/alias")))
	r, err := Open(s.path("{TMP}/alias/ws"))
	s.must(err)
	defer r.Close()
	if r.Dir() != s.ws() {
		t.Errorf("dir is %s", r.Dir())
	}
	for _, name := range []string{s.path("{TMP}/alias/ws/a.txt"), s.path("a.txt"), "a.txt"} {
		if _, err := r.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

func TestLocateFollowsLinksWhetherOrNotTheyMayBeOpened(t *testing.T) {
	s := newStage(t)
	s.file("d/a.txt", "a")
	s.link("in", "d/a.txt")
	s.link("out", "{OUT}/missing")
	s.link("dl", "d")
	s.link("loop", "loop")
	r := s.open()
	for name, want := range map[string]string{
		"in": "{WS}/d/a.txt", "out": "{OUT}/missing", "out/x": "{OUT}/missing/x", "dl/../z": "{WS}/z",
		"dl/new/../a.txt": "{WS}/d/a.txt", "/": "/", "..": "{TMP}", "loop": "{WS}/loop", "d//./a.txt": "{WS}/d/a.txt",
		"nodir/../dl/a.txt": "{WS}/d/a.txt",
	} {
		got, err := r.Locate(name)
		if err != nil || got != s.replace.Replace(want) {
			t.Errorf("%s leads to %s, %v; want %s", name, got, err, want)
		}
	}
	if _, err := r.Locate("a\x00b"); tool.CodeOf(err, "") != tool.InvalidPath {
		t.Errorf("NUL gives %v", err)
	}
}

func TestNamesThatClimbOutOfNothingAreNotFound(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "a")
	r := s.open()
	for _, name := range []string{"nodir/../a.txt", "a.txt/../a.txt", "a.txt/x"} {
		if _, err := r.Stat(name); Outcome(err) != "not_found" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGrantOpensWhatItNamesAndNoMore(t *testing.T) {
	s := newStage(t)
	s.file("{OUT}/read/a.txt", "a")
	s.file("{OUT}/reading/a.txt", "a")
	s.file("{OUT}/write/a.txt", "a")
	s.file("{OUT}/.ikigai/policies.json", "{}")
	s.link("{OUT}/read/away", "{OUT}/reading/a.txt")
	s.link("l", "{OUT}/read/a.txt")
	g := s.open().With(tool.Grant{Read: []string{s.out() + "/read"}, Write: []string{s.out() + "/write", s.out() + "/.ikigai"}})
	all := s.open().With(tool.Grant{Unconfined: true})
	for _, c := range []struct {
		files    tool.Files
		op, path string
		want     string
	}{
		{g, "read", "{OUT}/read/a.txt", "allowed"},
		{g, "read", "l", "allowed"},
		{g, "list", "{OUT}/read", "allowed"},
		{g, "read", "{OUT}/read/none.txt", "not_found"},
		{g, "write", "{OUT}/read/a.txt", "denied"},
		{g, "read", "{OUT}/reading/a.txt", "denied"},
		{g, "read", "{OUT}/read/away", "denied"},
		{g, "list", "{OUT}", "denied"},
		{g, "write", "{OUT}/write/a.txt", "allowed"},
		{g, "write", "{OUT}/write/new/b.txt", "allowed"},
		{g, "read", "{OUT}/write/a.txt", "allowed"},
		{g, "write", "{OUT}/.ikigai/policies.json", "denied"},
		{all, "read", "{OUT}/reading/a.txt", "allowed"},
		{all, "write", "{OUT}/anything", "allowed"},
		{all, "write", ".git/config", "denied"},
	} {
		if _, err := perform(c.files, c.op, s.replace.Replace(c.path)); Outcome(err) != c.want {
			t.Errorf("%s %s: %v, want %s", c.op, c.path, err, c.want)
		}
	}
}

func TestProtectedNamesAreNotWritten(t *testing.T) {
	s := newStage(t)
	s.dir(".git/hooks")
	s.link("l", ".git/hooks")
	s.link("cfg", "{WS}/.git/config")
	r := s.open().Protect(s.path("AGENTS.lock"), "sub/policy")
	for _, name := range []string{
		".git", ".git/config", ".git/hooks/pre-commit", ".git/modules/m/config", ".git/worktrees/w/config.worktree",
		".git/rebase-merge/git-rebase-todo", "a/b/.git/config", "a/.git", ".GIT/config", ".Git/HOOKS/x", "d/../.git/config",
		"l/pre-commit", "cfg", ".ikigai", ".ikigai/tools/x", "sub/.ikigai/x", ".Ikigai/x", "./.git//config", ".g\u200cit/config",
		".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config", s.path(".git/config"),
		"AGENTS.lock", "agents.lock", "sub/policy/deep/x", "SUB/policy/x",
	} {
		if err := r.WriteFile(name, []byte("x"), tool.Stamp{}); tool.CodeOf(err, "") != tool.PermissionDenied {
			t.Errorf("writing %s: %v", name, err)
		}
		if err := r.Mkdir(name); tool.CodeOf(err, "") != tool.PermissionDenied {
			t.Errorf("making %s: %v", name, err)
		}
	}
	for _, name := range []string{".gitignore", ".github/x.yml", "my.git/config", "git/config", ".gitmodules", "ikigai/x", "sub/policy2", ".ikigai2"} {
		if err := r.WriteFile(name, []byte("x"), tool.Stamp{}); err != nil {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	s.file(".git/HEAD", "ref: refs/heads/main")
	if _, _, err := r.ReadFile(".git/HEAD"); err != nil {
		t.Errorf("reading .git/HEAD: %v", err)
	}
}

func TestARepositoryKeptElsewhereInTheRootIsProtected(t *testing.T) {
	s := newStage(t)
	s.file(".git", "gitdir: store/worktrees/w\n")
	s.file("store/worktrees/w/commondir", "../..\n")
	s.file("store/config", "[core]")
	r := s.open()
	for _, name := range []string{"store/config", "store/hooks/x", "store/worktrees/w/config.worktree"} {
		if err := r.WriteFile(name, nil, tool.Stamp{}); tool.CodeOf(err, "") != tool.PermissionDenied {
			t.Errorf("writing %s: %v", name, err)
		}
	}
}

func TestNewNamesAreVisible(t *testing.T) {
	s := newStage(t)
	s.file("old\u202e.txt", "x")
	r := s.open()
	for name, want := range map[string]string{
		"new\u202e.txt": "validation_failed", "d\u200b/new.txt": "validation_failed", "t\U000e0041": "validation_failed",
		"old\u202e.txt": "allowed", "नि\u200dक.txt": "allowed", "tab\t.txt": "allowed",
	} {
		if err := r.WriteFile(name, nil, tool.Stamp{}); Outcome(err) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestErrorsShowNamesEscaped(t *testing.T) {
	_, err := newStage(t).open().Stat("a\x1b[2Jb\nc")
	if text := err.Error(); strings.ContainsAny(text, "\x1b\n") || !strings.Contains(text, `a\x1b[2Jb\nc`) {
		t.Errorf("the error is %q", text)
	}
}

func TestListsAreSortedAndDescribeEntries(t *testing.T) {
	s := newStage(t)
	s.file("b.txt", "four")
	s.dir("a")
	s.link("c", "nowhere")
	list, err := s.open().ReadDir("")
	s.must(err)
	if len(list) != 3 || list[0].Name() != "a" || !list[0].IsDir() || list[1].Name() != "b.txt" || list[2].Type()&fs.ModeSymlink == 0 {
		t.Fatalf("the list is %v", list)
	}
	if info, err := list[1].Info(); err != nil || info.Size() != 4 || info.Mode() != 0o644 {
		t.Errorf("b.txt is %v, %v", info, err)
	}
}

func TestStatAgreesWithTheSystem(t *testing.T) {
	s := newStage(t)
	s.file("f", "content")
	s.must(os.Chmod(s.path("f"), 0o751|fs.ModeSetgid))
	s.dir("d")
	s.must(mkfifo(s.path("p")))
	s.link("l", "f")
	r := s.open()
	for _, name := range []string{"f", "d", "p", "l", "."} {
		want, err := os.Stat(s.path(name))
		s.must(err)
		got, err := r.Stat(name)
		if err != nil || got.Mode() != want.Mode() || got.Size() != want.Size() || !got.ModTime().Equal(want.ModTime()) || got.IsDir() != want.IsDir() {
			t.Errorf("%s: got %v, want %v (%v)", name, got, want, err)
		}
	}
}

func TestOpenGivesAFileToReadFrom(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "0123456789")
	f, err := s.open().Open("a.txt")
	s.must(err)
	defer f.Close()
	part := make([]byte, 3)
	if _, err := f.ReadAt(part, 4); err != nil || string(part) != "456" {
		t.Errorf("read %q, %v", part, err)
	}
	if all, err := io.ReadAll(f); err != nil || string(all) != "0123456789" {
		t.Errorf("read %q, %v", all, err)
	}
	if f, err := s.open().Open("none"); f != nil || Outcome(err) != "not_found" {
		t.Errorf("opening nothing gives %v, %v", f, err)
	}
}

func TestARootMustBeAFolder(t *testing.T) {
	s := newStage(t)
	s.file("f", "")
	for _, dir := range []string{s.path("f"), s.path("none")} {
		if _, err := Open(dir); err == nil {
			t.Errorf("%s was opened", dir)
		}
	}
	if _, err := Open(s.ws(), s.path("none")); err == nil {
		t.Error("a missing further root was opened")
	}
}

func TestTheInnermostOfNestedRootsHoldsAName(t *testing.T) {
	s := newStage(t)
	s.file("sub/a.txt", "a")
	r, err := Open(filepath.Join(s.ws(), "sub"), s.ws())
	s.must(err)
	defer r.Close()
	if _, _, err := r.ReadFile("a.txt"); err != nil {
		t.Error(err)
	}
	if err := r.WriteFile("../b.txt", nil, tool.Stamp{}); err != nil {
		t.Error(err)
	}
}
