package jail

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// enclose starts the helper once more, in namespaces of its own, and waits for
// it. That is not the agent's to do: a process that makes a user namespace is
// copied with all its memory first, and an agent has much, we have little.
func enclose(args []string) int {
	runtime.LockOSThread() // its end is the inner one's too
	if len(args) > 1 && args[1] != "" {
		// Without the limit the jail still stands: nothing is granted by it.
		_ = os.WriteFile(args[1]+"/cgroup.procs", []byte("0"), 0)
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{Name}, &syscall.ProcAttr{
		Env: Environ(), Files: []uintptr{0, 1, 2, Control, Urgent}, Sys: namespaces(args[0] == ApartOnNet),
	})
	if err != nil {
		_, body := failed(doing("making namespaces", err))
		_, _ = syscall.Write(Control, append(Header(Broken, len(body)), body...)) // unheard, the agent is gone
		return 1
	}
	_, _ = unix.Close(Control), unix.Close(Urgent)
	var st unix.WaitStatus
	for {
		if got, err := wait(&st, 0); err != nil || got == pid {
			break
		}
	}
	if st.Signaled() {
		_ = unix.Kill(os.Getpid(), st.Signal()) // as it ended, so do we
	}
	return st.ExitStatus()
}

// namespaces are those of a whole jail but the one of mounts, which each
// program gets anew. Ids are the same inside as outside, and root keeps the ids
// of others, whose files it may have to work on.
func namespaces(net bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if !net {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Getuid() == 0 {
		a.UidMappings, a.GidMappings = allIDs("/proc/self/uid_map"), allIDs("/proc/self/gid_map")
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	return a
}

// allIDs maps every id that exists here to itself.
func allIDs(file string) []syscall.SysProcIDMap {
	var all []syscall.SysProcIDMap
	text, _ := os.ReadFile(file) // unreadable means only our own
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		first, err1 := strconv.Atoi(f[0])
		size, err2 := strconv.Atoi(f[2])
		if err1 == nil && err2 == nil {
			all = append(all, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
		}
	}
	if len(all) == 0 {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	}
	return all
}
