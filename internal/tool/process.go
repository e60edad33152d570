package tool

import (
	"context"
	"io/fs"
	"time"
)

// StartFunc starts a program confined as g says and waits for its end. The
// whole tree of processes is gone when it returns. The error is for a program
// that could not be started at all; how one ended is in the Exit. Ending ctx
// ends the tree; what was printed until then is in the Exit.
type StartFunc func(ctx context.Context, c Command, g Grant) (Exit, error)

// A Command is a program to start.
type Command struct {
	Argv  []string // Argv[0] is a path, or a name that is looked up in PATH
	Dir   string   // working folder; empty means the workspace
	Env   Environment
	Stdin []byte
	Keep  int  // bytes kept of each stream, half from its head and half from its tail; DefaultOutput when zero
	Merge bool // both streams into Stdout, in the order the bytes came
	// Output, when set, gets output while the program runs, coalesced. It is
	// never called twice at once and never after StartFunc returned. The chunk is
	// lent: what it keeps it copies.
	Output func(chunk []byte, stderr bool)
}

// Environment says what a program sees. Nothing that looks secret and nothing
// that changes how programs load (LD_*, GIT_* overrides) is inherited.
type Environment struct {
	Inherit bool     // the agent's own environment, filtered; otherwise a short allow-list
	Allow   []string // further names that are passed on, secret or not: the person approved them
	Set     []string // NAME=value, last
}

// Ended is the way a program came to its end.
type Ended uint8

const (
	Exited    Ended = iota // by itself, with Code
	Signalled              // by itself, by Signal
	TimedOut               // by us, at the deadline of its context
	Cancelled              // by us, because its context was cancelled
)

// An Exit is how a program ended and what it printed.
type Exit struct {
	How         Ended
	Code        int    // exit status; 128+N for signal N, as a shell says it
	Signal      string // such as "killed"; empty unless Signalled
	Stdout      []byte // at most Command.Keep bytes, with a line that says what was left out
	Stderr      []byte // empty when Command.Merge
	StdoutTotal int64  // bytes printed, kept or not
	StderrTotal int64
	Took        time.Duration
	// Refused names, in words for model and person, what the jail stopped: the
	// layer and the path or host. Empty when nothing was seen.
	Refused []string
}

// Jobs are the background processes of a session.
type Jobs interface {
	Start(c Command, g Grant) (Job, error)
	Output(id string) (Job, error) // Text is what is new since the last Output of that job
	Kill(id string) (Job, error)
	List() []Job
}

// A Job is one background process as it stands.
type Job struct {
	ID      string
	Command string
	Started time.Time
	Running bool
	Exit    *Exit  // set when it ended
	Text    string // new output
	Dropped int64  // bytes of new output that were not kept
}

// Files is the workspace as file tools may touch it. Names are absolute or
// relative to Dir; whatever links they contain, what is opened lies inside a
// root or was granted. Every error is an *Error whose code is one of
// FILE_NOT_FOUND, PERMISSION_DENIED, INVALID_PATH, or the operation's own
// *_FAILED.
type Files interface {
	// Dir is the working folder, a real path. Roots are the real paths of all roots, Dir's own first.
	Dir() string
	Roots() []string

	// Locate says where name leads, links resolved, whether or not it exists
	// and whether or not it may be opened. Only a malformed name is an error.
	Locate(name string) (real string, err error)

	// With gives the same files with what g grants beyond the roots.
	With(g Grant) Files

	Stat(name string) (fs.FileInfo, error)       // follows links
	Open(name string) (File, error)              // a regular file, for reading
	ReadDir(name string) ([]fs.DirEntry, error)  // in name order
	ReadFile(name string) ([]byte, Stamp, error) // whole, and remembers the stamp as seen
	Mkdir(name string) error                     // with parents

	// WriteFile replaces or makes a regular file in one step: other readers see
	// the old bytes or the new. Mode and a final link are kept; missing folders
	// are made. When was is not zero and the file no longer has that stamp,
	// nothing is written and the code is FILE_CHANGED.
	WriteFile(name string, data []byte, was Stamp) error

	// Seen is the stamp of the file when this session last read or wrote it.
	Seen(name string) (Stamp, bool)
}

// File is an open regular file.
type File interface {
	fs.File
	ReadAt(p []byte, off int64) (int, error)
}

// A Stamp tells one content of a file from another. The zero Stamp is of no file.
type Stamp [32]byte
