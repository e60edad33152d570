package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// An escape is a script that tries to leave the jail. It must fail, or what it
// did must not be seen outside.
type escape struct {
	name   string
	script string
	light  bool // the light jail refuses it too
}

var writingOutside = []escape{
	{"by path", "echo new > $O/victim", true},
	{"by a new file", "touch $O/new", true},
	{"by appending", "echo new >> $O/victim", true},
	{"by truncating", `/usr/bin/python3 -c 'import os; os.truncate(os.environ["O"]+"/victim", 0)'`, true},
	{"by removing", "rm -f $O/victim", true},
	{"by a symbolic link", "ln -s $O/victim link; echo new > link", true},
	{"by a link to the folder", "ln -s $O d; touch d/new", true},
	{"by a relative path", "cd sub 2>/dev/null; echo new > ../outside/victim", true},
	{"by a hard link", "ln $O/victim hard && echo new > hard", true},
	{"by renaming onto it", "echo new > x; mv -f x $O/victim", true},
	{"by renaming it away", "mv $O/victim stolen", true},
	{"by exchanging names", `/usr/bin/python3 -c 'import ctypes,os,sys; open("x","w").write("new"); sys.exit(0 if ctypes.CDLL(None).renameat2(-100, b"x", -100, (os.environ["O"]+"/victim").encode(), 2) == 0 else 1)'`, true},
	{"by a bind mount", "mount --bind . $O && touch $O/new", true},
	{"by mounting the root again", "mount -o remount,rw / && touch $O/new", true},
	{"by a user namespace", "unshare -Urm sh -c 'mount -o remount,rw,bind / ; touch $O/new'", true},
	{"by unmounting", "umount -l /tmp $O . /proc /dev; touch $O/new", true},
	{"through /proc/self/root", "echo new > /proc/self/root$O/victim", true},
	{"through /proc/self/cwd", "echo new > /proc/self/cwd/../outside/victim", true},
	{"through the root of process 1", "echo new > /proc/1/root$O/victim", true},
	{"by its mode", "chmod 777 $O/victim", false},
	{"by its owner", "chown 1:1 $O/victim", false},
	{"by its times", "touch -d 2001-01-01 $O/victim", false},
	{"by an attribute", `/usr/bin/python3 -c 'import os; os.setxattr(os.environ["O"]+"/victim", "user.x", b"1")'`, false},
	{"by chroot", "chroot . true", true},
	{"by a device", "mknod disk b 254 0 && cat disk", true},
	{"by the settings of the kernel", "echo core > /proc/sys/kernel/core_pattern", true},
	{"by its own settings in /sys", "echo 0 > /sys/kernel/mm/ksm/run", true},
	{"by a control group", "mkdir /sys/fs/cgroup/ikigai-escape", true},
}

func TestJailRefusesWritingOutside(t *testing.T) {
	eachJail(t, func(t *testing.T, kind jailKind) {
		all := newBox(t, kind)
		for _, c := range writingOutside {
			if kind == light && !c.light {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				b := all.in(t)
				if e := b.sh(c.script, tool.Grant{}); e.Code == 0 {
					t.Errorf("it worked: %s%s", e.Stdout, e.Stderr)
				}
				b.untouched()
			})
		}
	})
}

// protected are attempts on what lies in the workspace and must not change.
// The file they plant is named by want, relative to the workspace.
var protected = []struct{ name, prepare, script, want string }{
	{"a hook", "", "echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"a hook, mode first", "", "chmod 777 .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"hooks that do not exist", "rm -rf .git/hooks", "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"hooks replaced", "", "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"hooks by a link", "rm -rf .git/hooks", "mkdir evil; echo evil > evil/pre-commit; ln -s ../evil .git/hooks", ".git/hooks/pre-commit"},
	{"the repository replaced", "", "mv .git .git2; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"the repository removed", "", "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"a repository that does not exist", "rm -rf .git", "git init -q .; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"a repository by a link", "rm -rf .git", "git init -q evil; echo evil > evil/.git/hooks/pre-commit; ln -s evil/.git .git", ".git/hooks/pre-commit"},
	{"another repository's configuration", "", "git init -q --bare evil; echo evil > evil/hooks/pre-commit; echo ../evil > .git/commondir", ".git/commondir"},
	{"our folder", "", "mkdir .ikigai; echo evil > .ikigai/config", ".ikigai/config"},
	{"our folder, existing", "mkdir .ikigai; echo good > .ikigai/config", "rm .ikigai/config; echo evil > .ikigai/new", ".ikigai/new"},
	{"our folder by renaming", "", "mkdir x; echo evil > x/config; mv -T x .ikigai", ".ikigai/config"},
	{"our folder by a link", "", "mkdir x; echo evil > x/config; ln -s x .ikigai", ".ikigai/config"},
	{"a policy that does not exist", "mkdir conf", "echo evil > conf/policies.json", "conf/policies.json"},
	{"a policy in a folder that does not exist", "", "mkdir conf; echo evil > conf/policies.json", "conf/policies.json"},
	{"a policy by renaming its folder", "mkdir conf", "mv conf conf2; mkdir conf; echo evil > conf/policies.json", "conf/policies.json"},
	{"a policy by renaming onto it", "mkdir etc; echo good > etc/rules.json", "echo evil > x; mv -f x etc/rules.json; grep -q evil etc/rules.json && touch planted", "planted"},
}

func TestJailKeepsWhatIsProtectedInTheWorkspace(t *testing.T) {
	t.Parallel()
	all := newBox(t, whole)
	for _, c := range protected {
		t.Run(c.name, func(t *testing.T) {
			b := all.in(t)
			inRoot(t, b, c.prepare)
			before := contents(t, b.root)
			b.sh(c.script, tool.Grant{})
			if _, err := os.Stat(filepath.Join(b.root, c.want)); err == nil {
				t.Errorf("%s was planted", c.want)
			}
			for path, was := range before {
				if guardedPath(path) {
					if now := fingerprint(filepath.Join(b.root, path)); now != was {
						t.Errorf("%s was %s, is %s", path, was, now)
					}
				}
			}
			noPlaceholders(t, b.root)
		})
	}
}

func guardedPath(p string) bool {
	for _, g := range []string{".git/hooks", ".git/config", ".ikigai", "conf/policies.json", "etc/rules.json"} {
		if p == g || strings.HasPrefix(p, g+"/") {
			return true
		}
	}
	return false
}

// contents is what lies in dir, with fingerprints.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		all[rel] = fingerprint(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func fingerprint(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "absent"
	}
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	text, _ := os.ReadFile(path)
	return fmt.Sprintf("%v %q", info.Mode(), text)
}

func inRoot(t *testing.T, b *box, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// placeholders lists those in dir.
func placeholders(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	for path := range contents(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, path))
		if err == nil && info.Mode()&os.ModeSticky != 0 {
			list = append(list, path)
		}
	}
	return list
}

// noPlaceholders fails if a jail left one behind.
func noPlaceholders(t *testing.T, dir string) {
	t.Helper()
	if left := placeholders(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestJailLeavesNoPlaceholderBehind(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	inRoot(t, b, "rm -rf .git")
	before := contents(t, b.root)
	b.sh("ls -la; echo x > mine; rm mine", tool.Grant{})
	if after := contents(t, b.root); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("before %v\nafter  %v", before, after)
	}
}

func TestJailsThatOverlapKeepTheirPlaceholders(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	started := make(chan struct{})
	var once sync.Once
	done := make(chan tool.Exit)
	go func() {
		c := sh("echo ready; while [ ! -e go ]; do sleep 0.01; done; mkdir -p .ikigai/x")
		c.Output = func([]byte, bool) { once.Do(func() { close(started) }) }
		e, _ := b.Start(t.Context(), c, tool.Grant{})
		done <- e
	}()
	<-started
	b.sh("true", tool.Grant{}) // ends while the other runs
	b.write(filepath.Join(b.root, "go"), "")
	if e := <-done; e.Code == 0 {
		t.Error("the end of one jail took the protection of the other")
	}
	noPlaceholders(t, b.root)
}

func TestJailRemovesThePlaceholdersOfACrash(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	path := filepath.Join(b.root, ".ikigai")
	if err := os.Mkdir(path, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o500|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if e := b.sh("mkdir -p .ikigai/x", tool.Grant{}); e.Code == 0 {
		t.Error("an old placeholder was taken for a folder of the person")
	}
	noPlaceholders(t, b.root)
}

// dial tries to reach address and prints what it got.
const dial = `
import socket,sys,os
family, kind, address = eval(os.environ["A"])
s = socket.socket(family, kind); s.settimeout(3)
s.connect(address); s.send(b"hello")
if kind == socket.SOCK_STREAM: print(s.recv(10))
`

func TestJailRefusesTheNetwork(t *testing.T) {
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		heard := make(chan string, 10)
		l := listener(t, "tcp", "127.0.0.1:0", heard)
		u, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = u.Close() })
		go func() {
			buf := make([]byte, 10)
			if n, _, err := u.ReadFrom(buf); err == nil {
				heard <- "udp " + string(buf[:n])
			}
		}()
		port := func(a net.Addr) string { _, p, _ := net.SplitHostPort(a.String()); return p }
		abstract := "ikigai-test-" + mark()
		listener(t, "unix", "@"+abstract, heard)
		listener(t, "unix", filepath.Join(b.outside, "s"), heard)
		listener(t, "unix", filepath.Join(b.root, "s"), heard)
		listener(t, "unix", filepath.Join(b.temp, "s"), heard)
		cases := []struct{ name, address string }{
			{"TCP", "(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', " + port(l.Addr()) + "))"},
			{"UDP", "(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', " + port(u.LocalAddr()) + "))"},
			{"another host", "(socket.AF_INET, socket.SOCK_DGRAM, ('192.0.2.1', 53))"},
			{"IPv6", "(socket.AF_INET6, socket.SOCK_DGRAM, ('2001:db8::1', 53))"},
			{"abstract socket", "(socket.AF_UNIX, socket.SOCK_STREAM, '\\0" + abstract + "')"},
			{"socket outside", "(socket.AF_UNIX, socket.SOCK_STREAM, '" + b.outside + "/s')"},
			{"socket in the workspace", "(socket.AF_UNIX, socket.SOCK_STREAM, '" + b.root + "/s')"},
			{"socket in the temporary folder", "(socket.AF_UNIX, socket.SOCK_STREAM, '" + b.temp + "/s')"},
			{"virtual machine socket", "(socket.AF_VSOCK, socket.SOCK_STREAM, (2, 1024))"},
			{"packet socket", "(socket.AF_PACKET, socket.SOCK_RAW, ('lo', 0))"},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				e := b.python(dial, tool.Grant{}, "A="+c.address)
				if len(e.Stdout) > 0 || e.Code == 0 && c.name != "UDP" {
					t.Errorf("reached: %s", e.Stdout)
				}
				select {
				case what := <-heard:
					t.Errorf("somebody outside heard %q", what)
				case <-time.After(50 * time.Millisecond):
				}
			})
		}
		t.Run("names", func(t *testing.T) {
			if e := b.python(`import socket; print(socket.getaddrinfo("example.org", 80))`, tool.Grant{}); e.Code == 0 {
				t.Errorf("resolved: %s", e.Stdout)
			}
		})
	})
}

// listener answers and reports whoever comes.
func listener(t *testing.T, network, address string, heard chan<- string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			heard <- network
			_, _ = c.Write([]byte("hi"))
			_ = c.Close()
		}
	}()
	return l
}

func TestJailReachesTheNetworkWithTheGrant(t *testing.T) {
	t.Parallel()
	for _, kind := range []jailKind{whole, light} {
		b := newBox(t, kind)
		l := listener(t, "tcp", "127.0.0.1:0", make(chan string, 1))
		_, port, _ := net.SplitHostPort(l.Addr().String())
		e := b.python(dial, tool.Grant{Net: true}, "A=(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', "+port+"))")
		if string(e.Stdout) != "b'hi'\n" {
			t.Errorf("%s: %s%s", kindNames[kind], e.Stdout, e.Stderr)
		}
	}
}

// againstOthers are attempts on processes outside; $V is the id of one.
var againstOthers = []struct {
	name, script string
	light        bool
}{
	{"tracing", `/usr/bin/python3 -c 'import ctypes,os,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, int(os.environ["V"]), 0, 0) == 0 else 1)'`, true},
	{"reading memory", `/usr/bin/python3 -c 'import os; open("/proc/%s/mem" % os.environ["V"], "rb")'`, true},
	{"killing", "kill -9 $V", true},
	{"killing everybody", "kill -9 -1; exit 1", true},
	{"stopping", "kill -STOP $V", true},
	{"reading an environment", "grep -q IKIGAI /proc/$V/environ", true},
	{"reading the environment of the parent", "tr '\\0' '\\n' < /proc/$PPID/environ | grep IKIGAI", true},
	{"entering namespaces", "nsenter -t $V -m true", true},
	{"changing priority", "renice -n 19 -p $V", false},
}

func TestJailRefusesToTouchOtherProcesses(t *testing.T) {
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		for _, c := range againstOthers {
			if kind == light && !c.light {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				victim := exec.Command("sleep", "60")
				victim.Env = []string{"IKIGAI_SECRET=hush"}
				if err := victim.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
				if e := b.sh(c.script, tool.Grant{}, "V="+strconv.Itoa(victim.Process.Pid)); e.Code == 0 {
					t.Errorf("it worked: %s%s", e.Stdout, e.Stderr)
				}
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", victim.Process.Pid))
				if fields := strings.Fields(string(text)); err != nil || !strings.Contains("SRD", fields[2]) || fields[18] == "19" { // it sleeps, or has yet to
					t.Errorf("the victim: %s %v", text, err)
				}
			})
		}
	})
}

// refusedKernel are calls by number: they must fail with EPERM or ENOSYS.
var refusedKernel = map[string]string{
	"io_uring": "425, 1, buf", "bpf": "321, 0, buf, 64", "userfaultfd": "323, 0", "add_key": "248, b'user', b'x', b'y', 1, -3",
	"perf": "298, buf, 0, -1, -1, 0", "a user namespace": "272, 0x10000000", "a handle": "304, -100, buf, 0",
}

func TestJailRefusesPartsOfTheKernel(t *testing.T) {
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		for name, args := range refusedKernel {
			t.Run(name, func(t *testing.T) {
				script := "import ctypes,sys\nbuf = ctypes.create_string_buffer(4096)\nlibc = ctypes.CDLL(None, use_errno=True)\n" +
					"r = libc.syscall(" + args + ")\nprint(r, ctypes.get_errno())\nsys.exit(0 if r < 0 and ctypes.get_errno() in (1, 38) else 1)"
				if e := b.python(script, tool.Grant{}); e.Code != 0 {
					t.Errorf("%s%s", e.Stdout, e.Stderr)
				}
			})
		}
	})
}

func TestJailHidesWhatIsSensitive(t *testing.T) {
	t.Parallel()
	for _, kind := range []jailKind{whole, light} {
		b := newBox(t, kind)
		for _, script := range []string{"cat $H/key", "ln -s $H h; cat h/key", "cat /proc/self/root$H/key", "cp -r $H copy; cat copy/key"} {
			if e := b.sh(script, tool.Grant{}); strings.Contains(string(e.Stdout), "hush") {
				t.Errorf("%s: %s gives it away", kindNames[kind], script)
			}
		}
		if e := b.sh("cat $HOME/notes", tool.Grant{}); string(e.Stdout) != "plain" {
			t.Errorf("%s: what is not hidden: %s%s", kindNames[kind], e.Stdout, e.Stderr)
		}
		e := b.sh("cat $H/key", tool.Grant{Read: []string{filepath.Join(b.hidden, "key")}})
		if string(e.Stdout) != "hush" {
			t.Errorf("%s: with the grant: %s%s", kindNames[kind], e.Stdout, e.Stderr)
		}
	}
}

// TestJailOfTheNextProgramIsItsOwn runs programs one after another, as one
// helper may serve them all: what one was granted is not the next one's, and
// what changed in between is seen.
func TestJailOfTheNextProgramIsItsOwn(t *testing.T) {
	eachJail(t, func(t *testing.T, kind jailKind) {
		b := newBox(t, kind)
		o := b.options()
		o.Hide = append(o.Hide, filepath.Join(b.home, "*.key"), filepath.Join(b.home, "shut"))
		b.Sandbox = b.open(o, kind)
		b.write(filepath.Join(b.home, "shut"), "hush")
		if err := os.Chmod(filepath.Join(b.home, "shut"), 0); err != nil {
			t.Fatal(err)
		}
		works := func(script string, g tool.Grant, want bool) {
			t.Helper()
			if e := b.sh(script, g); (e.Code == 0) != want {
				t.Errorf("%s with %+v: status %d: %s%s", script, g, e.Code, e.Stdout, e.Stderr)
			}
		}
		l := listener(t, "tcp", "127.0.0.1:0", make(chan string, 2))
		_, port, _ := net.SplitHostPort(l.Addr().String())
		call := "/usr/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", " + port + "))'"
		works("true", tool.Grant{}, true)
		works("echo new > $O/victim", tool.Grant{Write: []string{filepath.Join(b.outside, "victim")}}, true)
		works("echo new > $O/victim", tool.Grant{}, false)
		works(call, tool.Grant{Net: true}, true)
		works(call, tool.Grant{}, false)
		works("cat $H/key", tool.Grant{Read: []string{b.hidden}}, true)
		works("cat $H/key", tool.Grant{}, false)
		b.write(filepath.Join(b.home, "new.key"), "hush")
		b.write(filepath.Join(b.home, "new.txt"), "plain")
		works("test \"$(cat $HOME/new.key)\" = hush", tool.Grant{}, false)
		works("cat $HOME/new.txt", tool.Grant{}, true)
		if err := os.Chmod(filepath.Join(b.home, "shut"), 0o644); err != nil {
			t.Fatal(err)
		}
		works("test \"$(cat $HOME/shut)\" = hush", tool.Grant{}, false)
	})
}

func TestJailShowsNoSecretVariable(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	if e := b.sh("env", tool.Grant{}); strings.Contains(string(e.Stdout), "IKIGAI_TEST_KEY") {
		t.Error("the environment holds a secret")
	}
}

func TestJailLetsGrantedPlacesBeWritten(t *testing.T) {
	t.Parallel()
	for _, kind := range []jailKind{whole, light} {
		t.Run(kindNames[kind], func(t *testing.T) {
			b := newBox(t, kind)
			file, dir := filepath.Join(b.base, "new.txt"), filepath.Join(b.base, "newdir")
			g := tool.Grant{Write: []string{filepath.Join(b.outside, "victim"), file, dir, filepath.Join(b.base, "unused.txt")}}
			e := b.sh("echo new > $O/victim; echo made > ../new.txt; echo made > ../newdir/x; touch $O/other", g)
			if e.Code == 0 {
				t.Error("more than the grant could be written")
			}
			for path, want := range map[string]string{filepath.Join(b.outside, "victim"): "new\n", file: "made\n", filepath.Join(dir, "x"): "made\n"} {
				if text, err := os.ReadFile(path); string(text) != want {
					t.Errorf("%s: %q %v: %s", path, text, err, e.Stderr)
				}
			}
			if _, err := os.Stat(filepath.Join(b.base, "unused.txt")); err == nil {
				t.Error("a grant that was not used left a file")
			}
		})
	}
}

func TestJailLiftsTheRepositoryWithTheGrant(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	hooks := filepath.Join(b.root, ".git", "hooks")
	if e := b.sh("echo mine > .git/hooks/pre-commit", tool.Grant{Write: []string{hooks}}); e.Code != 0 {
		t.Errorf("%s", e.Stderr)
	}
	if e := b.sh("echo mine > .git/hooks/pre-push", tool.Grant{Write: []string{b.root}}); e.Code == 0 {
		t.Error("a grant of the workspace lifted the protection in it")
	}
	inRoot(t, b, "rm -rf .git")
	if e := b.sh("git init -q . && test -f .git/HEAD", tool.Grant{Write: []string{filepath.Join(b.root, ".git")}}); e.Code != 0 {
		t.Errorf("git init: %s", e.Stderr)
	}
}

func TestJailSaysWhatItRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		kind         jailKind
		script, want string
	}{
		{whole, "touch $O/new", "/outside/new"},
		{whole, "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
		{whole, "git config a.b c", ".git/config"},
		{whole, "git ls-remote https://example.org/x", "example.org"},
		{light, "touch $O/new", "/outside/new"},
	}
	for _, c := range cases {
		b := newBox(t, c.kind)
		e := b.sh(c.script, tool.Grant{})
		if len(e.Refused) == 0 || !strings.Contains(e.Refused[0], c.want) {
			t.Errorf("%s in %s: %q\n%s", c.script, kindNames[c.kind], e.Refused, e.Stderr)
		}
	}
}

func TestUnconfinedStartIsNotInAJail(t *testing.T) {
	t.Parallel()
	b := newBox(t, whole)
	if e := b.sh("touch $O/new", tool.Grant{Unconfined: true}); e.Code != 0 {
		t.Errorf("%s", e.Stderr)
	}
}
