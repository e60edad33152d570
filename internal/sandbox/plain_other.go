//go:build unix && !linux

package sandbox

import "syscall"

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
