//go:build !unix

package snapshot

import (
	"io/fs"
	"os"
)

// A looker looks at files below a folder that it holds open.
type looker struct{ root *os.Root }

func newLooker(root string) (looker, error) {
	r, err := os.OpenRoot(root)
	return looker{r}, err
}

func (l looker) close() { l.root.Close() }

// look is the stamp of the very thing at path; a link is not followed.
func (l looker) look(path string) (stamp, error) {
	info, err := l.root.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// stampOfFile is the stamp of an open file.
func stampOfFile(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// stampOf takes the time of the last change of content for the time of any
// change: there is no other.
func stampOf(info fs.FileInfo) stamp {
	t := info.ModTime().UnixNano()
	return stamp{size: info.Size(), mtime: t, ctime: t, mode: info.Mode()}
}
