// Package snapshot keeps the workspace as it was before a turn, and puts it
// back. It needs no version control and touches none: whatever changed a file,
// a tool, a shell line, an editor, is seen by looking at the files.
//
// A snapshot is a list of what stood in the workspace. Contents are kept once,
// under their SHA-256; a file that looks as it did when it was last read is not
// read again, so a snapshot of an unchanged tree costs one look at each file.
//
// Covered are regular files up to a size, links (as links, never followed) and
// folders, empty ones too; with content, permissions and owner. Not covered
// are: what the ignore files exclude (unless Options.Also names it), the folders
// of version control systems, files over Options.MaxFile, all beyond
// Options.MaxTotal, pipes, sockets and devices, and what cannot be read; also
// modification times, access lists and which names are one file. What is not
// covered is never changed and never removed. Uncovered says what it is.
package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ikigai/internal/walk"
)

// Options say what is covered and where it is kept.
type Options struct {
	Folder string   // where everything is kept, of this and of other workspaces
	Roots  []string // the folders of the workspace, absolute

	MaxFile  int64    // the largest file that is covered; 10 MiB when zero
	MaxTotal int64    // the most that is covered in one root; 2 GiB when zero
	MaxFiles int      // more files and folders in one root are an error; 500,000 when zero
	Also     []string // paths below a root that are covered although they are ignored
	Skip     []string // folders that are never covered, absolute: our own

	Global string // as in walk.Options
	Home   string // as in walk.Options

	Now func() time.Time // time.Now when nil
}

// A Store takes snapshots of one workspace. It is safe for concurrent use, also
// by several processes on one folder.
type Store struct {
	o       Options
	library *library

	mu         sync.Mutex // guards library, trees and generation
	trees      []*tree
	generation string // after the last Prune that we know of
}

// A Snapshot is what a workspace was at one moment.
type Snapshot struct {
	ID    string    `json:"id"`
	Taken time.Time `json:"taken"`
	Files int       `json:"files"` // what is covered, folders included
	Bytes int64     `json:"bytes"`

	// Uncovered is how many things were seen and not kept; Store.Uncovered names them.
	Uncovered int `json:"uncovered,omitempty"`

	Trees []Tree `json:"trees"`
}

// A Tree is the part of a snapshot below one root.
type Tree struct {
	Root     string `json:"root"`
	Key      string `json:"key"`
	Manifest sum    `json:"manifest"`
	Rules    sum    `json:"rules"` // of the ignore files outside the tree
}

// ErrTooMany says that a root holds more files than are looked at before each
// turn.
var ErrTooMany = errors.New("too many files to watch")

// Open opens the folder, and makes it if it is not there. Nothing else is read yet.
func Open(o Options) (*Store, error) {
	o.MaxFile = orElse(o.MaxFile, 10<<20)
	o.MaxTotal = orElse(o.MaxTotal, 2<<30)
	o.MaxFiles = orElse(o.MaxFiles, 500_000)
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, dir := range []string{"content", "snapshots", "index"} {
		if err := os.MkdirAll(filepath.Join(o.Folder, dir), 0o700); err != nil {
			return nil, fmt.Errorf("opening the folder of snapshots: %w", err)
		}
	}
	s := &Store{o: o, library: newLibrary(filepath.Join(o.Folder, "content"))}
	for _, root := range o.Roots {
		if !filepath.IsAbs(root) {
			return nil, fmt.Errorf("opening snapshots of %s: the path is not absolute", root)
		}
		s.trees = append(s.trees, newTree(filepath.Clean(root)))
	}
	return s, nil
}

func orElse[N int | int64](n, other N) N {
	if n == 0 {
		return other
	}
	return n
}

// Take keeps the workspace as it is now under an id of the caller's choice:
// letters, digits, dot, hyphen and underscore. The workspace is only read; when
// there is an error nothing was kept.
func (s *Store) Take(ctx context.Context, id string) (Snapshot, error) {
	return s.TakeAfter(ctx, id, "")
}

// TakeAfter is Take at the end of what began with another snapshot. All that
// the other covers is covered again, also where the ignore files now exclude it.
func (s *Store) TakeAfter(ctx context.Context, id, begun string) (Snapshot, error) {
	unlock, err := s.locked(ctx, false)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	if _, err := os.Lstat(s.snapshotFile(id)); err == nil {
		return Snapshot{}, fmt.Errorf("taking snapshot %s: %w", id, fs.ErrExist)
	}
	var bases []string
	if begun != "" {
		bases = []string{begun}
	}
	return s.take(ctx, id, bases...)
}

// take does the work of Take for one who has the lock.
func (s *Store) take(ctx context.Context, id string, bases ...string) (Snapshot, error) {
	if !validID(id) {
		return Snapshot{}, fmt.Errorf("taking a snapshot: %q is no id", id)
	}
	snap := Snapshot{ID: id, Taken: s.o.Now()}
	pack := s.library.newPacker()
	defer pack.abort()
	found := make([]*scan, len(s.trees))
	for i, t := range s.trees {
		var err error
		if found[i], err = s.scan(ctx, t, pack, bases); err != nil {
			return Snapshot{}, fmt.Errorf("taking snapshot %s of %s: %w", id, t.path, err)
		}
		if err := found[i].describe(pack); err != nil {
			return Snapshot{}, fmt.Errorf("taking snapshot %s: %w", id, err)
		}
		snap.add(found[i])
	}
	if err := s.write(snap, pack, found); err != nil {
		return Snapshot{}, fmt.Errorf("taking snapshot %s: %w", id, err)
	}
	return snap, nil
}

// write makes everything last: content first, then the snapshot that names it,
// and the indexes, which only save work.
func (s *Store) write(snap Snapshot, pack *packer, found []*scan) error {
	if err := pack.commit(); err != nil {
		return err
	}
	raw, err := json.Marshal(snap)
	if err != nil {
		return err
	}
	if err := writeWhole(s.snapshotFile(snap.ID), raw, true); err != nil {
		return err
	}
	for i, t := range s.trees {
		if found[i].index != t.index {
			t.index = found[i].index
			if err := writeWhole(s.indexFile(t), t.index.encode(s.o.MaxFile), false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (snap *Snapshot) add(f *scan) {
	for i := range f.index.records {
		if r := &f.index.records[i]; r.kind.kept() {
			snap.Files++
			snap.Bytes += r.size
		} else {
			snap.Uncovered++
		}
	}
	snap.Trees = append(snap.Trees, Tree{Root: f.tree.path, Key: f.tree.key, Manifest: f.index.manifest, Rules: f.rules})
}

// Find is the snapshot of that id.
func (s *Store) Find(id string) (Snapshot, error) {
	var snap Snapshot
	if !validID(id) {
		return snap, fmt.Errorf("finding a snapshot: %q is no id", id)
	}
	raw, err := os.ReadFile(s.snapshotFile(id))
	if err != nil {
		return snap, fmt.Errorf("finding snapshot %s: %w", id, err)
	}
	if err := json.Unmarshal(raw, &snap); err != nil {
		return snap, fmt.Errorf("finding snapshot %s: %w: %w", id, ErrDamaged, err)
	}
	return snap, nil
}

// List is every snapshot in the folder, of all workspaces, oldest first. One
// that cannot be read is in the error, and the others are given all the same.
func (s *Store) List() ([]Snapshot, error) {
	files, err := os.ReadDir(filepath.Join(s.o.Folder, "snapshots"))
	if err != nil {
		return nil, fmt.Errorf("listing snapshots: %w", err)
	}
	var all []Snapshot
	var errs []error
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		snap, err := s.Find(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, snap)
	}
	slices.SortStableFunc(all, func(a, b Snapshot) int { return a.Taken.Compare(b.Taken) })
	return all, errors.Join(errs...)
}

func validID(id string) bool {
	ok := func(r rune) bool {
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == '-' || r == '_' || r == '.'
	}
	return id != "" && len(id) <= 200 && id[0] != '.' && !strings.HasPrefix(id, tempPrefix) &&
		!strings.ContainsFunc(id, func(r rune) bool { return !ok(r) })
}

func (s *Store) snapshotFile(id string) string {
	return filepath.Join(s.o.Folder, "snapshots", id+".json")
}

func (s *Store) indexFile(t *tree) string { return filepath.Join(s.o.Folder, "index", t.key) }

// locked gives the caller the store: alone, or together with other processes
// that only add to it. It waits for its turn until ctx ends.
func (s *Store) locked(ctx context.Context, alone bool) (unlock func(), err error) {
	s.mu.Lock()
	f, err := os.OpenFile(filepath.Join(s.o.Folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("locking the folder of snapshots: %w", err)
	}
	unlock = func() { f.Close(); s.mu.Unlock() }
	err = waitFor(ctx, func() (bool, error) { return tryLock(f, alone) })
	if err == nil {
		err = s.catchUp()
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("locking the folder of snapshots: %w", err)
	}
	return unlock, nil
}

func waitFor(ctx context.Context, try func() (bool, error)) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if ok, err := try(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// catchUp drops what we remember if somebody has pruned since: it may speak of
// content that is gone. The indexes on disk speak only of what is there.
func (s *Store) catchUp() error {
	raw, err := os.ReadFile(s.generationFile())
	if err != nil && !isMissing(err) {
		return err
	}
	if g := string(raw); g != s.generation {
		s.forget(g)
	}
	return nil
}

func (s *Store) forget(generation string) {
	s.generation = generation
	for _, t := range s.trees {
		t.index = nil
	}
}

func (s *Store) generationFile() string { return filepath.Join(s.o.Folder, "generation") }

// moveOn tells everybody that content may be gone.
func (s *Store) moveOn() error {
	g := rand.Text()
	if err := writeWhole(s.generationFile(), []byte(g), false); err != nil {
		return err
	}
	s.forget(g)
	return nil
}

// A tree is one root and what we know of it.
type tree struct {
	path   string
	key    string // names the root in files
	cache  *walk.Cache
	walked bool
	index  *index   // nil until it is read
	scraps []string // as the last look found them
}

func newTree(path string) *tree {
	digest := sha256.Sum256([]byte(path))
	return &tree{path: path, key: hex.EncodeToString(digest[:12]), cache: walk.NewCache(path)}
}
