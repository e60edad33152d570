package sandbox

import (
	"slices"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

func TestEnvironmentHidesWhatIsSecretOrOverrides(t *testing.T) {
	s := &Sandbox{o: Options{Environ: []string{
		"PATH=/bin", "EDITOR=vi", "MYAPP_MODE=dev", "OPENAI_API_KEY=k", "GITHUB_TOKEN=t", "DB_PASSWORD=p", "LD_PRELOAD=/x.so",
		"GIT_DIR=/x", "GIT_AUTHOR_NAME=me", "BASH_ENV=/x", "KEYBOARD=de", "XAUTHORITY=/x", "TERM=xterm",
	}}}
	cases := []struct {
		name string
		env  tool.Environment
		want []string
		not  []string
	}{
		{
			"inherit",
			tool.Environment{Inherit: true},
			[]string{"PATH=/bin", "MYAPP_MODE=dev", "GIT_AUTHOR_NAME=me", "KEYBOARD=de", "AI_AGENT=ikigai", "AGENT=ikigai", "TERM=dumb", "GIT_PAGER=cat", "EDITOR=true"},
			[]string{"OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "LD_PRELOAD", "GIT_DIR", "BASH_ENV"},
		},
		{
			"allow-list",
			tool.Environment{},
			[]string{"PATH=/bin", "AI_AGENT=ikigai"},
			[]string{"MYAPP_MODE", "KEYBOARD", "OPENAI_API_KEY", "GIT_AUTHOR_NAME"},
		},
		{
			"approved names",
			tool.Environment{Allow: []string{"GITHUB_TOKEN", "MYAPP_MODE"}},
			[]string{"GITHUB_TOKEN=t", "MYAPP_MODE=dev"},
			[]string{"OPENAI_API_KEY"},
		},
		{
			"set last",
			tool.Environment{Set: []string{"PAGER=less", "IKIGAI_CALL=c1"}},
			[]string{"PAGER=less", "IKIGAI_CALL=c1"},
			nil,
		},
	}
	for _, c := range cases {
		got := s.environment(c.env, tool.Grant{})
		if !slices.IsSorted(got) || repeats(got) {
			t.Errorf("%s: out of order, or a name twice: %q", c.name, got)
		}
		for _, kv := range c.want {
			if !slices.Contains(got, kv) {
				t.Errorf("%s: %s is missing in %q", c.name, kv, got)
			}
		}
		for _, name := range c.not {
			if v, ok := lookup(got, name); ok {
				t.Errorf("%s: %s=%s is passed on", c.name, name, v)
			}
		}
	}
}

// repeats reports whether a name occurs twice.
func repeats(list []string) bool {
	seen := map[string]bool{}
	for _, kv := range list {
		name, _, _ := strings.Cut(kv, "=")
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func TestWhatOneProgramIsGivenIsNotTheNextOnes(t *testing.T) {
	s := &Sandbox{o: Options{Environ: []string{"PATH=/bin", "A_TOKEN=t"}}}
	first := s.environment(tool.Environment{Set: []string{"PATH=/x", "B=1", "AB=2"}, Allow: []string{"A_TOKEN"}}, tool.Grant{})
	second := s.environment(tool.Environment{Set: []string{"PATH=/y"}}, tool.Grant{})
	third := s.environment(tool.Environment{}, tool.Grant{})
	for _, c := range []struct {
		list       []string
		name, want string
	}{
		{first, "PATH", "/x"},
		{first, "A_TOKEN", "t"},
		{first, "AB", "2"},
		{second, "PATH", "/y"},
		{second, "B", ""},
		{third, "PATH", "/bin"},
		{third, "A_TOKEN", ""},
	} {
		if got, _ := lookup(c.list, c.name); got != c.want {
			t.Errorf("%s is %q, not %q", c.name, got, c.want)
		}
	}
}

func TestSecretNamesAreRecognised(t *testing.T) {
	secret := []string{
		"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "npm_config__authToken", "NPM_TOKEN", "PGPASSWORD", "MYSQL_PWD",
		"DATABASE_URL", "SENTRY_DSN", "OPENAIAPIKEY", "GH_PAT", "HTTP_COOKIE", "STRIPE-KEY", "Azure_Storage_Connection_String", "REDIS_PASS",
	}
	plain := []string{"PATH", "PWD", "OLDPWD", "HOME", "KEYBOARD", "MONKEY", "COMPASS", "AUTHOR", "SSH_AUTH_SOCK", "PATTERN", "LANG", "GOPATH", "PASSENGER_ENV"}
	for _, n := range secret {
		if !looksSecret(n) {
			t.Errorf("%s is taken for harmless", n)
		}
	}
	for _, n := range plain {
		if looksSecret(n) {
			t.Errorf("%s is taken for a secret", n)
		}
	}
}
