//go:build unix && !linux

package walk

import (
	"os"
	"syscall"
)

// openFlags open without waiting for the other end of a pipe.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
