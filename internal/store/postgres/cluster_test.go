//go:build unix

package postgres_test

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

// A cluster is a PostgreSQL of our own in a temporary folder, reached by a
// socket in that folder only.
type cluster struct {
	bin, dir string
	as       *syscall.SysProcAttr
	server   *exec.Cmd
	log      bytes.Buffer
}

// startCluster makes one. It fails without the programs of PostgreSQL.
func startCluster() (*cluster, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin, dir: dir}
	if err := c.unprivileged(); err != nil {
		return nil, err
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", c.data(), "-U", "ikigai", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8")
	init.SysProcAttr, init.Dir = c.as, dir
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c, c.start()
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
func (c *cluster) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid := 65534, 65534
	if u, err := user.Lookup("postgres"); err == nil {
		uid, _ = strconv.Atoi(u.Uid) // numbers, on every unix
		gid, _ = strconv.Atoi(u.Gid)
	}
	c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(c.dir, uid, gid)
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// address is the store in a schema of that name.
func (c *cluster) address(schema string) string { return addressAt(c.dir, schema) }

func addressAt(socketDir, schema string) string {
	return "postgres://ikigai@/postgres?host=" + socketDir + "&search_path=" + schema
}

func (c *cluster) start() error {
	c.server = exec.Command(filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off")
	c.server.SysProcAttr, c.server.Dir = c.as, c.dir
	c.log.Reset()
	c.server.Stderr = &c.log
	if err := c.server.Start(); err != nil {
		return err
	}
	for range 600 {
		ready := exec.Command(filepath.Join(c.bin, "pg_isready"), "-h", c.dir, "-U", "ikigai")
		ready.Dir = c.dir
		if ready.Run() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return fmt.Errorf("the server did not start:\n%s", c.log.String())
}

// dump is a schema as statements. What only psql understands, and settings that
// another version may not know, are left out.
func (c *cluster) dump(schema string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(c.bin, "pg_dump"), "-h", c.dir, "-U", "ikigai", "-d", "postgres", "-n", schema, "--inserts", "--no-owner", "--no-comments")
	cmd.Dir = c.dir
	out, err := cmd.Output()
	var kept []byte
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte("\\")) && !bytes.HasPrefix(line, []byte("SET ")) && !bytes.HasPrefix(line, []byte("--")) && len(line) > 1 {
			kept = append(kept, line...)
		}
	}
	return kept, err
}

// stop ends the server at once, and every connection with it.
func (c *cluster) stop() error {
	if err := c.server.Process.Signal(unix.SIGINT); err != nil {
		return err
	}
	return c.server.Wait()
}

func (c *cluster) remove() error {
	if err := c.stop(); err != nil {
		return err
	}
	return os.RemoveAll(c.dir)
}

// need gives the cluster of this test binary. Without PostgreSQL the test is
// skipped, or fails where it must not be missing.
func need(t testing.TB) *cluster {
	t.Helper()
	c, err := theCluster()
	if err == nil {
		return c
	}
	if os.Getenv("IKIGAI_REQUIRE_POSTGRES") == "1" {
		t.Fatalf("PostgreSQL is required here: %v", err)
	}
	t.Skipf("no PostgreSQL (initdb, postgres) on this machine: %v", err)
	return nil
}
