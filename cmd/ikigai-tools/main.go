// Ikigai-tools is all built-in tools as one program. It answers as the tool whose
// name it was started by, such as libexec/ikigai/glob; as "ikigai-tools NAME" it
// serves where there are no links, and "ikigai-tools --list" names them all.
//
// A tool answers --schema with what it is, and otherwise takes one call from
// standard input: {"command":"echo hello"} for bash, say. The working folder is
// its workspace.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ikigai/internal/files"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools"
)

const name = "ikigai-tools"

func main() {
	sandbox.Main()
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run answers as the tool that args name.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	called, args := strings.TrimSuffix(filepath.Base(args[0]), ".exe"), args[1:]
	if called == name {
		if len(args) == 0 {
			fmt.Fprintf(stderr, "usage: %s --list, or %s NAME [--schema]\n", name, name)
			return 2
		}
		called, args = args[0], args[1:]
	}
	if called == "--list" {
		return list(stdout, stderr)
	}
	t, ok := tools.Find(called)
	if !ok {
		fmt.Fprintf(stderr, "%s: there is no tool %q; %s --list names them all\n", name, called, name)
		return 2
	}
	return toolkit.Main(t, place, args, stdin, stdout, stderr)
}

// list names what is installed, for the install step.
func list(stdout, stderr io.Writer) int {
	for _, t := range tools.All() {
		if _, err := fmt.Fprintln(stdout, t.Spec().Name); err != nil {
			fmt.Fprintf(stderr, "%s: writing the list: %v\n", name, err)
			return 1
		}
	}
	return 0
}

// place is the world of a tool that runs by itself: the working folder, and
// programs without a jail, since whoever started us may have put us into one.
func place() (tool.Place, error) {
	session := os.Getenv("IKIGAI_SESSION_DIR")
	roots, err := files.Open(".", folders(session)...)
	if err != nil {
		return tool.Place{}, err
	}
	home, _ := os.UserHomeDir() // programs then see none either
	plain, err := sandbox.New(sandbox.Options{
		Mode: sandbox.Off, Roots: roots.Roots()[:1], Temp: os.TempDir(), Home: home, Environ: os.Environ(),
	})
	if err != nil {
		return tool.Place{}, err
	}
	return tool.Place{Files: roots, Session: os.Getenv("IKIGAI_SESSION"), Dir: session, Start: plain.Start}, nil
}

// folders are the further roots: the session's own, where long outputs lie.
func folders(session string) []string {
	if info, err := os.Stat(session); err != nil || !info.IsDir() {
		return nil
	}
	return []string{session}
}
