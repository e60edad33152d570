package jail

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launch starts the program of m on a thread of its own: confinement belongs
// to a thread and is inherited by what it starts. That thread lives until over
// is closed, because its end would end the program, and then dies confined.
func launch(m message, over <-chan struct{}) (int, error) {
	p := &m.plan
	rules, err := ruleset(p)
	if err != nil {
		return 0, err
	}
	type started struct {
		pid int
		err error
	}
	c := make(chan started)
	go func() {
		runtime.LockOSThread()
		err := confine(p, rules)
		if rules >= 0 {
			_ = unix.Close(rules)
		}
		if err != nil {
			c <- started{0, err}
			return
		}
		pid, err := fork(p, m.files)
		c <- started{pid, err}
		if err == nil {
			<-over
		}
	}()
	s := <-c
	return s.pid, s.err
}

func fork(p *Plan, files []int) (int, error) {
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

// confine restricts the calling thread, for good.
func confine(p *Plan, rules int) error {
	if p.Nice > 0 {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, int(p.Nice)) // a courtesy
	}
	if !p.Confine {
		return nil
	}
	if err := dropCapabilities(p.Caps); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return doing("giving up new privileges", err)
	}
	if rules >= 0 {
		if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
			return doing("restricting by Landlock", errno)
		}
	}
	return filterCalls(p)
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

// Landlock rights, by what they are for.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	firstRights = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // all of the first version
)

// LandlockVersion is the version the kernel speaks, 0 when it has none.
func LandlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled are the rights this kernel can refuse.
func handled(version int, net bool) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: firstRights}
	added := []struct {
		since int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}}
	for _, r := range added {
		if version >= r.since {
			a.Handled_access_fs |= r.right
		}
	}
	if version >= 4 && !net {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// ruleset builds the Landlock rules of p, after all mounts are made. It is -1
// when there is nothing to restrict by.
func ruleset(p *Plan) (int, error) {
	version := LandlockVersion()
	if !p.Confine || version == 0 {
		return -1, nil
	}
	// With a network namespace of its own a program may serve and call itself.
	attr := handled(version, p.Net || p.Whole)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, doing("making a Landlock ruleset", errno)
	}
	rules := int(fd)
	for _, r := range rulesOf(p) {
		if err := allow(rules, r.rights&attr.Handled_access_fs, r.paths); err != nil {
			_ = unix.Close(rules)
			return -1, err
		}
	}
	return rules, nil
}

// A rule gives rights to what lies beneath some paths.
type rule struct {
	rights uint64
	paths  []string
}

func rulesOf(p *Plan) []rule {
	rules := []rule{
		{^uint64(0), p.Write},
		{^uint64(0), p.NewDir},
		{^uint64(0), p.NewFile},
		{fileRights | unix.LANDLOCK_ACCESS_FS_READ_DIR, append([]string{"/dev/ptmx", "/dev/pts"}, nodes...)},
	}
	if p.Whole {
		return append(rules, rule{readRights, []string{"/"}}, rule{^uint64(0), []string{"/dev/shm", "/tmp"}})
	}
	// Names may be seen everywhere, since a folder cannot be listed without
	// those beneath it.
	return append(rules, rule{readRights &^ unix.LANDLOCK_ACCESS_FS_READ_FILE, []string{"/"}}, rule{readRights, p.Read})
}

// allow adds the rights to what lies beneath each path. Paths that do not
// exist are passed over: nothing is granted by that.
func allow(rules int, rights uint64, paths []string) error {
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil {
			attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				attr.Allowed_access &= fileRights
			}
			_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
			if errno != 0 {
				err = errno
			}
		}
		_ = unix.Close(fd)
		if err != nil {
			return doing("allowing "+path, err)
		}
	}
	return nil
}

// nodes are the devices a program sees in a /dev of its own.
var nodes = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
