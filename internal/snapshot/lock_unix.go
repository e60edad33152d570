//go:build unix

package snapshot

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file, or says that another has it. The lock
// goes with the file: a process that dies gives it back.
func tryLock(f *os.File, alone bool) (bool, error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err {
	case nil:
		return true, nil
	case unix.EWOULDBLOCK, unix.EINTR:
		return false, nil
	default:
		return false, err
	}
}
