package sandbox

import (
	"maps"
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
	vars := map[string]string{}
	maps.Copy(vars, s.passed(e.Inherit))
	for _, name := range e.Allow {
		if value, ok := lookup(s.o.Environ, name); ok {
			vars[name] = value
		}
	}
	s.addOwn(vars, g)
	for _, kv := range e.Set {
		if name, value, ok := strings.Cut(kv, "="); ok && !strings.ContainsRune(kv, 0) {
			vars[name] = value
		}
	}
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// passed is what of our environment every program gets, or every one that
// inherits it. It never changes, so it is judged once.
func (s *Sandbox) passed(inherit bool) map[string]string {
	s.environs.once.Do(func() {
		s.environs.listed, s.environs.inherited = map[string]string{}, map[string]string{}
		for _, kv := range s.o.Environ {
			name, value, ok := strings.Cut(kv, "=")
			if !ok || name == "" {
				continue
			}
			if listed(allowed, strings.ToUpper(name)) {
				s.environs.listed[name] = value
			}
			if inheritable(name) {
				s.environs.inherited[name] = value
			}
		}
	})
	if inherit {
		return s.environs.inherited
	}
	return s.environs.listed
}

// environs are the two selections of our environment.
type environs struct {
	once              sync.Once
	listed, inherited map[string]string
}

func inheritable(name string) bool {
	return !looksSecret(name) && (slices.Contains(harmless, name) || !listed(overriding, name))
}

func (s *Sandbox) addOwn(vars map[string]string, g tool.Grant) {
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
	if s.o.Cache != "" && !g.Unconfined && s.o.Mode != Off {
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
