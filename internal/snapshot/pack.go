package snapshot

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Content is kept in packs: one file for all that one snapshot brought along,
// since thirty thousand small files would cost more than their content. A pack
// is the contents one after another, then a table of (sum, offset, size), then
// the table's offset, its sum, and a mark. It gets its name when it is whole
// and on the disk, and is never changed.

const (
	packMark   = "ikigai pack 1\n"
	tableRow   = sha256.Size + 8 + 8
	packFooter = 8 + sha256.Size + len(packMark)
	packSuffix = ".pack"
	tempPrefix = "tmp-"
)

// ErrDamaged says that stored content is not what was stored.
var ErrDamaged = errors.New("the stored content is damaged")

// A place is where content lies.
type place struct {
	pack   string
	offset int64
	size   int64
}

// A library knows where all content lies. It is not safe for concurrent use;
// the store's mutex guards it.
type library struct {
	dir    string
	tables map[string]table // of each pack

	// A map of everything is made once many things were asked for: a process
	// that only looks whether something changed asks for one.
	places map[sum]place
	asked  int
}

func newLibrary(dir string) *library { return &library{dir: dir, tables: map[string]table{}} }

// refresh learns of packs that others wrote, and forgets those that are gone.
func (l *library) refresh() error {
	names, err := l.names()
	if err != nil {
		return fmt.Errorf("listing stored content: %w", err)
	}
	for known := range l.tables {
		if !slices.Contains(names, known) {
			l.tables, l.places = map[string]table{}, nil
			break
		}
	}
	for _, name := range names {
		if l.tables[name] != nil {
			continue
		}
		t, err := readTable(filepath.Join(l.dir, name))
		if err != nil {
			return fmt.Errorf("reading the table of %s: %w", name, err)
		}
		l.learn(name, t)
	}
	return nil
}

func (l *library) learn(pack string, t table) {
	l.tables[pack] = t
	if l.places != nil {
		t.into(l.places, pack)
	}
}

// find is where content lies.
func (l *library) find(s sum) (place, bool) {
	const often = 50
	if l.places == nil && l.asked < often {
		l.asked++
		for pack, t := range l.tables {
			for r := range t.rows() {
				if r.sum == s {
					return place{pack, r.offset, r.size}, true
				}
			}
		}
		return place{}, false
	}
	p, ok := l.all()[s]
	return p, ok
}

// all is where everything lies.
func (l *library) all() map[sum]place {
	if l.places == nil {
		l.places = map[sum]place{}
		for pack, t := range l.tables {
			t.into(l.places, pack)
		}
	}
	return l.places
}

func (l *library) names() ([]string, error) {
	list, err := os.ReadDir(l.dir)
	var names []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), packSuffix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// read gives the content of that sum, and never anything else.
func (l *library) read(want sum) ([]byte, error) {
	p, ok := l.find(want)
	if !ok {
		return nil, fmt.Errorf("%w: nothing is stored under %s", ErrDamaged, want)
	}
	f, err := os.Open(filepath.Join(l.dir, p.pack))
	if err != nil {
		return nil, fmt.Errorf("reading stored content: %w", err)
	}
	defer f.Close()
	content := make([]byte, p.size)
	if _, err := f.ReadAt(content, p.offset); err != nil {
		return nil, fmt.Errorf("%w: %s of %s: %w", ErrDamaged, want, p.pack, err)
	}
	if sha256.Sum256(content) != want {
		return nil, fmt.Errorf("%w: %s of %s has other bytes", ErrDamaged, want, p.pack)
	}
	return content, nil
}

// manifest gives all entries of a stored manifest, by path.
func (l *library) manifest(of sum) (map[string]entry, error) {
	all := map[string]entry{}
	chain, err := l.chain(of)
	for _, at := range slices.Backward(chain) {
		at.apply(all)
	}
	return all, err
}

// chain is a manifest and those it stands on, the whole one last.
func (l *library) chain(of sum) ([]*manifest, error) {
	const longest = 10_000 // a ring cannot be made, and a damaged store must not hang us
	var chain []*manifest
	for of != (sum{}) || chain == nil {
		raw, err := l.read(of)
		if err != nil {
			return nil, err
		}
		m, err := decodeManifest(raw)
		if err != nil || len(chain) > longest {
			return nil, fmt.Errorf("%w: manifest %s: %w", ErrDamaged, of, errMangled)
		}
		chain = append(chain, m)
		of = m.base
	}
	return chain, nil
}

// A table is the bytes of a pack's table.
type table []byte

type row struct {
	sum          sum
	offset, size int64
}

func (t table) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		for b := t; len(b) >= tableRow; b = b[tableRow:] {
			r := row{
				sum:    sum(b[:sha256.Size]),
				offset: int64(binary.LittleEndian.Uint64(b[sha256.Size:])),
				size:   int64(binary.LittleEndian.Uint64(b[sha256.Size+8:])),
			}
			if !yield(r) {
				return
			}
		}
	}
}

func (t table) add(r row) table {
	t = append(t, r.sum[:]...)
	t = binary.LittleEndian.AppendUint64(t, uint64(r.offset))
	return binary.LittleEndian.AppendUint64(t, uint64(r.size))
}

func (t table) into(places map[sum]place, pack string) {
	for r := range t.rows() {
		places[r.sum] = place{pack, r.offset, r.size}
	}
}

func readTable(path string) (table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := info.Size() - int64(packFooter)
	foot := make([]byte, packFooter)
	if _, err := f.ReadAt(foot, max(end, 0)); err != nil || end < 0 || string(foot[8+sha256.Size:]) != packMark {
		return nil, fmt.Errorf("%w: it has no end", ErrDamaged)
	}
	from := int64(binary.LittleEndian.Uint64(foot))
	if from < 0 || from > end {
		return nil, fmt.Errorf("%w: it has no table", ErrDamaged)
	}
	t := make(table, end-from)
	if _, err := f.ReadAt(t, from); err != nil && err != io.EOF {
		return nil, err
	}
	if sha256.Sum256(t) != sum(foot[8:8+sha256.Size]) {
		return nil, fmt.Errorf("%w: its table has other bytes", ErrDamaged)
	}
	return t, nil
}

// A packer writes a new pack. Until commit nobody sees it.
type packer struct {
	library *library
	file    *os.File // nil until something is added
	out     *bufio.Writer
	size    int64
	table   table
	added   map[sum]bool
}

func (l *library) newPacker() *packer { return &packer{library: l, added: map[sum]bool{}} }

// has reports whether content of that sum is stored already or will be.
func (p *packer) has(s sum) bool {
	_, stored := p.library.find(s)
	return stored || p.added[s]
}

// add keeps content, once.
func (p *packer) add(s sum, content []byte) error {
	if p.has(s) {
		return nil
	}
	if p.file == nil {
		f, err := os.CreateTemp(p.library.dir, tempPrefix)
		if err != nil {
			return fmt.Errorf("keeping content: %w", err)
		}
		p.file, p.out = f, bufio.NewWriterSize(f, 1<<20)
	}
	if _, err := p.out.Write(content); err != nil {
		return fmt.Errorf("keeping content: %w", err)
	}
	p.table = p.table.add(row{s, p.size, int64(len(content))})
	p.size += int64(len(content))
	p.added[s] = true
	return nil
}

// keep adds content of our own making, and names it.
func (p *packer) keep(content []byte) (sum, error) {
	s := sum(sha256.Sum256(content))
	return s, p.add(s, content)
}

// commit gives the pack its name. The library knows it then.
func (p *packer) commit() error {
	if p.file == nil {
		return nil
	}
	defer p.abort()
	if err := p.finish(); err != nil {
		return fmt.Errorf("keeping content: %w", err)
	}
	name := rand.Text() + packSuffix
	if err := os.Rename(p.file.Name(), filepath.Join(p.library.dir, name)); err != nil {
		return fmt.Errorf("keeping content: %w", err)
	}
	p.file = nil
	p.library.learn(name, p.table)
	return nil
}

func (p *packer) finish() error {
	digest := sha256.Sum256(p.table)
	p.out.Write(p.table)
	p.out.Write(binary.LittleEndian.AppendUint64(nil, uint64(p.size)))
	p.out.Write(digest[:])
	p.out.WriteString(packMark)
	return errors.Join(p.out.Flush(), p.file.Sync(), p.file.Close()) // a bufio.Writer remembers its first error
}

// abort takes back what was not committed.
func (p *packer) abort() {
	if p.file == nil {
		return
	}
	p.file.Close()
	os.Remove(p.file.Name()) // one that stays has no name that anybody reads; Prune removes it
	p.file = nil
}

// writeWhole writes a small file so that others see all of it or nothing.
func writeWhole(path string, content []byte, durable bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && durable {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
