//go:build !linux

package walk

import (
	"io/fs"
	"os"
)

// system has nothing to add to os.Root here.
type system struct{}

func (*system) open(*os.Root) error { return nil }
func (*system) close()              {}

func (r *Root) open(path string) (*os.File, error) { return r.root.OpenFile(path, openFlags, 0) }

// A Handle is a file opened to be read once.
type Handle struct{ *os.File }

// Handle opens a file without waiting for a pipe. What the file is, is not
// looked at: see Size.
func (r *Root) Handle(path string) (Handle, error) {
	f, err := r.open(path)
	return Handle{f}, err
}

// Size is how long the file is. It is false for what is no regular file.
func (h Handle) Size() (int64, bool) { return sizeOf(h.File) }

// Mark is that of the file. It is false where a mark cannot be relied on: here it
// lacks the time of the last change of any kind.
func (h Handle) Mark() (Mark, bool) { return Mark{}, false }

func (r *Root) changed(path string) (Mark, error) { return r.changedSlowly(path) }

func (r *Root) glance(path string) (Mark, error) { return r.changedSlowly(path) }

// A station is a root here: there is nothing to hold open.
type station struct{ root *Root }

func (r *Root) station() *station { return &station{r} }

func (*station) leave() {}

func (s *station) asked(dir, name string) (when int64, alone bool, err error) {
	m, err := s.root.changedSlowly(join(dir, name))
	return m.mtime, false, err
}

func markOf(info fs.FileInfo) Mark {
	return Mark{mtime: info.ModTime().UnixNano(), size: info.Size()}
}

// A lister has nothing to keep here.
type lister struct{}

func (r *Root) readDir(path string, _ *lister) ([]Entry, Mark, error) { return r.readDirSlowly(path) }
