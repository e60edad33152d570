package jail

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// signalAll signals every descendant. Process 1 of a namespace reaches them
// with one call that no fork can outrun. A keeper has to look for them; who is
// born meanwhile is found the next time, because reap asks again until none is
// left.
func signalAll(sig unix.Signal) {
	if os.Getpid() == 1 {
		_ = unix.Kill(-1, sig) // none left is no failure
		return
	}
	for _, pid := range descendants(os.Getpid()) {
		_ = unix.Kill(pid, sig) // gone already is no failure
	}
}

// descendants of root, parents before their children.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, name := range processes() {
		if pid, parent, ok := parentOf(name); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	all := append([]int(nil), children[root]...)
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

func processes() []string {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read is all there is to use
	return names
}

// parentOf reads the fourth field of a stat file. The second is a name in
// brackets that may hold anything, so fields are counted from its end.
func parentOf(name string) (pid, parent int, ok bool) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return 0, 0, false
	}
	stat, err := os.ReadFile("/proc/" + name + "/stat")
	if err != nil {
		return 0, 0, false
	}
	after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(after) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(after[1])
	return pid, parent, err == nil
}
