package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

// TestJailLetsWorkBeDone is the other half of the escape suite: what people do
// all day must work inside.
func TestJailLetsWorkBeDone(t *testing.T) {
	cases := []struct {
		name, script, want string
		light              bool
	}{
		{"files", "mkdir -p a/b; echo x > a/b/c; mv a/b a/d; rm -r a; echo ok", "ok", true},
		{"pipes", "seq 1000 | sort -rn | head -1", "1000", true},
		{"here documents", "cat <<E\nhi\nE", "hi", true},
		{"temporary files", "f=$(mktemp); echo hi > $f; cat $f", "hi", true},
		{"the folder /tmp", "echo hi > /tmp/x; cat /tmp/x", "hi", false},
		{"devices", "head -c 4 /dev/zero | wc -c; echo x > /dev/null; head -c 1 /dev/urandom | wc -c", "4\n1", true},
		{"standard streams by name", "echo hi > /dev/stdout", "hi", true},
		{"processes", "sleep 0.01 & wait $!; echo $?", "0", true},
		{"background and kill", "sleep 60 & kill $!; wait $!; echo $?", "143", true},
		{"git status and commit", `git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && echo x > f && git add f &&
			git -c user.name=a -c user.email=a@b commit -q -m two && git status --short && git log --oneline | wc -l`, "2", true},
		{"git branches", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; git checkout -q -b x; git branch --show-current", "x", true},
		{"git stash", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; echo x > f; git add f; git -c user.name=a -c user.email=a@b stash -q; git stash list | wc -l", "1", true},
		{"a clone", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; git clone -q . copy && cd copy && git log --oneline | wc -l", "1", true},
		{"python", `/usr/bin/python3 -c 'import json,subprocess,tempfile; print(json.loads(subprocess.check_output(["echo","{}"])))'`, "{}", true},
		{"python in parallel", `/usr/bin/python3 -c 'import multiprocessing as m; print(sum(m.Pool(2).map(abs, [-1,-2])))'`, "3", false},
		{"a terminal of its own", `/usr/bin/python3 -c 'import pty; pty.spawn(["tty"])'`, "/dev/pts/0", false},
		{"a server and its client", `/usr/bin/python3 -c '
import socket,threading
s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen()
threading.Thread(target=lambda: s.accept()[0].sendall(b"hi")).start()
print(socket.create_connection(s.getsockname()).recv(9).decode())'`, "hi", false},
		{"a socket of its own", `/usr/bin/python3 -c '
import socket,threading
s=socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen()
threading.Thread(target=lambda: s.accept()[0].sendall(b"hi")).start()
c=socket.socket(socket.AF_UNIX); c.connect("own.sock"); print(c.recv(9).decode())'`, "hi", false},
		{"no descriptor but its own", "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3", true},
		{"who am I", "id -u > /dev/null && whoami > /dev/null; echo ok", "ok", true},
		{"tracing a child", `/usr/bin/python3 -c '
import ctypes,os,signal
pid=os.fork()
if pid==0: signal.pause()
print(ctypes.CDLL(None).ptrace(16,pid,0,0)); os.kill(pid,9)'`, "0", false},
	}
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		for _, c := range cases {
			if kind == light && !c.light {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				e := b.in(t).sh(c.script, tool.Grant{})
				if got := strings.TrimSpace(string(e.Stdout)); got != c.want {
					t.Errorf("got %q (status %d), not %q\n%s", got, e.Code, c.want, e.Stderr)
				}
			})
		}
	})
}

// testedModule needs little of the standard library, which has to be compiled
// into the private cache first.
const testedModule = `package m

import (
	"os"
	"testing"
)

func TestM(t *testing.T) {
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`

// compiledMark names a build cache that holds the standard library already, or
// says that the building is tested elsewhere.
const (
	compiledMark = "IKIGAI_TEST_COMPILED"
	elsewhere    = "elsewhere"
)

// TestJailLetsGoBuildAndTest compiles the standard library, so it does that
// once: the second jail, and both of a plain user, find it in the private cache.
func TestJailLetsGoBuildAndTest(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go here")
	}
	if testing.Short() {
		t.Skip("short: it compiles the standard library into a private cache")
	}
	cache := os.Getenv(compiledMark)
	if cache == elsewhere {
		t.Skip("its own run as a plain user has what root compiled")
	}
	t.Parallel()
	if cache == "" {
		cache = filepath.Join(newBox(t, plain).base, "cache")
	}
	for _, kind := range []jailKind{whole, light} {
		t.Run(kindNames[kind], func(t *testing.T) { buildAndTest(t, kind, cache) })
	}
	if os.Getuid() == 0 {
		giveAway(t, cache)
		if err := os.Chmod(filepath.Dir(cache), 0o755); err != nil {
			t.Fatal(err)
		}
		asPlainUser(t, "^TestJailLetsGoBuildAndTest$", compiledMark+"="+cache)
	}
}

func buildAndTest(t *testing.T, kind jailKind, cache string) {
	b := newBox(t, kind)
	o := b.options()
	o.Cache = cache
	b.Sandbox = b.open(o, kind)
	b.write(filepath.Join(b.root, "go.mod"), "module m\n\ngo 1.24\n")
	b.write(filepath.Join(b.root, "m.go"), "// Package m is small.\npackage m\n")
	b.write(filepath.Join(b.root, "m_test.go"), testedModule)
	b.write(filepath.Join(b.root, "cmd", "main.go"), "package main\n\nimport _ \"m\"\n\nfunc main() { println(\"built\") }\n")
	env := []string{`GOFLAGS=-mod=mod "-gcflags=all=-N -l"`, "GOPROXY=off", "CGO_ENABLED=0"} // what is not optimised is compiled sooner
	e := b.sh("go test -vet=off . && go build -o bin ./cmd && ./bin", tool.Grant{}, env...)
	if e.Code != 0 || !strings.Contains(string(e.Stderr), "built") {
		t.Errorf("status %d\n%s%s", e.Code, e.Stdout, e.Stderr)
	}
	if entries, _ := os.ReadDir(filepath.Join(cache, "go-build")); len(entries) == 0 {
		t.Error("the private cache was not used")
	}
}

func TestLayersNameWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	for _, l := range b.Layers() {
		if !l.On || l.Why != "" {
			t.Errorf("%+v", l)
		}
	}
	if err := b.open(b.options(), light).hosts.require(); err == nil || !strings.Contains(err.Error(), "namespaces") || !strings.Contains(err.Error(), "sysctl") {
		t.Errorf("required, but missing: %v", err)
	}
	for _, l := range b.open(b.options(), plain).Layers() {
		if l.On || !strings.Contains(l.Why, "off") {
			t.Errorf("%+v", l)
		}
	}
}

func TestJailWorksWithoutAHelperProgramOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	if got := helperPath(""); filepath.Base(got) == "ikigai-init" {
		t.Skip("there is one beside the test binary")
	}
	if e := b.sh("echo hi", tool.Grant{}); string(e.Stdout) != "hi\n" {
		t.Errorf("%+v", e)
	}
}

func TestWithoutAHelperProgramsStartPlainlyAndTheLayersSaySo(t *testing.T) {
	servesItself.Store(false)
	defer servesItself.Store(true)
	s, err := New(Options{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	if e := run(t, s, sh("echo hi"), tool.Grant{}); string(e.Stdout) != "hi\n" {
		t.Errorf("%+v", e)
	}
	for _, l := range s.Layers() {
		if l.On || !strings.Contains(l.Why, "ikigai-init") {
			t.Errorf("%+v", l)
		}
	}
	if _, err := New(Options{Mode: Require}); err == nil {
		t.Error("required, but there")
	}
}

func TestJailWorksUnderTheRealHelper(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil || os.Getuid() != 0 {
		t.Skip("cannot build ikigai-init here")
	}
	b := newBox(t, whole)
	o := b.options()
	o.Init, o.Mode = buildInit(t), Require
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e := run(t, s, sh("echo hi; exit 3"), tool.Grant{}); string(e.Stdout) != "hi\n" || e.Code != 3 {
		t.Errorf("%+v", e)
	}
}
