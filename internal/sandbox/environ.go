package sandbox

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/tool"
)

// allowed are the names every program may see; names that end in _ are prefixes.
var allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_", "TZ", "TMPDIR",
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP",
	"GOPATH", "GOROOT", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
}

// overriding are names that change how programs load or what they do behind
// the back of the command line; names that end in _ are prefixes.
var overriding = []string{
	"LD_", "DYLD_", "GIT_", "BASH_ENV", "BASH_FUNC_", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH",
	"GLOBIGNORE", "SSH_ASKPASS", "GCONV_PATH", "PYTHONSTARTUP", "PERL5OPT", "PERL5DB", "RUBYOPT",
}

// harmless are exceptions to overriding: who commits is the person's to say.
var harmless = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
}

// quiet makes programs talk to a pipe instead of a person: no pager, no editor,
// no question, no colour. The two names at the top tell them who asks.
var quiet = []string{
	"AI_AGENT=ikigai", "AGENT=ikigai",
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat",
	"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
	"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "PIP_NO_INPUT=1", "DEBIAN_FRONTEND=noninteractive",
}

// caches are the variables that lead build tools to a cache of their own, since
// the person's may not be written. Module caches stay where they are: readable.
var caches = []struct{ name, folder string }{
	{"XDG_CACHE_HOME", ""},
	{"GOCACHE", "go-build"},
	{"npm_config_cache", "npm"},
	{"YARN_CACHE_FOLDER", "yarn"},
	{"CARGO_HOME", "cargo"},
	{"GRADLE_USER_HOME", "gradle"},
}

// environment builds what a program sees, sorted, each name once.
func (s *Sandbox) environment(e tool.Environment, g tool.Grant) []string {
	own := s.o.Cache != "" && !g.Unconfined && s.o.Mode != Off
	var list []string
	if len(e.Allow) == 0 {
		list = slices.Clone(s.environs.usual(e.Inherit, own, s.gather))
	} else {
		list = s.gather(e.Inherit, own, e.Allow)
	}
	for _, kv := range e.Set {
		if name, _, ok := strings.Cut(kv, "="); ok && !strings.ContainsRune(kv, 0) {
			list = put(list, name, kv)
		}
	}
	return list
}

// put adds kv to a sorted list, in place of what has the same name.
func put(list []string, name, kv string) []string {
	i, _ := slices.BinarySearch(list, name+"=")
	if i < len(list) && strings.HasPrefix(list[i], name+"=") {
		list[i] = kv
		return list
	}
	return slices.Insert(list, i, kv)
}

// environs are the lists that nearly all programs get. What they are made of
// never changes, so each is made once.
type environs struct {
	mu    sync.Mutex // guards lists
	lists map[[2]bool][]string
}

func (c *environs) usual(inherit, own bool, gather func(inherit, own bool, allow []string) []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]bool{inherit, own}
	list, ok := c.lists[key]
	if !ok {
		list = gather(inherit, own, nil)
		if c.lists == nil {
			c.lists = map[[2]bool][]string{}
		}
		c.lists[key] = list
	}
	return list
}

// gather lists what is passed on of our environment, what was approved by name,
// and what we add to it: own says that there are caches of its own.
func (s *Sandbox) gather(inherit, own bool, allow []string) []string {
	vars := map[string]string{}
	for _, kv := range s.o.Environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && passed(name, inherit) {
			vars[name] = value
		}
	}
	for _, name := range allow {
		if value, ok := lookup(s.o.Environ, name); ok {
			vars[name] = value
		}
	}
	s.addOwn(vars, own)
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// passed reports whether every program gets to see name, or every one that
// inherits our environment.
func passed(name string, inherit bool) bool {
	if inherit {
		return inheritable(name)
	}
	return listed(allowed, strings.ToUpper(name))
}

func inheritable(name string) bool {
	return !looksSecret(name) && (slices.Contains(harmless, name) || !listed(overriding, name))
}

func (s *Sandbox) addOwn(vars map[string]string, own bool) {
	for _, kv := range quiet {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	if s.o.Home != "" {
		vars["HOME"] = s.o.Home
	}
	if s.o.Temp != "" {
		vars["TMPDIR"] = s.o.Temp
	}
	if own {
		for _, c := range caches {
			vars[c.name] = filepath.Join(s.o.Cache, c.folder)
		}
	}
	if vars["PATH"] == "" && runtime.GOOS != "windows" {
		vars["PATH"] = "/usr/local/bin:/usr/bin:/bin"
	}
}

func listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if strings.HasSuffix(entry, "_") {
			return strings.HasPrefix(name, entry)
		}
		return name == entry
	})
}

// secretWords mark a variable whose value must not reach a program unasked.
var secretWords = []string{
	"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "PASSCODE",
	"CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "JWT", "PAT", "PRIVATE", "SIGNATURE", "DSN",
}

// secretEnds mark names in which the word is not set apart, as in OPENAIKEY.
var secretEnds = []string{"APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "DATABASE_URL", "CONNECTION_STRING"}

// looksSecret judges a variable by its name: one of its words says so.
func looksSecret(name string) bool {
	upper := strings.ToUpper(name)
	switch upper {
	case "PWD", "OLDPWD", "SSH_AUTH_SOCK":
		return false
	}
	words := strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) {
		return true
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(upper, end) })
}
