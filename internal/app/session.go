package app

import (
	"context"
	_ "embed"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ikigai/internal/agent"
	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/external"
	"ikigai/internal/files"
	"ikigai/internal/headless"
	"ikigai/internal/jobs"
	"ikigai/internal/llm"
	"ikigai/internal/permit"
	"ikigai/internal/provider"
	"ikigai/internal/provider/demo"
	"ikigai/internal/sandbox"
	"ikigai/internal/secret"
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
	own     string        // the session's own folder
	temp    string        // and its folder for temporary files
	stored  []convo.Event // of a session that goes on, until the engine and the face have them
	last    int64         // the number of the last of them; 0 when it is new
	system  string        // what the model is told before anything else, once the engine has it
	today   agent.Amounts // what all sessions used of the day's budget before
	trusted bool          // the project may name programs, addresses and values
	files   *files.Roots
	roots   []string // the workspace
	jail    *sandbox.Sandbox
	jobs    *jobs.Set
	mode    permit.Mode // at the start
	permit  *permit.Engine
	tools   *tool.Registry
	menu    atomic.Pointer[menu]
	set     tools.Toolset
	finder  *external.Finder
	store   store.Store

	approvals *approvals
	closers   []func() error
}

// build puts the parts together. The caller closes the house.
func (a *app) build(ctx context.Context, cfg *config.Config, dir string, w which) (h *house, err error) {
	h = &house{cfg: cfg, dir: dir, trusted: w.trusted}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	steps := []func(context.Context, *house, which) error{a.buildStore, a.buildFiles, a.buildJail, a.buildTools, a.buildPermit}
	for _, step := range steps {
		if err := step(ctx, h, w); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (a *app) buildStore(ctx context.Context, h *house, w which) (err error) {
	if w.nothing {
		h.store, h.id = memory.New(), "none"
		return nil
	}
	open := a.openStore
	if w.id == "" && !w.newest {
		open = a.storeForNew
	}
	if h.store, err = open(ctx, h.cfg); err != nil {
		return err
	}
	h.later(func() error { return a.tellUnsaved(h.store.Close()) })
	return a.begin(ctx, h, w)
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
func (a *app) buildFiles(_ context.Context, h *house, w which) error {
	if err := a.ownFolder(h, !w.nothing && !h.cfg.Ephemeral); err != nil {
		return err
	}
	roots, err := files.Open(h.dir, append(slices.Clone(h.cfg.AddDirs), h.own)...)
	if err != nil {
		return &fault{headless.ExitUsage, err.Error(), "check --cwd and --add-dir"}
	}
	h.later(roots.Close)
	h.files = roots.Protect(a.ownFiles()...)
	all := h.files.Roots() // the session's own folder is the last: to be read, never a part of the workspace
	h.roots = all[:len(all)-1]
	return nil
}

// ownFiles are ours: no tool writes them.
func (a *app) ownFiles() []string {
	p := a.places()
	return []string{p.Config, p.Data, p.State, filepath.Join(p.Home, ".ikigai")}
}

var sandboxModes = map[string]sandbox.Mode{"auto": sandbox.Auto, "require": sandbox.Require, "off": sandbox.Off}

func (a *app) buildJail(_ context.Context, h *house, _ which) error {
	jail, err := sandbox.New(sandbox.Options{
		Mode: sandboxModes[h.cfg.Sandbox], Roots: h.roots, Temp: h.temp,
		Cache: filepath.Join(a.places().Cache, "build"), Protect: a.ownFiles(), Hide: permit.Secrets(a.env.Home),
		Home: a.env.Home, Environ: a.env.Environ,
	})
	if err != nil {
		return &fault{headless.ExitConfig, err.Error(), "--sandbox auto uses what there is"}
	}
	h.jail = jail
	h.later(jail.Close)
	h.jobs = jobs.New(jail.Start, time.Now)
	h.later(func() error { h.jobs.Close(); return nil })
	return nil
}

func (a *app) buildPermit(_ context.Context, h *house, _ which) error {
	mode, err := permit.ParseMode(h.cfg.Mode)
	if err != nil {
		return &fault{headless.ExitUsage, err.Error(), ""}
	}
	if !h.cfg.Confirm && h.cfg.Origin["mode"] == "default" { // a seed's way to say it
		mode = permit.Auto
	}
	rules, err := a.rulesOf(h)
	if err != nil {
		return err
	}
	h.mode = mode
	h.permit = permit.New(a.permitOptions(h, rules))
	return nil
}

func (a *app) permitOptions(h *house, rules []permit.Rule) permit.Options {
	return permit.Options{
		Mode: h.mode, Confined: h.confined, Dir: h.dir, Roots: h.roots, Scratch: []string{h.own},
		Home: a.env.Home, Own: a.ownFiles(), Fixed: rules, Rules: a.policies(h.dir), AskReads: h.asksReads,
	}
}

// asksReads reports whether even reading asks, as the toolset's seed has it.
func (h *house) asksReads(r permit.Request) bool {
	return h.set.AskReads && r.Spec.Risk >= tool.Medium || slices.Contains(h.set.AskOnce, r.Call.Name)
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

func (h *house) place() tool.Place {
	return tool.Place{
		Files: h.files, Session: h.id, Dir: h.own, Start: h.jail.Start, Jobs: h.jobs, Past: h.past, Memo: &tool.Memo{},
		Limits: tool.Limits{Output: h.cfg.Tools.MaxOutput, Timeout: h.cfg.Tools.Timeout}, Private: h.permit.Private,
	}
}

// agent is the session's engine.
func (a *app) agent(h *house) *agent.Agent {
	h.system = a.system(h)
	return agent.New(agent.Options{
		Session: h.id, Model: h.cfg.Model, System: h.system, Effort: llm.Effort(h.cfg.Effort), Place: h.place(), Stored: h.stored,
		Limits: h.limits(), Budgets: h.budgets(), Today: h.today, MaxLoop: h.maxLoop(), OneByOne: !h.cfg.Tools.Parallel,
		Shape: h.set.Shape, Tools: h.offered, Past: specsOf(h.set.Past), Open: h.openTasks,
		Window: func(model string) int { return provider.Lookup(model).Window }, Plain: func(model string) bool { return model == demo.Name },
	}, agent.Parts{
		Open: a.opener(h), Tools: h.tools, Ready: h.ready, Permit: h.permit, Store: h.store, Now: time.Now, Redact: a.redactor(), Guard: a.guard(h), Mark: a.mark(h),
	})
}

// redactor hides the secret values of the environment and the kept keys; nil when there are none.
func (a *app) redactor() agent.Redactor {
	if r := secret.New(a.env.Environ, a.keptKeys()); r != nil {
		return r
	}
	return nil
}

// limits are those of the settings; a toolset's own hold where nobody chose.
func (h *house) limits() turn.Limits {
	l := turn.Limits{Rounds: h.cfg.Limits.Turns, CallsPerRound: h.cfg.Limits.Calls}
	if h.set.Limits.Turns > 0 && h.cfg.Origin["limits.turns"] == "default" {
		l.Rounds = h.set.Limits.Turns
	}
	if h.set.Limits.Calls > 0 && h.cfg.Origin["limits.calls"] == "default" {
		l.CallsPerRound = h.set.Limits.Calls
	}
	return l
}

// maxLoop is how often the model may do the same again. Who names a number of
// turns has set the bound already: then only a number of repeats stops it.
func (h *house) maxLoop() int {
	if h.cfg.Origin["limits.turns"] != "default" && h.cfg.Origin["limits.loop"] == "default" {
		return 0
	}
	return h.cfg.Limits.Loop
}

func (a *app) system(h *house) string {
	return a.instructed(h, strings.NewReplacer("{dir}", h.dir).Replace(strings.TrimSpace(systemPrompt)))
}

// opener finds the provider of a model.
func (a *app) opener(h *house) func(string, func(text, hint string)) (llm.Provider, error) {
	return func(model string, notice func(text, hint string)) (llm.Provider, error) {
		switch model {
		case demo.Name:
			return demo.New(), nil
		case "":
			return nil, noModel()
		}
		return provider.Open(a.providerOptions(h.cfg, model, notice))
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
