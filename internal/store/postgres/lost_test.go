//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ikigai/internal/store"
	"ikigai/internal/store/postgres"
	"ikigai/internal/store/storetest"
	"ikigai/internal/store/storetest/cluster"
)

const socketName = ".s.PGSQL.5432"

func TestServerThatIsAwayLosesNothing(t *testing.T) {
	where := address(t)
	s := open(t, where, postgres.Options{Patience: 2 * time.Second})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")), s.Append(t.Context(), "a", storetest.Event(1)), s.Sync(t.Context()))
	check(t, need(t).Stop())
	for n := int64(2); n <= 10; n++ {
		s.Append(t.Context(), "a", storetest.Event(n)) // that they wait is told by Flush
	}
	for _, wait := range []func(context.Context) error{s.Flush, s.Sync} {
		err := wait(t.Context())
		if u := (*store.Unsaved)(nil); !errors.As(err, &u) || u.Events != 9 {
			t.Errorf("got %v, want 9 events unsaved", err)
		}
	}
	check(t, need(t).Start())
	check(t, s.Sync(t.Context()))
	wantEvents(t, s, "a", 10)
	other := open(t, where, postgres.Options{})
	if err := other.Begin(t.Context(), storetest.NewSession("a")); !errors.As(err, new(*store.Busy)) {
		t.Errorf("after the server came back the session is not locked: %v", err)
	}
}

func TestServerStartedAnewCostsOneTryAtMost(t *testing.T) {
	s := open(t, address(t), postgres.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))
	check(t, need(t).Stop(), need(t).Start())
	if s.Begin(t.Context(), storetest.NewSession("b")) != nil { // it may find the connection dead
		check(t, s.Begin(t.Context(), storetest.NewSession("b")))
	}
	check(t, s.Append(t.Context(), "b", storetest.Event(1)), s.Append(t.Context(), "a", storetest.Event(1)), s.Sync(t.Context()))
	wantEvents(t, s, "a", 1)
	wantEvents(t, s, "b", 1)
}

// The answer to a COMMIT may be lost though it was kept, and the commit may be
// lost too. Either way each event must be there once.
func TestLostAnswerToACommitDoublesNothing(t *testing.T) {
	for name, deliver := range map[string]bool{"the commit arrived": true, "the commit did not arrive": false} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, need(t))
			where := address(t)
			s := open(t, cluster.AddressAt(p.dir, schemaOf(where)), postgres.Options{})
			check(t, s.Begin(t.Context(), storetest.NewSession("a")))
			n := int64(0)
			for range 5 {
				p.cutAtCommit(deliver)
				for range 4 {
					n++
					s.Append(t.Context(), "a", storetest.Event(n)) // any of them may be told of the cut
				}
				for tries := 0; s.Flush(t.Context()) != nil; tries++ {
					if tries == 100 {
						t.Fatal(s.Flush(t.Context()))
					}
					time.Sleep(10 * time.Millisecond) // the lock of the lost connection
				}
			}
			if p.cuts != 5 {
				t.Fatalf("%d connections were cut, want 5", p.cuts)
			}
			wantEvents(t, s, "a", n)
			wantEvents(t, open(t, where, postgres.Options{}), "a", n)
		})
	}
}

// While a process is cut off, another one goes on with its session. What the
// first one still has can be kept nowhere; it is told, and nothing is mixed up.
func TestSessionTakenWhileCutOffIsTold(t *testing.T) {
	p := startProxy(t, need(t))
	where := address(t)
	s := open(t, cluster.AddressAt(p.dir, schemaOf(where)), postgres.Options{Patience: time.Second})
	for _, id := range []string{"a", "b"} {
		check(t, s.Begin(t.Context(), storetest.NewSession(id)), s.Append(t.Context(), id, storetest.Event(1)), s.Flush(t.Context()))
	}
	check(t, s.Begin(t.Context(), storetest.NewSession("c")), s.Append(t.Context(), "c", storetest.Event(1)), s.Flush(t.Context()))
	p.block()
	for _, id := range []string{"a", "b"} {
		s.Append(t.Context(), id, storetest.Event(2))
	}
	if err := s.Flush(t.Context()); !errors.As(err, new(*store.Unsaved)) {
		t.Fatalf("cut off, and Flush says %v", err)
	}

	other := open(t, where, postgres.Options{})
	for _, id := range []string{"a", "c"} {
		beginWhenFree(t, other, id)
		for n := int64(2); n <= 3; n++ {
			e := storetest.Event(n)
			e.Text = "of the other process"
			check(t, other.Append(t.Context(), id, e))
		}
		check(t, other.End(t.Context(), id))
	}

	p.unblock()
	var told error
	for range 100 {
		told = s.Flush(t.Context())
		if told == nil || errors.As(told, new(*store.Lost)) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if l := (*store.Lost)(nil); !errors.As(told, &l) || l.Session != "a" || l.Events != 1 {
		t.Errorf("got %v, want *Lost of one event", told)
	}
	wantEvents(t, s, "a", 3)
	wantEvents(t, s, "b", 2)
	check(t, s.Append(t.Context(), "b", storetest.Event(3)), s.Sync(t.Context()))
	if err := errors.Join(s.Append(t.Context(), "a", storetest.Event(3)), s.Flush(t.Context())); err == nil {
		t.Error("one more event of the session that was taken, and nobody was told")
	}
	wantEvents(t, s, "a", 3)
	wantEvents(t, s, "b", 3)
	err := errors.Join(s.Append(t.Context(), "c", storetest.Event(2)), s.Flush(t.Context()))
	if l := (*store.Lost)(nil); !errors.As(err, &l) || l.Session != "c" {
		t.Errorf("a session that was taken and written to later: %v, want *Lost", err)
	}
	wantEvents(t, s, "c", 3)
}

func beginWhenFree(t *testing.T, s store.Store, id string) {
	t.Helper()
	var err error
	for range 500 {
		if err = s.Begin(t.Context(), storetest.NewSession(id)); !errors.As(err, new(*store.Busy)) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	check(t, err)
}

func wantEvents(t *testing.T, s store.Store, id string, n int64) {
	t.Helper()
	got := storetest.Collect(t, s.Events(t.Context(), id, 0))
	if int64(len(got)) != n {
		t.Errorf("session %s has %d events, want %d", id, len(got), n)
	}
	if err := storetest.Verify(t, s, id); err != nil {
		t.Error(err)
	}
}

// proxy stands between a store and the server and cuts connections.
type proxy struct {
	dir    string
	server string

	mu      sync.Mutex // guards the rest
	cut     bool       // at the next COMMIT
	deliver bool       // and the server still gets it
	cuts    int
	blocked bool
	open    map[net.Conn]bool
}

func startProxy(t *testing.T, c *cluster.Cluster) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "px")
	check(t, err)
	p := &proxy{dir: dir, server: filepath.Join(c.Dir, socketName), open: map[net.Conn]bool{}}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	check(t, err)
	t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) cutAtCommit(deliver bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.deliver = true, deliver
}

// block cuts all connections and lets none through until unblock.
func (p *proxy) block() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = true
	for c := range p.open {
		c.Close()
	}
}

func (p *proxy) unblock() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = false
}

func (p *proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
	return !p.blocked
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.enter(client) {
		return
	}
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(client, server)
		client.Close()
	}()
	b := make([]byte, 1<<16)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		cut, deliver := p.cutNow(b[:n])
		if !cut || deliver {
			server.Write(b[:n])
		}
		if cut {
			client.Close()
			time.Sleep(20 * time.Millisecond) // the server works on it
			return
		}
	}
}

func (p *proxy) cutNow(sent []byte) (cut, deliver bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut || !bytes.Contains(sent, []byte("COMMIT\x00")) {
		return false, false
	}
	p.cut = false
	p.cuts++
	return true, p.deliver
}
