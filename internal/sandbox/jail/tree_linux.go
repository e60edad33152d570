package jail

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A tree is all processes of the program that runs. What is said to a program
// before it has begun is done when it has, and nothing is done when it has
// ended.
type tree struct {
	mu       sync.Mutex // guards what follows
	turn     uint32     // of the program that runs; 0 when none does
	asked    []word     // about others
	deserted bool       // the agent is gone
}

// A word is what was said about a program.
type word struct {
	turn uint32
	kind Kind
}

// listen does what the agent says. Its end is the end of the program.
func (t *tree) listen() {
	for {
		kind, body, err := Read(urgent{})
		if err != nil || len(body) != 4 {
			t.desert()
			return
		}
		t.hear(word{Number(body), kind})
	}
}

func (t *tree) hear(w word) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.turn != t.turn {
		t.asked = append(t.asked, w)
		return
	}
	w.do()
}

func (t *tree) desert() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deserted = true
	if t.turn != 0 {
		signalAll(unix.SIGKILL)
	}
}

// begin says that the program of that turn runs.
func (t *tree) begin(turn uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn = turn
	for _, w := range t.asked {
		if w.turn == turn {
			w.do()
		}
	}
	t.asked = nil // the others were about programs that had ended
	if t.deserted {
		signalAll(unix.SIGKILL)
	}
}

func (t *tree) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn = 0
}

func (w word) do() {
	if w.kind == Kill {
		signalAll(unix.SIGKILL)
		return
	}
	signalAll(unix.SIGTERM)
	signalAll(unix.SIGCONT) // a stopped process would never hear of it
}

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
