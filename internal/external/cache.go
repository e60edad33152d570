package external

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"ikigai/internal/tool"
)

// A cache remembers what executables said, so that a start asks only those that
// are new or changed. The file has one JSON object a line:
//
//	{"v":1,"path":...,"size":...,"mtime":...,"ctime":...,"inode":...,"name":...,"sum":...,"schema":{...},"crc":...}
//
// Lines are found by comparing their beginning with what it must be, up to
// "name"; only the schema of a tool that is used is ever parsed. A file or a line
// that is damaged is as good as none.
type cache struct {
	path   string
	lines  map[string]line // by path, as JSON
	learnt bool
}

// A line is one remembered executable.
type line struct {
	key  []byte // up to and without ,"name"
	rest []byte // from ,"name" on, without the line end
}

// maxCache bounds the file; when it is larger it begins anew.
const maxCache = 8 << 20

func openCache(path string) *cache {
	c := &cache{path: path, lines: map[string]line{}}
	if path == "" {
		return c
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) > maxCache {
		return c // it is made again
	}
	if st, err := lstatOf(path); err != nil || !st.mode.IsRegular() || st.trusted(path, true) != nil {
		return c // others may have written it
	}
	for l := range bytes.Lines(raw) {
		c.load(bytes.TrimSuffix(l, []byte("\n")))
	}
	return c
}

func (c *cache) load(l []byte) {
	at := bytes.Index(l, []byte(`,"name":"`)) // in a path the quotes would be escaped
	if at < 0 || !intact(l) {
		return
	}
	if path, ok := pathIn(l[:at]); ok {
		c.lines[string(path)] = line{l[:at], l[at:]}
	}
}

// pathIn is the path in a key, as JSON.
func pathIn(key []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(key, []byte(cacheStart))
	if !ok {
		return nil, false
	}
	path, _, ok := bytes.Cut(rest, []byte(`,"size":`))
	return path, ok
}

const cacheStart = `{"v":1,"path":`

// keyOf is how the line of f begins.
func keyOf(f file) (key []byte, path string) {
	quoted, _ := tool.Encode(f.path) // a string always encodes
	b := append(make([]byte, 0, len(quoted)+128), cacheStart...)
	b = append(b, quoted...)
	b = strconv.AppendInt(append(b, `,"size":`...), f.stamp.size, 10)
	b = strconv.AppendInt(append(b, `,"mtime":`...), f.stamp.mtime, 10)
	b = strconv.AppendInt(append(b, `,"ctime":`...), f.stamp.ctime, 10)
	b = strconv.AppendUint(append(b, `,"inode":`...), f.stamp.inode, 10)
	return b, string(quoted)
}

// lookup is what is known of f, nil when it is new or has changed.
func (c *cache) lookup(f file) *knowledge {
	if len(c.lines) == 0 {
		return nil
	}
	key, path := keyOf(f)
	l, ok := c.lines[path]
	if !ok || !bytes.Equal(l.key, key) {
		return nil
	}
	return l.knowledge()
}

// knowledge takes a line apart. Names and sums have no escapes.
func (l line) knowledge() *knowledge {
	rest := l.rest[len(`,"name":"`):]
	name, rest, ok := bytes.Cut(rest, []byte(`","sum":"`))
	if !ok || len(rest) < 64 {
		return nil
	}
	k := &knowledge{name: string(name)}
	if _, err := hex.Decode(k.sum[:], rest[:64]); err != nil {
		return nil
	}
	schema, ok := bytes.CutPrefix(rest[64:], []byte(`","schema":`))
	if !ok {
		return nil
	}
	k.schema = schema[:bytes.LastIndex(schema, []byte(`,"crc":`))]
	return k
}

// add remembers what f said.
func (c *cache) add(f file, k *knowledge) {
	if c.path == "" {
		return
	}
	if now, err := statOf(f.path); err != nil || !now.same(f.stamp) {
		return // it changed while it was asked
	}
	key, path := keyOf(f)
	rest := fmt.Appendf(nil, `,"name":%q,"sum":"%x","schema":%s`, k.name, k.sum, k.schema)
	rest = fmt.Appendf(rest, `,"crc":"%08x"}`, crc32.Update(crc32.ChecksumIEEE(key), crc32.IEEETable, rest))
	c.lines[path] = line{key, rest}
	c.learnt = true
}

// intact reports whether a line ends with the sum of what is before.
func intact(l []byte) bool {
	const tail = len(`,"crc":"00000000"}`)
	if len(l) < tail {
		return false
	}
	return string(l[len(l)-tail:]) == fmt.Sprintf(`,"crc":"%08x"}`, crc32.ChecksumIEEE(l[:len(l)-tail]))
}

// gone reports whether nothing is left of a path that is written as JSON.
func gone(quoted string) bool {
	var path string
	if json.Unmarshal([]byte(quoted), &path) != nil {
		return true
	}
	_, err := lstatOf(path)
	return errors.Is(err, fs.ErrNotExist)
}

// save writes the file in one step when something was learnt. A cache that
// cannot be written costs time at the next start and nothing else.
func (c *cache) save() {
	if !c.learnt {
		return
	}
	var b bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(c.lines)) {
		if gone(path) {
			continue
		}
		b.Write(c.lines[path].key)
		b.Write(c.lines[path].rest)
		b.WriteByte('\n')
	}
	dir := filepath.Dir(c.path)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, ".schemas-*")
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), c.path) != nil {
		_ = os.Remove(f.Name()) // best effort, as above
	}
}
