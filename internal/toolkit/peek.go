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
