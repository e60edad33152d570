package jail

import "golang.org/x/sys/unix"

// auditArch is what the kernel calls this machine; foreignCalls is where the
// numbers of its second calling convention begin.
const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	foreignCalls = 0x40000000
)
