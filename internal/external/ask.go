package external

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// knowledge is what asking an executable taught us.
type knowledge struct {
	name   string
	sum    [32]byte        // of the executable's bytes
	schema json.RawMessage // what it printed, without blanks
}

// document reads the schema again. It was read when it was printed, so an error
// means that the cache comes from another version of this program.
func (k *knowledge) document() reading {
	d, err := readDocument(k.schema)
	return reading{d, err}
}

type reading struct {
	doc *document
	err error
}

// ask starts an executable with --schema. An error is a refusal.
func (s *scanner) ask(ctx context.Context, f file) (*knowledge, error) {
	// A twentieth less, so that the whole scan keeps within the time, the end of
	// what hangs included.
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout-s.o.Timeout/20)
	defer cancel()
	type answer struct {
		out output
		err error
	}
	answered := make(chan answer, 1)
	s.late.Go(func() {
		out, err := askSchema(ctx, s.o.Start, f)
		answered <- answer{out, err}
	})
	select {
	case a := <-answered:
		return learn(f, a.out, a.err, s.o.Timeout)
	case <-ctx.Done():
	}
	select {
	case a := <-answered: // both were ready
		return learn(f, a.out, a.err, s.o.Timeout)
	case <-time.After(settle):
		return nil, late(s.o.Timeout)
	}
}

// settle is how long an executable whose time is over may take to be gone
// before it is left behind: it is being killed, and nobody waits for that.
const settle = 50 * time.Millisecond

// askSchema starts f with --schema.
func askSchema(ctx context.Context, begin tool.StartFunc, f file) (output, error) {
	return startAside(ctx, begin, f, tool.Command{Argv: []string{f.path, "--schema"}}, maxSchema)
}

// startAside starts f in an empty folder that is thrown away afterwards:
// whatever it leaves there, nobody sees. That folder is all it may write.
func startAside(ctx context.Context, begin tool.StartFunc, f file, c tool.Command, limit int) (output, error) {
	dir, err := os.MkdirTemp("", "ikigai-aside-*")
	if err != nil {
		return output{}, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return output{}, err
	}
	c.Dir = dir
	return start(ctx, begin, c, f.readable(tool.Grant{Write: []string{dir}}), limit)
}

func late(after time.Duration) error {
	return refuse(SchemaTimeout, "no answer to --schema within %v", after)
}

// learn judges how an executable answered.
func learn(f file, out output, err error, limit time.Duration) (*knowledge, error) {
	switch {
	case err != nil:
		return nil, refuse(SpawnFailed, "%v", err)
	case out.tooLarge:
		return nil, refuse(SchemaInvalid, "the schema has more than %d bytes", maxSchema)
	case out.How == tool.TimedOut:
		return nil, late(limit)
	case out.How == tool.Cancelled:
		return nil, refuse(SchemaTimeout, "the scan was cancelled before an answer came")
	case out.How != tool.Exited || out.Code != 0:
		return nil, refuse(SchemaInvalid, "--schema ended with %s%s", ending(out.Exit), saying(out.Stderr))
	}
	return describe(f, out.Stdout)
}

// describe reads the schema, and the executable for its sum.
func describe(f file, printed []byte) (*knowledge, error) {
	doc, err := readDocument(printed)
	if err != nil {
		return nil, refuse(SchemaInvalid, "%v", err)
	}
	if !offers(f.name, doc.name) {
		return nil, refuse(NameMismatch, "the file %s offers a tool called %q", filepath.Base(f.path), doc.name)
	}
	sum, err := sumOf(f.path)
	if err != nil {
		return nil, refuse(SpawnFailed, "reading the executable: %v", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, bytes.TrimPrefix(printed, []byte("\uFEFF"))); err != nil {
		return nil, refuse(SchemaInvalid, "%v", err)
	}
	return &knowledge{doc.name, sum, compact.Bytes()}, nil
}

func sumOf(path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxExecutable+1))
	if err == nil && n > maxExecutable {
		err = fmt.Errorf("%s has more than %d MiB", path, maxExecutable>>20)
	}
	if err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// saying is the first line of what a program complained, to end a sentence with.
func saying(stderr []byte) string {
	if line := toolkit.FirstLine(string(stderr)); line != "" {
		return fmt.Sprintf(": %q", line)
	}
	return ""
}

// An output is how a program ended, and whether it was ended because it printed
// more than it may.
type output struct {
	tool.Exit
	tooLarge bool
}

// start runs a program and ends it as soon as it printed more than limit bytes
// to standard output.
func start(ctx context.Context, begin tool.StartFunc, c tool.Command, g tool.Grant, limit int) (output, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	live, printed := c.Output, 0
	c.Keep = limit
	c.Output = func(chunk []byte, stderr bool) {
		if !stderr {
			if printed += len(chunk); printed > limit {
				cancel()
			}
			return
		}
		if live != nil {
			live(chunk, stderr)
		}
	}
	exit, err := startUnlessBusy(ctx, begin, c, g)
	return output{exit, exit.StdoutTotal > int64(limit)}, err
}

// startUnlessBusy tries again for a moment when the executable is still open
// for writing, as one is that was copied there just now.
func startUnlessBusy(ctx context.Context, begin tool.StartFunc, c tool.Command, g tool.Grant) (tool.Exit, error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		exit, err := begin(ctx, c, g)
		if !errors.Is(err, syscall.ETXTBSY) || wait > 100*time.Millisecond {
			return exit, err
		}
		select {
		case <-ctx.Done():
			return exit, err
		case <-time.After(wait):
		}
	}
}

// ending says in words how a program ended.
func ending(e tool.Exit) string {
	if e.How == tool.Signalled {
		return "signal " + signalName(e)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// signalName is the name programs use, such as SIGSEGV, or the words of the system.
func signalName(e tool.Exit) string {
	names := map[syscall.Signal]string{
		syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL",
		syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
		syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM",
		syscall.SIGTERM: "SIGTERM",
	}
	if name, ok := names[syscall.Signal(e.Code-128)]; ok {
		return name
	}
	return e.Signal
}
