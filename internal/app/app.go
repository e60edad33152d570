// Package app builds the parts of ikigai from the settings and hands each its
// own options. Main is the whole program as one function of its arguments,
// environment and streams.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ikigai/internal/config"
	"ikigai/internal/headless"
)

// Env is the world the program sees.
type Env struct {
	Args           []string // without the program's own name
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Dir            string     // the working folder
	Home           string     // the user's home
	Signals        <-chan int // exit codes of signals that came, such as 130
}

// Main runs ikigai and gives its exit code.
func Main(ctx context.Context, env Env) int {
	a := &app{env: env}
	root := a.root()
	root.SetArgs(env.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.code
	}
	return a.fail(err)
}

// app is one run of the program.
type app struct {
	env  Env
	code int
	file string // --config
	cwd  string // --cwd
}

// A fault is an error with an exit code and the next step.
type fault struct {
	code int
	text string
	hint string
}

func (f *fault) Error() string { return f.text }

func usage(hint, format string, args ...any) error {
	return &fault{headless.ExitUsage, fmt.Sprintf(format, args...), hint}
}

// fail prints an error and gives its exit code. What is not one of ours came
// from reading the command line.
func (a *app) fail(err error) int {
	var f *fault
	var c *config.Error
	switch {
	case errors.As(err, &f):
	case errors.As(err, &c):
		f = settingFault(c)
	default:
		f = &fault{headless.ExitUsage, err.Error(), "ikigai --help lists the commands and flags"}
	}
	fmt.Fprintf(a.env.Stderr, "ikigai: %s\n", f.text)
	if f.hint != "" {
		fmt.Fprintf(a.env.Stderr, "  %s\n", f.hint)
	}
	return f.code
}

func (a *app) getenv(name string) (string, bool) {
	for _, kv := range a.env.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// variable is a variable of the environment, empty when it is not set.
func (a *app) variable(name string) string {
	v, _ := a.getenv(name)
	return v
}

// root is the command line, one line per command.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ikigai",
		Short: "A terminal coding agent whose tools are ordinary programs",
		Args:  cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return a.chat(c) },
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.PersistentFlags().StringVar(&a.file, "config", "", "another file of settings")
	root.PersistentFlags().StringVar(&a.cwd, "cwd", "", "work in this folder")
	chatFlags(root)
	sessionFlags(root)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(
		a.runCommand(),
		a.resumeCommand(),
		a.toolCommand(),
		a.sessionCommand(),
		a.policyCommand(),
		a.trustCommand(),
		a.auditCommand(),
		a.replayCommand(),
		a.statsCommand(),
		a.undoCommand(),
		a.modelsCommand(),
		a.keyCommand(),
		a.doctorCommand(),
		a.configCommand(),
		a.completionCommand(),
		a.manCommand(),
		a.debugCommand(),
		a.versionCommand(),
	)
	a.guide(root)
	return root
}

// isTerminal reports whether somebody may sit there. /dev/null is a device as
// well, and nobody does.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
