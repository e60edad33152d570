package jail

import (
	"os"
	"slices"
	"strings"
)

// Within reports whether path is dir or lies in it. Both are clean and absolute.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// WithinAny reports whether path lies in one of dirs.
func WithinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return Within(path, d) })
}

// Around lists the largest parts of path that hold none of the paths in out.
func Around(path string, out []string) []string {
	parts, _ := around(path, out)
	return parts
}

// around also gives the folders it had to list.
func around(path string, out []string) (parts, listed []string) {
	if WithinAny(path, out) {
		return nil, nil
	}
	if !slices.ContainsFunc(out, func(o string) bool { return Within(o, path) }) {
		return []string{path}, nil
	}
	entries, _ := os.ReadDir(path) // what cannot be listed cannot be read by the program either
	listed = []string{path}
	for _, e := range entries {
		p, l := around(strings.TrimSuffix(path, "/")+"/"+e.Name(), out)
		parts, listed = append(parts, p...), append(listed, l...)
	}
	return parts, listed
}
