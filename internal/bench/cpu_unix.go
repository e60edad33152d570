//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU is how long all threads of this process have worked.
func CPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // it cannot fail for oneself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
