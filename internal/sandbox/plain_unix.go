//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// killGroup ends every process of the group that p leads. Stopped ones are
// woken, or they would never hear of it.
func killGroup(p *os.Process, hard bool) {
	if hard {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // no such group: all are gone
		return
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGTERM)
	_ = syscall.Kill(-p.Pid, syscall.SIGCONT)
}

func stateOf(s *os.ProcessState) status {
	ws, ok := s.Sys().(syscall.WaitStatus)
	if !ok {
		return status{code: s.ExitCode()}
	}
	return unixStatus(ws)
}

// unixStatus says a wait status as a shell does.
func unixStatus(ws syscall.WaitStatus) status {
	if ws.Signaled() {
		return status{code: 128 + int(ws.Signal()), signal: ws.Signal().String()}
	}
	return status{code: ws.ExitStatus()}
}
