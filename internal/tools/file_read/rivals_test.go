//go:build unix

package file_read

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/bench"
	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// TestBenchRivals compares reading 200 lines far down in a file of 200 MB with tail and
// head, for make bench.
func TestBenchRivals(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("a comparison for make bench")
	}
	const line = 5_000_000
	s := stage.New(t, nil)
	name := filepath.Join(s.Workspace, "huge")
	long := strings.Repeat("a line of a log file, not a long one..\n", 1000)
	if err := os.WriteFile(name, []byte(strings.Repeat(long, 5_300)), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	ways := []func(){
		func() { s.Memo = &tool.Memo{}; read(s, line) },
		func() { read(s, line-10_000) },
		func() {
			if err := exec.Command("sh", "-c", fmt.Sprintf("tail -n +%d %s | head -n 200", line, name)).Run(); err != nil {
				t.Fatal(err)
			}
		},
	}
	cpu, wall := measure(t, ways)
	var rows []bench.Row
	for i, what := range []string{"first", "again in the session"} {
		rows = append(rows, bench.Row{
			Workload: "file_read: 200 lines at line 5,000,000, " + what, Rival: "tail | head",
			OursCPU: cpu[i], OursWall: wall[i], RivalCPU: cpu[2], RivalWall: wall[2], Ratio: cpu[i] / cpu[2],
		})
	}
	if err := bench.Write(dir, "reads", rows); err != nil {
		t.Fatal(err)
	}
}

func read(s *stage.Stage, line int) {
	s.CallOnce(Tool, fmt.Sprintf(`{"path":"huge","offset":%d,"limit":200}`, line))
}

// measure gives medians in milliseconds, children included, of rounds in which all
// have a turn and of which the first does not count.
func measure(t *testing.T, ways []func()) (cpu, wall []float64) {
	used := func() (sum int64) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var r syscall.Rusage
			if err := syscall.Getrusage(who, &r); err != nil {
				t.Fatal(err)
			}
			sum += r.Utime.Nano() + r.Stime.Nano()
		}
		return sum
	}
	const rounds = 7
	cpu, wall = make([]float64, len(ways)), make([]float64, len(ways))
	cpus, walls := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range rounds + 1 {
		for i, way := range ways {
			start, before := time.Now(), used()
			way()
			if round > 0 {
				cpus[i] = append(cpus[i], float64(used()-before)/1e6)
				walls[i] = append(walls[i], time.Since(start).Seconds()*1000)
			}
		}
	}
	for i := range ways {
		slices.Sort(cpus[i])
		slices.Sort(walls[i])
		cpu[i], wall[i] = cpus[i][rounds/2], walls[i][rounds/2]
	}
	return cpu, wall
}
