package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"strings"
)

// An index is what a tree held when it was last looked at. It never changes.
type index struct {
	manifest sum
	depth    int      // how many manifests the manifest stands on
	records  []record // in the order of their paths
	at       map[string]int32
}

func newIndex(records []record) *index {
	x := &index{records: records, at: make(map[string]int32, len(records))}
	for i := range records {
		x.at[records[i].path] = int32(i)
	}
	return x
}

func (x *index) find(path string) (record, bool) {
	i, ok := x.at[path]
	if !ok {
		return record{entry: entry{path: path}}, false
	}
	return x.records[i], true
}

const indexMark = "ikigai index 2\n"

// encode is the index as a file; its end is a sum of the rest.
func (x *index) encode(maxFile int64) []byte {
	out := make([]byte, 0, 128+128*len(x.records))
	out = append(append(out, indexMark...), x.manifest[:]...)
	for _, n := range []int64{maxFile, int64(x.depth), int64(len(x.records))} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	before := ""
	for i := range x.records {
		r := &x.records[i]
		out = appendStamp(appendEntry(out, &r.entry, before), r)
		before = r.path
	}
	digest := sha256.Sum256(out)
	return append(out, digest[:]...)
}

// decodeIndex reads an index. One that is broken or was made with another
// largest file is none: all is read again then.
func decodeIndex(raw []byte, maxFile int64) *index {
	end := len(raw) - sha256.Size
	if end < 0 || sha256.Sum256(raw[:end]) != sum(raw[end:]) || !bytes.HasPrefix(raw, []byte(indexMark)) {
		return newIndex(nil)
	}
	r := reader{rest: raw[len(indexMark):end]}
	manifest, most, depth := r.sum(), int64(r.number()), int(r.number())
	records := make([]record, r.count())
	r.paths, r.ends = make([]byte, 0, 64*len(records)), make([]int, 0, len(records))
	for i := range records {
		r.entry(&records[i].entry)
		r.stamp(&records[i])
	}
	r.share(len(records), func(i int) *entry { return &records[i].entry })
	if r.bad || most != maxFile {
		return newIndex(nil)
	}
	x := newIndex(records)
	x.manifest, x.depth = manifest, depth
	return x
}

// recall reads the index of a tree, once. One that speaks of content which is
// not there is none.
func (s *Store) recall(t *tree) error {
	if t.index != nil {
		return nil
	}
	raw, err := os.ReadFile(s.indexFile(t))
	if err != nil && !isMissing(err) {
		return err
	}
	if err := s.library.refresh(); err != nil {
		return err
	}
	t.index = decodeIndex(raw, s.o.MaxFile)
	if _, ok := s.library.find(t.index.manifest); !ok {
		t.index = newIndex(nil)
	}
	return nil
}

func (x *index) entries() map[string]entry {
	all := make(map[string]entry, len(x.records))
	for i := range x.records {
		all[x.records[i].path] = x.records[i].entry
	}
	return all
}

// anyBelow reports whether a path below dir is one that is asked for.
func (x *index) anyBelow(dir string, asked func(path string) bool) bool {
	i, _ := slices.BinarySearchFunc(x.records, dir+"/", func(r record, p string) int { return strings.Compare(r.path, p) })
	for ; i < len(x.records) && strings.HasPrefix(x.records[i].path, dir+"/"); i++ {
		if asked(x.records[i].path) {
			return true
		}
	}
	return false
}
