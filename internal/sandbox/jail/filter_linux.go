package jail

import (
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the record a seccomp program looks at. Arguments are 64 bits wide;
// what we compare is in the lower half, which comes first on both machines.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
)

// refusedCalls are ways to reach the kernel or other processes that no build
// and no test needs.
var refusedCalls = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PIDFD_GETFD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SYSLOG,
}

// tracing is refused too where other processes can be seen.
var tracing = []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV}

// filters are the seccomp programs that were written so far and may serve
// again: there are but few.
type filters map[bool][]unix.SockFilter

// install sets the program for p on the calling thread.
func (f filters) install(p *Plan) error {
	if auditArch == 0 {
		return nil
	}
	code, ok := f[p.Net]
	if !ok || !p.Whole {
		code = program(p, uint32(unix.Gettid()))
	}
	if p.Whole {
		f[p.Net] = code
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return doing("filtering system calls", errno)
	}
	return nil
}

// HasFilter reports whether the kernel and the machine can filter system calls.
func HasFilter() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return auditArch != 0 && errno == 0
}

// program is the filter: calls made for another machine do not exist, listed
// ones are refused, and a few are judged by an argument. It searches by
// halves, because the kernel tries it on every call there is when it is set.
// Starter is the thread that will start the program.
func program(p *Plan, starter uint32) []unix.SockFilter {
	var c assembler
	c.load(offArch)
	c.unless(auditArch, absent)
	c.load(offNumber)
	c.from(foreignCalls, absent)
	verdicts := map[uint32][]unix.SockFilter{}
	for _, nr := range refusedCalls {
		verdicts[nr] = returns(refuse)
	}
	if !p.Whole {
		for _, nr := range tracing {
			verdicts[nr] = returns(refuse)
		}
		maps.Copy(verdicts, sparing(starter))
	}
	// Its flags lie in memory, out of sight; programs fall back to clone.
	verdicts[unix.SYS_CLONE3] = returns(absent)
	verdicts[unix.SYS_CLONE] = newUser()
	verdicts[unix.SYS_UNSHARE] = newUser()
	verdicts[unix.SYS_IOCTL] = typing()
	verdicts[unix.SYS_SOCKET] = sockets(families(p))
	c.search(slices.Sorted(maps.Keys(verdicts)), verdicts)
	return c.code
}

const (
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	accept = unix.SECCOMP_RET_ALLOW
)

func returns(v uint32) []unix.SockFilter {
	var c assembler
	c.ret(v)
	return c.code
}

// sparing keeps a program from ending the helper that keeps its tree. Landlock
// lets it signal whoever is confined as it is, and the thread that started it
// is: so all ways to signal one thread are judged or refused. The rest of the
// helper is not confined and out of reach.
func sparing(thread uint32) map[uint32][]unix.SockFilter {
	list := map[uint32][]unix.SockFilter{
		// It takes a folder of /proc for a process, which may be any thread's;
		// programs fall back to kill.
		unix.SYS_PIDFD_SEND_SIGNAL: returns(absent),
		unix.SYS_FCNTL:             refusing(offArg1, unix.F_SETSIG), // any signal for input, to any thread
	}
	for _, nr := range []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO} {
		list[nr] = refusing(offArg0, thread)
	}
	for _, nr := range []uint32{unix.SYS_TGKILL, unix.SYS_RT_TGSIGQUEUEINFO} {
		list[nr] = refusing(offArg1, thread)
	}
	return list
}

// refusing refuses one value of an argument.
func refusing(arg, value uint32) []unix.SockFilter {
	var c assembler
	c.load(arg)
	c.is(value, refuse)
	c.ret(accept)
	return c.code
}

// newUser refuses namespaces in which a program would be its own master.
func newUser() []unix.SockFilter {
	var c assembler
	c.load(offArg0)
	c.has(unix.CLONE_NEWUSER, refuse)
	c.ret(accept)
	return c.code
}

// typing refuses to put words into a terminal's mouth.
func typing() []unix.SockFilter {
	var c assembler
	c.load(offArg1)
	c.is(unix.TIOCSTI, refuse)
	c.is(unix.TIOCLINUX, refuse)
	c.ret(accept)
	return c.code
}

func sockets(families []uint32) []unix.SockFilter {
	var c assembler
	c.load(offArg0)
	for _, f := range families {
		c.is(f, accept)
	}
	c.ret(refuse)
	return c.code
}

// families are the kinds of sockets a program may make. In namespaces of its
// own the network leads nowhere and the sockets of others are covered; without
// them a socket by path would reach any service of this machine.
func families(p *Plan) []uint32 {
	list := []uint32{unix.AF_NETLINK}
	if p.Whole {
		list = append(list, unix.AF_UNIX)
	}
	if p.Whole || p.Net {
		list = append(list, unix.AF_INET, unix.AF_INET6)
	}
	return list
}

// An assembler writes a classic BPF program whose jumps go over one step.
type assembler struct{ code []unix.SockFilter }

func (a *assembler) put(op uint16, jt, jf uint8, k uint32) {
	a.code = append(a.code, unix.SockFilter{Code: op, Jt: jt, Jf: jf, K: k})
}

func (a *assembler) load(off uint32) { a.put(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, off) }
func (a *assembler) ret(v uint32)    { a.put(unix.BPF_RET|unix.BPF_K, 0, 0, v) }

func (a *assembler) is(k, v uint32) {
	a.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, k)
	a.ret(v)
}

func (a *assembler) unless(k, v uint32) {
	a.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, k)
	a.ret(v)
}

func (a *assembler) from(k, v uint32) {
	a.put(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, k)
	a.ret(v)
}

func (a *assembler) has(bits, v uint32) {
	a.put(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, bits)
	a.ret(v)
}

// search ends with the verdict on the loaded number, or accepts it.
func (a *assembler) search(sorted []uint32, verdicts map[uint32][]unix.SockFilter) {
	if len(sorted) == 0 {
		a.ret(accept)
		return
	}
	if len(sorted) == 1 {
		code := verdicts[sorted[0]]
		a.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, uint8(len(code)), sorted[0])
		a.code = append(a.code, code...)
		a.ret(accept)
		return
	}
	half := len(sorted) / 2
	var low assembler
	low.search(sorted[:half], verdicts)
	a.put(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, sorted[half])
	a.put(unix.BPF_JMP|unix.BPF_JA, 0, 0, uint32(len(low.code)))
	a.code = append(a.code, low.code...)
	a.search(sorted[half:], verdicts)
}
