//go:build !unix

package external

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func lstatOf(path string) (stamp, error) { return stampOf(os.Lstat(path)) }
func statOf(path string) (stamp, error)  { return stampOf(os.Stat(path)) }

func stampOf(info fs.FileInfo, err error) (stamp, error) {
	if err != nil {
		return stamp{}, err
	}
	return stamp{mode: info.Mode(), size: info.Size(), mtime: info.ModTime().UnixNano(), owner: -1}, nil
}

// executable goes by the name: there is no bit for it.
func executable(path string, _ fs.FileMode) bool {
	return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(path)))
}
