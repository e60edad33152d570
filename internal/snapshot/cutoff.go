package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A CutOff is a Restore whose process died before it was over. Restoring the
// same turns goes on with it: what it left half done is known as its own work,
// and taking it back leads to the workspace as it was when it began.
type CutOff struct {
	ID    string `json:"id"` // of its snapshots, as in RestoreOptions
	Turns []Turn `json:"turns"`
	Force bool   `json:"force,omitempty"`
	Note  string `json:"note,omitempty"`
}

// ErrCutOff says that another Restore has to be gone on with first.
var ErrCutOff = errors.New("an earlier restoring was cut off and has to be finished first")

// CutOff is the Restore of this workspace that was cut off; nil when there is none.
func (s *Store) CutOff() (*CutOff, error) {
	raw, err := os.ReadFile(s.cutOffFile())
	if isMissing(err) {
		return nil, nil
	}
	var c CutOff
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for a restoring that was cut off: %w", err)
	}
	return &c, nil
}

// Forget says that a Restore that was cut off is over all the same.
func (s *Store) Forget() error {
	if err := os.Remove(s.cutOffFile()); err != nil && !isMissing(err) {
		return fmt.Errorf("ending a restoring: %w", err)
	}
	return nil
}

func (s *Store) cutOffFile() string {
	key := "none"
	if len(s.trees) > 0 {
		key = s.trees[0].key
	}
	return filepath.Join(s.o.Folder, "restoring-"+key+".json")
}

// remember notes what is about to be done, before anything is touched.
func (s *Store) remember(turns []Turn, o RestoreOptions) error {
	raw, err := json.Marshal(CutOff{ID: o.ID, Turns: turns, Force: o.Force, Note: o.Note})
	if err == nil {
		err = writeWhole(s.cutOffFile(), raw, true)
	}
	if err != nil {
		return fmt.Errorf("noting what will be done: %w", err)
	}
	return nil
}

// neededByCutOffs are the snapshots without which no Restore of any workspace
// that was cut off can go on.
func (s *Store) neededByCutOffs() map[string]bool {
	needed := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(s.o.Folder, "restoring-*.json")) // the pattern is right
	for _, name := range files {
		var c CutOff
		if raw, err := os.ReadFile(name); err == nil && json.Unmarshal(raw, &c) == nil {
			for _, id := range append(ids(c.Turns), c.before()) {
				needed[id] = true
			}
		}
	}
	return needed
}

// before is the snapshot that was taken when it began.
func (c *CutOff) before() string { return c.ID + "-before" }

// of gives c when it is about the same turns.
func (c *CutOff) of(turns []Turn) *CutOff {
	if c == nil || !slices.Equal(c.Turns, turns) {
		return nil
	}
	return c
}

// ended are the turns where the last one has an end: a turn without one lasted
// until the Restore that was cut off.
func (c *CutOff) ended(turns []Turn) []Turn {
	if n := len(turns); c != nil && n > 0 && turns[n-1].After == "" {
		turns = slices.Clone(turns)
		turns[n-1].After = c.before()
	}
	return turns
}

// halfway reports whether a path may look so because a Restore that was to make
// it what it was before was cut off: was is how it began.
func halfway(now, want, was entry) bool {
	switch now.kind {
	case absent:
		return true // nothing is lost by putting something there
	case folder:
		return want.kind == folder || was.kind == folder // opened for what is in it
	}
	return now.hasContent() && now.kind == want.kind && now.sum == want.sum
}

// reclose adds steps for the folders that were opened only for what is in them.
func (j *judge) reclose(now map[string]entry, fates map[string]fate) {
	for p, was := range j.was {
		n := now[p]
		_, changed := fates[p]
		if !changed && was.kind == folder && n.kind == folder && n.mode != was.mode && n.mode == was.mode|0o700 {
			was.path = p
			j.steps = append(j.steps, step{p, was, n})
		}
	}
	slices.SortFunc(j.steps, func(a, b step) int { return strings.Compare(a.path, b.path) })
}

// scrapPrefix begins the names of files that are written beside the path they
// will have.
const scrapPrefix = ".ikigai-undo-"

// isScrap reports whether a path is such a file. They are never covered.
func isScrap(p string) bool {
	name := p[strings.LastIndexByte(p, '/')+1:]
	return strings.HasPrefix(name, scrapPrefix) && len(name) == len(scrapPrefix)+26
}

// sweepScraps removes what a Restore that was cut off left beside its files.
func (t *tree) sweepScraps() error {
	if len(t.scraps) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.path)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range t.scraps {
		if err := root.Remove(p); err != nil && !isMissing(err) {
			return err
		}
	}
	t.scraps = nil
	return nil
}
