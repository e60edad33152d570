package bench

import (
	"cmp"
	"slices"
	"time"
)

// Cost is what one run took, in milliseconds; CPU is of all threads.
type Cost struct{ CPU, Wall float64 }

// Duel runs ours and its rival in turns, each some runs long, and gives the
// medians of what one run of each took: whatever else the machine does meanwhile
// troubles both.
func Duel(rounds, runs int, ours, rival func()) (a, b Cost) {
	var as, bs []Cost
	ours()
	rival()
	for range rounds {
		as = append(as, measure(runs, ours))
		bs = append(bs, measure(runs, rival))
	}
	return median(as), median(bs)
}

// Against is the row of a duel.
func Against(workload string, ours Cost, rival string, theirs Cost, goal string) Row {
	return Row{
		Workload: workload, OursCPU: ours.CPU, OursWall: ours.Wall,
		Rival: rival, RivalCPU: theirs.CPU, RivalWall: theirs.Wall, Ratio: ours.CPU / theirs.CPU, Goal: goal,
	}
}

func measure(runs int, f func()) Cost {
	cpu, wall := CPU(), time.Now()
	for range runs {
		f()
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 / float64(runs) }
	return Cost{CPU: each(CPU() - cpu), Wall: each(time.Since(wall))}
}

func median(all []Cost) Cost {
	slices.SortFunc(all, func(a, b Cost) int { return cmp.Compare(a.CPU, b.CPU) })
	return all[len(all)/2]
}
