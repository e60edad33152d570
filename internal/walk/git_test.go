package walk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// repo is a folder in which git is asked what it sees.
type repo struct {
	tb  fataler
	dir string
}

type fataler interface {
	Fatal(args ...any)
	Helper()
}

func needGit(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("git is not installed")
	}
}

func newRepo(tb fataler, dir string) repo {
	tb.Helper()
	r := repo{tb, dir}
	r.must(os.MkdirAll(dir, 0o755))
	r.git("init", "-q")
	return r
}

func (r repo) must(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

func (r repo) write(name, content string) {
	r.tb.Helper()
	path := filepath.Join(r.dir, name)
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(content), 0o644))
}

func (r repo) git(args ...string) string {
	r.tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		r.tb.Fatal(fmt.Sprintf("git %q: %v", args, err))
	}
	return string(out)
}

// clear removes everything but the repository itself.
func (r repo) clear() {
	r.tb.Helper()
	entries, err := os.ReadDir(r.dir)
	r.must(err)
	for _, e := range entries {
		if e.Name() != ".git" {
			r.must(os.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
}

// seen is what git lists of a repository without commits, apart from ignored files.
func (r repo) seen(args ...string) []string {
	r.tb.Helper()
	out := r.git(append(args, "ls-files", "--others", "--exclude-standard", "-z")...)
	list := strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
	slices.Sort(list)
	return list
}

func paths(tb fataler, root string, o Options) []string {
	tb.Helper()
	list, err := List(context.Background(), root, o)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Path)
	}
	return names
}

func diff(want, got []string) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// Trees and ignore files of all shapes: what git lists is what the walk lists.
func TestIgnoreRulesAreThoseOfGit(t *testing.T) {
	needGit(t)
	name := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "foo.o", "bar.o", ".h", "a b", "x[y]", "a*b", "ü", `\q`, "#c", "!n", "t ", "-", "foox", "A", "a.b.o", "dir",
	})
	path := rapid.Map(rapid.SliceOfN(name, 1, 4), func(parts []string) string { return strings.Join(parts, "/") })
	piece := rapid.SampledFrom([]string{
		"a", "b", "foo", "*", "**", "/", "/", "?", "[a-c]", "[!a]", "[^b]", "[[:alpha:]]", `\`, `\ `, " ", "!", "#", ".o", "[", "]", "-", "[]-a]",
		"[a", "\r", "ü", "[ü]", "dir", "/**/", "**/", "/**", "*.o", "A", "[[:nope:]]", "[[:alpha]", "[a-]", `[\]]`, "[a-\\c]", "x", "***", `\*`, `\!`, "[/]", "[!/]", "\t", "y",
	})
	rule := rapid.Map(rapid.SliceOfN(piece, 1, 6), func(parts []string) string { return strings.Join(parts, "") })
	direct := rapid.Map(path, func(p string) string { return "/" + p })
	line := rapid.OneOf(rule, rule, path, direct, rapid.Map(path, func(p string) string { return "!" + p }), rapid.Map(path, func(p string) string { return p + "/" }))
	text := rapid.Map(rapid.SliceOfN(line, 0, 5), func(lines []string) string { return strings.Join(lines, "\n") + "\n" })
	base := newRepo(t, t.TempDir())
	global := filepath.Join(t.TempDir(), "global")
	rapid.Check(t, func(t *rapid.T) {
		r := repo{t, base.dir}
		r.clear()
		for _, p := range rapid.SliceOfN(path, 1, 25).Draw(t, "files") {
			full := filepath.Join(r.dir, p)
			if os.MkdirAll(filepath.Dir(full), 0o755) == nil { // a name cannot be file and folder
				_ = os.WriteFile(full, nil, 0o644)
			}
		}
		rules := map[string]string{".gitignore": text.Draw(t, "rules")}
		for range rapid.IntRange(0, 2).Draw(t, "nested") {
			rules[path.Draw(t, "folder")+"/.gitignore"] = text.Draw(t, "rules")
		}
		rules[".git/info/exclude"] = text.Draw(t, "exclude")
		for name, content := range rules {
			if full := filepath.Join(r.dir, name); os.MkdirAll(filepath.Dir(full), 0o755) == nil {
				_ = os.WriteFile(full, []byte(content), 0o644)
			}
		}
		r.must(os.WriteFile(global, []byte(text.Draw(t, "global")), 0o644))
		want := r.seen("-c", "core.excludesFile="+global)
		got := paths(t, r.dir, Options{Hidden: true, Global: global})
		if d := diff(want, got); d != "" {
			t.Fatalf("rules %q, exclude %q; git against walk:\n%s", rules, rules[".git/info/exclude"], d)
		}
	})
}

// Every rule alone against every path, as a table a reader can follow.
func TestKnownRulesOfGit(t *testing.T) {
	needGit(t)
	files := []string{"foo", "a/foo", "a/b/foo", "foo.o", "a/foo.o", "a b", "trail ", "#x", "!x", "a/x/y/z", "foox/y/bar", "d/foo/x", "[", "q*"}
	for _, rule := range []string{
		"foo", "/foo", "foo/", "/foo/", "a/foo", "**/foo", "a/**", "a/**/z", "**/b/**", "*", "*\n!*.o", "*\n!*/\n!*.o", "*.o", "\\#x", "\\!x", "#x", "trail ", "trail\\ ",
		"foo**/bar", "f?o**/bar", "a*o", "a/*", "a/*/foo", "[f]oo", "[!f]oo", "[[:alpha:]]oo", "[", "\\[", "q\\*", "\xef\xbb\xbffoo", "foo\r", "foo\\", "//foo", "/", "!", "**", "***", "a/**\n!a/b/",
		"a\n!a/foo", "a/*\n!a/foo", "[a-z]/foo", "[", "[]]", "f[!o]o", "f[^x]o", "*/foo", "/*/foo", "foo**", "**foo", "a/***/z", "a**/z", "**\\/foo",
	} {
		t.Run(rule, func(t *testing.T) {
			r := newRepo(t, t.TempDir())
			for _, f := range files {
				r.write(f, "")
			}
			r.write(".gitignore", rule+"\n")
			if d := diff(r.seen(), paths(t, r.dir, Options{Hidden: true})); d != "" {
				t.Errorf("git against walk:\n%s", d)
			}
		})
	}
}

func TestARootInsideARepositoryHeedsTheRulesAbove(t *testing.T) {
	needGit(t)
	r := newRepo(t, t.TempDir())
	for _, f := range []string{"sub/dir/a.o", "sub/dir/b.c", "sub/dir/deep/c.o", "sub/dir/only", "sub/dir/ex", "sub/dir/glob/x"} {
		r.write(f, "")
	}
	r.write(".gitignore", "*.o\n/sub/dir/only\n")
	r.write("sub/.gitignore", "!dir/deep/c.o\n")
	r.write(".git/info/exclude", "/sub/dir/ex\n")
	global := filepath.Join(t.TempDir(), "global")
	r.must(os.WriteFile(global, []byte("dir/glob\nsub/dir/glob\n"), 0o644))
	sub := repo{t, filepath.Join(r.dir, "sub/dir")}
	want := sub.seen("-c", "core.excludesFile="+global)
	if d := diff(want, paths(t, sub.dir, Options{Hidden: true, Global: global})); d != "" {
		t.Errorf("git against walk:\n%s", d)
	}
}

func TestAWorktreeHeedsTheExcludesOfItsRepository(t *testing.T) {
	needGit(t)
	base := t.TempDir()
	r := newRepo(t, filepath.Join(base, "main"))
	r.write(".git/info/exclude", "secret.txt\n")
	r.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "x")
	r.git("worktree", "add", "-q", filepath.Join(base, "tree"))
	w := repo{t, filepath.Join(base, "tree")}
	w.write("secret.txt", "")
	w.write("open.txt", "")
	if d := diff(w.seen(), paths(t, w.dir, Options{Hidden: true})); d != "" {
		t.Errorf("git against walk:\n%s", d)
	}
}
