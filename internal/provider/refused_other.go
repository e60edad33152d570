//go:build !windows

package provider

import "syscall"

// refused are the ways in which this system says that nobody listens.
var refused = []error{syscall.ECONNREFUSED}
