package external

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/tool"
)

// A file is an executable that may be a tool.
type file struct {
	path   string // where it was found; a link is not resolved
	real   string // where it is; a link is resolved
	name   string // what its file name allows it to be called
	origin tool.Origin
	stamp  stamp
	own    bool // it is the program of our built-in tools
}

// A folder is where files were found.
type folder struct {
	path  string
	stamp stamp
}

// A stamp tells whether a file is still the same without reading it, and who
// may change it.
type stamp struct {
	mode         fs.FileMode
	size         int64
	mtime, ctime int64 // nanoseconds
	inode        uint64
	owner        int // -1 where owners are not known
}

// same reports whether two stamps are of one content.
func (s stamp) same(t stamp) bool {
	return s.size == t.size && s.mtime == t.mtime && s.ctime == t.ctime && s.inode == t.inode
}

// examine looks at one entry of a folder without running it. An error is a
// refusal.
func examine(dir folder, entry string, builtIn func(string) bool) (file, error) {
	f := file{path: filepath.Join(dir.path, entry)}
	f.real = f.path
	if leftover(entry) {
		return f, refuse(IgnoredName, "%q cannot be the name of a tool", entry)
	}
	link, err := lstatOf(f.path)
	if err != nil {
		return f, refuse(NotAFile, "%v", err)
	}
	f.stamp = link
	if link.mode&fs.ModeSymlink != 0 {
		if f.own, err = f.follow(builtIn); err != nil || f.own {
			return f, err
		}
	}
	name, ok := toolName(entry)
	f.name = name
	if err := f.check(link); err != nil {
		return f, err
	}
	if !ok {
		return f, refuse(NameMismatch, "no tool can have the name of the file %q; of the extensions only %s are left out", entry, strings.Join(extensions, " "))
	}
	return f, nil
}

// readable adds to a grant what the program itself needs: to find its own file,
// and what lies beside it, wherever that is.
func (f file) readable(g tool.Grant) tool.Grant {
	g.Read = append(slices.Clip(g.Read), filepath.Dir(f.path))
	if dir := filepath.Dir(f.real); dir != filepath.Dir(f.path) {
		g.Read = append(g.Read, dir)
	}
	return g
}

// follow looks at what a link leads to, and whether that is our own program.
func (f *file) follow(builtIn func(string) bool) (own bool, err error) {
	real, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return false, refuse(NotAFile, "the link leads nowhere: %v", err)
	}
	f.real = real
	if builtIn != nil && builtIn(real) {
		return true, nil
	}
	if f.stamp, err = statOf(real); err != nil {
		return false, refuse(NotAFile, "%v", err)
	}
	around, err := statOf(filepath.Dir(real))
	if err != nil {
		return false, refuse(NotAFile, "%v", err)
	}
	return false, folder{filepath.Dir(real), around}.trusted()
}

// maxExecutable bounds what must be read to know an executable again.
const maxExecutable = 256 << 20

// check refuses what is no program, and what another user could have put there.
func (f *file) check(link stamp) error {
	switch {
	case !f.stamp.mode.IsRegular():
		return refuse(NotAFile, "it is %s", kindOf(f.stamp.mode))
	case !executable(f.path, f.stamp.mode):
		return refuse(NotExecutable, "it is not executable; chmod +x makes it so")
	case f.stamp.size > maxExecutable:
		return refuse(SpawnFailed, "it has more than %d MiB", maxExecutable>>20)
	}
	for _, s := range []stamp{link, f.stamp} {
		if err := s.trusted(f.path, s.mode&fs.ModeSymlink == 0); err != nil {
			return err
		}
	}
	return nil
}

// trusted refuses a folder in which another user could exchange a file. Where
// the sticky bit is set they cannot.
func (d folder) trusted() error {
	return d.stamp.trusted(d.path, d.stamp.mode&fs.ModeSticky == 0)
}

// trusted refuses what belongs to another user, or what others may write when
// that counts.
func (s stamp) trusted(path string, writing bool) error {
	const othersWrite = 0o022
	switch {
	case s.owner < 0:
		return nil
	case s.owner != 0 && s.owner != os.Geteuid():
		return refuse(UnsafePermissions, "%s belongs to another user (id %d)", path, s.owner)
	case writing && s.mode&othersWrite != 0:
		return refuse(UnsafePermissions, "other users may change %s; chmod go-w %s closes it", path, path)
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// extensions are dropped from a file name, one of them at most.
var extensions = []string{".sh", ".py", ".js", ".rb", ".pl", ".exe"}

var goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`) })

// toolName is what a file of that name may be called: the name without one of
// the extensions, if providers would take it as the name of a function.
func toolName(entry string) (string, bool) {
	name := entry
	if ext := filepath.Ext(entry); slices.Contains(extensions, ext) {
		name = strings.TrimSuffix(entry, ext)
	}
	return name, goodName().MatchString(name)
}

var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })
	leftovers = []string{".bak", ".old", ".orig", ".part", ".rej", ".save", ".swo", ".swp", ".tmp"}
)

// leftover tells files that nobody put there as a tool: hidden ones, what
// editors and downloads leave behind, and names that need quoting.
func leftover(entry string) bool {
	return !plainName().MatchString(entry) || slices.Contains(leftovers, filepath.Ext(entry))
}

// offers reports whether a file called name may offer the tool wanted: the
// name itself, or with "_" for every "-".
func offers(name, wanted string) bool {
	return wanted == name || wanted == strings.ReplaceAll(name, "-", "_")
}
