//go:build unix && !linux

package files

import "golang.org/x/sys/unix"

// pathOnly is for passing through a folder; without O_PATH it must be readable.
const pathOnly = unix.O_RDONLY
