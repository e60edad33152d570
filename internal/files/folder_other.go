//go:build !unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// A folder is a folder held open. Its methods take single names, never paths,
// and never follow a link: os.Root would follow one that stays inside, so what
// was opened is compared with what the name was just before.
type folder struct{ root *os.Root }

func openFolder(real string) (*folder, error) {
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &folder{root}, nil
}

func (d *folder) again() (*folder, error) {
	root, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &folder{root}, nil
}

func (d *folder) close() error { return d.root.Close() }

func (d *folder) enter(name string) (*folder, error) {
	before, err := d.stat(name)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errMoved
	case !before.IsDir():
		return nil, syscall.ENOTDIR
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := root.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errMoved
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &folder{root}, nil
}

func (d *folder) open(name string) (*os.File, error) { return d.existing(name, os.O_RDONLY) }

func (d *folder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

func (d *folder) writable(name string) error {
	f, err := d.existing(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *folder) existing(name string, flags int) (*os.File, error) {
	before, err := d.stat(name)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errMoved
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d *folder) mkdir(name string) error               { return d.root.Mkdir(name, 0o777) }
func (d *folder) rename(from, to string) error          { return d.root.Rename(from, to) }
func (d *folder) remove(name string) error              { return d.root.Remove(name) }
func (d *folder) stat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d *folder) list() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// lock does nothing here: two agents in one folder are told apart by stamps alone.
func (d *folder) lock() (unlock func(), err error) { return func() {}, nil }

// keepOwner does nothing here: a new file inherits what the folder says.
func keepOwner(*os.File, fs.FileInfo) {}
