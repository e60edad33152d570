package snapshot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/bench"
)

// forest plants a tree like a big repository: 30,000 files in 6,000 folders.
func forest(b testing.TB) *stage {
	b.Helper()
	s := newStage(b)
	content := make([]byte, 4000)
	for i := range content {
		content[i] = "abcdefgh\n"[i%9]
	}
	s.write(".gitignore", "*.o\n/build/\nnode_modules\n*.log\n")
	for d := range 6000 {
		dir := s.path(fmt.Sprintf("top%d/sub%d/leaf%d", d%20, d%300, d))
		s.must(os.MkdirAll(dir, 0o755))
		for f := range 5 {
			s.must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", f)), fmt.Appendf(content, "%d %d", d, f), 0o644))
		}
	}
	return s
}

func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports the processor time of each run, of all threads.
func measure(b *testing.B, run func()) {
	b.Helper()
	start := cpu()
	n := 0
	for b.Loop() {
		run()
		n++
	}
	b.ReportMetric(float64((cpu()-start).Microseconds())/1000/float64(n), "cpu-ms/op")
}

// rest takes snapshots until every stamp is old enough to be believed.
func (s *stage) rest() {
	s.reopen()
	time.Sleep(2100 * time.Millisecond)
	s.take()
	time.Sleep(200 * time.Millisecond)
	s.take()
}

// TestBenchSnapshot measures what a turn in a big repository costs that changes
// nothing, beside git, which is how it is often done.
func TestBenchSnapshot(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("make bench sets " + bench.DirVariable)
	}
	s := forest(t)
	s.rest()
	rival := newGit(s)
	goal := "under 150 ms CPU"
	again := compared("snapshot of an unchanged tree of 30,000 files", goal, best(5, func() cost { return spent(func() { s.take() }) }), best(5, rival.add))
	fresh := compared("the same, in a new process", goal, best(5, func() cost { return spent(func() { s.reopen(); s.take() }) }), best(5, rival.add))
	s.must(bench.Write(dir, "snapshot", []bench.Row{again, fresh}))
	t.Logf("%.0f ms CPU, in a new process %.0f ms; git %.0f ms", again.OursCPU, fresh.OursCPU, again.RivalCPU)
}

// A cost is what something took, in milliseconds.
type cost struct{ cpu, wall float64 }

func compared(workload, goal string, ours, rival cost) bench.Row {
	r := bench.Row{Workload: workload, Goal: goal, Rival: "git add -A; git write-tree", OursCPU: ours.cpu, OursWall: ours.wall, RivalCPU: rival.cpu, RivalWall: rival.wall}
	if rival.cpu > 0 {
		r.Ratio = ours.cpu / rival.cpu
	}
	return r
}

// best is the cheapest of several runs: the others waited for something else.
func best(n int, run func() cost) cost {
	least := run()
	for range n - 1 {
		if c := run(); c.cpu < least.cpu {
			least = c
		}
	}
	return least
}

func spent(run func()) cost {
	runtime.GC() // what came before is not charged
	start, from := time.Now(), cpu()
	run()
	return cost{millis(cpu() - from), millis(time.Since(start))}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// git keeps the same tree in a repository of its own beside it.
type git struct {
	*stage
	dir string
}

func newGit(s *stage) *git {
	g := &git{s, s.TempDir()}
	g.run("init", "-q")
	g.add()
	return g
}

// add is what a snapshot with git takes.
func (g *git) add() cost {
	a, b := g.run("add", "-A"), g.run("write-tree")
	return cost{a.cpu + b.cpu, a.wall + b.wall}
}

func (g *git) run(args ...string) cost {
	g.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir=" + g.dir, "--work-tree=" + g.ws}, args...)...)
	cmd.Dir = g.ws
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		g.Skipf("no git to compare with: %v\n%s", err, out)
	}
	return cost{millis(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()), millis(time.Since(start))}
}

func BenchmarkForest(b *testing.B) {
	s := forest(b)
	b.Run("first", func(b *testing.B) {
		data := s.o.Folder
		defer func() { s.o.Folder = data }()
		measure(b, func() { s.o.Folder = b.TempDir(); s.reopen(); s.take() })
	})
	s.rest()
	b.Run("unchanged", func(b *testing.B) { measure(b, func() { s.take() }) })
	b.Run("unchanged, new process", func(b *testing.B) { measure(b, func() { s.reopen(); s.take() }) })
	b.Run("a turn of one file", func(b *testing.B) {
		n := 0
		measure(b, func() {
			s.turn(func() { n++; s.write("top1/new.go", fmt.Sprint(n)) })
		})
	})
	b.Run("undo of one file", func(b *testing.B) {
		measure(b, func() {
			b.StopTimer()
			turn := s.turn(func() { s.write("top1/new.go", time.Now().String()) })
			b.StartTimer()
			s.undo(turn)
		})
	})
}
