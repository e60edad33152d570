//go:build unix

package snapshot

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A looker looks at files below a folder that it holds open. A path may pass
// through links: what it tells is only ever compared, never opened.
type looker struct{ dir *os.File }

func newLooker(root string) (looker, error) {
	f, err := os.Open(root)
	return looker{f}, err
}

func (l looker) close() { l.dir.Close() }

// look is the stamp of the very thing at path; a link is not followed.
func (l looker) look(path string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(int(l.dir.Fd()), path, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return stampOf(&st), nil
		}
		if err != unix.EINTR {
			return stamp{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

// stampOfFile is the stamp of an open file.
func stampOfFile(f *os.File) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return stampOf(&st), nil
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		mode: modeOf(uint32(st.Mode)), uid: st.Uid, gid: st.Gid,
	}
}

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for _, bit := range [...]struct {
		unix uint32
		mode fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if m&bit.unix != 0 {
			mode |= bit.mode
		}
	}
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}
