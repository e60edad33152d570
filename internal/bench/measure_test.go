package bench

import "testing"

func TestMoreWorkCostsMore(t *testing.T) {
	sum := 0
	work := func(n int) func() {
		return func() {
			for i := range n {
				sum += i ^ sum
			}
		}
	}
	little, much := Duel(3, 1, work(100), work(3_000_000))
	if little.CPU >= much.CPU || much.CPU <= 0 || much.Wall <= 0 {
		t.Errorf("%+v and %+v", little, much)
	}
	r := Against("a", Cost{CPU: 1, Wall: 2}, "b", Cost{CPU: 4, Wall: 5}, "g")
	if want := (Row{Workload: "a", OursCPU: 1, OursWall: 2, Rival: "b", RivalCPU: 4, RivalWall: 5, Ratio: 0.25, Goal: "g"}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}
