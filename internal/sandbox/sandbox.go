// Package sandbox is the one place that starts processes. Whatever a program
// does, three things are promised when Start returns: its whole tree is gone,
// what it printed is kept within bounds, and nothing it was not granted was
// touched as far as the kernel could be made to refuse it.
//
// How far that is depends on the machine. The whole jail is a set of namespaces
// with a read-only root, and Landlock and seccomp inside; the light jail is
// Landlock and seccomp alone, where namespaces are refused; without either a
// program starts plainly. Layers says which of them stand.
//
// One kind of program is none of the model's: what the person themselves asks
// for by a key, such as their editor. Foreground runs that with the person's
// own terminal and environment, without a jail.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ikigai/internal/tool"
)

// Mode is how much confinement is asked for.
type Mode uint8

const (
	Auto    Mode = iota // the strongest jail the machine offers
	Require             // the whole jail, or New is an error
	Off                 // none
)

// grace is how long a tree may take to end after it was asked to.
const grace = 2 * time.Second

// Options say what programs may touch. All paths are absolute.
type Options struct {
	Mode    Mode
	Roots   []string // folders that may be written; the first is where programs start
	Temp    string   // the session's own folder for temporary files
	Cache   string   // build caches of this project; empty means none
	Protect []string // our own files: never writable, also when they do not exist yet
	Hide    []string // absolute paths, or patterns of filepath.Match, that cannot be read unless granted
	Home    string
	Environ []string // what Environment.Inherit inherits, as os.Environ gives it
	Init    string   // the program ikigai-init; empty means: look for it
}

// A Sandbox starts programs. It may be used by many goroutines.
type Sandbox struct {
	o        Options
	environs environs
	hosts    hosts
}

// New makes a sandbox, and the folders Temp and Cache where they are missing.
// It starts nothing, unless the mode is Require: then it tries the whole jail
// and says what is missing and what to do about it.
func New(o Options) (*Sandbox, error) {
	for _, p := range slices.Concat(o.Roots, o.Protect, []string{o.Temp, o.Cache, o.Home}) {
		if p != "" && !filepath.IsAbs(p) {
			return nil, fmt.Errorf("sandbox: %q is not an absolute path", p)
		}
	}
	for _, dir := range []string{o.Temp, o.Cache} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("sandbox: making a folder of our own: %w", err)
		}
	}
	s := &Sandbox{o: o}
	s.hosts.sandbox = s
	if o.Mode == Require {
		if err := s.hosts.require(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// A Layer is one part of the confinement.
type Layer struct {
	Name string // such as "namespaces"
	On   bool
	Why  string // what is missing and the next step; empty when On
}

// Layers says which layers confine a program that was granted nothing.
func (s *Sandbox) Layers() []Layer { return s.hosts.layers() }

// Close ends the helpers that idle between two starts. Programs that still run
// are not waited for; end their contexts first.
func (s *Sandbox) Close() error { return s.hosts.close() }

// Start is a tool.StartFunc.
func (s *Sandbox) Start(ctx context.Context, c tool.Command, g tool.Grant) (tool.Exit, error) {
	began := time.Now()
	p, err := s.program(c, g)
	if err != nil {
		return tool.Exit{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Exit{How: endedBy(err)}, nil
	}
	out, err := openStreams(c)
	if err != nil {
		return tool.Exit{}, fmt.Errorf("starting %s: %w", c.Argv[0], err)
	}
	t, err := s.hosts.start(p, g, out.child)
	out.started()
	if err != nil {
		out.close()
		return tool.Exit{}, fmt.Errorf("starting %s: %w", c.Argv[0], err)
	}
	st, how := attend(ctx, t)
	out.close()
	if st.err != nil {
		return tool.Exit{}, fmt.Errorf("starting %s: %w", c.Argv[0], st.err)
	}
	e := st.exit(how)
	out.into(&e)
	e.Took = time.Since(began)
	e.Refused = s.refusals(e, t.jail(), g, p.dir)
	return e, nil
}

// A program is a Command with everything looked up.
type program struct {
	path string // of the executable
	argv []string
	dir  string
	env  []string
}

func (s *Sandbox) program(c tool.Command, g tool.Grant) (program, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return program{}, errors.New("starting a program: no program named")
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return program{}, fmt.Errorf("starting %q: an argument contains a NUL byte", c.Argv[0])
		}
	}
	p := program{argv: c.Argv, dir: c.Dir, env: s.environment(c.Env, g)}
	if p.dir == "" && len(s.o.Roots) > 0 {
		p.dir = s.o.Roots[0]
	}
	var err error
	p.path, err = lookPath(c.Argv[0], p.dir, p.env)
	if err != nil {
		return program{}, fmt.Errorf("starting %s: %w", c.Argv[0], err)
	}
	return p, nil
}

// A tree is a started program with all its descendants.
type tree interface {
	end(hard bool) // asks every process to end, or kills them
	wait() status  // returns when the last process is gone; called once
	free()         // gives back what served the tree; called last
	jail() jailKind
}

// jailKind is what confines a tree.
type jailKind uint8

const (
	plain jailKind = iota
	light
	whole
)

// attend waits for the tree and ends it when ctx does: politely first, then
// not. Nothing is said to a tree that is gone, whose helper may have another.
func attend(ctx context.Context, t tree) (status, tool.Ended) {
	var mu sync.Mutex // guards gone
	gone := false
	end := func(hard bool) {
		mu.Lock()
		defer mu.Unlock()
		if !gone {
			t.end(hard)
		}
	}
	calm := context.AfterFunc(ctx, func() {
		end(false)
		time.AfterFunc(grace, func() { end(true) })
	})
	st := t.wait()
	mu.Lock()
	gone = true
	mu.Unlock()
	t.free()
	if calm() {
		return st, tool.Exited
	}
	return st, endedBy(ctx.Err())
}

func endedBy(err error) tool.Ended {
	if errors.Is(err, context.DeadlineExceeded) {
		return tool.TimedOut
	}
	return tool.Cancelled
}

// status is how the main process of a tree ended.
type status struct {
	err    error // it never ran
	code   int
	signal string // empty unless a signal ended it; code is then 128+N
}

func (s status) exit(how tool.Ended) tool.Exit {
	e := tool.Exit{How: how, Code: s.code, Signal: s.signal}
	if how == tool.Exited && s.signal != "" {
		e.How = tool.Signalled
	}
	if e.How != tool.Signalled {
		e.Signal = ""
	}
	return e
}
