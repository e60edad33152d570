package toolkit

import (
	"crypto/sha256"
	"io"

	"ikigai/internal/tool"
)

// Peek reads a whole file without counting it as seen: a plan, or an edit, looks
// at a file that the model may not have read.
func Peek(files tool.Files, name string) ([]byte, tool.Stamp, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, tool.Stamp{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, tool.Stamp{}, tool.Errorf(tool.ReadFailed, "reading %s: %w", name, err)
	}
	return data, sha256.Sum256(data), nil
}

// Folder gives the real path of a folder that may be read, for tools that walk a
// tree themselves.
func Folder(files tool.Files, name string) (string, error) {
	info, err := files.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", tool.Errorf(tool.InvalidPath, "%s is no folder", name)
	}
	return files.Locate(name)
}
