//go:build unix

package toolkit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits until nobody else has the file locked. Closing it, and the end
// of the process, let it go.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}
