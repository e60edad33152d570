package bench

import (
	"time"

	"golang.org/x/sys/windows"
)

// CPU is how long all threads of this process have worked.
func CPU() time.Duration {
	var begun, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &begun, &ended, &kernel, &user) != nil {
		return 0 // it cannot fail for oneself
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
