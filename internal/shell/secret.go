package shell

import (
	"path"
	"slices"
	"strings"
)

// homeSecrets are files and folders below a home folder that hold keys, tokens or histories.
var homeSecrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/hub",
	".config/ikigai", ".ikigai", ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc.yml", ".pypirc",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d", ".terraformrc", ".vault-token", ".pgpass", ".my.cnf",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".password-store",
	".local/share/keyrings", "Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".config/op", ".config/rclone",
	".config/doctl", ".config/heroku", ".composer/auth.json", ".m2/settings.xml", ".gradle/gradle.properties", ".s3cfg", ".boto",
	".subversion/auth", ".config/containers/auth.json", ".claude", ".codex", ".gemini", ".config/github-copilot",
}

// systemSecrets are paths outside any home; a star stands for one name.
var systemSecrets = []string{
	"/etc/passwd", "/etc/passwd-", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssl/private", "/etc/ssh", "/etc/krb5.keytab", "/etc/kubernetes", "/run/secrets", "/var/run/secrets", "/var/lib/sss", "/root",
	"/proc/*/environ", "/proc/*/mem", "/proc/*/maps", "/proc/kcore", "/proc/*/task", "/proc/*/root", "/proc/*/cwd", "/proc/*/fd",
	"/dev/mem", "/dev/kmem", "/dev/sda", "/dev/nvme0n1", "/dev/vda", "/dev/disk", "/var/spool/cron", "/etc/NetworkManager", "/etc/wireguard",
	"/etc/crypttab", "/run/docker.sock", "/var/run/docker.sock", "/etc/security/opasswd",
}

// secretNames are file names that hold secrets wherever they are.
var secretNames = []string{
	"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", ".htpasswd",
	".vault-token", ".dockercfg", ".bash_history", ".zsh_history", "credentials.json", "service-account.json", ".aws", ".ssh", ".gnupg",
}

// secretEnds are ends of names of key files.
var secretEnds = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".gpg"}

// secret tells whether reading p gives a credential away. With glob, p is a pattern and counts when it may match.
func (j *judge) secret(p string, glob bool) bool {
	for name := range strings.SplitSeq(p, "/") {
		if secretName(name) || glob && matchesAny(name, append(secretNames, ".env")) {
			return true
		}
	}
	return j.secretDir(p) || glob && j.patternMeetsSecret(p)
}

func secretName(name string) bool {
	low := strings.ToLower(name)
	if slices.Contains(secretNames, low) || strings.HasPrefix(low, ".env") && low != ".env.example" && low != ".environment" {
		return true
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(low, end) && len(low) > 1 })
}

// secretDir tells whether p is one of the known places or below it.
func (j *judge) secretDir(p string) bool {
	if i := strings.Index(p, "/home/"); i == 0 || j.place.Home != "" && within(p, j.place.Home) || strings.HasPrefix(p, "/Users/") {
		if belowHome(p, j.place.Home) {
			return true
		}
	}
	return slices.ContainsFunc(systemSecrets, func(s string) bool { return coveredBy(p, s) })
}

func belowHome(p, home string) bool {
	rest := strings.TrimPrefix(p, home+"/")
	if !within(p, home) || home == "" { // another person's home: /home/name/…
		parts := strings.SplitN(p, "/", 4)
		if len(parts) < 4 {
			return false
		}
		rest = parts[3]
	}
	return slices.ContainsFunc(homeSecrets, func(s string) bool { return within(rest, s) })
}

// coveredBy compares name by name; a star in the known place matches one name.
func coveredBy(p, known string) bool {
	have, want := strings.Split(p, "/"), strings.Split(known, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] {
			return false
		}
	}
	return true
}

// patternMeetsSecret tells whether a pattern could match one of the known places.
func (j *judge) patternMeetsSecret(pattern string) bool {
	meets := func(s string) bool { return meet(strings.Split(pattern, "/"), strings.Split(s, "/")) }
	if slices.ContainsFunc(systemSecrets, meets) {
		return true
	}
	return slices.ContainsFunc(homeSecrets, func(s string) bool { return meets(path.Join(j.place.Home, s)) })
}

func meet(pattern, known []string) bool {
	for i := range min(len(pattern), len(known)) {
		ok, err := path.Match(pattern[i], known[i])
		hiddenName := strings.HasPrefix(known[i], ".") && !strings.HasPrefix(pattern[i], ".")
		if known[i] != "*" && (err == nil && !ok || hiddenName) {
			return false
		}
	}
	return len(pattern) >= len(known)
}

// coversSecrets tells whether everything below p includes one of the known places.
func (j *judge) coversSecrets(p string) bool {
	if j.inside(p) {
		return false
	}
	if j.place.Home != "" && within(j.place.Home, p) {
		return true
	}
	return p == "/home" || p == "/Users" || slices.ContainsFunc(systemSecrets, func(s string) bool { return within(s, p) })
}

// powerful tells whether a variable of that name is taken by the shell or by common programs as code, as a path to
// code, as options, or as the place of their settings.
func powerful(name string) bool {
	if slices.Contains(powerfulNames, name) {
		return true
	}
	for _, p := range powerfulStarts {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, e := range powerfulEnds {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

var powerfulNames = []string{
	"PATH", "IFS", "ENV", "SHELL", "HOME", "CDPATH", "PS0", "PS1", "PS2", "PS3", "PS4", "SHELLOPTS", "BASHOPTS", "GLOBIGNORE", "FIGNORE",
	"HISTFILE", "HISTCONTROL", "MAILPATH", "INPUTRC", "FCEDIT", "EXECIGNORE", "TMPDIR", "TERMINFO", "TERMCAP", "HOSTALIASES", "LOCPATH", "NLSPATH",
	"MANPATH", "MANOPT", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY", "MORE", "GREP_COLOR", "VIMINIT", "EXINIT", "MYVIMRC",
	"CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "OBJCOPY", "FC", "LDSHARED", "MAKE", "MAKEFILES", "MAKEFLAGS", "MFLAGS", "RUSTC", "RUSTDOC",
	"GOROOT", "GOENV", "GOPROXY", "GOTOOLCHAIN", "GOBIN", "GOCACHE", "GOMODCACHE", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "GOPRIVATE", "GOSUMDB", "GOAUTH", "GOVCS",
	"NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PERL5DB", "PERLLIB", "PERL5LIB",
	"JAVA_HOME", "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "SUDO_ASKPASS", "TAR", "RSYNC_RSH", "CVS_RSH", "TIMEFORMAT", "POSIXLY_CORRECT",
	"OPENSSL_CONF", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
	"NODE_TLS_REJECT_UNAUTHORIZED", "CLASSPATH", "MAVEN_ARGS", "XDG_CONFIG_HOME", "SYSTEMD_PAGER", "TEXTDOMAINDIR", "QUOTING_STYLE", "UV_INDEX_URL", "BUNDLE_GEMFILE",
	"PROMPT_COMMAND", "COMMAND_MODE", "BASH_ENV",
}

var powerfulStarts = []string{
	"LD_", "DYLD_", "GIT_", "BASH_", "BASH_FUNC_", "SSH_", "GCONV_", "MALLOC_", "PYTHON", "PERL5", "RUBY", "npm_config_", "NPM_CONFIG_", "PIP_", "CARGO_", "RUSTC_",
	"XDG_", "AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "ASAN_", "LSAN_", "UBSAN_", "IKIGAI_", "SWEBASH_", "SUDO_", "JAVA_TOOL", "_JAVA", "JDK_", "DOTNET_STARTUP", "COMPlus_", "CORECLR_",
	"YARN_", "LUA_", "GTK_", "QT_", "GLIBC_", "TF_CLI_", "ANSIBLE_", "ELECTRON_", "COMPOSER_", "BUNDLE_", "GEM_",
}

var powerfulEnds = []string{
	"PATH", "FLAGS", "_OPTIONS", "OPTIONS", "_OPTS", "OPTS", "_OPT", "PAGER", "EDITOR", "VISUAL", "BROWSER", "_SHELL", "_COMMAND", "_CMD", "_HOOK", "_HOOKS",
	"_PROXY", "_proxy", "_WRAPPER", "PRELOAD", "ASKPASS", "_RC", "_CONFIG", "_CONF", "_LINKER", "_RUNNER", "_EXEC", "_PROGRAM", "_BIN", "_INIT",
}

// holdsSecret tells whether a variable is named as those that hold credentials.
func holdsSecret(name string) bool {
	up := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"}, func(s string) bool {
		return strings.Contains(up, s)
	})
}
