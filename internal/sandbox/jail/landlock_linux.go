package jail

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// restrict applies Landlock to the calling thread, if the kernel has it. In a
// light jail hidden paths have to be left out one by one; the folders that had
// to be listed for that are given back.
func restrict(p *Plan) (listed []string, err error) {
	version := LandlockVersion()
	if version == 0 {
		return nil, nil
	}
	var readable []string
	if !p.Whole {
		readable, listed = around("/", slices.DeleteFunc(slices.Clone(p.Hide), unreadable))
	}
	rules, err := makeRules(p, version, readable)
	if err != nil {
		return nil, err
	}
	defer unix.Close(rules)
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return nil, doing("restricting by Landlock", errno)
	}
	return listed, nil
}

// unreadable paths need no rule to stay so.
func unreadable(path string) bool { return unix.Access(path, unix.R_OK) != nil }

// makeRules builds the ruleset of p, after all mounts are made.
func makeRules(p *Plan, version int, readable []string) (int, error) {
	// With a network namespace of its own a program may serve and call itself.
	attr := handled(version, p.Net || p.Whole)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, doing("making a Landlock ruleset", errno)
	}
	for _, r := range rulesOf(p, readable) {
		if err := allow(int(fd), r.rights&attr.Handled_access_fs, r.paths); err != nil {
			_ = unix.Close(int(fd))
			return -1, err
		}
	}
	return int(fd), nil
}

// A rule gives rights to what lies beneath some paths.
type rule struct {
	rights uint64
	paths  []string
}

func rulesOf(p *Plan, readable []string) []rule {
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
	return append(rules, rule{readRights &^ unix.LANDLOCK_ACCESS_FS_READ_FILE, []string{"/"}}, rule{readRights, readable})
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
