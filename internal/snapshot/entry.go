package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// A sum names content: it is the SHA-256 of it.
type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes a sum in hexadecimal digits.
func (s sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *sum) UnmarshalText(text []byte) error {
	if len(text) != 2*len(s) {
		return fmt.Errorf("a sum of %d digits", len(text))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// A kind is what stands at a path.
type kind uint8

const (
	absent kind = iota
	file
	link
	folder
	// What is there but not kept. It is remembered, so that nobody takes it for
	// new later, and removes it.
	large
	excess
	special
	unreadable
)

func (k kind) kept() bool { return k == file || k == link || k == folder }

// An entry is what a snapshot knows of one path.
type entry struct {
	path     string // relative to the root, with slashes
	kind     kind
	mode     fs.FileMode // permission, setuid, setgid and sticky bits; none for a link
	uid, gid uint32
	size     int64
	sum      sum // of the content or of a link's target; of what is not kept, of its stamp
}

// same reports whether two entries of one path are the same to a person.
func (e entry) same(o entry) bool {
	return e.kind == o.kind && e.mode == o.mode && e.uid == o.uid && e.gid == o.gid && e.sum == o.sum
}

// A stamp tells one state of a file from another without reading it.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64
	mode         fs.FileMode
	uid, gid     uint32
}

// sum stands for content that is not kept.
func (s stamp) sum() sum {
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d", s.dev, s.ino, s.size, s.mtime))
}

// A record is an entry and how the file looked when it was read. It is believed
// as long as the file looks the same, if it was settled then.
type record struct {
	entry
	stamp   stamp
	settled bool
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// newRecord is what a stamp alone says of a path.
func newRecord(path string, s stamp) record {
	r := record{entry: entry{path: path, mode: s.mode & modeBits, uid: s.uid, gid: s.gid, size: s.size}, stamp: s}
	switch s.mode.Type() {
	case 0:
		r.kind = file
	case fs.ModeSymlink:
		r.kind, r.mode = link, 0
	case fs.ModeDir:
		r.kind, r.size = folder, 0
	default:
		r.refuse(special)
	}
	return r
}

// refuse says that the content is not kept.
func (r *record) refuse(why kind) { r.kind, r.sum = why, r.stamp.sum() }

// Entries are written one after another in the order of their paths. A path is
// written as how much of it is the same as before, and the rest.

func appendEntry(dst []byte, e *entry, before string) []byte {
	shared := 0
	for shared < len(before) && shared < len(e.path) && before[shared] == e.path[shared] {
		shared++
	}
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = appendText(dst, e.path[shared:])
	dst = append(dst, byte(e.kind))
	for _, n := range []uint64{uint64(e.mode), uint64(e.uid), uint64(e.gid), uint64(e.size)} {
		dst = binary.AppendUvarint(dst, n)
	}
	if e.kind != folder {
		dst = append(dst, e.sum[:]...)
	}
	return dst
}

// Stamps are long numbers that are read at every start, so they are written in
// full: that is the quickest to read.
const stampSize = 5*8 + 3*4 + 1

func appendStamp(dst []byte, r *record) []byte {
	s := &r.stamp
	for _, n := range [...]uint64{s.dev, s.ino, uint64(s.size), uint64(s.mtime), uint64(s.ctime)} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	for _, n := range [...]uint32{uint32(s.mode), s.uid, s.gid} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	if r.settled {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// A reader takes apart what the functions above wrote. After the first thing
// that cannot be it gives zeros, and fail says so.
type reader struct {
	rest  []byte
	paths []byte // all paths until now, one after another
	ends  []int
	bad   bool
}

var errMangled = errors.New("its bytes make no sense")

func (r *reader) fail() error {
	if r.bad {
		return errMangled
	}
	return nil
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.bad = nil, true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) sum() (s sum) {
	copy(s[:], r.bytes(uint64(len(s))))
	return s
}

func (r *reader) text() string { return string(r.bytes(r.number())) }

// entry reads all of an entry but its path, which share gives it.
func (r *reader) entry(e *entry) {
	shared, end, from := r.number(), len(r.paths), 0
	if n := len(r.ends); n > 1 {
		from = r.ends[n-2]
	}
	if shared > uint64(end-from) {
		r.rest, r.bad = nil, true
		return
	}
	r.paths = append(r.paths, r.paths[from:from+int(shared)]...)
	r.paths = append(r.paths, r.bytes(r.number())...)
	r.ends = append(r.ends, len(r.paths))
	e.kind = kind(r.byte())
	e.mode, e.uid, e.gid, e.size = fs.FileMode(r.number()), uint32(r.number()), uint32(r.number()), int64(r.number())
	if e.kind != folder {
		e.sum = r.sum()
	}
}

// share gives entries their paths: parts of one string, since one for each
// would cost more than all the rest.
func (r *reader) share(n int, entry func(i int) *entry) {
	if r.bad {
		return
	}
	all, from := string(r.paths), 0
	for i := range n {
		entry(i).path = all[from:r.ends[i]]
		from = r.ends[i]
	}
}

func (r *reader) stamp(into *record) {
	b := r.bytes(stampSize)
	if b == nil {
		return
	}
	long := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	short := func(i int) uint32 { return binary.LittleEndian.Uint32(b[5*8+4*i:]) }
	into.stamp = stamp{
		dev: long(0), ino: long(1), size: int64(long(2)), mtime: int64(long(3)), ctime: int64(long(4)),
		mode: fs.FileMode(short(0)), uid: short(1), gid: short(2),
	}
	into.settled = b[stampSize-1] == 1
}

// count reads how many things follow, and refuses a number that cannot be.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.bad = nil, true
		return 0
	}
	return int(n)
}

// A manifest is the list of what a tree held, as stored content: whole, or as
// what is different from another manifest.
type manifest struct {
	base    sum // zero for a whole one
	entries []entry
	removed []string
}

func (m *manifest) encode() []byte {
	out := make([]byte, 0, 64+80*len(m.entries))
	out = append(append(out, "ikigai manifest 1\n"...), m.base[:]...)
	out = binary.AppendUvarint(out, uint64(len(m.entries)))
	before := ""
	for i := range m.entries {
		out = appendEntry(out, &m.entries[i], before)
		before = m.entries[i].path
	}
	out = binary.AppendUvarint(out, uint64(len(m.removed)))
	for _, p := range m.removed {
		out = appendText(out, p)
	}
	return out
}

func decodeManifest(raw []byte) (*manifest, error) {
	rest, ok := bytes.CutPrefix(raw, []byte("ikigai manifest 1\n"))
	if !ok {
		return nil, errMangled
	}
	r := reader{rest: rest}
	m := &manifest{base: r.sum()}
	m.entries = make([]entry, r.count())
	for i := range m.entries {
		r.entry(&m.entries[i])
	}
	r.share(len(m.entries), func(i int) *entry { return &m.entries[i] })
	m.removed = make([]string, r.count())
	for i := range m.removed {
		m.removed[i] = r.text()
	}
	return m, r.fail()
}

// between is the manifest that makes the new list out of the old one; both are
// in the order of their paths.
func between(base sum, old, new []record) *manifest {
	m := &manifest{base: base}
	for len(old) > 0 || len(new) > 0 {
		order := 0
		switch {
		case len(old) == 0:
			order = 1
		case len(new) == 0:
			order = -1
		default:
			order = strings.Compare(old[0].path, new[0].path)
		}
		if order < 0 {
			m.removed = append(m.removed, old[0].path)
		} else if order > 0 || !old[0].same(new[0].entry) {
			m.entries = append(m.entries, new[0].entry)
		}
		if order <= 0 {
			old = old[1:]
		}
		if order >= 0 {
			new = new[1:]
		}
	}
	return m
}

// apply changes a list of entries by path as m says.
func (m *manifest) apply(to map[string]entry) {
	for _, p := range m.removed {
		delete(to, p)
	}
	for _, e := range m.entries {
		to[e.path] = e
	}
}
