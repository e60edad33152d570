package walk

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A watcher is told of changes in folders by the system (inotify).
type watcher struct {
	fd    int
	most  int    // folders that may be watched at once
	queue []byte // room for what is told
}

// newWatcher gives nil where there is none to be had.
func newWatcher() *watcher {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	w := &watcher{fd, fairShare(), make([]byte, 64<<10)}
	runtime.AddCleanup(w, func(fd int) { unix.Close(fd) }, fd)
	return w
}

// fairShare is how many folders may be watched: editors and others of the same
// person want some too.
func fairShare() int {
	const most = 16 << 10
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	limit, _ := strconv.Atoi(strings.TrimSpace(string(text))) // none if it is no number
	return min(limit/8, most)
}

// add watches a folder and gives the mark it has then. It is false where the system
// would not see everything: in file systems that others write to.
func (w *watcher) add(r *Root, dir string) (id int32, m Mark, ok bool) {
	if r.slow {
		return 0, Mark{}, false
	}
	at := r.station()
	defer at.leave()
	if at.enter(dir); at.err != nil || !local(at.fd) {
		return 0, Mark{}, false
	}
	const wanted = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE |
		unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(at.fd), wanted)
	if err != nil {
		return 0, Mark{}, false
	}
	var st unix.Stat_t
	err = unix.Fstat(at.fd, &st)
	return int32(wd), stated(&st), err == nil
}

// end watches a folder no longer.
func (w *watcher) end(id int32) {
	_, _ = unix.InotifyRmWatch(w.fd, uint32(id)) // it fails when the folder is gone, which is as good
}

// local reports whether a folder is in a file system in which nothing happens
// without this system.
func local(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// changes gives the folders in which something happened since the last time, some
// more than once, and whether the watch of one has ended. It is false when there
// were too many to tell.
func (w *watcher) changes(f func(id int32, ended bool)) (whole bool) {
	whole = true
	for {
		n, err := unix.Read(w.fd, w.queue)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return whole && errors.Is(err, unix.EAGAIN)
		}
		for events := w.queue[:n]; len(events) >= unix.SizeofInotifyEvent; {
			id, mask := int32(binary.NativeEndian.Uint32(events)), binary.NativeEndian.Uint32(events[4:])
			name := binary.NativeEndian.Uint32(events[unsafe.Offsetof(unix.InotifyEvent{}.Len):])
			events = events[unix.SizeofInotifyEvent+int(name):]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				whole = false
				continue
			}
			f(id, mask&unix.IN_IGNORED != 0)
		}
	}
}
