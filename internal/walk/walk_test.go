package walk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree makes files in a new folder; a name that ends in a slash is a folder,
// one with " -> " a link, one with "=" has content behind it.
func tree(tb testing.TB, names ...string) string {
	tb.Helper()
	r := repo{tb, tb.TempDir()}
	for _, n := range names {
		if dir, ok := strings.CutSuffix(n, "/"); ok {
			r.must(os.MkdirAll(filepath.Join(r.dir, dir), 0o755))
		} else if link, to, ok := strings.Cut(n, " -> "); ok {
			r.must(os.Symlink(to, filepath.Join(r.dir, link)))
		} else {
			name, content, _ := strings.Cut(n, "=")
			r.write(name, content)
		}
	}
	return r.dir
}

func TestWhatBelongsToATree(t *testing.T) {
	root := tree(
		t, "a.txt", "a/b.txt", "a/.hidden", ".env", ".github/ci.yml", ".git/config", ".hg/x", ".svn/x", ".bzr/x", "sub/.git=gitdir: ../x",
		"sub/c.txt", "out.log", ".gitignore=*.log\n!.env\n", "empty/", "link -> /etc", "loop -> .",
	)
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"default", Options{}, ".env a.txt a/b.txt link loop sub/c.txt"},
		{"hidden", Options{Hidden: true}, ".env .github/ci.yml .gitignore a.txt a/.hidden a/b.txt link loop sub/c.txt"},
		{"ignored", Options{Ignored: true}, "a.txt a/b.txt link loop out.log sub/c.txt"},
		{"all", Options{Hidden: true, Ignored: true}, ".env .github/ci.yml .gitignore a.txt a/.hidden a/b.txt link loop out.log sub/c.txt"},
		{"folders", Options{Folders: true}, ".env a.txt a a/b.txt empty link loop sub sub/c.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(paths(t, root, c.o), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var inOrder []string
			for e, err := range Tree(context.Background(), root, c.o) {
				if err != nil {
					t.Error(err)
				}
				inOrder = append(inOrder, e.Path)
			}
			if got := strings.Join(inOrder, " "); got != c.want {
				t.Errorf("in order: got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLinksAreGivenAndNotFollowed(t *testing.T) {
	root := tree(t, "d/a", "link -> d", "f -> d/a")
	list, err := List(context.Background(), root, Options{})
	if err != nil || len(list) != 3 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, e := range list[1:] {
		if e.Type != fs.ModeSymlink {
			t.Errorf("%s is %v", e.Path, e.Type)
		}
	}
}

// The last word belongs to .rgignore, then .ignore, then .gitignore, whatever
// folder they lie in; a nested repository knows nothing of the git rules above it.
func TestTheOrderOfIgnoreFilesIsThatOfRipgrep(t *testing.T) {
	root := tree(
		t, ".ignore=!kept.log\nno.txt\n", ".rgignore=!no.txt\n", "d/.gitignore=*.log\n", "d/kept.log", "d/gone.log", "no.txt",
		".gitignore=*.o\n", "nested/.git/HEAD", "nested/x.o", "y.o", "nested/.ignore=z\n", "nested/z", "nested/deep/z",
	)
	want := "d/kept.log nested/x.o no.txt"
	if got := strings.Join(paths(t, root, Options{}), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if rg, err := exec.LookPath("rg"); err == nil {
		out, err := exec.Command(rg, "--files", "--no-require-git", "--sort=path", "--no-config", root).Output()
		if got := strings.ReplaceAll(strings.Join(strings.Fields(string(out)), " "), root+"/", ""); err != nil || got != want {
			t.Errorf("ripgrep lists %s, %v", got, err)
		}
	}
}

func TestGlobalExcludesAreFoundInHome(t *testing.T) {
	home := tree(t, ".config/git/ignore=*.tmp\n", "mine=*.bak\n")
	root := tree(t, "a.tmp", "b.bak", "c")
	for want, o := range map[string]Options{
		"a.tmp b.bak c": {}, "b.bak c": {Home: home}, "a.tmp c": {Home: home, Global: "~/mine"},
	} {
		if got := strings.Join(paths(t, root, o), " "); got != want {
			t.Errorf("%+v: got %s, want %s", o, got, want)
		}
	}
}

func TestTroubleIsCollectedAndTheRestIsGiven(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permission does not bind this user")
	}
	root := tree(t, "a/x", "b/y", "c/z")
	if err := os.Chmod(filepath.Join(root, "b"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "b"), 0o755) })
	list, err := List(context.Background(), root, Options{})
	if len(list) != 2 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestAMissingRootIsAnError(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if _, err := List(context.Background(), none, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, err := range Tree(context.Background(), none, Options{}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	}
}

func TestCancellingEndsAWalk(t *testing.T) {
	root := tree(t, "a/b/c/d/e", "f/g/h/i", "j/k/l")
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int32
	err := Each(ctx, root, Options{Folders: true}, func(int, Entry) {
		calls.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || calls.Load() == 0 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	var last error
	for _, err := range Tree(ctx, root, Options{}) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("in order: %v", last)
	}
}

func TestTheReaderMayStopInTheMiddle(t *testing.T) {
	root := tree(t, "a", "b/c", "d")
	var got []string
	for e := range Tree(context.Background(), root, Options{}) {
		if got = append(got, e.Path); len(got) == 2 {
			break
		}
	}
	if !slices.Equal(got, []string{"a", "b/c"}) {
		t.Errorf("got %q", got)
	}
}

// Folders that become links to the outside while they are walked show nothing of it.
func TestAWalkNeverLeavesItsRoot(t *testing.T) {
	root, out := tree(t, "d/inside", "x/"), tree(t, "outside")
	link := filepath.Join(root, "l")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for x, d := filepath.Join(root, "x"), filepath.Join(root, "d"); ; {
			select {
			case <-quit:
				return
			default:
			}
			_ = os.Rename(d, x+"/d")
			_ = os.Rename(link, d)
			_ = os.Rename(d, link)
			_ = os.Rename(x+"/d", d)
		}
	}()
	for range 500 {
		_ = Each(context.Background(), root, Options{}, func(_ int, e Entry) {
			if base(e.Path) == "outside" {
				t.Error("SAFETY: saw " + e.Path)
			}
		})
	}
	close(quit)
	<-done
}

// What the race above rarely meets: a name was a folder when it was listed and
// is a link when it is read.
func TestAFolderThatBecameALinkIsNotRead(t *testing.T) {
	out := tree(t, "outside", "deep/outside")
	root := tree(t, "l -> "+out)
	s, err := newScan(root, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, slow := range []bool{false, true} {
		if slow {
			makeSlow(s.tree)
		}
		for _, path := range []string{"l", "l/deep"} {
			if found, err := s.read(path, nil); err == nil || len(found.entries) > 0 {
				t.Errorf("SAFETY: saw %v in %s", found.entries, path)
			}
		}
		if _, err := s.tree.changed("l/deep"); err == nil {
			t.Error("SAFETY: looked at the outside")
		}
	}
}

func TestReadingThroughALinkIsRefused(t *testing.T) {
	out := tree(t, "secret=x")
	root := tree(t, "l -> "+out+"/secret", "d -> "+out, "f=content")
	r, err := OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, path := range []string{"l", "d/secret", "../" + filepath.Base(out) + "/secret"} {
		if _, err := r.Handle(path); err == nil {
			t.Errorf("SAFETY: %s can be read", path)
		}
		if _, err := r.Open(path); err == nil {
			t.Errorf("SAFETY: opened %s", path)
		}
	}
	h, err := r.Handle("f")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	size, regular := h.Size()
	if text, err := io.ReadAll(h); err != nil || string(text) != "content" || !regular || size != 7 {
		t.Errorf("read %q, %v", text, err)
	}
}

func TestTheTimeOfChangeIsThatOfTheSystem(t *testing.T) {
	root := tree(t, "d/f")
	r, err := OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := os.Stat(filepath.Join(root, "d/f"))
	if err != nil {
		t.Fatal(err)
	}
	if when, err := r.Changed("d/f"); err != nil || !when.Equal(info.ModTime()) {
		t.Errorf("got %v, %v; want %v", when, err, info.ModTime())
	}
	if _, err := r.Changed("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestACacheSeesEveryChange(t *testing.T) {
	r := repo{t, tree(t, "a", "d/b", "d/e/c", ".gitignore=*.log\n")}
	c := NewCache(r.dir)
	clock := time.Now()
	c.now = func() time.Time { return clock }
	see := func(want string) {
		t.Helper()
		list, err := c.List(context.Background(), Options{})
		var got []string
		for _, e := range list {
			got = append(got, e.Path)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("saw %q, %v; want %s", got, err, want)
		}
	}
	see("a d/b d/e/c") // too young to be remembered
	r.write("d/new", "")
	see("a d/b d/e/c d/new")
	clock = clock.Add(time.Hour) // from now on everything is remembered
	see("a d/b d/e/c d/new")
	if len(c.dirs) != 3 || len(c.rules) != 1 {
		t.Errorf("remembered %d folders and %d rule files", len(c.dirs), len(c.rules))
	}
	time.Sleep(20 * time.Millisecond) // more than a tick of the file system
	r.write("d/e/x.log", "")
	r.write("d/e/y", "")
	see("a d/b d/e/c d/e/y d/new")
	r.write(".gitignore", "*.lag\nnew\n")
	see("a d/b d/e/c d/e/x.log d/e/y")
	r.must(os.RemoveAll(filepath.Join(r.dir, "d/e")))
	see("a d/b")
	r.must(os.Rename(filepath.Join(r.dir, "d"), filepath.Join(r.dir, "z")))
	see("a z/b")
}

// A walk through a cache in order sees what a walk without one sees, whatever
// changed between two walks, and a rule above decides anew about all below.
func TestAWalkThroughACacheIsAWalk(t *testing.T) {
	r := repo{t, tree(t, "a", "d/b.o", "d/e/c.o", "d/e/.ignore=x\n", "d/e/x", "f/.git/info/exclude=no\n", "f/no", "f/yes")}
	c := NewCache(r.dir)
	c.now = func() time.Time { return time.Now().Add(time.Hour) }
	changes := []func(){
		func() {},
		func() { r.write(".gitignore", "*.o\n") },
		func() { r.write("f/.git/info/exclude", "yes\n") },
		func() { r.write("d/e/.ignore", "") },
		func() { r.must(os.Remove(filepath.Join(r.dir, ".gitignore"))) },
		func() { r.must(os.RemoveAll(filepath.Join(r.dir, "f/.git"))) },
		func() { r.write("d/e/g/h", "") },
	}
	for i, change := range changes {
		time.Sleep(20 * time.Millisecond) // more than a tick of the file system
		change()
		for _, o := range []Options{{}, {Hidden: true}, {Folders: true}, {Ignored: true}} {
			want, err := List(context.Background(), r.dir, o)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var got []Entry
				for e, err := range c.Tree(context.Background(), o) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, e)
				}
				listed, err := c.List(context.Background(), o)
				if err != nil || !slices.Equal(got, want) || !slices.Equal(listed, want) {
					t.Errorf("change %d, %+v: want %v\nTree %v\nList %v, %v", i, o, want, got, listed, err)
				}
			}
		}
	}
}

// A tree that changes all the while is walked without errors and without
// inventing names, and when it has come to rest the cache knows it as it is.
func TestACacheSurvivesAChangingTree(t *testing.T) {
	r := repo{t, tree(t, "still/a", "d/b", "d/e/c")}
	c := NewCache(r.dir)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			r.write("d/e/"+string(rune('f'+i%5)), "")
			_ = os.RemoveAll(filepath.Join(r.dir, "d/e/"+string(rune('f'+(i+3)%5))))
			_ = os.Rename(filepath.Join(r.dir, "d/e"), filepath.Join(r.dir, "moved"))
			_ = os.Rename(filepath.Join(r.dir, "moved"), filepath.Join(r.dir, "d/e"))
			r.write(".gitignore", "still/b\n"+string(rune('f'+i%5))+"\n")
		}
	}()
	for range 200 {
		list, err := c.List(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(list, Entry{Path: "still/a"}) {
			t.Fatalf("still/a is missing in %v", list)
		}
	}
	close(quit)
	<-done
	want := paths(t, r.dir, Options{})
	var got []string
	list, err := c.List(context.Background(), Options{})
	for _, e := range list {
		got = append(got, e.Path)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("at rest: got %v, want %v, %v", got, want, err)
	}
}

func TestTheNewestComesFirst(t *testing.T) {
	root := tree(t, "a", "d/b", "d/c", "d/e/f", "g", "l -> nowhere")
	when := map[string]int{"a": 3, "d/b": 5, "d/c": 3, "d/e/f": 1, "g": 4}
	for path, hour := range when {
		at := time.Date(2020, 1, 1, hour, 0, 0, 7, time.UTC)
		if err := os.Chtimes(filepath.Join(root, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(context.Background(), root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, Entry{Path: "gone/x"}, Entry{Path: "gone"})
	sorted, err := Newest(context.Background(), root, list)
	var got []string
	for _, e := range sorted {
		got = append(got, e.Path)
	}
	if want := "l d/b g a d/c d/e/f gone/x gone"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %v, %v; want %s", got, err, want)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := Newest(ended, root, list); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// Without the fast call of Linux the answers are the same.
func TestTheSlowWayGivesTheSame(t *testing.T) {
	root := tree(t, "a", "d/b", "d/e/c", ".gitignore=*.log\n", "x.log", "l -> d")
	want := paths(t, root, Options{Hidden: true})
	s, err := newScan(root, Options{Hidden: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	makeSlow(s.tree)
	var got []string
	s.inOrder(context.Background(), func(e Entry, err error) bool {
		got = append(got, e.Path)
		return err == nil
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	fast, err := OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	a, _ := fast.changed("d")
	b, err := s.tree.changed("d")
	if err != nil || a.mtime != b.mtime {
		t.Errorf("marks %v and %v, %v", a, b, err)
	}
	h, err := s.tree.Handle("a")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, regular := h.Size()
	if n, err := h.Read(make([]byte, 1)); n != 0 || err != io.EOF || !regular {
		t.Errorf("read %d, %v", n, err)
	}
}

func goSource(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, look := os.Stat(root); err != nil || look != nil {
		tb.Skip("no Go source tree here")
	}
	return root
}

func BenchmarkList(b *testing.B) {
	root := goSource(b)
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			if list, err := List(context.Background(), root, Options{}); err != nil || len(list) < 1000 {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			if err := Each(context.Background(), root, Options{}, func(int, Entry) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cached", func(b *testing.B) {
		c := NewCache(root)
		for b.Loop() {
			if list, err := c.List(context.Background(), Options{}); err != nil || len(list) < 1000 {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("ripgrep", func(b *testing.B) {
		if _, err := exec.LookPath("rg"); err != nil {
			b.Skip("ripgrep is not installed")
		}
		for b.Loop() {
			if err := exec.Command("rg", "--files", root).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Paths that are longer than most are looked at like others, and one that no file can
// have is refused.
func TestLongAndImpossiblePaths(t *testing.T) {
	root, long := t.TempDir(), strings.Repeat("a-long-name-of-a-folder/", 20)
	if err := os.MkdirAll(filepath.Join(root, long), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, long, "file"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if data, err := tree.ReadFile(long + "file"); err != nil || string(data) != "content" {
		t.Errorf("reading a file with a long path: %q, %v", data, err)
	}
	if m, err := tree.glance(long + "file"); err != nil || !tree.Same(long+"file", m) {
		t.Errorf("looking at it: %v, %v", m, err)
	}
	for _, path := range []string{"a\x00b", long + "\x00"} {
		if _, err := tree.Handle(path); err == nil {
			t.Errorf("%q is opened", path)
		}
		if tree.Same(path, Mark{}) {
			t.Errorf("%q is the same as nothing", path)
		}
	}
}
