package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// locks are the sessions that this process has open: one locked file for each,
// in a folder beside the store. The system lets a lock go when its process
// dies, however it dies, and it holds between containers too, where a process
// id says nothing. Only the writer's goroutine uses it.
type locks struct {
	dir  string
	held map[string]*os.File
}

func newLocks(dir string) *locks { return &locks{dir, map[string]*os.File{}} }

// take reports false when another process, or another store here, has the session.
func (l *locks) take(session string) (bool, error) {
	if l.held[session] != nil {
		return true, nil
	}
	if err := os.Mkdir(l.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("locking session %s: %w", session, err)
	}
	for {
		f, err := os.OpenFile(l.path(session), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return false, fmt.Errorf("locking session %s: %w", session, err)
		}
		got, err := tryLock(f)
		if err != nil || !got {
			return false, errors.Join(err, f.Close())
		}
		if current(f) {
			l.held[session] = f
			return true, nil
		}
		f.Close() // its last owner removed it between our two steps; nothing was written
	}
}

func (l *locks) give(session string) error {
	f := l.held[session]
	if f == nil {
		return nil
	}
	delete(l.held, session)
	return release(f)
}

func (l *locks) path(session string) string {
	return filepath.Join(l.dir, url.PathEscape(session)+".lock")
}

// current reports whether f is still the file of that name.
func current(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, there)
}
