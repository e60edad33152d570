package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"ikigai/internal/tool"
)

// Stat describes what name leads to, links followed.
func (r *Roots) Stat(name string) (info fs.FileInfo, err error) {
	err = r.at(name, reading, tool.OpenFailed, func(p place) error {
		info, err = p.stat()
		return err
	})
	return info, err
}

// Open opens a regular file for reading.
func (r *Roots) Open(name string) (tool.File, error) {
	f, err := r.open(name, nil)
	if err != nil {
		return nil, err // not f: a nil *os.File in the interface would not be nil
	}
	return f, nil
}

func (r *Roots) open(name string, real *string) (f *os.File, err error) {
	err = r.at(name, reading, tool.OpenFailed, func(p place) error {
		f, err = p.open()
		if real != nil {
			*real = p.real
		}
		return err
	})
	return f, err
}

// ReadFile reads a regular file whole and remembers its stamp as seen.
func (r *Roots) ReadFile(name string) ([]byte, tool.Stamp, error) {
	var real string
	f, err := r.open(name, &real)
	if err != nil {
		return nil, tool.Stamp{}, err
	}
	defer f.Close()
	data, err := readAll(f)
	if err != nil {
		return nil, tool.Stamp{}, describe(err, name, reading, tool.ReadFailed)
	}
	return data, r.saw(real, data), nil
}

// readAll reads f in one piece when its size is what it says.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF && n == 0 {
		return data[:n], nil
	}
	if err != nil {
		return nil, err
	}
	more, err := io.ReadAll(f) // it grew, or it is a file of /proc that has no size
	return append(data, more...), err
}

// ReadDir lists a folder in name order, without its own name and its parent's.
// No name means Dir.
func (r *Roots) ReadDir(name string) (list []fs.DirEntry, err error) {
	if name == "" {
		name = "."
	}
	err = r.at(name, reading, tool.ReadFailed, func(p place) error {
		list, err = p.list()
		return err
	})
	return list, err
}

// Mkdir makes a folder and the missing ones above it. That it is there already is fine.
func (r *Roots) Mkdir(name string) error {
	return r.at(name, writing, tool.WriteFailed, func(p place) error {
		dir, err := p.dir(true)
		if err != nil {
			return err
		}
		return dir.close()
	})
}

func (p place) stat() (fs.FileInfo, error) {
	if len(p.parts) == 0 {
		return p.start.stat(".")
	}
	dir, base, err := p.parent(false)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	info, err := dir.stat(base)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errMoved
	case p.folder && !info.IsDir():
		return nil, errNotFolder
	}
	return info, nil
}

// open looks at the name before it opens it, since opening alone can already
// do something to a device, and makes sure afterwards that it got what it saw.
func (p place) open() (*os.File, error) {
	dir, base, err := p.parent(false)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if _, err := p.regular(dir, base); err != nil {
		return nil, err
	}
	f, err := dir.open(base)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errMoved
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// regular describes a name that must be a regular file.
func (p place) regular(dir *folder, base string) (fs.FileInfo, error) {
	info, err := dir.stat(base)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return nil, errMoved
	case mode.IsDir():
		return nil, errIsFolder
	case !mode.IsRegular():
		return nil, fmt.Errorf("%w but a %s", errNotRegular, kind(mode))
	case p.folder:
		return nil, errNotFolder
	}
	return info, nil
}

func (p place) list() ([]fs.DirEntry, error) {
	info, err := p.stat()
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotFolder
	}
	dir, err := p.dir(false)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	return dir.list()
}

// kind is the word for what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
