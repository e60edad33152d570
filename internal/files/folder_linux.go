package files

import "golang.org/x/sys/unix"

// pathOnly opens a folder for passing through: no read permission needed.
const pathOnly = unix.O_PATH
