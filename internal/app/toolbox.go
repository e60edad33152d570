package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/config"
	"ikigai/internal/external"
	"ikigai/internal/headless"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
	"ikigai/internal/tools"
)

// builtIns are the tools of the chosen toolset that ship inside.
func (a *app) toolset(cfg *config.Config) (tools.Toolset, error) {
	name := cfg.Tools.Set
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(a.env.Dir, name)
	}
	set, err := tools.Set(name, tools.Options{Search: cfg.Search, Fetch: cfg.Tools.Fetch, Strict: cfg.Strict})
	if err != nil {
		return set, &fault{headless.ExitConfig, err.Error(), "it was given by " + cfg.Origin["tools.set"]}
	}
	return set.Only(func(s tool.Spec) bool { return wanted(s, cfg.Tools) }), nil
}

// wanted reports whether the settings offer tools of that kind at all.
func wanted(s tool.Spec, t config.Tools) bool {
	switch {
	case s.Has(tool.Exec):
		return t.Exec
	case s.Has(tool.Net):
		return t.Web
	case s.Has(tool.Read) || s.Has(tool.Write):
		return t.FS
	}
	return true
}

// buildTools begins to look for tools. Nobody waits for it but a prompt that was
// sent: h.finder.Ready.
func (a *app) buildTools(ctx context.Context, h *house, _ which) error {
	set, err := a.toolset(h.cfg)
	if err != nil {
		return err
	}
	h.set = set
	h.approvals = &approvals{path: filepath.Join(a.places().Data, "approvals.json")}
	asker, err := a.asker(h)
	if err != nil {
		return err
	}
	h.tools = tool.NewRegistry(tool.NewSet(tool.NotStarted, nil))
	h.finder = external.NewFinder(h.tools, func() []external.Dir { return a.toolDirs(h) }, external.Options{
		Start: asker, Timeout: h.cfg.Tools.SchemaTimeout, Cache: filepath.Join(a.places().Cache, "schemas.json"),
		Base: set.All(), BuiltIn: ours, Approved: h.approvals.has,
	})
	h.finder.Start(context.WithoutCancel(ctx))
	h.later(h.finder.Close)
	return nil
}

// asker starts a program that nobody approved yet, to ask it for its schema: it
// may write nothing but a folder of its own.
func (a *app) asker(h *house) (tool.StartFunc, error) {
	jail, err := sandbox.New(sandbox.Options{
		Mode: sandboxModes[h.cfg.Sandbox], Temp: h.temp, Protect: a.ownFiles(), Home: a.env.Home, Environ: a.env.Environ,
	})
	if err != nil {
		return nil, &fault{headless.ExitConfig, err.Error(), "--sandbox auto uses what there is"}
	}
	h.later(jail.Close)
	return jail.Start, nil
}

// toolDirs are the folders of executable tools; a later one wins.
func (a *app) toolDirs(h *house) []external.Dir {
	dirs := []external.Dir{}
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, external.Dir{Path: filepath.Join(filepath.Dir(filepath.Dir(exe)), "libexec", "ikigai"), Origin: tool.System})
	}
	dirs = append(dirs, external.Dir{Path: a.places().Tools(), Origin: tool.User})
	if h.trusted {
		dirs = append(dirs, external.Dir{Path: filepath.Join(h.dir, ".ikigai", "tools"), Origin: tool.Project})
	}
	for _, d := range h.cfg.Tools.Dirs {
		if !filepath.IsAbs(d) {
			d = filepath.Join(a.env.Dir, d)
		}
		dirs = append(dirs, external.Dir{Path: d, Origin: tool.Given})
	}
	return dirs
}

// ours reports whether a program is our own multi-call binary, whose links are
// the built-in tools.
func ours(real string) bool {
	base := filepath.Base(real)
	return base == "ikigai-tools" || base == "ikigai-tools.exe"
}

// ready waits for the search for tools. One that failed is no reason not to go
// on: what was found can be used, and tool list says what was not.
func (h *house) ready(ctx context.Context) error {
	if err := h.finder.Ready(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// offered are the tools a model is told of: those of the toolset, the
// executables that were found, and those for jobs once there is one.
func (h *house) offered(set *tool.Set) []tool.Spec {
	jobs := len(h.jobs.List()) > 0
	if m := h.menu.Load(); m != nil && m.set == set && m.jobs == jobs {
		return m.specs
	}
	specs := h.choose(set, jobs)
	h.menu.Store(&menu{set, jobs, specs})
	return specs
}

// A menu is what was last offered: it is asked for several times in a turn.
type menu struct {
	set   *tool.Set
	jobs  bool
	specs []tool.Spec
}

func (h *house) choose(set *tool.Set, jobs bool) []tool.Spec {
	names := map[string]bool{}
	for _, t := range h.set.Tools {
		names[t.Spec().Name] = true
	}
	if jobs {
		for _, t := range h.set.Jobs {
			names[t.Spec().Name] = true
		}
	}
	var specs []tool.Spec
	for t := range set.All() {
		if s := t.Spec(); s.Origin != tool.BuiltIn || names[s.Name] {
			specs = append(specs, s)
		}
	}
	return slices.Clip(specs)
}

func specsOf(list []tool.Tool) []tool.Spec {
	var specs []tool.Spec
	for _, t := range list {
		specs = append(specs, t.Spec())
	}
	return specs
}

// approvals are the executables a person approved, with what they were then.
type approvals struct {
	path string
	once sync.Once
	list []external.Identity
	err  error
}

func (p *approvals) load() ([]external.Identity, error) {
	p.once.Do(func() {
		raw, err := os.ReadFile(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			p.err = fmt.Errorf("reading the approved tools: %w", err)
		default:
			p.err = json.Unmarshal(raw, &p.list)
		}
	})
	return p.list, p.err
}

// has reports whether an executable is approved as it is.
func (p *approvals) has(path string, sum [32]byte) bool {
	list, err := p.load()
	return err == nil && slices.ContainsFunc(list, func(i external.Identity) bool { return i.Path == path && i.Sum() == sum })
}

// changed says what is different since an executable was approved; nothing when
// it was not, or is the same.
func (p *approvals) changed(now external.Identity) []string {
	list, err := p.load()
	if err != nil {
		return nil
	}
	for _, i := range list {
		if i.Path == now.Path {
			return external.Changed(i, now)
		}
	}
	return nil
}

// add remembers an approval in the place of an older one.
func (p *approvals) add(now external.Identity) error {
	list, err := p.load()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(i external.Identity) bool { return i.Path == now.Path })
	raw, err := json.MarshalIndent(append(list, now), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the approved tools: %w", err)
	}
	if err := os.WriteFile(p.path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("writing the approved tools: %w", err)
	}
	return os.Rename(p.path+".new", p.path)
}
