package jail

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// nodes are the devices a program sees in a /dev of its own.
var nodes = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// store is where, in our own /dev, the things lie that cover others.
const store = "/dev/.ikigai"

// mountAll gives the calling thread a copy of the machine's file tree and turns
// it into what the program may see. Nothing outside the copy changes.
func mountAll(p *Plan) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return doing("making a mount namespace", err)
	}
	kept, err := cloneAll(p)
	defer closeAll(kept)
	if err != nil {
		return err
	}
	everything := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	err = unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &everything)
	if err != nil {
		return doing("making the root read-only", err)
	}
	steps := []func(*Plan, map[string]int) error{mountProc, mountDev, mountEmpty, mountKept, guard, cover, sealDev}
	for _, step := range steps {
		if err := step(p, kept); err != nil {
			return err
		}
	}
	if !p.Net {
		return raiseLoopback()
	}
	return nil
}

// cloneAll takes copies of the mounts that must outlive the read-only root or
// what will cover them.
func cloneAll(p *Plan) (map[string]int, error) {
	kept := map[string]int{}
	writable := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	readonly := unix.MountAttr{Attr_set: writable.Attr_set | unix.MOUNT_ATTR_RDONLY}
	groups := []struct {
		paths []string
		attr  *unix.MountAttr
	}{{nodes, nil}, {p.Read, &readonly}, {p.NewFile, &writable}, {p.NewDir, &writable}, {p.Write, &writable}}
	for _, g := range groups {
		for _, path := range g.paths {
			if err := cloneInto(kept, path, g.attr); err != nil {
				return kept, err
			}
		}
	}
	if p.Tmp == "" {
		return kept, nil
	}
	fd, err := clone(p.Tmp, &writable)
	kept["/tmp"] = fd
	return kept, err
}

// cloneInto copies the mount at path; one that does not exist is passed over.
func cloneInto(kept map[string]int, path string, attr *unix.MountAttr) error {
	if _, ok := kept[path]; ok || path == "" {
		return nil
	}
	fd, err := clone(path, attr)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err == nil {
		kept[path] = fd
	}
	return err
}

func clone(path string, attr *unix.MountAttr) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, doing("taking a copy of the mount at "+path, err)
	}
	if attr != nil {
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
			_ = unix.Close(fd)
			return -1, doing("setting the flags of the mount at "+path, err)
		}
	}
	return fd, nil
}

func closeAll(kept map[string]int) {
	for _, fd := range kept {
		_ = unix.Close(fd)
	}
}

func attach(fd int, path string) error {
	err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_SYMLINKS)
	return doing("mounting on "+path, err)
}

// mountProc shows the processes of our namespace. It is read-only: to the
// kernel's settings in it, root in a jail is root.
func mountProc(*Plan, map[string]int) error {
	return doing("mounting /proc", unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, ""))
}

// mountDev makes a /dev of harmless devices, and in it the things that cover.
func mountDev(p *Plan, kept map[string]int) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		return doing("mounting /dev", err)
	}
	for _, path := range nodes {
		fd, ok := kept[path]
		if !ok {
			continue
		}
		if err := errors.Join(touch(path, 0o600), attach(fd, path)); err != nil {
			return err
		}
	}
	for _, l := range [][2]string{{"/proc/self/fd", "fd"}, {"fd/0", "stdin"}, {"fd/1", "stdout"}, {"fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		if err := os.Symlink(l[0], "/dev/"+l[1]); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev/pts", "/dev/shm", store, store + "/folder", store + "/empty"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		doing("mounting /dev/pts", unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")),
		doing("mounting /dev/shm", unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")),
		touch(store+"/file", 0),
		os.Chmod(store+"/folder", 0),
	)
}

// touch makes an empty file, and fails where there is something.
func touch(path string, mode uint32) error {
	return doing("making "+path, unix.Mknod(path, unix.S_IFREG|mode, 0))
}

// mountEmpty covers folders that are full of sockets of other programs. What
// is to be seen in one of them gets a place there.
func mountEmpty(p *Plan, _ map[string]int) error {
	for _, dir := range p.Empty {
		err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=1m")
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return doing("emptying "+dir, err)
		}
	}
	return nil
}

// mountKept puts the writable and the granted places back, outer ones first.
func mountKept(p *Plan, kept map[string]int) error {
	for _, path := range outerFirst(p) {
		fd, ok := kept[path]
		if !ok {
			continue
		}
		if err := makePlace(fd, path); err != nil {
			return err
		}
		if err := attach(fd, path); err != nil {
			return err
		}
	}
	ro := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, dir := range p.Empty {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &ro); err != nil && !errors.Is(err, unix.ENOENT) {
			return doing("sealing "+dir, err)
		}
	}
	return nil
}

// outerFirst lists the places, each once, folders before what lies in them.
func outerFirst(p *Plan) []string {
	all := slices.Concat([]string{"/tmp"}, p.Read, p.Write, p.NewDir, p.NewFile)
	slices.Sort(all)
	return slices.Compact(all)
}

// makePlace makes something to mount fd on, where a fresh or private folder
// now covers the path.
func makePlace(fd int, path string) error {
	var st unix.Stat_t
	if unix.Stat(path, &st) == nil {
		return nil
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return doing("looking at "+path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(path, 0o755)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), touch(path, 0o600))
}

// guard makes what must not change read-only, and pins the folders on the way
// to it: one that is a mount cannot be moved away and made anew.
func guard(p *Plan, _ map[string]int) error {
	for _, path := range p.Pin {
		if err := remount(path, nil); err != nil {
			return err
		}
	}
	ro := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, list := range [][]string{p.Folders, p.Files} {
		for _, path := range list {
			if err := remount(path, &ro); err != nil {
				return err
			}
		}
	}
	return nil
}

func remount(path string, attr *unix.MountAttr) error {
	fd, err := clone(path, attr)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return attach(fd, path)
}

// cover hides what must not be read, and replaces what must not be read whole.
func cover(p *Plan, _ map[string]int) error {
	for _, path := range p.Hide {
		var st unix.Stat_t
		if unix.Stat(path, &st) != nil {
			continue
		}
		lid := store + "/file"
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			lid = store + "/folder"
		}
		if err := coverWith(lid, path); err != nil {
			return err
		}
	}
	for i := 0; i+1 < len(p.Replace); i += 2 {
		lid := store + "/text" + string(rune('0'+i))
		if err := os.WriteFile(lid, []byte(p.Replace[i+1]), 0o644); err != nil {
			return err
		}
		if err := coverWith(lid, p.Replace[i]); err != nil {
			return err
		}
	}
	return nil
}

func coverWith(lid, path string) error {
	fd, err := clone(lid, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = attach(fd, path)
	if errors.Is(err, unix.ENOENT) {
		return nil // it went away meanwhile
	}
	return err
}

func sealDev(*Plan, map[string]int) error {
	ro := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return doing("sealing /dev", unix.MountSetattr(unix.AT_FDCWD, "/dev", 0, &ro))
}

// raiseLoopback lets programs in the jail talk to themselves, as tests do.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // a kernel without it has no loopback to raise
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP)
	return doing("raising the loopback interface", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req))
}
