package file_read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// counted tells how many bytes were read.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes += n
	return n, err
}

// small is an index that counts every few bytes.
func small(stride int64) *index { return &index{stride: stride, before: []int{0}} }

func TestAnIndexLeadsToEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.StringMatching(`[ab\n]{0,200}`).Draw(t, "content")
		x := small(rapid.Int64Range(1, 60).Draw(t, "stride"))
		r := strings.NewReader(content)
		for _, line := range rapid.SliceOfN(rapid.IntRange(1, 80), 1, 6).Draw(t, "lines") {
			in := input{Offset: line, Limit: 2}
			want, err := lines(strings.NewReader(content), in, 1, 1000)
			if err != nil {
				t.Fatal(err)
			}
			offset, number, err := x.find(context.Background(), r, line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := lines(strings.NewReader(content[min(int(offset), len(content)):]), in, number, 1000)
			if err != nil || got != want {
				t.Fatalf("line %d from %d on, which is in line %d: %q, %v; want %q", line, offset, number, got, err, want)
			}
		}
	})
}

func TestWhatWasCountedIsNotReadAgain(t *testing.T) {
	r := &counted{ReaderAt: strings.NewReader(strings.Repeat("line\n", 1000))}
	x := small(100)
	ask := func(line int) (read int) {
		before := r.bytes
		if _, _, err := x.find(context.Background(), r, line); err != nil {
			t.Fatal(err)
		}
		return r.bytes - before
	}
	if n := ask(101); n != 500 {
		t.Errorf("%d bytes were read for line 101", n)
	}
	if n := ask(201); n != 500 {
		t.Errorf("%d bytes were read to go on to line 201", n)
	}
	if n := ask(150); n != 0 {
		t.Errorf("%d bytes were read to go back", n)
	}
	ask(5000)
	if n := ask(9000); n != 0 {
		t.Errorf("%d bytes were read to learn again that there is no such line", n)
	}
}

func TestCountingEndsWhenTheCallDoes(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	if _, _, err := small(2).find(ended, strings.NewReader("a\nb\nc\n"), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, _, err := small(2).find(context.Background(), readerAt(func() error { return broken }), 3); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type readerAt func() error

func (r readerAt) ReadAt([]byte, int64) (int, error) { return 0, r() }

func TestAnIndexIsSmallWhateverTheFile(t *testing.T) {
	for _, size := range []int64{0, 1 << 20, 1 << 30, 1 << 40, 1 << 50} {
		x := newIndex(sized{size: size})
		if counts := size / x.stride; counts > 16<<10 {
			t.Errorf("%d counts for %d bytes", counts, size)
		}
	}
}

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// huge writes a file of more than maxWhole bytes that was last changed long ago.
func huge(tb testing.TB, s *stage.Stage, line string, when time.Time) {
	tb.Helper()
	name := filepath.Join(s.Workspace, "huge")
	if err := os.WriteFile(name, []byte(strings.Repeat(line, (maxWhole+1<<20)/len(line))), 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(name, when, when); err != nil {
		tb.Fatal(err)
	}
}

func TestAChangedFileIsCountedAnew(t *testing.T) {
	s := stage.New(t, nil)
	long := time.Now().Add(-time.Hour)
	read := func() string { return s.Output(Tool, `{"path":"huge","offset":300000,"limit":1}`) }
	huge(t, s, "0123456789abcde\n", long)
	if got := read(); got != "0123456789abcde\n" {
		t.Errorf("%q", got)
	}
	x := tool.Remember(s.Memo, indexKey(filepath.Join(s.Workspace, "huge")), func() *index { return nil })
	if x == nil || len(x.before) < 10 {
		t.Fatalf("nothing is remembered: %+v", x)
	}
	huge(t, s, "0123456\n", long.Add(time.Minute)) // the same size
	if got := read(); got != "0123456\n" {
		t.Errorf("after a change: %q", got)
	}
	if err := os.Rename(filepath.Join(s.Workspace, "huge"), filepath.Join(s.Workspace, "old")); err != nil {
		t.Fatal(err)
	}
	huge(t, s, "0123456789\n", long.Add(time.Minute)) // the same time
	if got := read(); got != "0123456789\n" {
		t.Errorf("another file: %q", got)
	}
	huge(t, s, "0123456789abcde\n", time.Now())
	if got := read(); got != "0123456789abcde\n" {
		t.Errorf("a young file: %q", got)
	}
}

func BenchmarkPagingThroughAHugeFile(b *testing.B) {
	for name, memo := range map[string]*tool.Memo{"remembering": {}, "forgetting": nil} {
		b.Run(name, func(b *testing.B) {
			s := stage.New(b, nil)
			s.Memo = memo
			huge(b, s, "0123456789abcdef0123456789abcdef\n", time.Now().Add(-time.Hour))
			for i := 0; b.Loop(); i++ {
				s.Call(Tool, fmt.Sprintf(`{"path":"huge","offset":%d,"limit":200}`, 300_000+i%100*200))
			}
		})
	}
}
