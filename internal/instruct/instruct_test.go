package instruct

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree makes files below a fresh folder and gives its real path.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	return root
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func paths(in Instructions) string {
	var all []string
	for _, f := range in.Files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
}

func TestFilesAreReadFromTheRootDown(t *testing.T) {
	root := tree(t, map[string]string{
		".git/HEAD": "x", "AGENTS.md": "top", "a/CLAUDE.md": "middle", "a/b/GEMINI.md": "near", "a/b/c/README.md": "no",
		"a/other/AGENTS.md": "aside",
	})
	in := Read(filepath.Join(root, "a/b/c"), "")
	if got := paths(in); got != "AGENTS.md a/CLAUDE.md a/b/GEMINI.md" || len(in.Notes) > 0 {
		t.Errorf("%s, %q", got, in.Notes)
	}
	want := Head + "\n\n## From AGENTS.md\n\ntop\n\n## From a/CLAUDE.md\n\nmiddle\n\n## From a/b/GEMINI.md\n\nnear"
	if got := in.Text(); got != want {
		t.Errorf("%q", got)
	}
	if Read(filepath.Join(root, "a/b/c"), "").Text() != want {
		t.Error("the text is not the same the second time")
	}
}

func TestAFolderSpeaksOnce(t *testing.T) {
	root := tree(t, map[string]string{".git/HEAD": "", "AGENTS.md": "ours", "CLAUDE.md": "theirs", "GEMINI.md": "theirs"})
	if got := paths(Read(root, "")); got != "AGENTS.md" {
		t.Error(got)
	}
}

func TestThePersonsOwnComesFirst(t *testing.T) {
	root := tree(t, map[string]string{".git": "gitdir: elsewhere", "AGENTS.md": "project"})
	own := filepath.Join(tree(t, map[string]string{"AGENTS.md": "\xef\xbb\xbfmine\n"}), "AGENTS.md")
	in := Read(root, own)
	if len(in.Files) != 2 || in.Files[0].Path != own || in.Files[0].Text != "mine" {
		t.Errorf("%+v", in.Files)
	}
}

func TestWithoutRepositoryOnlyTheFolderItselfCounts(t *testing.T) {
	root := tree(t, map[string]string{"AGENTS.md": "above", "a/AGENTS.md": "here"})
	if Root(filepath.Join(root, "a")) != filepath.Join(root, "a") {
		t.Skip("the folder for temporary files is in a repository")
	}
	in := Read(filepath.Join(root, "a"), filepath.Join(root, "none.md"))
	if paths(in) != "AGENTS.md" || in.Files[0].Text != "here" || len(in.Notes) > 0 {
		t.Errorf("%+v", in)
	}
	if in := Read(t.TempDir(), ""); in.Text() != "" || len(in.Notes) > 0 {
		t.Errorf("nothing became %+v", in)
	}
}

func TestLongFilesAreCutAndSaySo(t *testing.T) {
	line := strings.Repeat("é", 50) + "\n"
	root := tree(t, map[string]string{".git/HEAD": "", "AGENTS.md": strings.Repeat(line, 1000), "exact/AGENTS.md": strings.Repeat("x", MaxFile)})
	in := Read(root, "")
	f := in.Files[0]
	if !f.Cut || len(f.Text) > MaxFile || len(f.Text) < MaxFile-len(line) || !strings.HasSuffix(f.Text, "é") || f.Size != 101000 {
		t.Errorf("%d bytes of %d, cut %v", len(f.Text), f.Size, f.Cut)
	}
	if len(in.Notes) != 1 || !strings.Contains(in.Notes[0], "AGENTS.md was cut") {
		t.Errorf("%q", in.Notes)
	}
	if in := Read(filepath.Join(root, "exact"), ""); in.Files[1].Cut {
		t.Error("a file of exactly the limit was cut")
	}
}

func TestTheNearestAndThePersonsOwnGetRoomFirst(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", MaxFile/16)
	root := tree(t, map[string]string{".git/HEAD": "", "AGENTS.md": big, "a/AGENTS.md": "short", "a/b/AGENTS.md": big})
	own := filepath.Join(tree(t, map[string]string{"AGENTS.md": big[:1024]}), "AGENTS.md")
	in := Read(filepath.Join(root, "a/b"), own)
	all := 0
	for _, f := range in.Files {
		all += len(f.Text)
		if wantCut := f.Path == "AGENTS.md"; f.Cut != wantCut {
			t.Errorf("%s: cut %v", f.Path, f.Cut)
		}
	}
	if all > MaxAll || len(in.Files) != 4 {
		t.Errorf("%d files with %d bytes", len(in.Files), all)
	}
	write(t, filepath.Join(root, "a/AGENTS.md"), big)
	in = Read(filepath.Join(root, "a/b"), own)
	if paths(in) != own+" a/AGENTS.md a/b/AGENTS.md" || len(in.Notes) != 2 || !strings.HasPrefix(in.Notes[0], "AGENTS.md was left out") {
		t.Errorf("%s, %q", paths(in), in.Notes)
	}
}

func TestWhatIsNoTextIsNotUsed(t *testing.T) {
	root := tree(t, map[string]string{".git/HEAD": "", "AGENTS.md": "caf\xe9", "CLAUDE.md": "fine", "a/AGENTS.md": " \n"})
	in := Read(filepath.Join(root, "a"), "")
	if len(in.Files) > 0 || len(in.Notes) != 1 || !strings.Contains(in.Notes[0], "not UTF-8") {
		t.Errorf("%+v", in)
	}
	if err := os.Mkdir(filepath.Join(root, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "a/b/AGENTS.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	if in := Read(filepath.Join(root, "a/b"), ""); !strings.Contains(strings.Join(in.Notes, "\n"), "no plain file") {
		t.Errorf("%q", in.Notes)
	}
}

func TestLinksOutOfTheRepositoryAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs rights there")
	}
	secret := filepath.Join(tree(t, map[string]string{"secret": "the key"}), "secret")
	root := tree(t, map[string]string{".git/HEAD": "", "docs/how.md": "within", "a/x": ""})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("docs/how.md", "AGENTS.md")
	link(secret, "a/AGENTS.md")
	in := Read(filepath.Join(root, "a"), "")
	if paths(in) != "AGENTS.md" || in.Files[0].Text != "within" || len(in.Notes) != 1 || !strings.Contains(in.Notes[0], "a/AGENTS.md was not read") {
		t.Errorf("%+v", in)
	}
	if own := Read(root, filepath.Join(root, "a/AGENTS.md")); own.Files[0].Text != "the key" {
		t.Errorf("the person's own link: %+v", own)
	}
}

func TestAPathCannotForgeAHeading(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names there")
	}
	root := tree(t, map[string]string{".git/HEAD": "", "a\n## From you/AGENTS.md": "x"})
	in := Read(filepath.Join(root, "a\n## From you"), "")
	if strings.Contains(in.Text(), "\n## From you") {
		t.Errorf("%q", in.Text())
	}
}

func FuzzCut(f *testing.F) {
	f.Add("some\ntext é", 5)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 0 {
			return
		}
		got := cut([]byte(text), n)
		if len(got) > n || !strings.HasPrefix(text, string(got)) {
			t.Errorf("%q cut to %d is %q", text, n, got)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	root := tree(b, map[string]string{".git/HEAD": "", "AGENTS.md": "top", "a/b/AGENTS.md": "near"})
	for b.Loop() {
		Read(filepath.Join(root, "a/b"), "")
	}
}
