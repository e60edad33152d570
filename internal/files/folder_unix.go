//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A folder is a folder held open. Its methods take single names, never paths,
// and never follow a link.
type folder struct{ fd int }

// openFolder opens the real path of a root.
func openFolder(real string) (*folder, error) { return folderAt(unix.AT_FDCWD, real) }

// again gives a folder that can be closed apart from this one.
func (d *folder) again() (*folder, error) { return folderAt(d.fd, ".") }

func (d *folder) close() error { return unix.Close(d.fd) }

// enter opens a folder in the folder.
func (d *folder) enter(name string) (*folder, error) {
	next, err := folderAt(d.fd, name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, d.notFolder(name)
	}
	return next, err
}

func folderAt(dirfd int, name string) (*folder, error) {
	fd, err := openat(dirfd, name, pathOnly|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &folder{fd}, nil
}

// notFolder says why name could not be entered: it is something else, or it was
// a link, or it changed. Locating left no links on the way, so one is a change too.
func (d *folder) notFolder(name string) error {
	if info, err := d.stat(name); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeDir) == 0 {
		return unix.ENOTDIR
	}
	return errMoved
}

// open opens for reading without waiting for the other end of a pipe.
func (d *folder) open(name string) (*os.File, error) {
	return d.file(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

// create makes a file that was not there.
func (d *folder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.file(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, uint32(perm))
}

// writable reports why an existing file cannot be written; it does not touch it.
func (d *folder) writable(name string) error {
	f, err := d.file(name, unix.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *folder) file(name string, flags int, perm uint32) (*os.File, error) {
	fd, err := openat(d.fd, name, flags, perm)
	if errors.Is(err, unix.ELOOP) { // a link, where there was none when we looked
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat(dirfd int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dirfd, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (d *folder) mkdir(name string) error { return unix.Mkdirat(d.fd, name, 0o777) }

func (d *folder) rename(from, to string) error { return unix.Renameat(d.fd, from, d.fd, to) }

func (d *folder) remove(name string) error { return unix.Unlinkat(d.fd, name, 0) }

// list gives all entries in name order. One that goes away meanwhile is left out.
func (d *folder) list() ([]fs.DirEntry, error) {
	f, err := d.file(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		if info, err := d.stat(name); err == nil {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	return entries, nil
}

// lock waits a while for the folder to be ours alone among agents. The lock is
// advisory and ends with the process.
func (d *folder) lock() (unlock func(), err error) {
	f, err := d.file(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return func() {}, nil // a folder that may be written and not read: nothing to hold on to
	}
	if err != nil {
		return nil, err
	}
	const patience = 5 * time.Second
	wait := 100 * time.Microsecond
	for waited := time.Duration(0); waited < patience; waited += wait {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			// Held, or a file system without locks: then there is nothing better to do than go on.
			return func() { f.Close() }, nil
		}
		time.Sleep(wait)
		wait = min(2*wait, 20*time.Millisecond)
	}
	f.Close()
	return nil, errLocked
}

// stat describes a name in the folder, a link as a link.
func (d *folder) stat(name string) (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	return info{name, st}, nil
}

// info is what the system said of a name in an open folder. The os package
// makes one only from a path, and a path can be led elsewhere.
type info struct {
	name string
	st   unix.Stat_t
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.st.Size }
func (i info) IsDir() bool        { return i.Mode().IsDir() }
func (i info) Sys() any           { return &i.st }
func (i info) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }

func (i info) Mode() fs.FileMode {
	mode := fs.FileMode(i.st.Mode & 0o777)
	switch i.st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	return mode | i.special()
}

func (i info) special() (mode fs.FileMode) {
	for _, b := range specialBits {
		if uint32(i.st.Mode)&b.bit != 0 {
			mode |= b.mode
		}
	}
	return mode
}

var specialBits = [...]struct {
	bit  uint32
	mode fs.FileMode
}{
	{unix.S_ISUID, fs.ModeSetuid},
	{unix.S_ISGID, fs.ModeSetgid},
	{unix.S_ISVTX, fs.ModeSticky},
}

// keepOwner gives f the owner and group of the file it replaces.
func keepOwner(f *os.File, old fs.FileInfo) {
	st := old.(info).st
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid)) // a group of our own, if it is one; else it stays ours
	}
}
