//go:build unix

package search

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/bench"
	"ikigai/internal/walk"
)

// A workload is done by us and by ripgrep.
type workload struct {
	name, pattern string
	o             Options
	max           int
	bare          bool // there is no text that every match has
}

var workloads = []workload{
	{"rare", "ErrUnexpectedEOF", Options{}, 0, false},
	{"common", "return nil, err", Options{}, 0, false},
	{"none", "nosuchtextanywhere12345", Options{}, 0, false},
	{"ignore case", "errunexpectedeof", Options{IgnoreCase: true}, 0, false},
	{"expression", `func \w+Handler`, Options{}, 0, false},
	{"choice of 3", `EOFError|ErrShortWrite|errLeadingInt`, Options{}, 0, false},
	{"choice of 8", `alpha9|bravo9|charlie9|delta9|echo9|foxtrot9|golf9|hotel9`, Options{}, 0, false},
	{"wildcard", "fn*init", Options{Wildcard: true, IgnoreCase: true}, 0, false},
	{"no literal", `[a-z]+[0-9]{4}[A-Z]+`, Options{}, 0, true},
	{"weak literal", `(\w+)\s+=\s+(\w+)\[[0-9]\]`, Options{}, 0, true},
	{"words", `\b[a-z]{3}[0-9]\b$`, Options{}, 0, true},
	{"first 200", "return", Options{}, 200, false},
}

// TestBenchRivals compares what searching and listing cost us and others, in rounds in
// which everybody has a turn. It runs when IKIGAI_BENCH_RIVALS is set, or the folder
// for rows as make bench does; IKIGAI_BENCH_TREES names more trees, with a colon
// between two, IKIGAI_BENCH_ONLY a part of a workload's name, and
// IKIGAI_BENCH_ROUNDS how many rounds there are.
func TestBenchRivals(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if os.Getenv("IKIGAI_BENCH_RIVALS") == "" && dir == "" {
		t.Skip("a comparison that takes minutes: set IKIGAI_BENCH_RIVALS=1")
	}
	if one := os.Getenv(onlySearch); one != "" {
		searchAlone(t, one)
		return
	}
	var rows []bench.Row
	for _, root := range benchTrees(t) {
		for _, w := range workloads {
			rows = append(rows, compare(root, w.name, func() contest { return w.contestants(t, root) })...)
		}
		rows = append(rows, compare(root, "list", func() contest { return listing(t, root) })...)
		rows = append(rows, compare(root, "newest first", func() contest { return byTime(t, root) })...)
	}
	if os.Getenv("IKIGAI_BENCH_TREES") == "" {
		rows = append(rows, bench.Row{Workload: "search and list: node_modules", Note: "no such tree: name one in IKIGAI_BENCH_TREES"})
	}
	if dir == "" {
		return
	}
	if err := bench.Write(dir, "search", rows); err != nil {
		t.Fatal(err)
	}
}

// A contestant does the workload once and tells what it cost.
type contestant struct {
	name string
	goal float64 // of ours: the highest ratio to the first of the rivals; zero when there is none
	run  func() cost
}

type cost struct{ cpu, wall time.Duration }

// A contest has our ways of doing something, and those of others.
type contest struct{ ours, rivals []contestant }

// compare prints a line for each of our ways and gives the rows. Rivals that are
// missing are named.
func compare(root, name string, prepare func() contest) (rows []bench.Row) {
	if !strings.Contains(name, os.Getenv("IKIGAI_BENCH_ONLY")) {
		return nil
	}
	c := prepare()
	costs := measure(slices.Concat(c.ours, c.rivals))
	for i, us := range c.ours {
		for k, rival := range c.rivals {
			row := bench.Row{Workload: fmt.Sprintf("%s, %s: %s", name, us.name, filepath.Base(root)), Rival: rival.name}
			row.OursCPU, row.OursWall = costs[i].milliseconds()
			row.RivalCPU, row.RivalWall = costs[len(c.ours)+k].milliseconds()
			if us.goal > 0 && k == 0 {
				row.Goal = fmt.Sprintf("CPU at most %.1f", us.goal)
			}
			if rival.run == nil {
				row.Note = "missing"
			} else {
				row.Ratio = row.OursCPU / row.RivalCPU
			}
			rows = append(rows, row)
			fmt.Printf("%-44s %8.1f   %-18s %8.1f   %5.2f  %s %s\n", row.Workload, row.OursCPU, row.Rival, row.RivalCPU, row.Ratio, row.Goal, row.Note)
		}
	}
	return rows
}

// measure gives the median of each contestant, of rounds in which all have a turn
// and of which the first does not count.
func measure(all []contestant) []cost {
	rounds := 11
	fmt.Sscan(os.Getenv("IKIGAI_BENCH_ROUNDS"), &rounds)
	cpu, wall := make([][]time.Duration, len(all)), make([][]time.Duration, len(all))
	for round := range rounds + 1 {
		for i, c := range all {
			if c.run == nil {
				continue
			}
			if took := c.run(); round > 0 {
				cpu[i], wall[i] = append(cpu[i], took.cpu), append(wall[i], took.wall)
			}
		}
	}
	medians := make([]cost, len(all))
	for i := range all {
		medians[i] = cost{median(cpu[i]), median(wall[i])}
	}
	return medians
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (c cost) milliseconds() (cpu, wall float64) {
	return c.cpu.Seconds() * 1000, c.wall.Seconds() * 1000
}

// ours is what a function costs in this process.
func ours(t *testing.T, f func()) func() cost {
	t.Helper()
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			t.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return func() cost {
		runtime.GC() // nobody pays for what another left behind
		start, before := time.Now(), used()
		f()
		return cost{used() - before, time.Since(start)}
	}
}

// rival is another program, of whose output so many lines are read, or all when
// zero. Where there is none by that name it does not run.
func rival(t *testing.T, name string, lines int, dir, command string, args ...string) contestant {
	t.Helper()
	path, err := exec.LookPath(command)
	if err != nil {
		return contestant{name: name}
	}
	return contestant{name: name, run: theirs(t, lines, func() *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		return cmd
	})}
}

func theirs(t *testing.T, lines int, cmd func() *exec.Cmd) func() cost {
	t.Helper()
	return func() cost {
		c, start := cmd(), time.Now()
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if lines == 0 {
			_, _ = io.Copy(io.Discard, out)
		}
		in := bufio.NewReader(out)
		for range lines {
			if _, err := in.ReadString('\n'); err != nil {
				break
			}
		}
		out.Close()
		_ = c.Wait() // nothing found and a closed pipe are no trouble
		return cost{c.ProcessState.UserTime() + c.ProcessState.SystemTime(), time.Since(start)}
	}
}

// contestants are the first search of a session, its second, one of those when
// the session has come to know the tree, and a process that does nothing else.
func (w workload) contestants(t *testing.T, root string) contest {
	ctx := context.Background()
	q, err := Compile(w.pattern, w.o)
	if err != nil {
		t.Fatal(err)
	}
	search := func(c *walk.Cache, known *Sketches) {
		if _, err := q.Run(ctx, root, c.Tree(ctx, walk.Options{}), Limits{Max: w.max}, known); err != nil {
			t.Fatal(err)
		}
	}
	cache, known := walk.NewCache(root), NewSketches()
	for range 6 {
		search(cache, known)
	}
	first, later := w.goals()
	return contest{
		ours: []contestant{
			{"first", first, ours(t, func() { search(walk.NewCache(root), NewSketches()) })},
			{"second", 0, ours(t, func() {
				fresh := NewSketches()
				fresh.begin()
				search(cache, fresh)
			})},
			{"later", later, ours(t, func() { search(cache, known) })},
			{"a process", 0, theirs(t, 0, func() *exec.Cmd {
				cmd := exec.Command(os.Args[0], "-test.run=^TestBenchRivals$")
				cmd.Env = append(os.Environ(), onlySearch+"="+w.name+":"+root)
				return cmd
			})},
		},
		rivals: w.rivals(t, root),
	}
}

// goals are the highest ratios of a first and of a later search.
func (w workload) goals() (first, later float64) {
	switch {
	case w.max > 0:
		return 0.3, 0.3
	case w.bare:
		return 1.2, 1.2
	}
	return 0.7, 0.4
}

func (w workload) rivals(t *testing.T, root string) []contestant {
	args := w.arguments()
	all := []contestant{rival(t, "ripgrep", w.max, root, "rg", args...)}
	if w.name == "none" { // git reads expressions of other kinds
		all = append(all, rival(t, "git grep --no-index", 0, root, "git", "grep", "--no-index", "-n", "-F", "-e", w.pattern))
	}
	return all
}

// arguments are what ripgrep is told.
func (w workload) arguments() []string {
	pattern := w.pattern
	if w.o.Wildcard {
		pattern = strings.ReplaceAll(pattern, "*", ".*")
	}
	args := []string{"--no-config", "--no-heading", "-n", "-e", pattern}
	if w.o.IgnoreCase {
		args = append(args, "-i")
	}
	return append(args, ".")
}

// onlySearch asks a process of its own for one search: a workload and a tree.
const onlySearch = "IKIGAI_BENCH_ONE"

func searchAlone(t *testing.T, what string) {
	name, root, _ := strings.Cut(what, ":")
	for _, w := range workloads {
		if w.name != name {
			continue
		}
		q, err := Compile(w.pattern, w.o)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if _, err := q.Run(ctx, root, walk.Tree(ctx, root, walk.Options{}), Limits{Max: w.max}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func listing(t *testing.T, root string) contest {
	ctx, cache := context.Background(), walk.NewCache(root)
	list := func(l func(context.Context, walk.Options) ([]walk.Entry, error)) func() cost {
		return ours(t, func() {
			if _, err := l(ctx, walk.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	cold := func(ctx context.Context, o walk.Options) ([]walk.Entry, error) {
		return walk.NewCache(root).List(ctx, o)
	}
	return contest{
		ours: []contestant{{"cold", 0.5, list(cold)}, {"warm", 0, list(cache.List)}},
		rivals: []contestant{
			rival(t, "rg --files", 0, root, "rg", "--no-config", "--files"),
			rival(t, "fd", 0, root, fd(), "--type", "f", "--color", "never"),
		},
	}
}

// fd is called fdfind where another program had the name first.
func fd() string {
	if _, err := exec.LookPath("fd"); err != nil {
		return "fdfind"
	}
	return "fd"
}

func byTime(t *testing.T, root string) contest {
	ctx, cache := context.Background(), walk.NewCache(root)
	newest := func(cache func() *walk.Cache) func() cost {
		return ours(t, func() {
			c := cache()
			list, err := c.List(ctx, walk.Options{})
			if err == nil {
				_, err = c.Newest(ctx, list)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	return contest{
		ours: []contestant{
			{"cold", 0, newest(func() *walk.Cache { return walk.NewCache(root) })},
			{"warm", 0.2, newest(func() *walk.Cache { return cache })},
		},
		rivals: []contestant{rival(t, "rg --files --sortr modified", 0, root, "rg", "--no-config", "--files", "--sortr=modified")},
	}
}
