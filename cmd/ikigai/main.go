// Command ikigai is a terminal coding agent whose tools are ordinary programs.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"ikigai/internal/app"
	"ikigai/internal/sandbox"
)

func main() {
	sandbox.Main() // when we are started as the first process of a jail, this does not return
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(150) // a turn costs a fifth less, for a megabyte or two
	}
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	os.Exit(app.Main(context.Background(), app.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Dir: dir, Home: home, Signals: signals(),
	}))
}

// signals turns signals into exit codes. The second of the same kind ends us at once.
func signals() <-chan int {
	got := make(chan os.Signal, 2)
	codes := make(chan int)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range got {
			code := 130
			if s == syscall.SIGTERM {
				code = 143
			}
			select {
			case codes <- code:
			default:
				os.Exit(code)
			}
		}
	}()
	return codes
}
