package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"ikigai/internal/tool"
)

// Foreground runs a program of the person's own, such as their editor, with
// the terminal that in, out and errs are, and waits for its end. It is not
// confined: it has the whole environment and the working folder of the agent,
// stays in its session, and what it leaves running is let be. A name without a
// slash is looked up in PATH. The program has the terminal to itself: until
// Foreground returns, the caller reads and draws nothing. What is typed to stop
// it stops the agent too, and both go on together.
//
// An end other than with status 0 is an error. Ending ctx ends the program.
func Foreground(ctx context.Context, argv []string, in, out, errs *os.File) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("starting a program: no program named")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("starting %s: %w", argv[0], err)
	}
	t, err := startFront(path, argv, [3]*os.File{in, out, errs})
	if err != nil {
		return fmt.Errorf("starting %s: %w", argv[0], err)
	}
	st, how := attend(ctx, t)
	switch {
	case st.err != nil:
		return fmt.Errorf("waiting for %s: %w", argv[0], st.err)
	case how != tool.Exited:
		return fmt.Errorf("%s was ended: %w", argv[0], ctx.Err())
	case st.signal != "":
		return fmt.Errorf("%s was ended by a signal: %s", argv[0], st.signal)
	case st.code != 0:
		return fmt.Errorf("%s ended with status %d", argv[0], st.code)
	}
	return nil
}
