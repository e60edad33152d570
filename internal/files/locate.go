package files

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"ikigai/internal/tool"
)

const (
	maxName = 4096 // bytes of a name
	maxHops = 40   // links followed for one name, as Linux does
)

// wellFormed refuses what no file can be called or what hides its meaning.
func wellFormed(name string) error {
	switch {
	case name == "":
		return tool.Errorf(tool.InvalidPath, "the path is empty")
	case len(name) > maxName:
		return tool.Errorf(tool.InvalidPath, "the path has %d bytes; at most %d are possible", len(name), maxName)
	case strings.IndexByte(name, 0) >= 0:
		return tool.Errorf(tool.InvalidPath, "the path %s has a NUL byte in it", show(name))
	case !utf8.ValidString(name):
		return tool.Errorf(tool.InvalidPath, "the path %s is not valid UTF-8", show(name))
	}
	return nil
}

// invisible reports whether a name holds characters that make it look like
// another. Such files may be opened where they exist; none is made. The joiners
// U+200C and U+200D are left out: scripts and emoji need them.
func invisible(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool {
		return c != 0x200C && c != 0x200D && unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}

// A trail is what became of a name when its links were followed.
type trail struct {
	real    string // where it leads
	folder  bool   // the name ends in a separator: only a folder will do
	missing bool   // it climbs out of something that is no folder: for the system such a name leads nowhere
	endless bool   // more links than maxHops
	strayed bool   // a relative name that left its root by its own dots
}

// locate follows name on paper. What cannot be looked at is taken as it is
// written, so there is always an answer.
func (r *Roots) locate(name string) trail {
	w := walker{cur: r.Dir(), start: r.Dir()}
	w.towards(name)
	last := strings.TrimSuffix(name, ".") // "a/." asks for a folder as "a/" does
	w.out.folder = last != "" && os.IsPathSeparator(last[len(last)-1])
	for len(w.todo) > 0 {
		next := w.todo[0]
		w.todo = w.todo[1:]
		if next == ".." {
			w.climb()
		} else {
			w.descend(next)
		}
	}
	w.out.real = w.cur
	return w.out
}

// A walker is a name half followed: cur is free of links unless gone is set.
type walker struct {
	cur   string
	todo  []string
	gone  string // the first path on the way that is no folder, while cur is at or below it
	hops  int
	start string // the root a relative name starts in; empty once that no longer matters
	out   trail
}

// towards puts path in front of what is still to do. An absolute one starts afresh.
func (w *walker) towards(path string) {
	if filepath.IsAbs(path) {
		volume := filepath.VolumeName(path)
		w.cur, w.start = volume+string(filepath.Separator), ""
		path = path[len(volume):]
	}
	w.todo = append(components(path), w.todo...)
}

func (w *walker) climb() {
	if w.gone != "" {
		w.out.missing = true
	}
	if w.cur == w.start {
		w.out.strayed = true
	}
	w.cur = filepath.Dir(w.cur)
	if _, inside := below(w.gone, w.cur); !inside {
		w.gone = ""
	}
}

func (w *walker) descend(name string) {
	w.cur = filepath.Join(w.cur, name)
	if w.gone != "" {
		return
	}
	info, err := os.Lstat(w.cur)
	switch {
	case err != nil:
		w.gone = w.cur
	case info.Mode()&os.ModeSymlink != 0:
		w.follow()
	case !info.IsDir():
		w.gone = w.cur
	}
}

func (w *walker) follow() {
	if isMagic(w.cur) {
		w.gone = w.cur
		return
	}
	target, err := os.Readlink(w.cur)
	if w.hops++; err != nil || w.hops > maxHops {
		w.out.endless = w.out.endless || w.hops > maxHops
		w.gone = w.cur
		return
	}
	w.cur, w.start = filepath.Dir(w.cur), ""
	w.towards(target)
}

// isMagic reports whether a link is one of a process in /proc, such as
// /proc/self/root or /proc/self/fd/3. It leads elsewhere for every process that
// reads it, so no name has a meaning through it.
func isMagic(link string) bool {
	rest, ok := strings.CutPrefix(link, "/proc/")
	return ok && strings.Contains(rest, "/")
}

// components splits a path at separators and drops what means nothing.
func components(path string) []string {
	parts := strings.FieldsFunc(path, func(c rune) bool { return c < utf8.RuneSelf && os.IsPathSeparator(uint8(c)) })
	kept := parts[:0]
	for _, p := range parts {
		if p != "." {
			kept = append(kept, p)
		}
	}
	return kept
}

// below gives path relative to root when it is root or lies below it. An empty
// root holds nothing.
func below(root, path string) (rel string, ok bool) {
	if root == "" || !strings.HasPrefix(path, root) {
		return "", false
	}
	rel = path[len(root):]
	if rel == "" || os.IsPathSeparator(root[len(root)-1]) {
		return rel, true
	}
	return rel[1:], os.IsPathSeparator(rel[0])
}
