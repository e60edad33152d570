package provider

import "syscall"

// How this system says that nobody listens, that the other side hung up, and
// that there is no way.
var (
	refused = []error{syscall.ECONNREFUSED, syscall.Errno(10061)}
	hungUp  = []error{syscall.ECONNRESET, syscall.EPIPE, syscall.Errno(10053), syscall.Errno(10054)}
	noRoute = []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.Errno(10051), syscall.Errno(10065)}
)
