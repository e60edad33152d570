package toolkit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits until nobody else has the file locked. Closing it, and the end
// of the process, let it go.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
