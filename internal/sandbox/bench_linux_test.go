package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// cpu is the time this process and its collected children have used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// buildInit builds the real helper, which starts faster than a test binary.
func buildInit(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ikigai-init")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "ikigai/cmd/ikigai-init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building ikigai-init: %v\n%s", err, out)
	}
	return path
}

// A way is one way to start the smallest program.
type way struct {
	name string
	once func() error
	end  func() // collects the helpers, whose time does not count before
	used cost   // in this session
	per  []cost // start, one for each session
}

// A cost is time of the processors, ours and the children's, and of the clock.
type cost struct{ cpu, wall time.Duration }

// BenchmarkTrue starts the smallest program in every way there is, by turns,
// since other work on the machine changes what everything costs. It reports
// what one start costs in the median session, with all that its helper costs
// from its birth to its end. "plain" is the standard library alone.
func BenchmarkTrue(b *testing.B) {
	ways := waysToStart(b)
	b.Run("session of 20", func(b *testing.B) { compare(b, ways, 20, 15) })
	b.Run("session of 1", func(b *testing.B) { compare(b, ways, 1, 60) })
}

func compare(b *testing.B, ways []*way, starts, sessions int) {
	for _, w := range ways {
		w.per = nil
	}
	for b.Loop() {
		for range sessions {
			session(b, ways, starts)
		}
	}
	for _, w := range ways {
		m := median(w.per)
		b.ReportMetric(ms(m.cpu), w.name+"-cpu-ms")
		b.ReportMetric(ms(m.wall), w.name+"-wall-ms")
	}
}

func session(b *testing.B, ways []*way, starts int) {
	b.Helper()
	for range starts {
		for _, w := range ways {
			w.spend(b, w.once)
		}
	}
	for _, w := range ways {
		w.spend(b, func() error { w.end(); return nil })
		n := time.Duration(starts)
		w.per = append(w.per, cost{w.used.cpu / n, w.used.wall / n})
		w.used = cost{}
	}
}

// spend adds what f costs.
func (w *way) spend(b *testing.B, f func() error) {
	b.Helper()
	before, began := cpu(b), time.Now()
	if err := f(); err != nil {
		b.Fatalf("%s: %v", w.name, err)
	}
	w.used.wall += time.Since(began)
	w.used.cpu += cpu(b) - before
}

func median(all []cost) cost {
	middle := func(by func(cost) time.Duration) time.Duration {
		var list []time.Duration
		for _, c := range all {
			list = append(list, by(c))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	return cost{middle(func(c cost) time.Duration { return c.cpu }), middle(func(c cost) time.Duration { return c.wall })}
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func waysToStart(b *testing.B) []*way {
	b.Helper()
	ways := []*way{{name: "plain", end: func() {}, once: func() error { _, err := exec.Command("true").CombinedOutput(); return err }}}
	o := Options{
		Init: buildInit(b), Roots: []string{repository(b)}, Temp: b.TempDir(), Cache: b.TempDir(), Home: b.TempDir(),
		Environ: os.Environ(), Hide: []string{"/etc/shadow", "/root/.ssh", "/root/.aws", "/root/.netrc"},
	}
	for _, m := range []struct {
		name  string
		mode  Mode
		light bool
	}{{"off", Off, false}, {"light", Auto, true}, {"whole", Require, false}} {
		o.Mode, o.light = m.mode, m.light
		s, err := New(o)
		if err != nil {
			b.Logf("%s: %v", m.name, err)
			continue
		}
		c := tool.Command{Argv: []string{"true"}, Merge: true, Env: tool.Environment{Inherit: true}}
		ways = append(ways, &way{
			name: m.name, end: func() { s.hosts.helpers.dismiss(0) },
			once: func() error { _, err := s.Start(b.Context(), c, tool.Grant{}); return err },
		})
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		root := o.Roots[0]
		args := []string{
			"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"--tmpfs", "/run", "--tmpfs", "/tmp", "--bind", root, root, "--ro-bind", root + "/.git/hooks", root + "/.git/hooks", "--chdir", root, "true",
		}
		ways = append(ways, &way{
			name: "bubblewrap", end: func() {},
			once: func() error { _, err := exec.Command(bwrap, args...).CombinedOutput(); return err },
		})
	}
	return ways
}

// repository is a workspace as they are: with a repository in it.
func repository(tb testing.TB) string {
	tb.Helper()
	root := tb.TempDir()
	cmd := exec.Command("git", "init", "-q", root)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("git init: %v\n%s", err, out)
	}
	return root
}
