package walk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// system is the root's own descriptor: Linux can open a whole path below it in
// one call that refuses links. Where that call is missing or forbidden os.Root
// does the same in more steps.
type system struct {
	fd   int
	slow bool
}

func (s *system) open(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if s.fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return err
	}
	probe, err := s.openat(".", unix.O_PATH)
	if err == nil {
		_, err = glance(probe, ".")
		unix.Close(probe)
	}
	s.slow = err != nil
	return nil
}

func (s *system) close() { unix.Close(s.fd) }

func (s *system) openat(path string, flags uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	var room [pathRoom]byte
	name, err := terminated(room[:0], path)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, code := unix.Syscall6(unix.SYS_OPENAT2, uintptr(s.fd), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		switch code {
		case 0:
			return int(fd), nil
		case unix.EINTR, unix.EAGAIN: // EAGAIN: renamed meanwhile, the system asks to try again
		default:
			return -1, code
		}
	}
}

// pathRoom is enough for nearly every path. A longer one is put elsewhere.
const pathRoom = 256

// terminated is a path as the system wants it, with a zero byte behind it, in room if
// it fits: a tree has many files, and memory for the name of each is not free.
func terminated(room []byte, path string) ([]byte, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return nil, unix.EINVAL
	}
	return append(append(room, path...), 0), nil
}

func (r *Root) open(path string) (*os.File, error) {
	if r.slow {
		return r.root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	fd, err := r.openat(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// A Handle is a regular file opened to be read once: less than an os.File, of
// which the runtime keeps track. It must be closed by who opened it.
type Handle struct {
	fd   int
	file *os.File // instead of fd where the fast call is missing
}

// Handle opens a file without waiting for a pipe. What the file is, is not
// looked at: see Size.
func (r *Root) Handle(path string) (Handle, error) {
	if r.slow {
		f, err := r.open(path)
		return Handle{fd: -1, file: f}, err
	}
	fd, err := r.openat(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return Handle{fd: -1}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return Handle{fd: fd}, nil
}

// Read is that of io.Reader. Of a regular file it gives less than fits only at
// its end.
func (h Handle) Read(buf []byte) (int, error) {
	if h.file != nil {
		return h.file.Read(buf)
	}
	for {
		n, err := unix.Read(h.fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(buf) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Size is how long the file is. It is false for what is no regular file.
func (h Handle) Size() (int64, bool) {
	if h.file != nil {
		return sizeOf(h.file)
	}
	var st unix.Stat_t
	err := unix.Fstat(h.fd, &st)
	return st.Size, err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// Mark is that of the file. It is false where a mark cannot be relied on.
func (h Handle) Mark() (Mark, bool) {
	if h.file != nil {
		return Mark{}, false
	}
	var st unix.Stat_t
	err := unix.Fstat(h.fd, &st)
	return stated(&st), err == nil
}

// Close gives the file back.
func (h Handle) Close() error {
	if h.file != nil {
		return h.file.Close()
	}
	return unix.Close(h.fd)
}

// changed is the moment a folder or file last changed, and its size.
func (r *Root) changed(path string) (Mark, error) {
	if r.slow {
		return r.changedSlowly(path)
	}
	fd, err := r.openat(cmp.Or(path, "."), unix.O_PATH)
	if err != nil {
		return Mark{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Mark{}, err
	}
	return stated(&st), nil
}

// glance is as changed with one call of the system, for comparing marks only.
// While somebody renames things it may see the mark of what is not in the tree,
// which then is not the mark it is compared with.
func (r *Root) glance(path string) (Mark, error) {
	if r.slow {
		return r.changedSlowly(path)
	}
	return glance(r.fd, cmp.Or(path, "."))
}

// glance is the mark of what is at a path below an open folder: its own, not that of
// what it links to.
func glance(dir int, path string) (Mark, error) {
	var st unix.Statx_t
	err := statx(dir, path, &st)
	return Mark{nanos(st.Mtime), nanos(st.Ctime), int64(st.Size), st.Ino}, err
}

func statx(dir int, path string, st *unix.Statx_t) error {
	const wanted = unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_SIZE | unix.STATX_INO | unix.STATX_NLINK
	var room [pathRoom]byte
	name, err := terminated(room[:0], path)
	if err != nil {
		return err
	}
	for {
		_, _, code := unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), unix.AT_SYMLINK_NOFOLLOW, wanted, uintptr(unsafe.Pointer(st)), 0)
		switch code {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return code
		}
	}
}

func nanos(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }

// A station is the folder that was looked into last, held open for the next name.
type station struct {
	root *Root
	dir  string
	fd   int // of dir; that of the root when dir is empty
	err  error
}

func (r *Root) station() *station { return &station{root: r, fd: r.fd} }

func (s *station) leave() {
	if s.fd >= 0 && s.fd != s.root.fd {
		unix.Close(s.fd)
	}
}

func (s *station) enter(dir string) {
	s.leave()
	s.dir, s.fd, s.err = dir, s.root.fd, nil
	if dir != "" {
		s.fd, s.err = s.root.openat(dir, unix.O_PATH|unix.O_DIRECTORY)
	}
}

// asked is when a name in a folder last changed, and whether nothing else leads to
// it: it has no other name, and nothing is mounted there.
func (s *station) asked(dir, name string) (when int64, alone bool, err error) {
	if s.root.slow {
		m, err := s.root.changedSlowly(join(dir, name))
		return m.mtime, false, err
	}
	if dir != s.dir {
		s.enter(dir)
	}
	if s.err != nil {
		return 0, false, s.err
	}
	var st unix.Statx_t
	err = statx(s.fd, name, &st)
	return nanos(st.Mtime), st.Nlink == 1 && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0, err
}

func stated(st *unix.Stat_t) Mark {
	return Mark{st.Mtim.Nano(), st.Ctim.Nano(), st.Size, st.Ino}
}

func markOf(info fs.FileInfo) Mark {
	m := Mark{mtime: info.ModTime().UnixNano(), size: info.Size()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		m.ctime, m.inode = st.Ctim.Nano(), st.Ino
	}
	return m
}

// readDir lists a folder in the order of the system, with the mark it had before.
// The names of one folder share one string.
func (r *Root) readDir(path string, l *lister) ([]Entry, Mark, error) {
	if r.slow {
		return r.readDirSlowly(path)
	}
	fd, err := r.openat(cmp.Or(path, "."), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, Mark{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, Mark{}, err
	}
	l.begin()
	for {
		n, err := unix.Getdents(fd, l.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return l.entries(), stated(&st), err
		}
		l.add(fd, path, l.buf[:n])
	}
}

// A lister collects raw entries of one folder after another.
type lister struct {
	buf   []byte // what the system gives at once
	paths []byte
	ends  []int
	types []fs.FileMode
}

func (l *lister) begin() {
	if l.buf == nil {
		l.buf = make([]byte, 32<<10)
	}
	l.paths, l.ends, l.types = l.paths[:0], l.ends[:0], l.types[:0]
}

// add reads records of getdents64: inode, offset, length of the record, type, name, NUL.
func (l *lister) add(fd int, dir string, records []byte) {
	const head = int(unsafe.Offsetof(unix.Dirent{}.Name))
	for len(records) > head {
		size := int(binary.NativeEndian.Uint16(records[16:]))
		kind, name := records[head-1], records[head:size]
		records = records[size:]
		name = name[:bytes.IndexByte(name, 0)]
		if len(name) <= 2 && name[0] == '.' && (len(name) == 1 || name[1] == '.') {
			continue
		}
		if dir != "" {
			l.paths = append(append(l.paths, dir...), '/')
		}
		l.paths = append(l.paths, name...)
		l.ends = append(l.ends, len(l.paths))
		l.types = append(l.types, entryType(fd, kind, name))
	}
}

func (l *lister) entries() []Entry {
	all := string(l.paths)
	list := make([]Entry, len(l.ends))
	from := 0
	for i, end := range l.ends {
		list[i] = Entry{Path: all[from:end], Type: l.types[i]}
		from = end
	}
	return list
}

// entryType is the type that came with the entry; some file systems leave it out.
func entryType(fd int, kind byte, name []byte) fs.FileMode {
	if kind == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if unix.Fstatat(fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			kind = byte(st.Mode & unix.S_IFMT >> 12) // the two sets of numbers are the same
		}
	}
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.DT_BLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}
