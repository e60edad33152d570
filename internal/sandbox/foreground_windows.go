package sandbox

import (
	"os"
)

// A frontTree is a program in our console.
type frontTree struct{ process *os.Process }

func startFront(path string, argv []string, files [3]*os.File) (*frontTree, error) {
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Files: files[:]})
	return &frontTree{p}, err
}

func (t *frontTree) end(bool)       { _ = t.process.Kill() }
func (t *frontTree) jail() jailKind { return plain }
func (t *frontTree) free()          {}

func (t *frontTree) wait() status {
	state, err := t.process.Wait()
	if err != nil {
		return status{err: err}
	}
	return stateOf(state)
}
