package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/llm"
	"ikigai/internal/provider"
	"ikigai/internal/provider/demo"
	"ikigai/internal/trust"
	"ikigai/internal/tui"
	"ikigai/internal/view"
)

// declined are the projects that a person did not want to trust, as they were
// then: the question is asked once, and again when something changes.
func (a *app) declined() trust.Book {
	return trust.Book{Path: filepath.Join(a.places().Data, "untrusted.json")}
}

// A stranger is how a project stands that was asked about.
type stranger struct {
	trusted bool
	left    bool   // the person left instead of answering
	note    string // what to say when the session begins
}

// asksTrust decides whether a project may enable what it brings. The person of an
// unknown one is asked, before anything of it is used.
func (a *app) asksTrust(c *cobra.Command, dir string, in, out *os.File, reader bool) stranger {
	if yes, _ := c.Flags().GetBool("trust"); yes {
		return stranger{trusted: true}
	}
	if home, err := filepath.EvalSymlinks(a.env.Home); err == nil && home == dir {
		return stranger{} // the .ikigai folder there is the person's own, and no project's
	}
	state, err := a.book().Look(dir)
	switch {
	case err != nil:
		return stranger{note: err.Error() + "; the project is not trusted"}
	case state.Trusted:
		return stranger{trusted: true}
	}
	off := fmt.Sprintf("what this project brings stays off (%d files below .ikigai): /trust trusts it", len(state.Items))
	if no, err := a.declined().Look(dir); err == nil && no.Known && no.Trusted { // as it was when the answer was no
		return stranger{note: off}
	}
	n, exit := tui.Choose(c.Context(), tui.ChooseOptions{
		In: in, Out: out, Getenv: a.variable, ScreenReader: reader, Signals: a.env.Signals,
		About: aboutProject(dir, state), Choices: []string{"trust it, as it is now", "go on without"},
	})
	switch n {
	case 0:
		_, err = a.book().Trust(dir, time.Now())
	case 1:
		_, err = a.declined().Trust(dir, time.Now())
	default:
		a.code = exit
		return stranger{left: true}
	}
	if err != nil {
		return stranger{note: fmt.Sprintf("the answer could not be kept, and %s: %v", off, err)}
	}
	if n == 1 {
		return stranger{note: off}
	}
	return stranger{trusted: true}
}

// aboutProject lists by name what a project would enable, and what changed.
func aboutProject(dir string, s trust.State) []view.Line {
	head := "This project is not known here. It brings what would run or be believed:"
	if s.Known {
		head = "This project has changed since you trusted it:"
	}
	lines := []view.Line{{{Role: view.Warning, Text: "⚠ " + head}}, {{Role: view.Faint, Text: "  " + clean.Line(dir)}}}
	if s.Known {
		for _, change := range s.Changes {
			lines = append(lines, view.Line{{Text: "  " + clean.Line(change)}})
		}
		return lines
	}
	for _, it := range s.Items {
		lines = append(lines, view.Line{{Text: "  " + clean.Line(it.Path)}, {Role: view.Faint, Text: "  " + brings(it.Path)}})
	}
	return lines
}

// kinds are what the files of a project are, by where they stand.
var kinds = [][2]string{
	{"tools/", "a tool: a program that the model may call"},
	{"config.json", "settings, which may name programs and addresses"},
	{"policies.json", "rules about what is asked"},
}

// brings says in a few words what a file of a project is.
func brings(file string) string {
	name := strings.TrimPrefix(path.Clean(file), ".ikigai/")
	for _, k := range kinds {
		if strings.HasPrefix(name, k[0]) {
			return k[1]
		}
	}
	return ""
}

// welcome is what the first run offers when no model is set up.
func (t *talk) welcome() *tui.Welcome {
	return &tui.Welcome{
		Demo: demo.Name, Dialects: dialects(), Chose: t.keepModel, Key: t.tryKey, Endpoint: t.tryEndpoint,
		Found: func() []tui.Found { return t.found(context.Background()) },
		Ready: func() string {
			return fmt.Sprintf("%d tools · /tool lists them · /help · ikigai doctor", len(t.house.offered(t.house.tools.Current())))
		},
	}
}

// dialects are the wire formats, the most usual first.
func dialects() []string { return []string{"openai", "responses", "anthropic", "gemini", "ollama"} }

// speakers are the providers whose wire formats these are.
var speakers = map[string]string{"openai": "openai", "responses": "openai", "anthropic": "anthropic", "gemini": "google", "ollama": "ollama"}

// tryTime is how long a test may take.
const tryTime = 30 * time.Second

// try makes one small call to a model, with that key if there is one.
func (t *talk) try(ctx context.Context, cfg *config.Config, model, key string) error {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	o := t.providerOptions(cfg, model, nil)
	if key != "" {
		o.Keys = func(context.Context, string, []string) (string, string, error) { return key, "what you typed", nil }
	}
	p, err := provider.Open(o)
	if err != nil {
		return err
	}
	hello := []convo.Event{{Seq: 1, Turn: 1, Kind: convo.KindUser, Text: "Say hello."}}
	_, err = llm.Assemble(p.Open("try").Stream(ctx, llm.Request{Events: hello, MaxReply: 64}), func(llm.Delta) {})
	return err
}

// tryKey tests a key with one call and keeps it, unless it is refused.
func (t *talk) tryKey(ctx context.Context, name, key string) tui.Outcome {
	said := "it could not be tested: no model of " + name + " is known here; "
	if models := provider.Builtin().All(name); len(models) > 0 {
		err := t.try(ctx, t.house.cfg, models[0].ID, key)
		var e *llm.Error
		switch {
		case err == nil:
			said = "it works: " + models[0].ID + " answered; "
		case errors.As(err, &e) && e.Class == llm.Auth:
			return tui.Outcome{Text: "it does not work: " + name + " refuses this key, which is not kept: " + e.Error()}
		case ctx.Err() != nil:
			return tui.Outcome{Text: "stopped; the key is not kept"}
		default:
			said = "it could not be tested: " + err.Error() + "; "
		}
	}
	where, err := t.keepKey(name, key)
	if err != nil {
		return tui.Outcome{Text: err.Error()}
	}
	return tui.Outcome{OK: strings.HasPrefix(said, "it works"), Text: said + where}
}

// tryEndpoint tests an address with one call. When it works, the face begins
// again with it, and it is kept.
func (t *talk) tryEndpoint(ctx context.Context, e tui.Endpoint) tui.Outcome {
	name := speakers[e.Dialect]
	cfg := *t.house.cfg
	cfg.Model, cfg.BaseURL, cfg.Dialect = name+"/"+e.Model, e.URL, e.Dialect
	cfg.Origin = maps.Clone(cfg.Origin)
	for _, key := range []string{"model", "base_url", "dialect"} {
		cfg.Origin[key] = "what you typed"
	}
	with, err := t.keyFor(ctx, name, e.Key)
	if err == nil {
		err = t.try(ctx, &cfg, cfg.Model, e.Key)
	}
	if err != nil {
		return tui.Outcome{Text: "it does not work: " + err.Error()}
	}
	said := fmt.Sprintf("It works: the model is %s at %s%s.", cfg.Model, e.URL, with)
	if e.Key != "" {
		where, err := t.keepKey(name, e.Key)
		if err != nil {
			return tui.Outcome{Text: err.Error()}
		}
		said += " " + where + "."
	}
	said += " " + t.keepSettings([][2]string{{"model", cfg.Model}, {"base_url", e.URL}, {"dialect", e.Dialect}}) + "."
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endpoint = &cfg
	return tui.Outcome{OK: true, Text: said}
}

// keyFor makes sure that a key that was typed is the one that will be used, and
// says which one will be when none was.
func (t *talk) keyFor(ctx context.Context, name, typed string) (with string, err error) {
	row, _ := provider.Find(name)
	key, from, err := t.keys(ctx, name, row.KeyVars)
	switch {
	case err != nil:
		return "", err
	case typed == "" && key != "":
		return ", with the key from " + from, nil
	case typed != "" && key != "" && key != typed:
		return "", fmt.Errorf("%s has another key already, from %s, which would be used there: take that away first (ikigai key rm %s), or press enter for the key", name, from, name)
	}
	return "", nil
}

// found is what the first run can offer: servers here, and providers with or
// without a key.
func (t *talk) found(ctx context.Context) []tui.Found {
	var all []tui.Found
	for _, p := range t.modelList(ctx, t.house.cfg).Providers {
		f := tui.Found{Name: p.Provider, Where: p.Address, Models: p.Models, Usable: p.Usable}
		if p.KeyFrom != "" {
			f.Where += ", key from " + p.KeyFrom
		}
		if row, ok := provider.Find(p.Provider); !f.Usable && !p.Local && ok && len(row.KeyVars) > 0 {
			f.Missing = row.KeyVars[0]
		}
		if p.Provider != demo.Name && (f.Usable || f.Missing != "") {
			all = append(all, f)
		}
	}
	return all
}

// keepModel keeps the model in the first settings.
func (t *talk) keepModel(model string) string { return t.keepSettings([][2]string{{"model", model}}) }

// keepSettings writes the first settings. A file that is there already is the
// person's own, with comments: it is left alone.
func (t *talk) keepSettings(pairs [][2]string) string {
	file := t.places().File()
	var lines []string
	for _, p := range pairs {
		lines = append(lines, fmt.Sprintf("  %s: %s", quoted(p[0]), quoted(p[1])))
	}
	err := writeNew(file, "{\n"+strings.Join(lines, ",\n")+"\n}\n")
	if err != nil {
		return fmt.Sprintf("for now only: these lines in %s would keep it:\n%s", file, strings.Join(lines, ",\n"))
	}
	return "kept in " + file
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string always encodes
	return string(raw)
}

// writeNew writes a file that must not be there yet.
func writeNew(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// keepKey keeps the key of a provider, for its owner alone.
func (t *talk) keepKey(name, key string) (string, error) {
	file := t.places().Keys()
	keys, err := config.ReadKeys(file)
	if err != nil {
		return "", err
	}
	keys[name] = config.Key{Key: key}
	if err := keys.Save(file); err != nil {
		return "", err
	}
	return "kept the key of " + name + " in " + file, nil
}
