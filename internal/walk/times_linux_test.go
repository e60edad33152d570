package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const aHundred = 100

// aLargeTree has files, ten in a folder, all of them old.
func aLargeTree(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	dir, err := os.Open(filepath.Dir(root))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if !local(int(dir.Fd())) {
		t.Skip("folders of the file system for temporary files are not watched")
	}
	for i := range aHundred {
		path := filepath.Join(root, fmt.Sprintf("part%d/unit%03d/file%d", i/10%3, i/10, i%10))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2020, 1, 1, 0, 0, i*79%aHundred, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// newestOf are the paths of a tree as a cache orders them.
func newestOf(t *testing.T, c *Cache) []string {
	t.Helper()
	list, err := c.List(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := c.Newest(context.Background(), list)
	if err != nil {
		t.Fatal(err)
	}
	return pathsOf(sorted)
}

func pathsOf(list []Entry) (paths []string) {
	for _, e := range list {
		paths = append(paths, e.Path)
	}
	return paths
}

// eager is a cache that thinks every tree worth watching.
func eager(root string) *Cache {
	c := NewCache(root)
	c.times.least = 1
	return c
}

// warmed is a cache that remembers the times of a tree.
func warmed(t *testing.T, root string) *Cache {
	t.Helper()
	c := eager(root)
	for range 2 {
		newestOf(t, c)
	}
	if n := unknown(t, c); n > 0 {
		t.Fatalf("%d times were not kept", n)
	}
	return c
}

// unknown is of how many entries the time would have to be asked for.
func unknown(t *testing.T, c *Cache) (n int) {
	t.Helper()
	list, err := c.List(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := OpenRoot(c.root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, r := range c.times.recall(tree, list, make([]dated, len(list))) {
		n += r.end - r.first
	}
	return n
}

// Whatever happens to a tree whose times are known, the order is the one that
// somebody sees who knows nothing.
func TestTimesThatAreKeptAreThoseOfTheFiles(t *testing.T) {
	write := func(path, text string, flags int) error {
		f, err := os.OpenFile(path, flags|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
	const file, other = "part0/unit000/file3", "part1/unit001/file5"
	for _, change := range []struct {
		name   string
		before func(at func(string) string) (func() error, error) // the change, prepared
	}{
		{"written in place", func(at func(string) string) (func() error, error) {
			return func() error { return write(at(file), "TEXT\n", 0) }, nil
		}},
		{"appended", func(at func(string) string) (func() error, error) {
			return func() error { return write(at(file), "more\n", os.O_APPEND) }, nil
		}},
		{"cut", func(at func(string) string) (func() error, error) {
			return func() error { return os.Truncate(at(file), 1) }, nil
		}},
		{"given another time", func(at func(string) string) (func() error, error) {
			return func() error { return os.Chtimes(at(file), time.Now(), time.Now()) }, nil
		}},
		{"replaced", func(at func(string) string) (func() error, error) {
			err := write(at("fresh"), "new\n", os.O_CREATE)
			return func() error { return os.Rename(at("fresh"), at(file)) }, err
		}},
		{"moved", func(at func(string) string) (func() error, error) {
			return func() error { return os.Rename(at(file), at(other)) }, nil
		}},
		{"made", func(at func(string) string) (func() error, error) {
			return func() error { return write(at(file+"a"), "new\n", os.O_CREATE) }, nil
		}},
		{"removed", func(at func(string) string) (func() error, error) {
			return func() error { return os.Remove(at(file)) }, nil
		}},
		{"a folder removed", func(at func(string) string) (func() error, error) {
			return func() error { return os.RemoveAll(at(filepath.Dir(file))) }, nil
		}},
		{"folders that changed places", func(at func(string) string) (func() error, error) {
			return func() error {
				a, b := at(filepath.Dir(file)), at(filepath.Dir(other))
				return errors.Join(os.Rename(a, a+"x"), os.Rename(b, a), os.Rename(a+"x", b))
			}, nil
		}},
		{"the folders above changed places", func(at func(string) string) (func() error, error) {
			return func() error {
				return errors.Join(os.Rename(at("part0"), at("x")), os.Rename(at("part1"), at("part0")), os.Rename(at("x"), at("part1")))
			}, nil
		}},
		{"the folder above and its twin changed places", func(at func(string) string) (func() error, error) {
			err := os.CopyFS(at("twin"), os.DirFS(at("part0")))
			return func() error {
				return errors.Join(os.Rename(at("part0"), at("x")), os.Rename(at("twin"), at("part0")), os.Rename(at("x"), at("twin")))
			}, err
		}},
		{"written through a link", func(at func(string) string) (func() error, error) {
			name := at("") + " link"
			return func() error { return write(name, "TEXT\n", 0) }, os.Symlink(at(file), name)
		}},
		{"written by who opened it before", func(at func(string) string) (func() error, error) {
			f, err := os.OpenFile(at(file), os.O_WRONLY, 0)
			return func() error {
				_, err := f.WriteString("TEXT\n")
				return errors.Join(err, f.Close())
			}, err
		}},
		{"written through its other name", func(at func(string) string) (func() error, error) {
			name := at("") + " other name"
			return func() error { return write(name, "TEXT\n", 0) }, os.Link(at(file), name)
		}},
		{"written in memory, and closed", func(at func(string) string) (func() error, error) {
			f, err := os.OpenFile(at(file), os.O_RDWR, 0)
			if err != nil {
				return nil, err
			}
			text, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_WRITE, unix.MAP_SHARED)
			return func() error {
				text[0] = 'T'
				return errors.Join(unix.Munmap(text), f.Close())
			}, err
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			root := aLargeTree(t)
			do, err := change.before(func(path string) string { return filepath.Join(root, path) })
			if err != nil {
				t.Fatal(err)
			}
			c := eager(root)
			for range 3 {
				newestOf(t, c)
			}
			if n := unknown(t, c); n > 1 { // that with another name
				t.Errorf("%d times were not kept", n)
			}
			before := newestOf(t, c)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			got, want := newestOf(t, c), newestOf(t, NewCache(root))
			if !slices.Equal(got, want) {
				t.Errorf("the newest are %v, not %v", got[:3], want[:3])
			}
			if slices.Equal(before, want) {
				t.Error("the change changed nothing: this proves nothing")
			}
		})
	}
}

func TestWhoAsksOnceOrForLittlePaysNothing(t *testing.T) {
	large, few := eager(aLargeTree(t)), NewCache(aLargeTree(t))
	newestOf(t, large)
	for range 3 {
		newestOf(t, few)
	}
	if large.times.watcher != nil || few.times.watcher != nil {
		t.Error("somebody watches")
	}
}

// When the system could not tell everything, nothing is taken for known.
func TestTooManyChangesToTell(t *testing.T) {
	root := aLargeTree(t)
	c := warmed(t, root)
	a, b := filepath.Join(root, "part0/unit000/file0"), filepath.Join(root, "part0/unit000/file3")
	for i := range 20_000 { // twice in a row would be told once
		if err := os.Truncate([]string{a, b}[i%2], int64(i%7)); err != nil {
			t.Fatal(err)
		}
	}
	late := filepath.Join(root, "part1/unit001/file5") // there was no room to tell of this
	if err := os.Chtimes(late, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, want := newestOf(t, c), newestOf(t, NewCache(root)); !slices.Equal(got, want) || got[0] != "part1/unit001/file5" {
		t.Errorf("the newest are %v, not %v", got[:3], want[:3])
	}
	if n := unknown(t, c); n > 0 {
		t.Errorf("%d times are not kept afterwards", n)
	}
}

func TestOnlySoManyFoldersAreWatched(t *testing.T) {
	root := aLargeTree(t)
	c := eager(root)
	newestOf(t, c)
	c.times.folders, c.times.ids, c.times.watcher = map[string]*watched{}, map[int32]*watched{}, newWatcher()
	c.times.watcher.most = 2
	for range 3 {
		newestOf(t, c)
	}
	if n := unknown(t, c); n != aHundred-20 || len(c.times.ids) != 2 {
		t.Errorf("%d are unknown, %d folders watched", n, len(c.times.ids))
	}
	if err := os.RemoveAll(filepath.Join(root, "part0")); err != nil { // what is watched goes, and makes room
		t.Fatal(err)
	}
	if got, want := newestOf(t, c), newestOf(t, NewCache(root)); !slices.Equal(got, want) {
		t.Error("the order is another one")
	}
	if left := aHundred - 40; unknown(t, c) != left-20 {
		t.Errorf("%d are unknown of %d", unknown(t, c), left)
	}
}

// A folder that is watched by one name is forgotten by the other.
func TestAFolderThatComesBack(t *testing.T) {
	root := aLargeTree(t)
	c := warmed(t, root)
	here, there := filepath.Join(root, "part0"), filepath.Join(root, "away")
	steps := []func() error{
		func() error { return os.Rename(here, there) },
		func() error { return os.WriteFile(filepath.Join(there, "unit000/file3"), []byte("new"), 0o644) },
		func() error { return os.Rename(there, here) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if got, want := newestOf(t, c), newestOf(t, NewCache(root)); !slices.Equal(got, want) {
			t.Errorf("step %d: the newest are %v, not %v", i, got[:3], want[:3])
		}
	}
}

// A name that a file is given later, elsewhere, is one that no watch sees. What is
// written through it is seen when what is kept is too old.
func TestNothingIsKeptForLong(t *testing.T) {
	root := aLargeTree(t)
	c := warmed(t, root)
	name := filepath.Join(t.TempDir(), "other name")
	if err := os.Link(filepath.Join(root, "part0/unit000/file3"), name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.times.now = func() time.Time { return time.Now().Add(longEnough) }
	if got := newestOf(t, c); got[0] != "part0/unit000/file3" {
		t.Errorf("the newest are %v", got[:3])
	}
}

func TestWithoutAWatcherAllTimesAreAskedFor(t *testing.T) {
	root := aLargeTree(t)
	c := eager(root)
	newestOf(t, c)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	w := newWatcher()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if w != nil {
		t.Error("there is a watcher without a descriptor")
	}
	c.times.folders = nil
	list, err := c.List(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	makeSlow(s)
	if _, _, ok := newWatcher().add(s, "part0"); ok {
		t.Error("a folder is watched that was not opened in the safe way")
	}
	if got := c.times.recall(s, list, make([]dated, len(list))); len(got) != aHundred/10 {
		t.Errorf("%d folders are asked for", len(got))
	}
}

// Several ask while others write; when all is quiet the order is right.
func TestTimesInAChangingTree(t *testing.T) {
	root := aLargeTree(t)
	c := warmed(t, root)
	ctx, stop := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer stop()
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			for i := worker; ctx.Err() == nil; i += 2 {
				path := filepath.Join(root, fmt.Sprintf("part%d/unit%03d/file%d", i%10%3, i%10, i/10%10))
				switch i % 5 {
				case 0:
					_ = os.Rename(path, path+"x") // often there is none
				case 1:
					_ = os.Rename(path+"x", path)
				default:
					_ = os.WriteFile(path, []byte(strings.Repeat("x", i%50)), 0o644)
				}
			}
		})
		group.Go(func() {
			for ctx.Err() == nil {
				newestOf(t, c)
			}
		})
	}
	group.Wait()
	if got, want := newestOf(t, c), newestOf(t, NewCache(root)); !slices.Equal(got, want) {
		t.Errorf("the newest are %v, not %v", got[:3], want[:3])
	}
}

func TestAWatchEndsWithItsCache(t *testing.T) {
	c := warmed(t, aLargeTree(t))
	link := fmt.Sprintf("/proc/self/fd/%d", c.times.watcher.fd)
	if to, err := os.Readlink(link); err != nil || !strings.Contains(to, "inotify") {
		t.Fatalf("the watcher is %s, %v", to, err)
	}
	runtime.KeepAlive(c)
	for end := time.Now().Add(10 * time.Second); ; {
		runtime.GC()
		to, err := os.Readlink(link)
		if err != nil || !strings.Contains(to, "inotify") {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is still there")
		}
		time.Sleep(time.Millisecond)
	}
}
