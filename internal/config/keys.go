package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Keys are what was given to key set, by provider. The file that holds them is
// for its owner alone.
type Keys map[string]Key

// A Key is the key itself, or the command that prints it.
type Key struct {
	Key     string `json:"key,omitempty"`
	Command string `json:"command,omitempty"`
}

// An ExposedError is a file of keys that others can read: its keys may be known
// to them, so it is not used.
type ExposedError struct {
	File string
	Mode fs.FileMode
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("the key file %s can be read by others (mode %04o)", e.File, e.Mode.Perm())
}

// Fix is what to do about it.
func (e *ExposedError) Fix() string {
	return fmt.Sprintf("chmod 600 %s, and think about new keys: others may have seen these", e.File)
}

// ReadKeys reads a file of keys. That there is none means that there are no keys.
func ReadKeys(file string) (Keys, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Keys{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened, so that it cannot be another file by then
	if err != nil {
		return nil, fmt.Errorf("reading the key file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, &ExposedError{file, info.Mode()}
	}
	keys := Keys{}
	if err := json.NewDecoder(f).Decode(&keys); err != nil {
		// The cause might quote what it stumbled over, which may be a key.
		return nil, fmt.Errorf("the key file %s is damaged: it is no JSON object of keys", file)
	}
	return keys, nil
}

// Save writes the file in one step, readable by its owner alone from its first
// byte on.
func (k Keys) Save(file string) error {
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the folder of the key file: %w", err)
	}
	return replace(file, append(raw, '\n'))
}

// replace gives a file new content for its owner alone: other readers see the
// old bytes or the new.
func replace(file string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".keys-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("writing the key file: %w", err)
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name()) // what is left of the attempt; the error says enough
		return fmt.Errorf("writing the key file: %w", err)
	}
	return nil
}
