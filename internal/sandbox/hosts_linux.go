package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"ikigai/internal/sandbox/jail"
	"ikigai/internal/tool"
)

// hosts are the ways to start a program: under a helper, in namespaces or not,
// or without one where that is all there is.
type hosts struct {
	sandbox *Sandbox
	helpers pool
	rooted  group
	refused bool // pretend that namespaces are; set before the first start
	once    sync.Once
	found   findings
}

// findings are what this machine offers.
type findings struct {
	init     string // the helper program
	whole    error  // why there is no whole jail
	landlock int    // version; 0 for none
	filter   bool
}

// look finds out, once, what can be had. It rehearses a whole jail with the
// folders of this sandbox, since only that shows whether it can be built.
func (h *hosts) look() *findings {
	h.once.Do(func() {
		f := &h.found
		f.init = helperPath(h.sandbox.o.Init)
		if f.init == "" {
			f.whole = errors.New(adviseInit)
			return
		}
		f.landlock, f.filter = jail.LandlockVersion(), jail.HasFilter()
		switch {
		case h.sandbox.o.Mode == Off:
			f.whole = errors.New("switched off")
		case h.refused:
			f.whole = errors.New("the light jail was asked for")
		default:
			f.whole = h.rehearse()
		}
	})
	return &h.found
}

func (h *hosts) rehearse() error {
	files, err := openNothing()
	if err != nil {
		return err
	}
	defer files[0].Close()
	t, err := h.startUnder(program{}, tool.Grant{}, whole, files)
	if err != nil {
		return err
	}
	defer t.free()
	return t.wait().err
}

// openNothing gives three times the empty device.
func openNothing() ([3]*os.File, error) {
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	return [3]*os.File{f, f, f}, err
}

// kind is the strongest jail for a program with the grant g.
func (h *hosts) kind(g tool.Grant) jailKind {
	f := h.look()
	switch {
	case g.Unconfined || h.sandbox.o.Mode == Off:
		return plain
	case f.whole == nil:
		return whole
	case f.landlock > 0 || f.filter:
		return light
	}
	return plain
}

func (h *hosts) start(p program, g tool.Grant, files [3]*os.File) (tree, error) {
	kind := h.kind(g)
	t, err := h.startUnder(p, g, kind, files)
	if err != nil && kind == plain {
		return startPlain(p, files) // no helper program, and nothing that it could do to confine
	}
	return t, err
}

// startUnder starts p under a helper.
func (h *hosts) startUnder(p program, g tool.Grant, kind jailKind, files [3]*os.File) (tree, error) {
	if h.found.init == "" {
		return nil, errors.New(adviseInit)
	}
	need := helperFor(kind, g)
	under, err := h.helpers.take(need, h.found.init, h.arguments(need)...)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", jail.Name, err)
	}
	t := &keptTree{helper: under, kind: kind, spare: func(x *helper) { h.helpers.give(x, need) }}
	plan := h.sandbox.plan(p, g, kind)
	if need == bare {
		plan.Env = append(slices.Clone(plan.Env), keeperMark(under.process.Pid))
	}
	if err := under.run(plan, files); err != nil {
		_ = under.process.Kill()
		under.dismiss()
		return nil, err
	}
	return t, nil
}

func helperFor(kind jailKind, g tool.Grant) helperKind {
	switch {
	case kind != whole:
		return bare
	case g.Net:
		return apartOnNet
	}
	return apart
}

// arguments tell a helper that is about to start what to be.
func (h *hosts) arguments(kind helperKind) []string {
	if kind == bare {
		return nil
	}
	args := []string{jail.Apart}
	if kind == apartOnNet {
		args = []string{jail.ApartOnNet}
	}
	if os.Getuid() == 0 {
		args = append(args, h.rooted.folder())
	}
	return args
}

func (h *hosts) close() error {
	h.helpers.close()
	h.rooted.close()
	return nil
}

// require is an error unless the whole jail stands.
func (h *hosts) require() error {
	f := h.look()
	for _, l := range h.layers() {
		if !l.On {
			return fmt.Errorf("sandbox: the layer %s is missing: %s", l.Name, l.Why)
		}
	}
	return f.whole
}

const (
	adviseInit   = "the program " + jail.Name + " is missing: install it beside ikigai or in libexec"
	adviseSpaces = "; allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; " +
		"in a container its seccomp profile), or run without --sandbox require: .git/hooks, .git/config and .ikigai in the workspace, and the modes of files outside, are not protected then"
	adviseLandlock = "this kernel has no Landlock: use 5.13 or later with landlock in its list of security modules (lsm=)"
	adviseFilter   = "no seccomp filter for this kernel or machine: use a kernel with CONFIG_SECCOMP_FILTER on amd64 or arm64"
)

func (h *hosts) layers() []Layer {
	if h.sandbox.o.Mode == Off {
		off := "switched off: start without --sandbox off"
		return []Layer{{"namespaces", false, off}, {"landlock", false, off}, {"seccomp", false, off}}
	}
	f := h.look()
	if f.init == "" {
		return []Layer{{"namespaces", false, adviseInit}, {"landlock", false, adviseInit}, {"seccomp", false, adviseInit}}
	}
	spaces := Layer{Name: "namespaces", On: f.whole == nil}
	if f.whole != nil {
		spaces.Why = f.whole.Error() + adviseSpaces
	}
	return []Layer{
		spaces,
		layer("landlock", f.landlock > 0, adviseLandlock),
		layer("seccomp", f.filter, adviseFilter),
	}
}

func layer(name string, on bool, why string) Layer {
	if on {
		why = ""
	}
	return Layer{Name: name, On: on, Why: why}
}
