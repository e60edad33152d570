package files

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ikigai/internal/tool"
)

func TestWritingKeepsModeAndLinks(t *testing.T) {
	s := newStage(t)
	s.file("run.sh", "old")
	s.must(os.Chmod(s.path("run.sh"), 0o750))
	s.link("l", "run.sh")
	s.must(os.Link(s.path("run.sh"), s.path("{OUT}/twin")))
	s.must(s.open().WriteFile("l", []byte("new"), tool.Stamp{}))
	if info, err := os.Lstat(s.path("l")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", info, err)
	}
	if info, err := os.Stat(s.path("run.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("the file is now %v, %v", info, err)
	}
	for name, want := range map[string]string{"run.sh": "new", "{OUT}/twin": "old"} {
		if data, err := os.ReadFile(s.path(name)); err != nil || string(data) != want {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	s.nothingBeside("run.sh", "l")
}

func TestADanglingLinkIsWrittenThrough(t *testing.T) {
	s := newStage(t)
	s.link("l", "new/a.txt")
	s.must(s.open().WriteFile("l", []byte("x"), tool.Stamp{}))
	if data, err := os.ReadFile(s.path("new/a.txt")); err != nil || string(data) != "x" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestAStaleWriteIsRefused(t *testing.T) {
	s := newStage(t)
	s.file("a.txt", "one")
	r := s.open()
	_, stamp, err := r.ReadFile("a.txt")
	s.must(err)
	if seen, ok := r.Seen(s.path("a.txt")); !ok || seen != stamp || stamp != sha256.Sum256([]byte("one")) {
		t.Errorf("seen is %x", seen)
	}
	s.must(r.WriteFile("a.txt", []byte("two"), stamp))
	for _, name := range []string{"a.txt", "gone.txt"} {
		if err := r.WriteFile(name, []byte("three"), stamp); tool.CodeOf(err, "") != tool.FileChanged {
			t.Errorf("%s: %v", name, err)
		}
	}
	if seen, _ := r.With(tool.Grant{}).Seen("./a.txt"); seen != sha256.Sum256([]byte("two")) {
		t.Error("the write was not remembered in all views")
	}
	if data, _ := os.ReadFile(s.path("a.txt")); string(data) != "two" {
		t.Errorf("the file has %q", data)
	}
	if _, ok := r.Seen("never"); ok {
		t.Error("saw a file that was never read")
	}
	s.nothingBeside("a.txt")
}

// Several agents count up in one file; each reads, adds one and writes with the
// stamp of what it read, again when it was too late. No step may be lost.
func TestConcurrentWritersLoseNoUpdate(t *testing.T) {
	const agents, steps = 4, 50
	s := newStage(t)
	s.file("count", "0")
	var group sync.WaitGroup
	for range agents {
		r := s.open() // of its own, as another process would have
		group.Go(func() {
			for done := 0; done < steps; {
				data, stamp, err := r.ReadFile("count")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(data))
				switch err := r.WriteFile("count", fmt.Append(nil, n+1), stamp); tool.CodeOf(err, "") {
				case "":
					done++
				case tool.FileChanged:
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if data, _ := os.ReadFile(s.path("count")); string(data) != strconv.Itoa(agents*steps) {
		t.Errorf("counted to %s", data)
	}
}

func TestReadersSeeOldOrNewBytesWhole(t *testing.T) {
	s := newStage(t)
	old, young := bytes.Repeat([]byte("o"), 1<<18), bytes.Repeat([]byte("n"), 1<<17)
	r := s.open()
	s.must(r.WriteFile("f", old, tool.Stamp{}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 40 {
			_ = r.WriteFile("f", [][]byte{young, old}[i%2], tool.Stamp{})
		}
	}()
	for {
		data, _, err := r.ReadFile("f")
		if err != nil || !bytes.Equal(data, old) && !bytes.Equal(data, young) {
			t.Fatalf("read %d bytes, %v", len(data), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permission does not bind root; runs again as a plain user")
	}
	s := newStage(t)
	s.file("ro/a.txt", "old")
	s.file("locked.txt", "old")
	s.must(os.Chmod(s.path("ro"), 0o555))
	s.must(os.Chmod(s.path("locked.txt"), 0o444))
	t.Cleanup(func() { os.Chmod(s.path("ro"), 0o755) })
	r := s.open()
	for _, name := range []string{"ro/a.txt", "ro/new.txt", "locked.txt"} {
		if err := r.WriteFile(name, []byte("new"), tool.Stamp{}); tool.CodeOf(err, "") != tool.PermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.nothingBeside("ro", "ro/a.txt", "locked.txt")
}

// nothingBeside fails when the workspace has a name that was not given.
func (s stage) nothingBeside(names ...string) {
	s.tb.Helper()
	var extra []string
	s.must(fs.WalkDir(os.DirFS(s.ws()), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." && !strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+path+"\n") {
			extra = append(extra, path)
		}
		return err
	}))
	if extra != nil {
		s.tb.Errorf("left behind: %q", extra)
	}
}

func BenchmarkReadFile(b *testing.B) {
	s := newStage(b)
	s.file("a/b/c/d.txt", strings.Repeat("x", 4096))
	r := s.open()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.ReadFile("a/b/c/d.txt"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteFile(b *testing.B) {
	s := newStage(b)
	r := s.open()
	data := bytes.Repeat([]byte("x"), 4096)
	for b.Loop() {
		s.must(r.WriteFile("a/b/c/d.txt", data, tool.Stamp{}))
	}
}
