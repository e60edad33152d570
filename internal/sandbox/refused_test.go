package sandbox

import (
	"strings"
	"testing"

	"ikigai/internal/tool"
)

func TestRefusalsNameLayerAndPathOrHost(t *testing.T) {
	s := &Sandbox{o: Options{Roots: []string{"/w"}, Temp: "/t", Hide: []string{"/home/u/.ssh", "/home/u/*.pem"}}}
	cases := []struct {
		kind jailKind
		line string
		want []string // parts of the words; none means no refusal
	}{
		{whole, "touch: cannot touch '/etc/x': Read-only file system", []string{"namespaces", "/etc/x"}},
		{whole, "mkdir: cannot create directory ‘/opt/x’: Read-only file system", []string{"namespaces", "/opt/x"}},
		{whole, "sh: 1: cannot create /etc/x: Read-only file system", []string{"/etc/x"}},
		{whole, "bash: line 1: ../out: Read-only file system", []string{"../out"}},
		{whole, "OSError: [Errno 30] Read-only file system: '/etc/x'", []string{"/etc/x"}},
		{whole, "open /etc/x: read-only file system", []string{"/etc/x"}},
		{whole, "touch: cannot touch '.git/hooks/pre-commit': Read-only file system", []string{".git/hooks/pre-commit"}},
		{whole, "error: could not write config file .git/config: Device or resource busy", []string{"protected", ".git/config"}},
		{whole, "umount: data/disk: Device or resource busy", nil},
		{whole, "cat: /home/u/.ssh/id_rsa: Permission denied", []string{"hidden", "/home/u/.ssh/id_rsa"}},
		{whole, "cat: /home/u/a.pem: Permission denied", []string{"hidden", "/home/u/a.pem"}},
		{whole, "cat: /w/secret: Permission denied", nil},
		{light, "touch: cannot touch '/etc/x': Permission denied", []string{"landlock", "/etc/x"}},
		{light, "touch: cannot touch '/w/x': Permission denied", nil},
		{light, "touch: cannot touch 'x': Permission denied", nil},
		{whole, "curl: (6) Could not resolve host: example.org", []string{"network", "example.org"}},
		{whole, "Get \"https://proxy.example/\": dial tcp: lookup proxy.example on 127.0.0.53:53: dial udp: connect: network is unreachable", []string{"network", "proxy.example"}},
		{whole, "npm error network request failed, reason: getaddrinfo EAI_AGAIN registry.example", []string{"registry.example"}},
		{whole, "ssh: Could not resolve hostname git.example: Temporary failure in name resolution", []string{"git.example"}},
		{whole, "connect to 10.0.0.1 port 22: Network is unreachable", []string{"10.0.0.1"}},
		{whole, "curl: (7) Failed to connect to localhost port 5432: Connection refused", []string{"localhost", "outside"}},
		{light, "PermissionError: [Errno 1] Operation not permitted", []string{"seccomp"}},
		{plain, "touch: cannot touch '/etc/x': Read-only file system", nil},
		{whole, "FAIL: TestThing", nil},
	}
	for _, c := range cases {
		got := s.refusals(tool.Exit{Code: 1, Stderr: []byte("noise\n" + c.line + "\n")}, c.kind, tool.Grant{}, "/w")
		if (len(got) == 1) != (c.want != nil) {
			t.Errorf("%s: %q", c.line, got)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(got[0], part) {
				t.Errorf("%s: %q lacks %q", c.line, got[0], part)
			}
		}
	}
}

func TestNothingIsRefusedToASuccessOrWithTheGrant(t *testing.T) {
	s := &Sandbox{o: Options{Roots: []string{"/w"}}}
	line := []byte("curl: (6) Could not resolve host: example.org\n")
	if got := s.refusals(tool.Exit{Stderr: line}, whole, tool.Grant{}, "/w"); got != nil {
		t.Errorf("success: %q", got)
	}
	if got := s.refusals(tool.Exit{Code: 6, Stderr: line}, whole, tool.Grant{Net: true}, "/w"); got != nil {
		t.Errorf("with the network: %q", got)
	}
}

func FuzzRefusals(f *testing.F) {
	f.Add("touch: cannot touch '/etc/x': Read-only file system")
	f.Add("ssh: Could not resolve hostname : Temporary failure in name resolution")
	f.Add("connect to ‘: network is unreachable lookup ")
	s := &Sandbox{o: Options{Roots: []string{"/w"}, Hide: []string{"["}}}
	f.Fuzz(func(t *testing.T, out string) {
		for _, kind := range []jailKind{whole, light} {
			if got := s.refusals(tool.Exit{Code: 1, Stdout: []byte(out)}, kind, tool.Grant{}, "/w"); len(got) > mostRefusals {
				t.Errorf("%d refusals", len(got))
			}
		}
	})
}
