//go:build !linux

package walk

import "os"

// system has nothing to add to os.Root here.
type system struct{}

func (*system) open(*os.Root) error { return nil }
func (*system) close()              {}

func (r *Root) open(path string) (*os.File, error) { return r.root.OpenFile(path, openFlags, 0) }

// Read reads the beginning of a regular file into buf, as much as fits.
func (r *Root) Read(path string, buf []byte) (n int, err error) { return r.readSlowly(path, buf) }

func (r *Root) changed(path string) (mark, error) { return r.changedSlowly(path) }

func (r *Root) readDir(path string, _ []byte) ([]Entry, error) { return r.readDirSlowly(path) }
