package walk

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A Root is the folder of a tree, held open. Paths are relative to it, with
// slashes; one that passes through a link to the outside is refused, on Linux
// one that passes through any link.
type Root struct {
	path string
	root *os.Root
	system
}

// OpenRoot opens the folder at an absolute path.
func OpenRoot(path string) (*Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the root of a tree: %w", err)
	}
	r := &Root{path: path, root: root}
	if err := r.system.open(root); err != nil {
		root.Close()
		return nil, fmt.Errorf("opening the root of a tree: %w", err)
	}
	return r, nil
}

// Close gives the root back.
func (r *Root) Close() error {
	r.system.close()
	return r.root.Close()
}

// ReadFile reads a regular file whole.
func (r *Root) ReadFile(path string) ([]byte, error) {
	f, err := r.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Open opens a regular file for reading. It does not wait for a pipe.
func (r *Root) Open(path string) (*os.File, error) {
	f, err := r.open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("reading %s: %w", path, errNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Changed is when a file or folder last changed.
func (r *Root) Changed(path string) (time.Time, error) {
	m, err := r.changed(path)
	if err != nil {
		return time.Time{}, fmt.Errorf("looking at %s: %w", path, err)
	}
	return time.Unix(0, m.mtime), nil
}

// Same reports whether what is at path has the mark.
func (r *Root) Same(path string, m Mark) bool {
	now, err := r.glance(path)
	return err == nil && now == m
}

var errNotRegular = fmt.Errorf("not a regular file: %w", fs.ErrInvalid)

// readDirSlowly lists a folder with what every system has.
func (r *Root) readDirSlowly(path string) ([]Entry, Mark, error) {
	f, err := r.root.Open(cmp.Or(path, "."))
	if err != nil {
		return nil, Mark{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Mark{}, err
	}
	list, err := f.ReadDir(-1)
	entries := make([]Entry, len(list))
	for i, e := range list {
		entries[i] = Entry{Path: join(path, e.Name()), Type: e.Type()}
	}
	return entries, markOf(info), err
}

// sizeOf is false for what is no regular file.
func sizeOf(f *os.File) (int64, bool) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (r *Root) changedSlowly(path string) (Mark, error) {
	info, err := r.root.Lstat(cmp.Or(path, "."))
	if err != nil {
		return Mark{}, err
	}
	return markOf(info), nil
}
