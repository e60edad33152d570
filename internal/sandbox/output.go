package sandbox

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"ikigai/internal/tool"
)

const (
	liveEvery = time.Second / 30 // how often Command.Output is called
	readSize  = 64 << 10
	liveMost  = 256 << 10              // bytes that may wait for it
	drain     = 500 * time.Millisecond // how long a pipe may stay open after the tree is gone
)

// buffers for reading; most programs say little, and many are started.
var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// streams are the three pipes of a program and what came out of them.
type streams struct {
	child   [3]*os.File // what the program gets; the same file twice when merged
	readers []*os.File
	stdin   *os.File
	done    sync.WaitGroup

	mu    sync.Mutex // guards what follows
	kept  [2]record
	live  func([]byte, bool)
	timer *time.Timer
	over  bool
}

// openStreams makes the pipes of c and begins to write and read them.
func openStreams(c tool.Command) (*streams, error) {
	s := &streams{live: c.Output}
	keep := c.Keep
	if keep <= 0 {
		keep = tool.DefaultOutput
	}
	s.kept[0].keep, s.kept[1].keep = keep, keep
	err := s.openInput(c.Stdin)
	for i := 1; i <= 2 && err == nil; i++ {
		if i == 2 && c.Merge {
			s.child[2] = s.child[1]
			break
		}
		err = s.openOutput(i)
	}
	if err != nil {
		s.started()
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) openInput(data []byte) error {
	if len(data) == 0 {
		f, err := os.Open(os.DevNull)
		s.child[0] = f
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.child[0], s.stdin = r, w
	s.done.Go(func() {
		_, _ = w.Write(data) // a program that does not read its input is no failure
		_ = w.Close()
	})
	return nil
}

func (s *streams) openOutput(i int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.child[i] = w
	s.readers = append(s.readers, r)
	s.done.Go(func() { s.read(r, i-1) })
	return nil
}

// started closes our copies of the program's ends, so that its end is seen.
func (s *streams) started() {
	for i, f := range s.child {
		if f != nil && (i == 0 || f != s.child[i-1]) {
			_ = f.Close()
		}
	}
}

// close waits until all output is read. The tree is gone, so the pipes end at
// once, unless a stranger was handed one of them.
func (s *streams) close() {
	deadline := time.Now().Add(drain)
	for _, r := range s.readers {
		_ = r.SetReadDeadline(deadline)
	}
	if s.stdin != nil {
		_ = s.stdin.SetWriteDeadline(time.Now())
	}
	s.done.Wait()
	for _, r := range s.readers {
		_ = r.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.over = true
}

// into puts what was kept into e.
func (s *streams) into(e *tool.Exit) {
	e.Stdout, e.StdoutTotal = s.kept[0].bytes(), s.kept[0].total
	e.Stderr, e.StderrTotal = s.kept[1].bytes(), s.kept[1].total
}

func (s *streams) read(r io.Reader, i int) {
	buf := buffers.Get().(*[readSize]byte)[:]
	defer buffers.Put((*[readSize]byte)(buf))
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.add(i, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (s *streams) add(i int, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[i].add(p)
	if s.live == nil {
		return
	}
	s.kept[i].waiting = append(s.kept[i].waiting, p...)
	if len(s.kept[i].waiting) >= liveMost {
		s.flush()
		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(liveEvery, s.tick)
	}
}

func (s *streams) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.flush()
	}
}

// flush hands over what waits. s.mu is held: that keeps calls apart, and holds
// the program back when whoever listens is slow.
func (s *streams) flush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	for i := range s.kept {
		if r := &s.kept[i]; len(r.waiting) > 0 {
			s.live(r.waiting, i == 1)
			r.waiting = r.waiting[:0]
		}
	}
}

// A record is the head and the tail of one stream, and how long it was.
type record struct {
	keep    int
	total   int64
	head    []byte
	tail    []byte // a ring once it is full
	next    int    // where the ring goes on
	waiting []byte // not yet shown live
}

func (r *record) add(p []byte) {
	r.total += int64(len(p))
	if room := r.keep/2 - len(r.head); room > 0 {
		n := min(room, len(p))
		r.head = append(r.head, p[:n]...)
		p = p[n:]
	}
	size := r.keep - r.keep/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if room := size - len(r.tail); room > 0 {
		n := min(room, len(p))
		r.tail = append(r.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(r.tail[r.next:], p)
		r.next = (r.next + n) % size
		p = p[n:]
	}
}

// bytes is what was kept, at most keep bytes, cut between characters, with a
// line in the middle that says how much is missing.
func (r *record) bytes() []byte {
	tail := append(append([]byte{}, r.tail[r.next:]...), r.tail[:r.next]...)
	if r.total <= int64(len(r.head)+len(tail)) {
		return append(r.head[:len(r.head):len(r.head)], tail...)
	}
	reserve := len(leftOut(r.total))
	head := wholeEnd(r.head)
	tail = wholeStart(tail[min(reserve, len(tail)):])
	line := leftOut(r.total - int64(len(head)+len(tail)))
	return append(append(append([]byte{}, head...), line...), tail...)
}

func leftOut(n int64) string { return fmt.Sprintf("\n[... %d bytes left out ...]\n", n) }

// wholeEnd drops a character that was cut at the end of p.
func wholeEnd(p []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if b := p[len(p)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-back:]) {
				return p[:len(p)-back]
			}
			return p
		}
	}
	return p
}

// wholeStart drops the rest of a character that was cut at the start of p.
func wholeStart(p []byte) []byte {
	for i := range min(utf8.UTFMax-1, len(p)) {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	return p
}
