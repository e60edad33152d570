package toolkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ikigai/internal/tool"
)

// Remember is a tool's memory in a session: a JSON file in the session's folder,
// so that it is the same by both roads. change gets what was kept, or the zero
// T, and what it makes of it is kept; with an error from it nothing is changed.
// Calls at the same time, also of other processes, take turns.
func Remember[T any](at tool.Place, name string, change func(*T) error) error {
	if at.Dir == "" {
		return tool.Errorf(tool.OpenFailed, "there is no session to remember in: IKIGAI_SESSION_DIR names its folder")
	}
	path := filepath.Join(at.Dir, name+".json")
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return tool.Errorf(tool.OpenFailed, "waiting for %s: %w", path, err)
	}
	defer lock.Close() // which lets it go
	var kept T
	if err := recall(path, &kept); err != nil {
		return err
	}
	if err := change(&kept); err != nil {
		return err
	}
	return keep(path, kept)
}

// Recall is what Remember kept, or the zero T.
func Recall[T any](at tool.Place, name string) (kept T, err error) {
	if at.Dir == "" {
		return kept, nil
	}
	return kept, recall(filepath.Join(at.Dir, name+".json"), &kept)
}

func recall(path string, into any) error {
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return tool.Errorf(tool.ReadFailed, "reading %s: %w", path, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return tool.Errorf(tool.ReadFailed, "reading %s: %w", path, err)
	}
	return nil
}

// keep replaces the file in one step: whoever reads sees the old or the new.
func keep(path string, value any) error {
	raw, err := tool.Encode(value)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", filepath.Base(path), err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return tool.Errorf(tool.WriteFailed, "keeping %s: %w", path, err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return tool.Errorf(tool.WriteFailed, "keeping %s: %w", path, err)
	}
	return nil
}
