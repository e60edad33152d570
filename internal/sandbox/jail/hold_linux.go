package jail

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A mount needs something to stand on, so the name of a file that does not
// exist is held by a placeholder while jails run. It is empty and has a mode
// that nothing else has, so one that a crash left behind is known and removed
// by the next jail. All jails that need one hold a shared lock on it; whoever
// can have it alone is the last and removes it.
const (
	heldFolder = unix.S_IFDIR | unix.S_ISVTX | 0o500
	heldFile   = unix.S_IFREG | unix.S_ISVTX | 0o400
)

// holds are the placeholders of one jail.
type holds struct {
	placeholders []placeholder
	made         []string // granted files and folders that we made
	unwanted     []string
}

type placeholder struct {
	path string
	fd   int // locked
	mode uint32
}

// hold makes what p needs to exist.
func hold(p *Plan) (*holds, error) {
	h := &holds{unwanted: p.Unwanted}
	groups := []struct {
		paths []string
		mode  uint32
	}{{p.Folders, heldFolder}, {p.Files, heldFile}}
	for _, g := range groups {
		for _, path := range g.paths {
			if err := h.keep(path, g.mode); err != nil {
				return h, doing("holding the name "+path, err)
			}
		}
	}
	for _, path := range p.NewDir {
		if unix.Mkdir(path, 0o777) == nil {
			h.made = append(h.made, path)
		}
	}
	for _, path := range p.NewFile {
		if touch(path, 0o666) == nil {
			h.made = append(h.made, path)
		}
	}
	return h, nil
}

// keep holds path, unless something real is there or nobody could make it.
func (h *holds) keep(path string, mode uint32) error {
	for range 100 {
		var st unix.Stat_t
		err := unix.Lstat(path, &st)
		switch {
		case errors.Is(err, unix.ENOENT):
			if err := makeHeld(path, mode); err != nil {
				return impossible(err)
			}
			continue
		case err != nil:
			return impossible(err)
		case !IsPlaceholder(&st):
			return nil
		}
		fd, err := lockHeld(path, &st)
		if err != nil {
			return err
		}
		if fd >= 0 {
			h.placeholders = append(h.placeholders, placeholder{path, fd, st.Mode})
			return nil
		}
	}
	return unix.EBUSY
}

// impossible passes over names that cannot be made here: the program, who is
// nobody else, cannot make them either.
func impossible(err error) error {
	for _, no := range []error{unix.ENOENT, unix.ENOTDIR, unix.EACCES, unix.EPERM, unix.EROFS} {
		if errors.Is(err, no) {
			return nil
		}
	}
	return err
}

// IsPlaceholder reports whether what st describes only holds a name.
func IsPlaceholder(st *unix.Stat_t) bool {
	if st.Mode == heldFile {
		return st.Size == 0
	}
	return st.Mode == heldFolder
}

// makeHeld makes a placeholder with its mode at once: nobody may take it for
// something real. That another jail was quicker is as good.
func makeHeld(path string, mode uint32) error {
	if mode == heldFolder {
		return unlessExists(unix.Mkdir(path, mode&0o7777))
	}
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, mode&0o7777)
	if err == nil {
		_ = unix.Close(fd)
	}
	return unlessExists(err)
}

func unlessExists(err error) error {
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// lockHeld takes the shared lock; -1 says that the placeholder went away first.
func lockHeld(path string, was *unix.Stat_t) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, nil
	}
	if err := unix.Flock(fd, unix.LOCK_SH); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	var now unix.Stat_t
	if unix.Lstat(path, &now) != nil || now.Ino != was.Ino || now.Dev != was.Dev {
		_ = unix.Close(fd)
		return -1, nil
	}
	return fd, nil
}

// release removes what nobody needs any more. The tree is gone.
func (h *holds) release() {
	for _, p := range h.placeholders {
		if unix.Flock(p.fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			removeEmpty(p.path)
		}
		_ = unix.Close(p.fd)
	}
	for _, path := range h.made {
		removeEmpty(path)
	}
	for _, path := range h.unwanted {
		_ = os.Remove(path) // absent is as it should be
	}
}

// removeEmpty removes a folder or file that holds nothing.
func removeEmpty(path string) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) == nil && (st.Mode&unix.S_IFMT == unix.S_IFDIR || st.Size == 0) {
		_ = os.Remove(path) // a folder that is not empty stays
	}
}
