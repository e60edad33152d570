package file_read

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sort"
	"sync"
	"time"

	"ikigai/internal/tool"
)

// An index tells where in a huge file a line is, roughly: how many line ends
// there are before every so many bytes. It goes as far as somebody asked, and
// has a bounded size whatever the size of the file.
type index struct {
	mu     sync.Mutex // guards all that follows, also while the file is counted
	of     fs.FileInfo
	stride int64
	before []int // before[i] line ends are in the first i*stride bytes
	whole  bool  // the last count reaches the end of the file
}

// indexKey is the real path of a file whose index is remembered.
type indexKey string

// indexed gives what is remembered of an open file, or an empty index when it is
// another file, or was changed.
func indexed(m *tool.Memo, real string, f tool.File) (*index, error) {
	taken := time.Now()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !settled(info, taken) {
		return newIndex(info), nil
	}
	x := tool.Remember(m, indexKey(real), func() *index { return newIndex(info) })
	x.mu.Lock()
	defer x.mu.Unlock()
	if !os.SameFile(x.of, info) || x.of.Size() != info.Size() || !x.of.ModTime().Equal(info.ModTime()) {
		x.reset(info)
	}
	return x, nil
}

// settled reports whether a later change must change the time of the file: some
// systems keep whole seconds only.
func settled(info fs.FileInfo, taken time.Time) bool {
	return taken.Sub(info.ModTime()) > 2*time.Second
}

func newIndex(of fs.FileInfo) *index {
	x := &index{}
	x.reset(of)
	return x
}

// reset makes it the empty index of a file.
func (x *index) reset(of fs.FileInfo) {
	const (
		chunk = 64 << 10
		most  = 16 << 10 // counts, 128 KB
	)
	x.of, x.before, x.whole = of, []int{0}, false
	x.stride = chunk * (1 + of.Size()/chunk/most)
}

// find gives an offset at or before the beginning of a line, and the number of
// the line there. What lies between was not counted yet or is short.
func (x *index) find(ctx context.Context, f io.ReaderAt, line int) (offset int64, number int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.extend(ctx, f, line-1); err != nil {
		return 0, 0, err
	}
	// The line begins behind line end number line-1, so one fewer must be before.
	at := max(0, sort.SearchInts(x.before, line-1)-1)
	return int64(at) * x.stride, x.before[at] + 1, nil
}

// extend counts on until so many line ends were seen, or the end of the file.
func (x *index) extend(ctx context.Context, f io.ReaderAt, ends int) error {
	if x.whole || x.before[len(x.before)-1] >= ends {
		return nil
	}
	buf := make([]byte, min(x.stride, 256<<10))
	for !x.whole && x.before[len(x.before)-1] < ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.step(f, buf); err != nil {
			return err
		}
	}
	return nil
}

// step counts one stride. A last one that is not whole is not kept.
func (x *index) step(f io.ReaderAt, buf []byte) error {
	from := int64(len(x.before)-1) * x.stride
	count := x.before[len(x.before)-1]
	for done := int64(0); done < x.stride; {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), x.stride-done)], from+done)
		count += bytes.Count(buf[:n], []byte{'\n'})
		done += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			x.whole = true
			return nil
		case err != nil:
			return err
		}
	}
	x.before = append(x.before, count)
	return nil
}
