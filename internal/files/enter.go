package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"ikigai/internal/tool"
)

// errMoved says that something changed between locating and entering: a link
// where none was, another file under the same name. The answer is to look again.
var errMoved = errors.New("changed while it was being opened")

// A place is where a name led to, ready to be entered.
type place struct {
	real   string
	start  *folder  // the folder of the root
	parts  []string // the way from there, without links
	folder bool     // only a folder will do
}

// access is what a verb wants of a place.
type access bool

const (
	reading access = false
	writing access = true
)

// at finds the place of name and does the verb there. A place that changed
// under our hands is looked for again, a bounded number of times, so that
// neither an attacker nor a busy neighbour decides what is opened.
func (r *Roots) at(name string, want access, other tool.Code, do func(place) error) error {
	if err := wellFormed(name); err != nil {
		return err
	}
	err := errMoved
	for tries := 0; tries < maxHops && errors.Is(err, errMoved); tries++ {
		err = r.once(name, want, do)
	}
	return describe(err, name, want, other)
}

func (r *Roots) once(name string, want access, do func(place) error) error {
	t := r.locate(name)
	start, rel, err := r.enter(t, name, want)
	if err != nil {
		return err
	}
	if start == nil {
		volume := filepath.VolumeName(t.real) + string(filepath.Separator)
		if start, err = openFolder(volume); err != nil {
			return err
		}
		defer start.close()
		rel = t.real[len(volume):]
	}
	parts := components(rel)
	switch {
	case want == writing && r.isProtected(t.real, parts):
		return tool.Errorf(tool.PermissionDenied, "%s is protected: file tools do not write the repository's or the agent's own files", show(name))
	case t.endless:
		return syscall.ELOOP
	case t.missing:
		return fs.ErrNotExist
	}
	return do(place{real: t.real, start: start, parts: parts, folder: t.folder})
}

// enter picks the root that holds the real path, the innermost when roots are
// nested. Without one the call must have been granted the path; start is nil
// then. What lies outside gets one answer, whether or not it exists.
func (r *Roots) enter(t trail, name string, want access) (start *folder, rel string, err error) {
	best := -1
	for i, at := range r.roots {
		sub, ok := below(at.path, t.real)
		if ok && (best < 0 || len(at.path) > len(r.roots[best].path)) {
			best, start, rel = i, at.dir, sub
		}
	}
	switch {
	case best >= 0 && !(t.strayed && best == 0):
		return start, rel, nil
	case r.granted(t.real, want):
		return nil, "", nil
	}
	return nil, "", tool.Errorf(tool.PermissionDenied, "%s is outside the workspace", show(name))
}

func (r *Roots) granted(real string, want access) bool {
	if r.grant.Unconfined {
		return true
	}
	paths := r.grant.Write
	if want == reading {
		paths = append(paths[:len(paths):len(paths)], r.grant.Read...)
	}
	for _, p := range paths {
		if _, ok := below(filepath.Clean(p), real); ok {
			return true
		}
	}
	return false
}

// dir enters the folder that the place itself is. Missing folders are made when make is set.
func (p place) dir(make bool) (*folder, error) { return walkTo(p.start, p.parts, make) }

// parent enters the folder that holds the place and gives the last name in it.
func (p place) parent(make bool) (dir *folder, base string, err error) {
	if len(p.parts) == 0 {
		return nil, "", errIsFolder
	}
	last := len(p.parts) - 1
	dir, err = walkTo(p.start, p.parts[:last], make)
	return dir, p.parts[last], err
}

func walkTo(start *folder, parts []string, make bool) (*folder, error) {
	dir, err := start.again()
	for i := 0; err == nil && i < len(parts); i++ {
		var next *folder
		next, err = step(dir, parts[i], make)
		dir.close()
		dir = next
	}
	return dir, err
}

func step(dir *folder, name string, make bool) (*folder, error) {
	next, err := dir.enter(name)
	if !make || !errors.Is(err, fs.ErrNotExist) {
		return next, err
	}
	if invisible(name) {
		return nil, errInvisible
	}
	if err := dir.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return dir.enter(name)
}
