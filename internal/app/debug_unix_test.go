//go:build unix

package app

import "golang.org/x/sys/unix"

func makeFifo(name string) error { return unix.Mkfifo(name, 0o600) }
