// Package files is the workspace as the file tools may touch it: a few root
// folders, and nothing else unless a call was granted it.
//
// Opening has two halves. Locating follows the links of a name on paper and says
// which real path it leads to; it may be wrong by the time it is used, and
// nothing rests on it but which answer is given. Entering then goes from the
// root's own descriptor to that real path, one component at a time, and follows
// no link at all. So a name is judged by what is opened, whatever others rename
// meanwhile, and a rule about a real path (such as: .git is not written) cannot
// be walked round. It is what os.Root does, with three differences: absolute
// links and links from one root to another work, a rule inside the root holds
// under races too, and a pipe put in the place of a folder cannot make us wait.
package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ikigai/internal/tool"
)

// Roots is a set of root folders. It implements tool.Files and is safe for
// concurrent use; With and Protect give further views of the same roots.
type Roots struct {
	*shared
	grant   tool.Grant
	protect []string // real paths that are not written, beside the names of guardedName
}

var _ tool.Files = (*Roots)(nil)

// shared is what all views of the same roots have in common.
type shared struct {
	roots []root

	mu   sync.Mutex
	seen map[string]tool.Stamp // by real path; guarded by mu
}

// A root is a folder held open, so that it stays the same folder when its name
// is given to another.
type root struct {
	path string // real
	dir  *folder
}

// Open opens dir, the working folder, and further roots. Close them when the
// session ends.
func Open(dir string, more ...string) (*Roots, error) {
	r := &Roots{shared: &shared{seen: map[string]tool.Stamp{}}}
	for _, name := range append([]string{dir}, more...) {
		if err := r.add(name); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	for _, at := range r.roots {
		r.protect = append(r.protect, gitFolders(at.path)...)
	}
	return r, nil
}

func (r *Roots) add(name string) error {
	real, err := realFolder(name)
	if err != nil {
		return fmt.Errorf("opening root %s: %w", show(name), err)
	}
	if slices.ContainsFunc(r.roots, func(at root) bool { return at.path == real }) {
		return nil
	}
	dir, err := openFolder(real)
	if err != nil {
		return fmt.Errorf("opening root %s: %w", show(name), err)
	}
	r.roots = append(r.roots, root{real, dir})
	return nil
}

func realFolder(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Close gives the roots back. Files that were opened stay open.
func (r *Roots) Close() error {
	var errs []error
	for _, at := range r.roots {
		errs = append(errs, at.dir.close())
	}
	r.roots = nil
	return errors.Join(errs...)
}

// Dir is the working folder, a real path.
func (r *Roots) Dir() string { return r.roots[0].path }

// Roots are the real paths of all roots, Dir first.
func (r *Roots) Roots() []string {
	paths := make([]string, len(r.roots))
	for i, at := range r.roots {
		paths[i] = at.path
	}
	return paths
}

// With gives the same files with what g grants beyond the roots. A granted
// folder is granted with all that is below it. No grant lifts write protection.
func (r *Roots) With(g tool.Grant) tool.Files {
	return &Roots{shared: r.shared, grant: g, protect: r.protect}
}

// Protect gives the same files with paths, and all below them, not to be
// written, whether or not they exist yet.
func (r *Roots) Protect(paths ...string) *Roots {
	more := slices.Clone(r.protect)
	for _, p := range paths {
		if p != "" { // which would name Dir
			more = append(more, r.locate(p).real)
		}
	}
	return &Roots{shared: r.shared, grant: r.grant, protect: more}
}

// Locate says where name leads, links resolved, whether or not it exists and
// whether or not it may be opened. Only a malformed name is an error.
func (r *Roots) Locate(name string) (string, error) {
	if err := wellFormed(name); err != nil {
		return "", err
	}
	return r.locate(name).real, nil
}

// Seen is the stamp of the file when this session last read or wrote it.
func (r *Roots) Seen(name string) (tool.Stamp, bool) {
	real, err := r.Locate(name)
	if err != nil {
		return tool.Stamp{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	stamp, ok := r.seen[real]
	return stamp, ok
}

func (r *Roots) saw(real string, data []byte) tool.Stamp {
	stamp := tool.Stamp(sha256.Sum256(data))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[real] = stamp
	return stamp
}

// gitFolders are the repository folders that a .git file at the top of a
// worktree names: .git need not be part of their path.
func gitFolders(top string) []string {
	git := filepath.Join(top, ".git")
	dir, ok := readPointer(git, "gitdir: ")
	if !ok {
		return nil
	}
	dir = absolute(top, dir)
	found := []string{dir}
	if common, ok := readPointer(filepath.Join(dir, "commondir"), ""); ok {
		found = append(found, absolute(dir, common))
	}
	return found
}

// absolute is path, taken from dir when it is relative, with links resolved
// where it exists.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// readPointer reads the one line of a small regular file that begins with prefix.
func readPointer(path, prefix string) (string, bool) {
	const most = 8192
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	return afterPrefix(string(data), prefix)
}
