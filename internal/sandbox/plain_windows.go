package sandbox

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup ends p. There is no polite way to a process without a console, and
// its children are not followed.
func killGroup(p *os.Process, _ bool) { _ = p.Kill() }

func stateOf(s *os.ProcessState) status { return status{code: s.ExitCode()} }
