package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
)

// readAll reads the fresh files and links, several at once.
func (c *scan) readAll(ctx context.Context, pack *packer) error {
	links, err := os.OpenRoot(c.tree.path)
	if err != nil {
		return err
	}
	defer links.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan *record)
	var group sync.WaitGroup
	var mu sync.Mutex // guards pack
	keep := func(s sum, content []byte) error {
		if pack == nil {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		return pack.add(s, content)
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			var buf bytes.Buffer
			for r := range next {
				if err := c.readOne(r, links, &buf, keep); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range c.fresh {
		if r := &c.fresh[i]; (r.kind == file || r.kind == link) && ctx.Err() == nil {
			next <- r
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// readOne names the content of r and keeps it. The error is about keeping: a
// file that cannot be read is not covered, and one that went away is absent.
func (c *scan) readOne(r *record, links *os.Root, buf *bytes.Buffer, keep func(sum, []byte) error) error {
	var err error
	buf.Reset()
	if r.kind == link {
		var target string
		target, err = links.Readlink(r.path)
		buf.WriteString(target)
	} else {
		err = c.readFile(r, buf)
	}
	switch {
	case isMissing(err):
		r.kind = absent
		return nil
	case errors.Is(err, errGrown):
		r.refuse(large)
		return nil
	case err != nil:
		r.refuse(unreadable)
		r.settled = false // another user may be able to
		return nil
	}
	r.sum, r.size = sha256.Sum256(buf.Bytes()), int64(buf.Len())
	return keep(r.sum, buf.Bytes())
}

var errGrown = errors.New("the file has grown")

// readFile reads a file in one state: if it changes while it is read, again.
// One that never stands still is taken as it came, and looked at again next time.
func (c *scan) readFile(r *record, buf *bytes.Buffer) error {
	for range 3 {
		before, after, err := c.readOnce(r.path, buf)
		if err != nil {
			return err
		}
		*r = newRecord(r.path, after)
		r.settled = before == after && c.settledAt(after)
		if before == after {
			return nil
		}
	}
	return nil
}

func (c *scan) readOnce(path string, buf *bytes.Buffer) (before, after stamp, err error) {
	f, err := c.root.Open(path)
	if err != nil {
		return before, after, err
	}
	defer f.Close()
	if before, err = stampOfFile(f); err != nil {
		return before, after, err
	}
	buf.Reset()
	buf.Grow(int(min(before.size, c.o.MaxFile)) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(f, c.o.MaxFile+1))
	if err == nil && n > c.o.MaxFile {
		err = errGrown
	}
	if err == nil {
		after, err = stampOfFile(f)
	}
	return before, after, err
}
