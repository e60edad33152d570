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
		return nil, tool.Stamp{}, Missing(err, name)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, tool.Stamp{}, tool.Errorf(tool.ReadFailed, "reading %s: %w", name, err)
	}
	return data, sha256.Sum256(data), nil
}

// Current is Peek for a change that builds on what the model read: when the file
// is another by now, the change is refused.
func Current(files tool.Files, name string) ([]byte, tool.Stamp, error) {
	seen, known := files.Seen(name)
	data, stamp, err := Peek(files, name)
	if err == nil && known && seen != stamp {
		err = tool.Errorf(tool.FileChanged, "%s was changed by someone else since you read it; read it again", name)
	}
	return data, stamp, err
}

// Folder gives the real path of a folder that may be read, for tools that walk a
// tree themselves.
func Folder(files tool.Files, name string) (string, error) {
	info, err := files.Stat(name)
	if err != nil {
		return "", Missing(err, name)
	}
	if !info.IsDir() {
		return "", tool.Errorf(tool.InvalidPath, "%s is no folder", name)
	}
	return files.Locate(name)
}

// Reading is the plan of a call that reads what name leads to.
func Reading(at tool.Place, name, summary string) (tool.Plan, error) {
	real, err := at.Files.Locate(name)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: summary, Reads: []string{real}}, nil
}

// Missing says that a file is not there in the words that every tool uses for
// it; any other error stays as it is.
func Missing(err error, name string) error {
	if tool.CodeOf(err, "") != tool.FileNotFound {
		return err
	}
	return &tool.Error{Code: tool.FileNotFound, Text: "File not found: " + name, Err: err}
}
