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
	end  func() // collects what idles, whose time does not count before
	cost []time.Duration
}

// BenchmarkTrue starts the smallest program in every way there is, in turns,
// since other work on the machine changes what everything costs. It reports
// the median and the least CPU time of one start, ours and the children's.
// "plain" is the standard library alone. In a burst a helper serves twenty
// programs; alone, each program pays for its helper.
func BenchmarkTrue(b *testing.B) {
	b.Run("burst", func(b *testing.B) { compare(b, 20) })
	b.Run("alone", func(b *testing.B) { compare(b, 1) })
}

func compare(b *testing.B, batch int) {
	const starts = 300
	ways := waysToStart(b)
	for b.Loop() {
		for range starts / batch {
			for _, w := range ways {
				w.cost = append(w.cost, costOf(b, w, batch))
			}
		}
	}
	for _, w := range ways {
		slices.Sort(w.cost)
		b.ReportMetric(float64(w.cost[len(w.cost)/2].Nanoseconds())/1e6, w.name+"-ms")
		b.ReportMetric(float64(w.cost[0].Nanoseconds())/1e6, w.name+"-min-ms")
	}
}

func costOf(b *testing.B, w *way, batch int) time.Duration {
	b.Helper()
	before := cpu(b)
	for range batch {
		if err := w.once(); err != nil {
			b.Fatalf("%s: %v", w.name, err)
		}
	}
	w.end()
	return (cpu(b) - before) / time.Duration(batch)
}

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
			name: m.name, end: s.hosts.helpers.dismissAll,
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
