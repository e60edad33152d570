//go:build unix

package search

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/walk"
)

// A workload is done by us and by ripgrep.
type workload struct {
	name, pattern string
	o             Options
	max           int
}

var workloads = []workload{
	{"rare", "ErrUnexpectedEOF", Options{}, 0},
	{"common", "return nil, err", Options{}, 0},
	{"none", "nosuchtextanywhere12345", Options{}, 0},
	{"ignore case", "errunexpectedeof", Options{IgnoreCase: true}, 0},
	{"expression", `func \w+Handler`, Options{}, 0},
	{"choice of 3", `EOFError|ErrShortWrite|errLeadingInt`, Options{}, 0},
	{"choice of 8", `alpha9|bravo9|charlie9|delta9|echo9|foxtrot9|golf9|hotel9`, Options{}, 0},
	{"wildcard", "fn*init", Options{Wildcard: true, IgnoreCase: true}, 0},
	{"no literal", `[a-z]+[0-9]{4}[A-Z]+`, Options{}, 0},
	{"weak literal", `(\w+)\s+=\s+(\w+)\[[0-9]\]`, Options{}, 0},
	{"words", `\b[a-z]{3}[0-9]\b$`, Options{}, 0},
	{"first 200", "return", Options{}, 200},
}

// TestRivals prints what searching costs us and ripgrep, in milliseconds of
// processor time, in rounds in which everybody has a turn. It runs when
// IKIGAI_BENCH_RIVALS is set; IKIGAI_BENCH_TREES names more trees, with a colon
// between two, and IKIGAI_BENCH_ROUNDS how many rounds there are.
func TestRivals(t *testing.T) {
	if os.Getenv("IKIGAI_BENCH_RIVALS") == "" {
		t.Skip("a comparison that takes minutes: set IKIGAI_BENCH_RIVALS=1")
	}
	needRipgrep(t)
	if one := os.Getenv(onlySearch); one != "" {
		searchAlone(t, one)
		return
	}
	fmt.Printf("%-12s %-14s %8s %8s %8s %8s   %s\n", "tree", "workload", "process", "first", "later", "rg", "ratios: process, first, later")
	only := os.Getenv("IKIGAI_BENCH_ONLY") // a part of a workload's name
	for _, root := range benchTrees(t) {
		for _, w := range workloads {
			if !strings.Contains(w.name, only) {
				continue
			}
			compare(t, root, w.name, w.contestants(t, root))
		}
		compare(t, root, "list", listing(t, root, walk.Options{}))
		compare(t, root, "newest", byTime(t, root))
	}
}

// A contest has one function for each column of the table; nil leaves it out.
type contest struct{ process, first, later, rg func() time.Duration }

func compare(t *testing.T, root, name string, c contest) {
	rounds := 7
	fmt.Sscan(os.Getenv("IKIGAI_BENCH_ROUNDS"), &rounds)
	columns := []func() time.Duration{c.process, c.first, c.later, c.rg}
	times := make([][]time.Duration, len(columns))
	for round := range rounds + 1 {
		for i, f := range columns {
			if f == nil {
				continue
			}
			if took := f(); round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	medians := make([]float64, len(columns))
	row := fmt.Sprintf("%-12s %-14s", filepath.Base(root), name)
	for i, list := range times {
		if len(list) == 0 {
			row += fmt.Sprintf(" %8s", "-")
			continue
		}
		slices.Sort(list)
		medians[i] = list[len(list)/2].Seconds() * 1000
		row += fmt.Sprintf(" %8.1f", medians[i])
	}
	row += "  "
	for _, m := range medians[:3] {
		if m > 0 {
			row += fmt.Sprintf(" %5.2f", m/medians[3])
		}
	}
	fmt.Println(row)
}

// ours is the processor time of a function in this process.
func ours(t *testing.T, f func()) func() time.Duration {
	t.Helper()
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			t.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return func() time.Duration {
		before := used()
		f()
		return used() - before
	}
}

// theirs is the processor time of another program, of which so many lines are
// read, or all when zero.
func theirs(t *testing.T, lines int, cmd func() *exec.Cmd) func() time.Duration {
	t.Helper()
	return func() time.Duration {
		c := cmd()
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
		return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
}

func (w workload) contestants(t *testing.T, root string) contest {
	ctx := context.Background()
	q, err := Compile(w.pattern, w.o)
	if err != nil {
		t.Fatal(err)
	}
	search := func(files iter.Seq2[walk.Entry, error]) func() {
		return func() {
			if _, err := q.Run(ctx, root, files, Limits{Max: w.max}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return contest{
		process: theirs(t, 0, func() *exec.Cmd {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRivals$")
			cmd.Env = append(os.Environ(), onlySearch+"="+w.name+":"+root)
			return cmd
		}),
		first: ours(t, search(walk.Tree(ctx, root, walk.Options{}))),
		later: ours(t, search(walk.NewCache(root).Tree(ctx, walk.Options{}))),
		rg:    theirs(t, w.max, func() *exec.Cmd { return w.ripgrep(root) }),
	}
}

func (w workload) ripgrep(root string) *exec.Cmd {
	pattern := w.pattern
	if w.o.Wildcard {
		pattern = strings.ReplaceAll(pattern, "*", ".*")
	}
	args := []string{"--no-config", "--no-heading", "-n", "-e", pattern}
	if w.o.IgnoreCase {
		args = append(args, "-i")
	}
	cmd := exec.Command("rg", append(args, ".")...)
	cmd.Dir = root
	return cmd
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

func listing(t *testing.T, root string, o walk.Options) contest {
	ctx := context.Background()
	cache := walk.NewCache(root)
	return contest{
		first: ours(t, func() {
			if _, err := walk.List(ctx, root, o); err != nil {
				t.Fatal(err)
			}
		}),
		later: ours(t, func() {
			if _, err := cache.List(ctx, o); err != nil {
				t.Fatal(err)
			}
		}),
		rg: theirs(t, 0, func() *exec.Cmd { return exec.Command("rg", "--no-config", "--files", root) }),
	}
}

func byTime(t *testing.T, root string) contest {
	ctx := context.Background()
	newest := func(list []walk.Entry, err error) {
		if err == nil {
			_, err = walk.Newest(ctx, root, list)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cache := walk.NewCache(root)
	return contest{
		first: ours(t, func() { newest(walk.List(ctx, root, walk.Options{})) }),
		later: ours(t, func() { newest(cache.List(ctx, walk.Options{})) }),
		rg:    theirs(t, 0, func() *exec.Cmd { return exec.Command("rg", "--no-config", "--files", "--sortr=modified", root) }),
	}
}
