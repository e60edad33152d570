package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ikigai/internal/agent"
	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/files"
	"ikigai/internal/headless"
	"ikigai/internal/jobs"
	"ikigai/internal/llm"
	"ikigai/internal/permit"
	"ikigai/internal/provider"
	"ikigai/internal/provider/demo"
	"ikigai/internal/sandbox"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
	"ikigai/internal/tools"
	"ikigai/internal/turn"
)

//go:embed system.txt
var systemPrompt string

// A house is the parts of one session, built and ready.
type house struct {
	cfg     *config.Config
	dir     string // the working folder, a real path
	id      string
	own     string // the session's own folder
	files   *files.Roots
	jail    *sandbox.Sandbox
	jobs    *jobs.Jobs
	permit  *permit.Engine
	tools   *tool.Registry
	store   store.Store
	offered []tool.Spec
	closers []func() error
}

// build puts the parts together. The caller closes the house.
func (a *app) build(ctx context.Context, cfg *config.Config, dir string) (h *house, err error) {
	h = &house{cfg: cfg, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	id, err := uuid.NewV7()
	if err != nil {
		return h, fmt.Errorf("making a session id: %w", err)
	}
	h.id = id.String()
	for _, step := range []func(context.Context, *house) error{a.buildFiles, a.buildJail, a.buildPermit, a.buildTools, a.buildStore} {
		if err := step(ctx, h); err != nil {
			return h, err
		}
	}
	return h, nil
}

// close gives everything back, the last thing first.
func (h *house) close() error {
	var errs []error
	for _, c := range slices.Backward(h.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

func (h *house) later(c func() error) { h.closers = append(h.closers, c) }

// buildFiles opens the workspace and makes the session's own folder.
func (a *app) buildFiles(_ context.Context, h *house) error {
	roots, err := files.Open(h.dir, h.cfg.AddDirs...)
	if err != nil {
		return &fault{headless.ExitUsage, err.Error(), "check --cwd and --add-dir"}
	}
	h.later(roots.Close)
	own, err := os.MkdirTemp("", "ikigai-")
	if err != nil {
		return &fault{headless.ExitFailure, "making the session's folder: " + err.Error(), "check that TMPDIR can be written"}
	}
	h.later(func() error { return os.RemoveAll(own) })
	if h.own, err = filepath.EvalSymlinks(own); err != nil {
		return err
	}
	h.files = roots.Protect(a.ownFiles()...)
	return os.Mkdir(filepath.Join(h.own, "tmp"), 0o700)
}

// ownFiles are ours: no tool writes them.
func (a *app) ownFiles() []string {
	p := a.places()
	return []string{p.Config, p.Data, p.State, filepath.Join(p.Home, ".ikigai")}
}

var sandboxModes = map[string]sandbox.Mode{"auto": sandbox.Auto, "require": sandbox.Require, "off": sandbox.Off}

func (a *app) buildJail(_ context.Context, h *house) error {
	jail, err := sandbox.New(sandbox.Options{
		Mode: sandboxModes[h.cfg.Sandbox], Roots: h.files.Roots(), Temp: filepath.Join(h.own, "tmp"),
		Cache: filepath.Join(a.places().Cache, "build"), Protect: a.ownFiles(), Hide: permit.Secrets(a.env.Home),
		Home: a.env.Home, Environ: a.env.Environ,
	})
	if err != nil {
		return &fault{headless.ExitConfig, err.Error(), "--sandbox auto uses what there is"}
	}
	h.jail = jail
	h.later(jail.Close)
	h.jobs = jobs.New(jail.Start)
	h.later(h.jobs.Close)
	return nil
}

func (a *app) buildPermit(_ context.Context, h *house) error {
	mode, err := permit.ParseMode(h.cfg.Mode)
	if err != nil {
		return &fault{headless.ExitUsage, err.Error(), ""}
	}
	rules, err := rulesOf(h.cfg)
	if err != nil {
		return err
	}
	h.permit = permit.New(permit.Options{
		Mode: mode, Confined: h.confined(), Dir: h.dir, Roots: h.files.Roots(), Scratch: []string{h.own},
		Home: a.env.Home, Own: a.ownFiles(), Fixed: rules,
	})
	return nil
}

// rulesOf reads the rules of flags and files.
func rulesOf(cfg *config.Config) ([]permit.Rule, error) {
	var rules []permit.Rule
	for _, group := range []struct {
		decision permit.Decision
		key      string
		texts    []string
	}{{permit.Deny, "deny", cfg.Deny}, {permit.Ask, "ask", cfg.Ask}, {permit.Allow, "allow", cfg.Allow}} {
		for _, text := range group.texts {
			r, err := permit.ParseRule(group.decision, text)
			if err != nil {
				return nil, &fault{headless.ExitConfig, err.Error(), "it was given by " + cfg.Origin[group.key]}
			}
			r.Source = cfg.Origin[group.key]
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// confined reports whether the whole jail stands.
func (h *house) confined() bool {
	for _, l := range h.jail.Layers() {
		if !l.On {
			return false
		}
	}
	return h.cfg.Sandbox != "off"
}

// layers names what confines a program.
func (h *house) layers() []string {
	names := []string{}
	for _, l := range h.jail.Layers() {
		if l.On {
			names = append(names, l.Name)
		}
	}
	return names
}

func (a *app) buildTools(_ context.Context, h *house) error {
	set := tool.NewSet(tool.Complete, nil, tools.All()...)
	h.tools = tool.NewRegistry(set)
	for t := range set.All() {
		h.offered = append(h.offered, t.Spec())
	}
	return nil
}

func (a *app) buildStore(ctx context.Context, h *house) error {
	h.store = memory.New()
	h.later(h.store.Close)
	now := time.Now()
	return h.store.Begin(ctx, store.Session{ID: h.id, Dir: h.dir, Model: h.cfg.Model, Created: now, Updated: now})
}

func (h *house) place() tool.Place {
	return tool.Place{
		Files: h.files, Session: h.id, Dir: h.own, Start: h.jail.Start, Jobs: h.jobs,
		Limits: tool.Limits{Output: h.cfg.Tools.MaxOutput, Timeout: h.cfg.Tools.Timeout},
	}
}

// agent is the session's engine.
func (a *app) agent(h *house, stored []convo.Event) *agent.Agent {
	return agent.New(agent.Options{
		Session: h.id, Model: h.cfg.Model, System: a.system(h), Effort: llm.Effort(h.cfg.Effort), Place: h.place(), Stored: stored,
		Limits:  turn.Limits{Rounds: h.cfg.Limits.Turns, CallsPerRound: h.cfg.Limits.Calls},
		MaxCost: h.cfg.Limits.Cost, MaxTime: h.cfg.Limits.Time,
	}, agent.Parts{
		Open: a.opener(h), Tools: h.tools, Permit: h.permit, Store: h.store, Now: time.Now,
	})
}

func (a *app) system(h *house) string {
	return strings.NewReplacer("{dir}", h.dir).Replace(strings.TrimSpace(systemPrompt))
}

// opener finds the provider of a model.
func (a *app) opener(h *house) func(string) (llm.Provider, error) {
	return func(model string) (llm.Provider, error) {
		switch model {
		case demo.Name:
			return demo.New(), nil
		case "":
			return nil, noModel()
		}
		return provider.Open(provider.Options{
			Model: model, BaseURL: h.cfg.BaseURL, BaseFrom: h.cfg.Origin["base_url"], Dialect: h.cfg.Dialect,
			Keys: a.keys, Getenv: func(name string) string { v, _ := a.getenv(name); return v },
			Network: provider.Network{CA: caFiles(h.cfg.Network.CAFile)},
			Deadlines: provider.Deadlines{
				Connect: h.cfg.Network.Connect, FirstEvent: h.cfg.Network.FirstEvent, Idle: h.cfg.Network.Idle,
			},
		})
	}
}

func caFiles(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func noModel() error {
	return &llm.Error{
		Class: llm.Config, Message: "no model is set up",
		Hint: "give --model PROVIDER/MODEL, or --model demo for the offline demo; ikigai models lists what is usable",
	}
}

// keys finds the key of a provider in the environment.
func (a *app) keys(_ context.Context, _ string, vars []string) (key, from string, err error) {
	for _, v := range vars {
		if key, ok := a.getenv(v); ok && key != "" {
			return key, v, nil
		}
	}
	return "", "", nil
}
