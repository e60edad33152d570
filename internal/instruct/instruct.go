// Package instruct finds the standing instructions of a person and a project:
// the files that tell an agent how to work here. It reads AGENTS.md, or where a
// folder has none CLAUDE.md or GEMINI.md, from the repository's root down to the
// working folder, after the person's own.
//
// A project's file is read only inside its repository: a link that leads out of
// it is not followed, so no repository can put another file of this machine into
// a prompt.
package instruct

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what goes into a prompt. The person's own come first, then those
// nearest to the working folder.
const (
	MaxFile = 32 << 10
	MaxAll  = 64 << 10
)

// names are the files that hold instructions. The first that a folder has is
// the one.
var names = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// Instructions are what was found, in the order in which they are told: the
// person's own first, the nearest last.
type Instructions struct {
	Files []File
	Notes []string // what was cut or left out, and why
}

// A File is one file of instructions.
type File struct {
	Path string // as a person would say it: from the repository's root, or whole
	Size int    // bytes of the file
	Text string // what is used of it
	Cut  bool   // that is not all
}

// Head begins the text of instructions: whatever was told before, these come
// from the person's side.
const Head = "The person and the project give these standing instructions. Where they differ, the later one holds; what the person says in the conversation comes before them."

// Text is all of them for a prompt, each under the name of its file; empty when
// there are none.
func (in Instructions) Text() string {
	if len(in.Files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(Head)
	for _, f := range in.Files {
		fmt.Fprintf(&b, "\n\n## From %s\n\n%s", f.Path, f.Text)
	}
	return b.String()
}

// Read finds the instructions that hold in dir, a real path. own is the file of
// the person; it may be absent, and so may all others.
func Read(dir, own string) Instructions {
	var r reader
	if own != "" {
		r.person(own)
	}
	r.project(Root(dir), dir)
	r.share()
	return Instructions{Files: r.files, Notes: r.notes}
}

// Root is the root of the repository that dir is in, or dir itself.
func Root(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

type reader struct {
	files []File
	notes []string
	own   int // how many of the files are the person's
}

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// person reads the person's own file. Where its links lead is the person's business.
func (r *reader) person(name string) {
	r.take(name, func() (file, error) {
		return openPlain(os.Stat, func(n string) (file, error) { return os.Open(n) }, name)
	})
	r.own = len(r.files)
}

// project reads the folders from root down to dir.
func (r *reader) project(root, dir string) {
	in, err := os.OpenRoot(root)
	if err != nil {
		r.note("the instructions of %s were not read: %v", root, err)
		return
	}
	defer in.Close()
	for _, folder := range folders(root, dir) {
		r.folder(in, folder)
	}
}

// folders are the paths from root down to dir, both included, relative to root.
func folders(root, dir string) []string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return []string{"."}
	}
	var all []string
	for ; rel != "."; rel = filepath.Dir(rel) {
		all = append(all, rel)
	}
	all = append(all, ".")
	slices.Reverse(all)
	return all
}

// folder reads the first of the names that the folder has. One that is there but
// cannot be used is told, and does not make room for the next.
func (r *reader) folder(in *os.Root, folder string) {
	for _, n := range names {
		name := filepath.Join(folder, n)
		found := r.take(printable(filepath.ToSlash(name)), func() (file, error) {
			return openPlain(in.Stat, func(n string) (file, error) { return in.Open(n) }, name)
		})
		if found {
			return
		}
	}
}

// printable is a path that stays on its line: it becomes a heading of the prompt.
func printable(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) || !utf8.ValidString(path) {
		return strconv.Quote(path)
	}
	return path
}

type file interface {
	io.ReadCloser
	Stat() (fs.FileInfo, error)
}

// openPlain opens a regular file only: a pipe would keep us waiting.
func openPlain(stat func(string) (fs.FileInfo, error), open func(string) (file, error), name string) (file, error) {
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	return open(name)
}

// take reads one file and reports whether it is there at all.
func (r *reader) take(name string, open func() (file, error)) bool {
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		r.note("%s was not read: %v", name, err)
		return true
	}
	defer f.Close()
	got := File{Path: name}
	if err := got.read(f); err != nil {
		r.note("%s was not read: %v", name, err)
	} else if got.Text != "" {
		r.files = append(r.files, got)
	}
	return true
}

// read takes as much of a file as may be used.
func (f *File) read(from file) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err != nil {
		return err
	}
	f.Size = max(int(info.Size()), len(raw))
	f.Cut = len(raw) > MaxFile
	raw = bytes.TrimPrefix(cut(raw, MaxFile), []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return errors.New("it is not UTF-8 text")
	}
	f.Text = string(bytes.TrimSpace(raw))
	return nil
}

// cut shortens text to n bytes, at the end of a line where one is near and never
// inside a character.
func cut(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	text = text[:n]
	if i := bytes.LastIndexByte(text, '\n'); i > n/2 {
		return text[:i]
	}
	return text
}

// share gives the room there is to the person's own file first, then to the
// nearest one and on up to the root, and says what was cut.
func (r *reader) share() {
	room := MaxAll
	for _, f := range r.ranked() {
		if len(f.Text) > room {
			f.Text, f.Cut = string(bytes.TrimSpace(cut([]byte(f.Text), room))), true
			room = len(f.Text) // a few bytes more are of no use to the next
		}
		room -= len(f.Text)
	}
	for _, f := range r.files {
		switch {
		case f.Text == "":
			r.note("%s was left out: there is room for %d KiB of instructions", f.Path, MaxAll>>10)
		case f.Cut:
			r.note("%s was cut: %d of its %d bytes are used", f.Path, len(f.Text), f.Size)
		}
	}
	r.files = slices.DeleteFunc(r.files, func(f File) bool { return f.Text == "" })
}

// ranked are the files in the order in which they get room.
func (r *reader) ranked() []*File {
	var all []*File
	for i := range r.own {
		all = append(all, &r.files[i])
	}
	for i := len(r.files) - 1; i >= r.own; i-- {
		all = append(all, &r.files[i])
	}
	return all
}
