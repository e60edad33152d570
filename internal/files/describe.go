package files

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// What can be wrong with a name that exists.
var (
	errIsFolder   = errors.New("is a folder")
	errNotFolder  = errors.New("is not a folder")
	errNotRegular = errors.New("is not a regular file")
	errInvisible  = errors.New("has invisible characters in a new name")
	errChanged    = errors.New("changed since it was last read; read it again")
	errLocked     = errors.New("is in a folder that another program keeps locked")
)

// meaning is the one table from causes to codes and words; the first that fits counts.
var meaning = []struct {
	cause error
	code  tool.Code
	words string
}{
	{fs.ErrNotExist, tool.FileNotFound, "file not found"},
	{errIsFolder, tool.InvalidPath, "is a folder"},
	{syscall.EISDIR, tool.InvalidPath, "is a folder"},
	{errNotFolder, tool.InvalidPath, "is not a folder"},
	{errNotRegular, tool.InvalidPath, "is not a regular file"},
	{errInvisible, tool.InvalidPath, "has invisible characters in a new name"},
	{fs.ErrExist, tool.InvalidPath, "exists and is not a folder"},
	{syscall.ENAMETOOLONG, tool.InvalidPath, "is too long"},
	{syscall.EINVAL, tool.InvalidPath, "is not a possible name here"},
	{syscall.EILSEQ, tool.InvalidPath, "is not a possible name here"},
	{errChanged, tool.FileChanged, "changed since it was last read; read it again"},
	{errMoved, tool.PermissionDenied, "keeps changing while it is being opened"},
	{syscall.ELOOP, tool.PermissionDenied, "leads through too many links"},
	{fs.ErrPermission, tool.PermissionDenied, "permission denied"},
	{syscall.EROFS, tool.PermissionDenied, "is on a read-only file system"},
	{syscall.ENOSPC, tool.NoSpace, "no space left on the disk"},
	{syscall.EDQUOT, tool.NoSpace, "disk quota exceeded"},
}

// describe makes an error for the model: what was the matter with which name.
// A file where a folder should be means for a reader that the file is not
// there, and for a writer that the name is no good.
func describe(err error, name string, want access, other tool.Code) error {
	if err == nil {
		return nil
	}
	if e := (*tool.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, syscall.ENOTDIR) && want == reading {
		return &tool.Error{Code: tool.FileNotFound, Text: show(name) + ": file not found", Err: err}
	} else if errors.Is(err, syscall.ENOTDIR) {
		err = errNotFolder
	}
	for _, m := range meaning {
		if errors.Is(err, m.cause) {
			return &tool.Error{Code: m.code, Text: show(name) + ": " + m.words, Err: err}
		}
	}
	return &tool.Error{Code: other, Text: show(name) + ": " + err.Error(), Err: err}
}

// show is a name fit to be read: quoted when it holds what a screen would obey
// or hide, and cut when it is long.
func show(name string) string {
	const most = 300
	if len(name) > most {
		cut := most
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	if quoted := strconv.Quote(name); strings.Trim(quoted, `"`) != name || strings.TrimSpace(name) != name {
		return quoted
	}
	return name
}

// Outcome says in one word how an operation ended: allowed, denied, not_found
// or validation_failed, or the type of error where it is none of these.
func Outcome(err error) string {
	if err == nil {
		return "allowed"
	}
	kind := tool.CodeOf(err, "").Type()
	if kind == tool.TypePermission {
		return "denied"
	}
	return string(kind)
}
