package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/bench"
	"ikigai/internal/tool"
)

// cpu is the time that we and all collected children have used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		tb.Fatal(err)
	}
	return bench.CPU() + time.Duration(u.Utime.Nano()+u.Stime.Nano())
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
	name  string
	once  func() error
	end   func()       // collects the helpers, whose time does not count before
	used  bench.Cost   // in this session
	costs []bench.Cost // of one start, for each session
}

const (
	call  = 40 // starts in a session of some length
	rival = "bubblewrap"
)

// TestBenchStarts writes what it costs to start the smallest program, for make
// bench. A start in a session bears its part of all that the helper costs, from
// its birth to its end; the first start is a whole session.
func TestBenchStarts(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("make bench sets " + bench.DirVariable)
	}
	ways := waysToStart(t)
	many := sessions(t, ways, call, 15)
	one := sessions(t, ways, 1, 60)
	more := func(workload, name string, most float64) bench.Row {
		row := bench.Against(workload, many[name], "plain start", many["plain"], fmt.Sprintf("at most %.1f ms CPU more", most))
		row.Note = fmt.Sprintf("%+.2f ms CPU", row.OursCPU-row.RivalCPU)
		return row
	}
	rows := []bench.Row{
		more("start `true`, whole jail, one of 40 in a session", "whole", 2.5),
		more("start `true`, light jail, one of 40 in a session", "light", 0.5),
		more("start `true`, no jail, one of 40 in a session", "off", 0.5),
		against("start `true`, whole jail, one of 40 in a session", many, "whole"),
		against("start `true`, whole jail, first of a session", one, "whole"),
	}
	if err := bench.Write(dir, "sandbox", rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%s: %.2f ms CPU; %s %.2f ms; %s", r.Workload, r.OursCPU, r.Rival, r.RivalCPU, r.Note)
	}
}

func against(workload string, all map[string]bench.Cost, name string) bench.Row {
	theirs, ok := all[rival]
	if !ok {
		return bench.Row{Workload: workload, OursCPU: all[name].CPU, OursWall: all[name].Wall, Rival: rival + " is not installed"}
	}
	return bench.Against(workload, all[name], rival, theirs, "")
}

// BenchmarkStarts reports the same.
func BenchmarkStarts(b *testing.B) {
	ways := waysToStart(b)
	for b.Loop() {
		for name, c := range sessions(b, ways, call, 10) {
			b.ReportMetric(c.CPU, name+"-cpu-ms")
			b.ReportMetric(c.Wall, name+"-wall-ms")
		}
	}
}

// sessions gives the median cost of a start, by way. The ways take turns, since
// other work on the machine changes what everything costs.
func sessions(tb testing.TB, ways []*way, starts, sessions int) map[string]bench.Cost {
	tb.Helper()
	for range sessions {
		for range starts {
			for _, w := range ways {
				w.spend(tb, w.once)
			}
		}
		for _, w := range ways {
			w.spend(tb, func() error { w.end(); return nil })
			n := float64(starts)
			w.costs = append(w.costs, bench.Cost{CPU: w.used.CPU / n, Wall: w.used.Wall / n})
			w.used = bench.Cost{}
		}
	}
	all := map[string]bench.Cost{}
	for _, w := range ways {
		slices.SortFunc(w.costs, func(a, b bench.Cost) int { return cmp.Compare(a.CPU, b.CPU) })
		all[w.name] = w.costs[len(w.costs)/2]
		w.costs = nil
	}
	return all
}

// spend adds what f costs.
func (w *way) spend(tb testing.TB, f func() error) {
	tb.Helper()
	before, began := cpu(tb), time.Now()
	if err := f(); err != nil {
		tb.Fatalf("%s: %v", w.name, err)
	}
	w.used.Wall += float64(time.Since(began).Nanoseconds()) / 1e6
	w.used.CPU += float64((cpu(tb) - before).Nanoseconds()) / 1e6
}

func waysToStart(tb testing.TB) []*way {
	tb.Helper()
	ways := []*way{{name: "plain", end: func() {}, once: func() error { _, err := exec.Command("true").CombinedOutput(); return err }}}
	o := Options{
		Init: buildInit(tb), Roots: []string{repository(tb)}, Temp: tb.TempDir(), Cache: tb.TempDir(), Home: tb.TempDir(),
		Environ: os.Environ(), Hide: []string{"/etc/shadow", "/root/.ssh", "/root/.aws", "/root/.netrc"},
	}
	for _, kind := range []jailKind{plain, light, whole} {
		s, err := newOf(o, kind)
		if err != nil || s.hosts.kind(tool.Grant{}) != kind {
			tb.Logf("no jail of the kind %s: %v", kindNames[kind], err)
			continue
		}
		tb.Cleanup(func() { _ = s.Close() })
		c := tool.Command{Argv: []string{"true"}, Merge: true, Env: tool.Environment{Inherit: true}}
		ways = append(ways, &way{
			name: kindNames[kind], end: func() { s.hosts.helpers.dismiss(0) },
			once: func() error { _, err := s.Start(tb.Context(), c, tool.Grant{}); return err },
		})
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		root := o.Roots[0]
		args := []string{
			"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"--tmpfs", "/run", "--tmpfs", "/tmp", "--bind", root, root, "--ro-bind", root + "/.git/hooks", root + "/.git/hooks", "--chdir", root, "true",
		}
		ways = append(ways, &way{
			name: rival, end: func() {},
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
