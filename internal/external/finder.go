package external

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ikigai/internal/tool"
)

// A Finder keeps a Registry filled: it scans in the background from the first
// moment, and again when the person asks. While a scan runs the Registry holds
// what was known before, in the state InProgress.
type Finder struct {
	registry *tool.Registry
	dirs     func() []Dir
	options  Options
	work     sync.WaitGroup // scans, and what they left to be killed

	mu   sync.Mutex // guards what follows
	last *round     // the newest scan; nil before the first
}

// A round is one scan.
type round struct {
	cancel context.CancelFunc
	done   chan struct{}
	set    *tool.Set // once done is closed
}

// ErrNotStarted says that nothing was scanned yet.
var ErrNotStarted = errors.New("the search for tools has not begun")

// NewFinder makes a Finder for r, which then holds the tools of o.Base in the
// state NotStarted. The folders are asked for at each scan: a project that was
// trusted meanwhile is then among them.
func NewFinder(r *tool.Registry, dirs func() []Dir, o Options) *Finder {
	r.Replace(tool.NewSet(tool.NotStarted, nil, o.Base...))
	return &Finder{registry: r, dirs: dirs, options: o}
}

// Start begins the first scan and returns at once. Ending ctx ends the scan. It
// does nothing when there was a scan already.
func (f *Finder) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.begin(ctx, f.options)
	}
}

// begin starts a scan. f.mu is held, and no other scan runs.
func (f *Finder) begin(ctx context.Context, o Options) *round {
	ctx, cancel := context.WithCancel(ctx)
	r := &round{cancel: cancel, done: make(chan struct{})}
	f.last = r
	f.registry.Replace(inProgress(f.registry.Current()))
	f.work.Go(func() {
		defer close(r.done)
		defer cancel()
		r.set = scan(ctx, f.dirs(), o, &f.work)
		f.registry.Replace(r.set)
	})
	return r
}

// inProgress is the same set while a scan runs.
func inProgress(s *tool.Set) *tool.Set {
	var all []tool.Tool
	for t := range s.All() {
		all = append(all, t)
	}
	return tool.NewSet(tool.InProgress, s.Problems, all...)
}

// Ready waits until the tools are known: until no scan runs. A scan that failed
// is an error; the tools it found can be used all the same.
func (f *Finder) Ready(ctx context.Context) error {
	_, err := f.wait(ctx)
	return err
}

func (f *Finder) wait(ctx context.Context) (*tool.Set, error) {
	f.mu.Lock()
	r := f.last
	f.mu.Unlock()
	if r == nil {
		return nil, ErrNotStarted
	}
	select {
	case <-r.done:
		return r.set, failure(r.set)
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the tools: %w", context.Cause(ctx))
	}
}

// failure is why a scan failed, in words.
func failure(s *tool.Set) error {
	if s.State != tool.Failed {
		return nil
	}
	for _, p := range s.Problems {
		if p.Reason == ScanFailed {
			return fmt.Errorf("scanning %s for tools: %s", p.Path, p.Detail)
		}
	}
	return errors.New("scanning for tools was cancelled")
}

// Refresh scans again, asking every executable, and says what is different. A
// scan that already runs is waited for first.
func (f *Finder) Refresh(ctx context.Context) (Changes, error) {
	old, r, err := f.again(ctx)
	if err != nil {
		return Changes{}, err
	}
	<-r.done // ending ctx ends it
	return Compare(old, r.set), failure(r.set)
}

// again begins a scan as soon as none runs.
func (f *Finder) again(ctx context.Context) (*tool.Set, *round, error) {
	for {
		if _, err := f.wait(ctx); ctx.Err() != nil {
			return nil, nil, err
		}
		f.mu.Lock()
		if f.last == nil || isClosed(f.last.done) {
			defer f.mu.Unlock()
			o := f.options
			o.Fresh = true
			return f.registry.Current(), f.begin(ctx, o), nil
		}
		f.mu.Unlock()
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Close ends a scan that runs and waits until every process it started is gone.
// No scan may be started afterwards.
func (f *Finder) Close() error {
	f.mu.Lock()
	r := f.last
	f.mu.Unlock()
	if r != nil {
		r.cancel()
	}
	f.work.Wait()
	return nil
}
