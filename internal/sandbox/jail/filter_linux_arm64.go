package jail

import "golang.org/x/sys/unix"

// auditArch is what the kernel calls this machine; it has one calling
// convention, so no number is foreign.
const (
	auditArch    = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0xffffffff
)
