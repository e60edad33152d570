package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/store"
	"ikigai/internal/store/belated"
	"ikigai/internal/store/memory"
	"ikigai/internal/store/postgres"
	"ikigai/internal/store/sqlite"
)

// openStore opens the store the settings name. One that is damaged or newer is
// refused and left as it is.
func (a *app) openStore(ctx context.Context, cfg *config.Config) (store.Store, error) {
	var s store.Store
	var err error
	where := cfg.Store
	switch {
	case cfg.Ephemeral:
		return memory.Bounded(keptInMemory), nil
	case strings.HasPrefix(where, "postgres://"), strings.HasPrefix(where, "postgresql://"):
		s, err = postgres.Open(ctx, where, postgres.Options{})
	case where == "" || strings.HasPrefix(where, "sqlite:"):
		if where == "" {
			where = filepath.Join(a.places().Data, "sessions.db")
		}
		s, err = sqlite.Open(ctx, where, sqlite.Options{})
	default:
		return nil, &fault{headless.ExitConfig, fmt.Sprintf("store %q is neither sqlite:PATH nor postgres://...", where), "it was given by " + cfg.Origin["store"]}
	}
	return s, storeFault(err)
}

// storeForNew opens the store for a session that begins. Where a file cannot be
// written now, because the disk is full or the folder is closed, the session
// goes on in memory, is not claimed as saved, and is saved as soon as it can be.
func (a *app) storeForNew(ctx context.Context, cfg *config.Config) (store.Store, error) {
	s, err := a.openStore(ctx, cfg)
	var f *fault
	if !errors.As(err, &f) || f.hint != otherPlace || strings.HasPrefix(cfg.Store, "postgres") {
		return s, err
	}
	open := func(ctx context.Context) (store.Store, error) {
		s, err := a.openStore(ctx, cfg)
		if err != nil {
			return nil, errors.New(err.Error()) // no fault of the command any more
		}
		return s, nil
	}
	return belated.New(open, errors.New(err.Error())), nil
}

// tellUnsaved tells what a store that was closed could not save. The answer is
// there all the same, so it is no failure of the command.
func (a *app) tellUnsaved(err error) error {
	if u := (*store.Unsaved)(nil); !errors.As(err, &u) {
		return err
	}
	fmt.Fprintf(a.env.Stderr, "note: in the end %v; it is lost with this process\n", err)
	return nil
}

// otherPlace is the next step where a store cannot be opened and nothing is
// wrong with it.
const otherPlace = "--ephemeral keeps nothing; the setting store names another place"

// keptInMemory is how many bytes of a session that is not kept stay in memory.
const keptInMemory = 4 << 20

func storeFault(err error) error {
	var bad *store.Unusable
	var busy *store.Busy
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return &fault{headless.ExitConfig, err.Error(), bad.Hint}
	case errors.As(err, &busy):
		return &fault{headless.ExitUsage, err.Error(), "end that one, or begin a new session"}
	}
	return &fault{headless.ExitConfig, err.Error(), otherPlace}
}

// which says which session a command is about.
type which struct {
	id      string // --session
	newest  bool   // --continue
	title   string // of a new one
	nothing bool   // the command keeps no session
	trusted bool   // the project may enable what it brings
}

// begin opens a session of the store for appending: a new one, or one that goes on.
func (a *app) begin(ctx context.Context, h *house, w which) error {
	s, err := a.choose(ctx, h, w)
	if err != nil {
		return err
	}
	h.id = s.ID
	if err := h.store.Begin(ctx, s); err != nil {
		var unsaved *store.Unsaved
		if !errors.As(err, &unsaved) {
			return storeFault(err)
		}
		fmt.Fprintf(a.env.Stderr, "note: %v\n", err)
	}
	h.later(func() error {
		err := h.store.End(context.WithoutCancel(ctx), s.ID)
		if errors.As(err, new(*store.Unsaved)) {
			return nil // Close tries again, and tells
		}
		return err
	})
	if h.cfg.Budgets.Day != (config.Budget{}) {
		if h.today, err = spentToday(ctx, h.store, time.Now()); err != nil {
			fmt.Fprintf(a.env.Stderr, "note: the day's budget begins anew: %v\n", err)
		}
	}
	if w.id == "" && !w.newest {
		return nil // it has no events, and where it cannot be written it is not even there
	}
	for e, err := range h.store.Events(ctx, s.ID, 0) {
		if err != nil {
			return &fault{headless.ExitFailure, "reading session " + s.ID + ": " + err.Error(), "ikigai doctor looks at the store"}
		}
		h.stored = append(h.stored, e)
	}
	h.last = lastSeq(h.stored)
	return nil
}

func (a *app) choose(ctx context.Context, h *house, w which) (store.Session, error) {
	switch {
	case w.id != "":
		return a.find(ctx, h.store, w.id)
	case w.newest:
		for s, err := range h.store.Sessions(ctx, store.Filter{Dir: h.dir, Limit: 1}) {
			return s, storeFault(err)
		}
		return store.Session{}, usage("leave out --continue to begin one", "there is no session of %s to go on with", h.dir)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return store.Session{}, fmt.Errorf("making a session id: %w", err)
	}
	now := time.Now()
	return store.Session{ID: id.String(), Title: w.title, Dir: h.dir, Branch: branch(h.dir), Model: h.cfg.Model, Created: now, Updated: now}, nil
}

// find finds a session by its id or a unique prefix.
func (a *app) find(ctx context.Context, s store.Store, id string) (store.Session, error) {
	found, err := s.Session(ctx, id)
	var none *store.NoSession
	if errors.As(err, &none) {
		hint := "ikigai session list --all names them"
		if len(none.Several) > 0 {
			hint = "they are " + strings.Join(none.Several, ", ")
		}
		return found, usage(hint, "%s", err.Error())
	}
	return found, storeFault(err)
}

// branch is the git branch of a folder, read from its files: nothing of a
// project is run for it.
func branch(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		raw, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD"))
		if err == nil {
			name, _ := strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: refs/heads/")
			return name
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// ownFolder makes the session's own folder: below the data folder for a session
// that is kept, temporary for one that is not.
func (a *app) ownFolder(h *house, kept bool) error {
	own := filepath.Join(a.places().Data, "sessions", h.id)
	var err error
	if kept {
		err = os.MkdirAll(own, 0o700)
	}
	if !kept || err != nil {
		if own, err = os.MkdirTemp("", "ikigai-"); err != nil {
			return &fault{headless.ExitFailure, "making the session's folder: " + err.Error(), "check that TMPDIR can be written"}
		}
		h.later(func() error { return os.RemoveAll(own) })
	}
	if h.own, err = filepath.EvalSymlinks(own); err != nil {
		return err
	}
	h.temp = filepath.Join(h.own, "tmp")
	if err := os.MkdirAll(h.temp, 0o700); err != nil {
		return &fault{headless.ExitFailure, "making the session's folder: " + err.Error(), ""}
	}
	h.later(func() error { return os.RemoveAll(h.temp) })
	return nil
}

// lastSeq is the number of the last stored event.
func lastSeq(events []convo.Event) int64 {
	if n := len(events); n > 0 {
		return events[n-1].Seq
	}
	return 0
}
