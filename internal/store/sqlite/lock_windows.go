package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func tryLock(f *os.File) (bool, error) {
	const exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), exclusive, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// release lets the lock go by closing the file. An open file cannot be removed
// here; when another process was quick to open it, it stays for that one.
func release(f *os.File) error {
	err := f.Close()
	os.Remove(f.Name())
	return err
}
