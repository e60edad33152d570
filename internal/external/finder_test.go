package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

// tidyBench is a bench that must leave no goroutine behind.
func tidyBench(t *testing.T) *bench {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
	return newBench(t, sandbox.Off)
}

// newFinder gives a finder over the bench's folder, closed with the test.
func newFinder(t *testing.T, b *bench, o Options) (*Finder, *tool.Registry) {
	t.Helper()
	r := tool.NewRegistry(nil)
	f := NewFinder(r, func() []Dir { return []Dir{{b.tools, tool.User}} }, o)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, r
}

func TestAScanGoesThroughItsStates(t *testing.T) {
	b := tidyBench(t)
	b.put("tardy", "#!/bin/sh\nwhile [ ! -e "+b.place.Dir+"/go ]; do sleep 0.01; done\necho '{\"name\":\"tardy\",\"description\":\"d\",\"parameters\":{}}'\n")
	o := b.options()
	o.Timeout = 60e9
	o.Base = []tool.Tool{stub("built_in")}
	f, r := newFinder(t, b, o)
	if got := r.Current().State; got != tool.NotStarted {
		t.Errorf("before: %v", got)
	}
	if err := f.Ready(t.Context()); !errors.Is(err, ErrNotStarted) {
		t.Errorf("%v", err)
	}
	f.Start(t.Context())
	f.Start(t.Context()) // a second start does nothing
	if s := r.Current(); s.State != tool.InProgress || !slices.Equal(s.Names(), []string{"built_in"}) {
		t.Errorf("during: %v %v", s.State, s.Names())
	}
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Ready(soon); !errors.Is(err, context.Canceled) {
		t.Errorf("a prompt that is given up still waits: %v", err)
	}
	if err := os.WriteFile(filepath.Join(b.place.Dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if s := r.Current(); s.State != tool.Complete || !slices.Equal(s.Names(), []string{"built_in", "tardy"}) {
		t.Errorf("after: %v %v %+v", s.State, s.Names(), s.Problems)
	}
}

func TestRefreshSaysWhatIsDifferent(t *testing.T) {
	b := tidyBench(t)
	b.put("stays", sh("stays", "", ""))
	b.put("changes", sh("changes", "", ""))
	gone := b.put("goes", sh("goes", "", ""))
	o := b.options()
	o.Cache = filepath.Join(b.place.Dir, "schemas.json")
	f, r := newFinder(t, b, o)
	f.Start(t.Context())
	if err := f.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.put("changes", sh("", `{"name":"changes","description":"differently","parameters":{}}`, ""))
	b.put("comes", sh("comes", "", ""))
	b.put("fails", "#!/bin/sh\nexit 1\n")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	c, err := f.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Added, []string{"comes"}) || !slices.Equal(c.Removed, []string{"goes"}) ||
		len(c.Changed) != 1 || c.Changed[0].Name != "changes" || len(c.Changed[0].Lines) < 3 ||
		len(c.Failed) != 1 || c.Failed[0].Reason != SchemaInvalid {
		t.Errorf("%+v", c)
	}
	if s := r.Current(); s.State != tool.Complete || len(s.Names()) != 3 {
		t.Errorf("%v %v", s.State, s.Names())
	}
}

func TestARefreshThatFailsSaysSoAndHarmsNothing(t *testing.T) {
	b := tidyBench(t)
	b.put("fine", sh("fine", "", ""))
	f, r := newFinder(t, b, b.options())
	f.Start(t.Context())
	if err := f.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	aside := b.tools + ".aside"
	if err := os.Rename(b.tools, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.tools, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Refresh(t.Context()); err == nil {
		t.Error("a folder that is a file was scanned")
	}
	if got := r.Current().State; got != tool.Failed {
		t.Errorf("%v", got)
	}
	if err := errors.Join(os.Remove(b.tools), os.Rename(aside, b.tools)); err != nil {
		t.Fatal(err)
	}
	if c, err := f.Refresh(t.Context()); err != nil || !slices.Equal(c.Added, []string{"fine"}) {
		t.Errorf("%+v %v", c, err)
	}
}

func TestManyMayWaitAndRefreshAtOnce(t *testing.T) {
	b := tidyBench(t)
	for _, name := range []string{"a", "b", "c"} {
		b.put(name, sh(name, "", ""))
	}
	f, r := newFinder(t, b, b.options())
	f.Start(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := f.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			for found := range r.Current().All() {
				_ = found.Spec().Parameters.JSON()
			}
		})
		all.Go(func() {
			if _, err := f.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := r.Current(); s.State != tool.Complete || len(s.Names()) != 3 {
		t.Errorf("%v %v %+v", s.State, s.Names(), s.Problems)
	}
}

func TestClosingEndsAScanAndLeavesNothing(t *testing.T) {
	b := tidyBench(t)
	b.put("hangs", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n")
	o := b.options()
	o.Timeout = 60e9
	f, r := newFinder(t, b, o)
	f.Start(t.Context())
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.Current().State; got != tool.Failed {
		t.Errorf("%v", got)
	}
	if err := f.Ready(t.Context()); err == nil {
		t.Error("a scan that was given up counts as done")
	}
}
