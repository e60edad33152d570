package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// groupPrefix begins the names of our control groups.
const groupPrefix = "ikigai-"

// A group is a control group that limits the processes of root's jails: the
// kernel does not apply the limit of a user to root. All jails of a sandbox
// share it. Where none can be made, root has no such limit.
type group struct {
	once sync.Once
	dir  string // empty when there is none
}

// folder is where the group is; a helper joins it by itself.
func (g *group) folder() string {
	g.once.Do(func() { g.dir = makeGroup() })
	return g.dir
}

// close removes the group. The kernel takes a moment to see that the last
// process has left; one that is still in use stays for the next makeGroup.
func (g *group) close() {
	g.once.Do(func() {})
	if g.dir == "" {
		return
	}
	for range 40 {
		if err := os.Remove(g.dir); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// makeGroup makes a group below our own, and removes those of agents that were
// killed: the kernel keeps any that is still in use.
func makeGroup() string {
	parent := processGroups()
	if parent == "" {
		return ""
	}
	stale, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // the pattern is well formed
	for _, dir := range stale {
		if pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-"); !exists("/proc/" + pid) {
			_ = os.Remove(dir)
		}
	}
	dir, err := os.MkdirTemp(parent, groupPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return ""
	}
	if os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.Itoa(mostAtOnce)), 0) != nil {
		_ = os.Remove(dir)
		return ""
	}
	return dir
}

// processGroups is the folder of our own control group that counts processes,
// in the hierarchy of old that has a folder for each controller, or in the one
// for all where ours hands that controller down.
func processGroups() string {
	text, _ := os.ReadFile("/proc/self/cgroup") // unreadable means none
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		switch f[1] {
		case "pids":
			return filepath.Join("/sys/fs/cgroup/pids", f[2])
		case "":
			dir := filepath.Join("/sys/fs/cgroup", f[2])
			handed, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if strings.Contains(string(handed), "pids") {
				return dir
			}
		}
	}
	return ""
}
