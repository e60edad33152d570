package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// errNotFound is for a program that no folder of PATH holds.
var errNotFound = errors.New("not found in PATH")

// lookPath finds the executable called name as a shell in dir with env would,
// but never in a relative folder of PATH.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || filepath.IsAbs(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	denied := error(errNotFound)
	folders, _ := lookup(env, "PATH") // without one nothing is found
	for _, folder := range filepath.SplitList(folders) {
		if !filepath.IsAbs(folder) {
			continue
		}
		for _, ext := range extensions() {
			path := filepath.Join(folder, name+ext)
			err := executable(path)
			if err == nil {
				return path, nil
			}
			if errors.Is(err, fs.ErrPermission) {
				denied = err
			}
		}
	}
	return "", denied
}

// executable reports why path cannot be started, as far as its mode tells.
func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
		return &fs.PathError{Op: "exec", Path: path, Err: fs.ErrPermission}
	}
	return nil
}

func extensions() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".exe", ".com", ".bat", ".cmd"}
	}
	return []string{""}
}

// lookup finds a variable in a list of NAME=value.
func lookup(env []string, name string) (string, bool) {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
