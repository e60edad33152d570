package files

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"ikigai/internal/tool"
)

// WriteFile replaces or makes a regular file in one step: the new bytes go to a
// file of another name in the same folder, reach the disk, and take the name.
// So nobody ever sees half a file, also not after a full disk or a lost power
// supply, and a further hard link keeps the old bytes. Permission bits and,
// where possible, the owner are kept; set-uid and set-gid are dropped, as the
// system does when a file is written.
//
// While the stamp is compared and the name is taken the folder is locked
// against other agents, so of two that read the same bytes only one can write.
func (r *Roots) WriteFile(name string, data []byte, was tool.Stamp) error {
	var real string
	err := r.at(name, writing, tool.WriteFailed, func(p place) error {
		real = p.real
		return p.write(data, was)
	})
	if err == nil {
		r.saw(real, data)
	}
	return err
}

func (p place) write(data []byte, was tool.Stamp) error {
	if p.folder { // checked before folders are made for it
		return errIsFolder
	}
	dir, base, err := p.parent(true)
	if err != nil {
		return err
	}
	defer dir.close()
	unlock, err := dir.lock()
	if err != nil {
		return err
	}
	defer unlock()
	old, err := p.replaceable(dir, base, was)
	if err != nil {
		return err
	}
	return replace(dir, base, data, old)
}

// replaceable describes the file that is about to be replaced; nil means that
// there is none. A file that could not be written in place is not replaced
// either, though the folder would allow it.
func (p place) replaceable(dir *folder, base string, was tool.Stamp) (fs.FileInfo, error) {
	old, err := p.regular(dir, base)
	if errors.Is(err, fs.ErrNotExist) {
		if was != (tool.Stamp{}) {
			return nil, errChanged
		}
		if invisible(base) {
			return nil, errInvisible
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := dir.writable(base); err != nil && !errors.Is(err, syscall.ETXTBSY) {
		return nil, err
	}
	return old, sameStamp(dir, base, was)
}

func sameStamp(dir *folder, base string, was tool.Stamp) error {
	if was == (tool.Stamp{}) {
		return nil
	}
	f, err := dir.open(base)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := readAll(f)
	if err != nil {
		return err
	}
	if sha256.Sum256(data) != was {
		return errChanged
	}
	return nil
}

// replace writes data beside base and gives it that name. On any error the old
// file is as it was and nothing is left beside it.
func replace(dir *folder, base string, data []byte, old fs.FileInfo) error {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // until it has its own: never wider than the old file
	}
	temp := ".ikigai-" + rand.Text()
	f, err := dir.create(temp, perm)
	if err != nil {
		return err
	}
	if err = fill(f, data, old); err == nil {
		err = dir.rename(temp, base)
	}
	if err != nil {
		return errors.Join(err, dir.remove(temp))
	}
	return nil
}

func fill(f *os.File, data []byte, old fs.FileInfo) error {
	_, err := f.Write(data)
	if err == nil && old != nil {
		keepOwner(f, old) // only root can in general; the writer owns it otherwise
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing a new file: %w", err)
	}
	return nil
}
