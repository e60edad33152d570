package jail

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// fork starts the program, which is what the calling thread may be. Without a
// program nothing is started.
func fork(p *Plan, files []int) (int, error) {
	if p.Path == "" {
		return 0, nil
	}
	var dir unix.Stat_t
	if err := unix.Stat(p.Dir, &dir); p.Dir != "" && err != nil {
		return 0, doing("changing to "+p.Dir, err)
	}
	pid, err := syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
		Dir: p.Dir, Env: p.Env,
		Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	return pid, doing("executing "+p.Path, err)
}

// confine restricts the calling thread, for good. It gives back the folders
// whose content decided how.
func confine(p *Plan, f filters) (listed []string, err error) {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, int(p.Nice)) // a courtesy
	if err := dropCapabilities(p.Caps); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, doing("giving up new privileges", err)
	}
	if listed, err = restrict(p); err != nil {
		return nil, err
	}
	return listed, f.install(p)
}

// dropCapabilities leaves the thread, and whatever it executes, no more than keep.
func dropCapabilities(keep uint64) error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // old kernels have none
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if keep>>c&1 == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) // without the right to, there is nothing to drop
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	if err := unix.Capget(&head, &had[0]); err != nil {
		return doing("reading capabilities", err)
	}
	var left [2]unix.CapUserData
	for i := range left {
		part := uint32(keep >> (32 * i))
		left[i].Permitted, left[i].Effective = had[i].Permitted&part, had[i].Permitted&part
	}
	return doing("dropping capabilities", unix.Capset(&head, &left[0]))
}

// limit sets what is inherited by everything we start. It binds the helper
// too, which needs next to nothing.
func limit(p *Plan) {
	set := func(what int, most uint64) {
		var now unix.Rlimit
		if unix.Getrlimit(what, &now) == nil && now.Cur > most {
			// Without the limit the jail still stands: nothing is granted by it.
			_ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: min(most, now.Max)})
		}
	}
	set(unix.RLIMIT_CORE, 0)
	if p.Most > 0 {
		set(unix.RLIMIT_NPROC, p.Most)
	}
	if p.Memory > 0 {
		set(unix.RLIMIT_DATA, p.Memory)
	}
}
