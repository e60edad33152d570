// Package jobs keeps the background processes of a session: programs that go
// on while the conversation does, whose new output can be asked for, and which
// end with the session at the latest.
package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"ikigai/internal/tool"
)

const (
	most     = 16                     // jobs that run at once
	history  = 64                     // ended jobs that are remembered
	unread   = 1 << 20                // bytes of a job's output that wait to be read
	firstFew = 100 * time.Millisecond // a program that cannot start says so within this
)

// Set is the jobs of one session. It is a tool.Jobs and may be used by many
// goroutines.
type Set struct {
	start tool.StartFunc
	now   func() time.Time

	mu     sync.Mutex // guards what follows
	all    []*job     // in the order they were started
	count  int        // jobs started so far
	closed bool
}

var _ tool.Jobs = (*Set)(nil)

// New gives an empty set whose jobs are started by start.
func New(start tool.StartFunc, now func() time.Time) *Set {
	return &Set{start: start, now: now}
}

// job is one background process.
type job struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it ended

	mu   sync.Mutex // guards what follows
	info tool.Job
	out  buffer
}

// Start starts c in the background. Both its streams become one text. A
// program that cannot be started at all is an error, if that is known soon;
// otherwise it is in the job's text.
func (s *Set) Start(c tool.Command, g tool.Grant) (tool.Job, error) {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	if err := s.add(j, c); err != nil {
		cancel()
		return tool.Job{}, err
	}
	c.Merge = true
	c.Keep = 1 // what it prints is kept here
	c.Output = func(chunk []byte, _ bool) { j.print(chunk) }
	failed := make(chan error, 1)
	go func() {
		defer cancel()
		exit, err := s.start(ctx, c, g)
		j.end(exit, err)
		failed <- err
		close(j.done)
	}()
	select {
	case err := <-failed:
		if err != nil {
			s.remove(j)
			return tool.Job{}, err
		}
	case <-time.After(firstFew):
	}
	return j.state(false), nil
}

// add gives j its id, if there is room for it.
func (s *Set) add(j *job, c tool.Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return tool.Errorf(tool.CallCancelled, "the session is ending, no job can be started")
	}
	running := 0
	for _, other := range s.all {
		if other.state(false).Running {
			running++
		}
	}
	if running >= most {
		return tool.Errorf(tool.LimitReached, "%d jobs are running already: end one first", running)
	}
	s.forget(len(s.all) - running)
	s.count++
	j.info = tool.Job{ID: fmt.Sprintf("job_%d", s.count), Command: commandLine(c.Argv), Started: s.now(), Running: true}
	s.all = append(s.all, j)
	return nil
}

// forget drops the oldest ended jobs. s.mu is held.
func (s *Set) forget(ended int) {
	kept := s.all[:0]
	for _, j := range s.all {
		if ended >= history && !j.state(false).Running {
			ended--
			continue
		}
		kept = append(kept, j)
	}
	clear(s.all[len(kept):])
	s.all = kept
}

func (s *Set) remove(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.all {
		if other == j {
			s.all = append(s.all[:i], s.all[i+1:]...)
			return
		}
	}
}

// commandLine shows a command to a person: of a shell, what it was given.
func commandLine(argv []string) string {
	if len(argv) >= 3 && strings.HasSuffix(argv[0], "sh") && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		return argv[2]
	}
	return strings.Join(argv, " ")
}

// Output gives the job with what it printed since it was last asked.
func (s *Set) Output(id string) (tool.Job, error) {
	j, err := s.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	return j.state(true), nil
}

// Kill ends the job with all its processes and waits for that. The job comes
// back with the last of its output.
func (s *Set) Kill(id string) (tool.Job, error) {
	j, err := s.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	j.cancel()
	<-j.done
	return j.state(true), nil
}

// List gives all jobs, without their output, the oldest first.
func (s *Set) List() []tool.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]tool.Job, 0, len(s.all))
	for _, j := range s.all {
		list = append(list, j.state(false))
	}
	return list
}

// Close ends all jobs and waits for them. No job starts after it.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	all := append([]*job(nil), s.all...)
	s.mu.Unlock()
	for _, j := range all {
		j.cancel()
	}
	for _, j := range all {
		<-j.done
	}
}

func (s *Set) find(id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.all {
		if j.info.ID == id { // ids never change
			return j, nil
		}
	}
	return nil, tool.Errorf(tool.Missing, "there is no job %q", id)
}

func (j *job) print(chunk []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.out.add(chunk)
}

func (j *job) end(exit tool.Exit, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	exit.Stdout, exit.Stderr = nil, nil // it is in the text
	if err != nil {
		j.out.add([]byte(err.Error() + "\n"))
		exit.Code = 127
	}
	j.info.Running, j.info.Exit = false, &exit
}

// state is the job as it stands, with its new output if that is taken.
func (j *job) state(take bool) tool.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	info := j.info
	if take {
		info.Text, info.Dropped = j.out.take(!info.Running)
	}
	return info
}
