//go:build unix

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Cluster is a running server. Its owner stops it with Remove.
type Cluster struct {
	Dir string // where its socket is

	bin    string
	as     *syscall.SysProcAttr
	server *exec.Cmd
	log    bytes.Buffer
}

// Make makes and starts one. It fails without the programs of PostgreSQL.
func Make() (*Cluster, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, Dir: dir}
	if err := c.unprivileged(); err != nil {
		return nil, err
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", c.data(), "-U", "ikigai", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8")
	init.SysProcAttr, init.Dir = c.as, dir
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c, c.Start()
}

func findPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// unprivileged gives the folder to someone else when we are root: PostgreSQL
// does not run as root.
func (c *Cluster) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid := 65534, 65534
	if u, err := user.Lookup("postgres"); err == nil {
		uid, _ = strconv.Atoi(u.Uid) // numbers, on every unix
		gid, _ = strconv.Atoi(u.Gid)
	}
	c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(c.Dir, uid, gid)
}

func (c *Cluster) data() string { return filepath.Join(c.Dir, "data") }

// Address is the store in a schema of that name.
func (c *Cluster) Address(schema string) string { return AddressAt(c.Dir, schema) }

// AddressAt is that store behind another socket.
func AddressAt(socketDir, schema string) string {
	return "postgres://ikigai@/postgres?host=" + socketDir + "&search_path=" + schema
}

// Start starts the server again after Stop.
func (c *Cluster) Start() error {
	c.server = exec.Command(filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.Dir, "-c", "listen_addresses=", "-c", "fsync=off")
	c.server.SysProcAttr, c.server.Dir = c.as, c.Dir
	c.log.Reset()
	c.server.Stderr = &c.log
	if err := c.server.Start(); err != nil {
		return err
	}
	for range 600 {
		ready := exec.Command(filepath.Join(c.bin, "pg_isready"), "-h", c.Dir, "-U", "ikigai")
		ready.Dir = c.Dir
		if ready.Run() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.Stop()
	return fmt.Errorf("the server did not start:\n%s", c.log.String())
}

// Dump is a schema as statements. What only psql understands, and settings that
// another version may not know, are left out.
func (c *Cluster) Dump(schema string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(c.bin, "pg_dump"), "-h", c.Dir, "-U", "ikigai", "-d", "postgres", "-n", schema, "--inserts", "--no-owner", "--no-comments")
	cmd.Dir = c.Dir
	out, err := cmd.Output()
	var kept []byte
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte("\\")) && !bytes.HasPrefix(line, []byte("SET ")) && !bytes.HasPrefix(line, []byte("--")) && len(line) > 1 {
			kept = append(kept, line...)
		}
	}
	return kept, err
}

// Stop ends the server at once, and every connection with it.
func (c *Cluster) Stop() error {
	if err := c.server.Process.Signal(unix.SIGINT); err != nil {
		return err
	}
	return c.server.Wait()
}

// Remove stops the server and removes its folder.
func (c *Cluster) Remove() error {
	if err := c.Stop(); err != nil {
		return err
	}
	return os.RemoveAll(c.Dir)
}

// Need makes one for a test, and removes it in the end. Without PostgreSQL the
// test is skipped, or fails where it must not be missing.
func Need(t testing.TB) *Cluster {
	t.Helper()
	c, err := Make()
	Require(t, err)
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Error("stopping the server:", err)
		}
	})
	return c
}

// Require skips or fails a test for which Make gave an error.
func Require(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("IKIGAI_REQUIRE_POSTGRES") == "1" {
		t.Fatalf("PostgreSQL is required here: %v", err)
	}
	t.Skipf("no PostgreSQL (initdb, postgres) on this machine: %v", err)
}
