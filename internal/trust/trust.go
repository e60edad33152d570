// Package trust remembers which projects a person trusts, and with what. Before
// that, nothing in a project folder may name a program, an address or a value of
// the environment. Trust is bound to the real path of the folder and to the
// content of every file that can enable something: when one of them changes, the
// person is asked again and sees what changed.
package trust

import (
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
	"time"
)

// An Item is one file of a project that can enable something.
type Item struct {
	Path string `json:"path"` // from the project's folder
	Hash string `json:"sha256"`
}

// maxItem is the largest file that is hashed; a larger one is never trusted by
// content, so it always asks again.
const maxItem = 64 << 20

// Inventory lists what a project would enable: everything below its .ikigai
// folder. A link is listed by where it leads.
func Inventory(dir string) ([]Item, error) {
	root := filepath.Join(dir, ".ikigai")
	var items []Item
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == root {
			return filepath.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		hash, err := hashOf(name, d)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", name, err)
		}
		rel, err := filepath.Rel(dir, name)
		items = append(items, Item{Path: filepath.ToSlash(rel), Hash: hash})
		return err
	})
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return items, err
}

func hashOf(name string, d fs.DirEntry) (string, error) {
	if d.Type()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			raw = nil // it leads nowhere yet; where it leads is what counts
		}
		return sum([]byte("link " + to + "\x00" + string(raw))), nil
	}
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxItem {
		return "never", nil
	}
	raw, err := os.ReadFile(name)
	return sum(append(fmt.Appendf(nil, "%o\x00", info.Mode().Perm()), raw...)), err
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// A Grant is a project that was trusted.
type Grant struct {
	Dir   string    `json:"dir"` // real path
	Items []Item    `json:"items"`
	Date  time.Time `json:"date"`
}

// A Book is the file of grants.
type Book struct{ Path string }

// Grants are all projects that are trusted.
func (b Book) Grants() ([]Grant, error) {
	raw, err := os.ReadFile(b.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the trusted projects: %w", err)
	}
	var grants []Grant
	if err := json.Unmarshal(raw, &grants); err != nil {
		return nil, fmt.Errorf("reading %s: %w; delete it to trust nothing", b.Path, err)
	}
	return grants, nil
}

// A State is how a project stands: trusted as it is, or what speaks against it.
type State struct {
	Trusted bool
	Known   bool     // it was trusted before something changed
	Items   []Item   // what it would enable now
	Changes []string // since it was trusted
}

// Look says how a project stands. One that enables nothing needs no trust.
func (b Book) Look(dir string) (State, error) {
	items, err := Inventory(dir)
	if err != nil {
		return State{}, err
	}
	s := State{Items: items, Trusted: len(items) == 0}
	grants, err := b.Grants()
	if err != nil {
		return s, err
	}
	i := slices.IndexFunc(grants, func(g Grant) bool { return g.Dir == dir })
	if i < 0 {
		return s, nil
	}
	s.Known = true
	s.Changes = changes(grants[i].Items, items)
	s.Trusted = len(s.Changes) == 0
	return s, nil
}

func changes(old, now []Item) []string {
	var out []string
	was := map[string]string{}
	for _, it := range old {
		was[it.Path] = it.Hash
	}
	for _, it := range now {
		hash, known := was[it.Path]
		switch {
		case !known:
			out = append(out, "new: "+it.Path)
		case hash != it.Hash || it.Hash == "never":
			out = append(out, "changed: "+it.Path)
		}
		delete(was, it.Path)
	}
	for _, it := range old {
		if _, left := was[it.Path]; left {
			out = append(out, "removed: "+it.Path)
		}
	}
	return out
}

// Trust remembers a project as it is now.
func (b Book) Trust(dir string, now time.Time) (Grant, error) {
	items, err := Inventory(dir)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Dir: dir, Items: items, Date: now.UTC()}
	return g, b.change(dir, &g)
}

// Revoke forgets a project.
func (b Book) Revoke(dir string) error { return b.change(dir, nil) }

func (b Book) change(dir string, g *Grant) error {
	grants, err := b.Grants()
	if err != nil {
		return err
	}
	grants = slices.DeleteFunc(grants, func(o Grant) bool { return o.Dir == dir })
	if g != nil {
		grants = append(grants, *g)
	}
	raw, err := json.MarshalIndent(grants, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the trusted projects: %w", err)
	}
	next := b.Path + ".new"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the trusted projects: %w", err)
	}
	if err := os.Rename(next, b.Path); err != nil {
		return fmt.Errorf("writing the trusted projects: %w", err)
	}
	return nil
}
