package sandbox

import (
	"os"
	"os/exec"
	"runtime"
)

// plainTree is a program in a session and group of its own, without a helper.
// A descendant that makes a session of its own escapes it: where there is a
// keeper, plain starts go through that instead.
type plainTree struct {
	cmd  *exec.Cmd
	done chan status
}

// startPlain starts p. The thread that starts it also waits for it, because
// the kernel takes the end of that thread for the end of the parent.
func startPlain(p program, files [3]*os.File) (*plainTree, error) {
	t := &plainTree{
		cmd: &exec.Cmd{
			Path: p.path, Args: p.argv, Dir: p.dir, Env: p.env,
			Stdin: files[0], Stdout: files[1], Stderr: files[2],
			SysProcAttr: ownGroup(),
		},
		done: make(chan status, 1),
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := t.cmd.Start()
		started <- err
		if err == nil {
			_ = t.cmd.Wait() // the state below says how it ended
			killGroup(t.cmd.Process, true)
			t.done <- stateOf(t.cmd.ProcessState)
		}
	}()
	return t, <-started
}

func (t *plainTree) end(hard bool)  { killGroup(t.cmd.Process, hard) }
func (t *plainTree) wait() status   { return <-t.done }
func (t *plainTree) free()          {}
func (t *plainTree) jail() jailKind { return plain }
