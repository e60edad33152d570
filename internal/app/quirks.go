package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ikigai/internal/config"
	"ikigai/internal/dialect"
	"ikigai/internal/provider"
)

// An endpoint is a provider at an address, spoken to in a wire format. What a
// probe learns belongs to it, not to one of its models.
type endpoint struct {
	Provider string `json:"provider"`
	Address  string `json:"address"` // empty: the provider's own
	Dialect  string `json:"dialect"` // empty: the provider's own
}

// A lesson is how an endpoint differs from its format.
type lesson struct {
	endpoint
	Quirks dialect.Quirks `json:"quirks"`
}

// endpoint is where a model would be asked with these settings.
func (a *app) endpoint(cfg *config.Config, model string) endpoint {
	name, _, _ := strings.Cut(model, "/")
	e := endpoint{name, cfg.BaseURL, cfg.Dialect}
	row, _ := provider.Find(name)
	for _, v := range row.BaseVars {
		if value, _ := a.getenv(v); e.Address == "" {
			e.Address = value
		}
	}
	return e
}

func (a *app) lessonsFile() string { return filepath.Join(a.places().Data, "quirks.json") }

// lessons are what probes have learnt. A file that is damaged has taught nothing:
// the next probe writes it anew.
func (a *app) lessons() []lesson {
	raw, err := os.ReadFile(a.lessonsFile())
	var list []lesson
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// quirks are those that a probe found at an endpoint; nil when there are none.
func (a *app) quirks(e endpoint) *dialect.Quirks {
	for _, l := range a.lessons() {
		if l.endpoint == e {
			return &l.Quirks
		}
	}
	return nil
}

// learn remembers what a probe found, or forgets what it found no more. It
// reports whether the endpoint differs from what the table says.
func (a *app) learn(e endpoint, q dialect.Quirks) (bool, error) {
	list := a.lessons()
	kept := slices.DeleteFunc(slices.Clone(list), func(l lesson) bool { return l.endpoint == e })
	row, _ := provider.Find(e.Provider)
	differs := q != row.Quirks
	if differs {
		kept = append(kept, lesson{e, q})
	}
	if slices.Equal(list, kept) {
		return differs, nil
	}
	raw, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return differs, err
	}
	return differs, replaceFile(a.lessonsFile(), append(raw, '\n'))
}

// replaceFile gives a small file of ours new content in one step.
func replaceFile(name string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", name, os.Getpid())
	err := os.WriteFile(next, raw, 0o600)
	if err == nil {
		err = os.Rename(next, name)
	}
	if err != nil {
		if gone := os.Remove(next); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			return errors.Join(err, gone)
		}
	}
	return err
}
