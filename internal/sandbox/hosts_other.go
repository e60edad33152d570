//go:build !linux

package sandbox

import (
	"errors"
	"os"

	"ikigai/internal/tool"
)

// hosts are the ways to start a program; here there is only the plain one.
type hosts struct{ sandbox *Sandbox }

const noJail = "confinement is made of Linux namespaces, Landlock and seccomp: use Linux, or a Linux container or virtual machine"

func (h *hosts) require() error { return errors.New("sandbox: no jail on this system: " + noJail) }

func (h *hosts) layers() []Layer {
	return []Layer{
		{Name: "namespaces", Why: noJail},
		{Name: "landlock", Why: noJail},
		{Name: "seccomp", Why: noJail},
	}
}

func (h *hosts) start(p program, _ tool.Grant, files [3]*os.File) (tree, error) {
	return startPlain(p, files)
}

func (h *hosts) close() error { return nil }
