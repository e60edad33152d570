// Package external makes tools out of executables. It finds them in folders,
// asks each with --schema what it is, and runs them: arguments as JSON on
// standard input, one JSON object as the answer on standard output. The whole
// protocol, for authors, is in docs/tool-protocol.md.
//
// Nothing here believes an executable. What another user could have changed is
// not started; an answer that is late, too large or malformed is a Problem or a
// Failure with its reason; what a tool says about its own harmlessness counts
// only after the person approved that very file with that very schema. How a
// process is confined is not decided here: a tool.StartFunc is given.
package external

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ikigai/internal/tool"
)

// A Dir is a folder of executables.
type Dir struct {
	Path   string
	Origin tool.Origin
}

// Options say how folders are scanned.
type Options struct {
	// Start asks an executable for its schema. Nothing was approved yet, so it
	// should let write nothing but what is granted: a sandbox without roots.
	Start   tool.StartFunc
	Timeout time.Duration // for one executable to answer; DefaultTimeout when zero
	Cache   string        // file that remembers schemas; empty means none
	Fresh   bool          // ask every executable, whatever the cache says
	Base    []tool.Tool   // tools that are there without being looked for

	// BuiltIn tells that a program is our own: its links offer what Base holds
	// already, so they are neither started nor a problem. Nil means there is none.
	BuiltIn func(real string) bool

	// Approved reports whether the person approved the executable at path with
	// that Identity.Sum. It is called whenever it matters, so an approval counts
	// at once. Nil means that nothing is approved.
	Approved func(path string, sum [32]byte) bool
}

// DefaultTimeout is how long an executable may take to print its schema.
const DefaultTimeout = time.Second

const (
	// slots is how many executables are asked at once, patience how long one may
	// hold its slot: a slow one goes on without, so that it delays nobody.
	slots    = 8
	patience = 100 * time.Millisecond
)

// Reasons why a file is no tool, as Problem.Reason.
const (
	SchemaTimeout     = "SCHEMA_TIMEOUT"
	SchemaInvalid     = "SCHEMA_INVALID"
	NameMismatch      = "NAME_MISMATCH"
	NotExecutable     = "NOT_EXECUTABLE"
	NotAFile          = "NOT_A_FILE"
	SpawnFailed       = "SPAWN_FAILED"
	UnsafePermissions = "UNSAFE_PERMISSIONS"
	IgnoredName       = "IGNORED_NAME"
	ScanFailed        = "SCAN_FAILED" // of a folder that exists and cannot be read
)

// Scan asks all executables in dirs what they are, side by side. A later folder
// of the same origin wins where names meet. It returns when the last one has
// answered or has had its time; one that must be killed may take a moment
// longer to be gone.
//
// A folder that does not exist is empty. One that cannot be read, and the end of
// ctx, make the state Failed; what was found until then is in the Set.
func Scan(ctx context.Context, dirs []Dir, o Options) *tool.Set {
	return scan(ctx, dirs, o, new(sync.WaitGroup))
}

// scan is Scan; late counts what still runs when it returns.
func scan(ctx context.Context, dirs []Dir, o Options, late *sync.WaitGroup) *tool.Set {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	s := &scanner{o: o, cache: openCache(o.Cache), late: late, state: tool.Complete}
	for _, d := range dirs {
		s.list(d)
	}
	s.askAll(ctx)
	if ctx.Err() != nil {
		s.state = tool.Failed
	}
	s.cache.save()
	return s.set()
}

// A scanner is one scan under way.
type scanner struct {
	o        Options
	cache    *cache
	late     *sync.WaitGroup
	state    tool.ScanState
	problems []tool.Problem
	found    []*Tool // in the order of the candidates; nil while not known
	unknown  []candidate
}

// A candidate is an executable that must be asked.
type candidate struct {
	file
	at int // its place in found
}

// list goes through one folder: refuses what cannot be a tool, takes what the
// cache knows, and remembers the others as candidates.
func (s *scanner) list(d Dir) {
	dir, entries, err := open(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.state = tool.Failed
		s.problem(d.Path, &refusal{ScanFailed, err.Error()})
		return
	}
	if err := dir.trusted(); err != nil {
		s.problem(d.Path, err)
		return
	}
	for _, e := range entries {
		f, err := examine(dir, e.Name(), s.o.BuiltIn)
		if err != nil {
			s.problem(filepath.Join(dir.path, e.Name()), err)
			continue
		}
		if f.own {
			continue
		}
		f.origin = d.Origin
		s.take(f)
	}
}

func (s *scanner) take(f file) {
	if known := s.cache.lookup(f); known != nil && !s.o.Fresh {
		s.found = append(s.found, s.tool(f, known))
		return
	}
	s.unknown = append(s.unknown, candidate{f, len(s.found)})
	s.found = append(s.found, nil)
}

func (s *scanner) tool(f file, k *knowledge) *Tool {
	return &Tool{file: f, known: k, approved: s.o.Approved, document: sync.OnceValue(k.document)}
}

func (s *scanner) problem(path string, err error) {
	s.problems = append(s.problems, problemOf(path, err))
}

// askAll asks the unknown ones, a few at a time.
func (s *scanner) askAll(ctx context.Context) {
	free := make(chan struct{}, slots)
	errs := make([]error, len(s.unknown))
	var all sync.WaitGroup
	for i, c := range s.unknown {
		free <- struct{}{}
		all.Go(func() {
			release := sync.OnceFunc(func() { <-free })
			defer release()
			defer time.AfterFunc(patience, release).Stop()
			k, err := s.ask(ctx, c.file)
			if err == nil {
				s.found[c.at] = s.tool(c.file, k)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			s.problem(s.unknown[i].path, err)
			continue
		}
		s.cache.add(s.unknown[i].file, s.found[s.unknown[i].at].known)
	}
}

// set puts together what was found.
func (s *scanner) set() *tool.Set {
	all := append([]tool.Tool{}, s.o.Base...)
	for _, t := range s.found {
		if t != nil {
			all = append(all, t)
		}
	}
	set := tool.NewSet(s.state, s.problems, all...)
	for _, t := range s.found {
		if t != nil {
			t.listed = true
		}
	}
	return set
}

// A refusal is why a file is no tool: one of the reasons, and words for a person.
type refusal struct{ reason, detail string }

func (r *refusal) Error() string { return r.detail }

func refuse(reason, format string, args ...any) error {
	return &refusal{reason, fmt.Sprintf(format, args...)}
}

func problemOf(path string, err error) tool.Problem {
	p := tool.Problem{Path: path, Reason: SpawnFailed, Detail: err.Error()}
	if r := (*refusal)(nil); errors.As(err, &r) {
		p.Reason = r.reason
	}
	return p
}

// open reads a folder, in name order.
func open(path string) (folder, []os.DirEntry, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return folder{}, nil, err
	}
	stamp, err := statOf(abs)
	if err != nil {
		return folder{}, nil, err
	}
	entries, err := os.ReadDir(abs)
	return folder{abs, stamp}, entries, err
}
