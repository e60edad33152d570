//go:build !windows

package provider

import "syscall"

// How this system says that nobody listens, that the other side hung up, and
// that there is no way.
var (
	refused = []error{syscall.ECONNREFUSED}
	hungUp  = []error{syscall.ECONNRESET, syscall.EPIPE}
	noRoute = []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH}
)
