package shell

import (
	"slices"
	"strings"
)

// checkURLs: file addresses read this machine, and a download without a name lands in the folder at hand.
func checkURLs(c *call) {
	for _, o := range c.operands {
		if file, ok := strings.CutPrefix(o.text, "file://"); ok {
			c.read(arg{text: file, known: true})
		}
	}
	if u, ok := c.flag("--url"); ok {
		c.hosts([]operand{{arg: u.value}})
	}
	wget := c.row.names != "curl" && !c.has("-O", "--output-document", "--spider", "-P", "--directory-prefix")
	if wget || c.row.names == "curl" && c.has("-O", "--remote-name", "--remote-name-all", "-J") && !c.has("--output-dir") {
		for _, d := range c.at.dirs {
			if !c.j.inside(d) && !c.j.temporary(d) {
				c.raise(Dangerous, "writes outside the workspace")
			}
		}
	}
}

// checkNetExtra: flags of network tools that run a program or open a port to one.
func checkNetExtra(c *call) {
	for _, a := range c.args[1:] {
		low := strings.ToLower(a.text)
		switch {
		case slices.Contains([]string{"nc", "ncat", "netcat"}, c.key()) && strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "ec") && !strings.HasPrefix(a.text, "--"),
			strings.HasPrefix(low, "exec:"), strings.HasPrefix(low, "system:"), strings.HasPrefix(low, "--exec"), strings.HasPrefix(low, "--sh-exec"), strings.HasPrefix(low, "--lua-exec"), strings.HasPrefix(low, "--script"), strings.HasPrefix(low, "--on-"), strings.HasPrefix(low, "--downloader"), strings.HasPrefix(low, "--config"):
			c.raise(Dangerous, a.shown()+" runs a program")
		case strings.HasPrefix(low, "-u") && c.key() == "nc", strings.Contains(low, "unix-") || strings.Contains(a.text, ".sock"):
			c.raise(Dangerous, "talks to a service of this machine")
		case strings.HasPrefix(a.text, "/") && !strings.HasPrefix(a.text, "//"):
			c.readSecretOnly(a)
		}
	}
	if k := c.at.feed.kind; (k == feedFile || k == feedPipe) && slices.Contains([]string{"nc", "ncat", "netcat", "socat", "telnet"}, c.key()) {
		c.raise(Dangerous, "sends its input away")
	}
	for _, a := range c.args[1:] {
		if h := hostOf(a.text); h != "" {
			c.j.out.Hosts = append(c.j.out.Hosts, h)
		}
	}
}

// checkMount: without words it shows what is mounted.
func checkMount(c *call) {
	if len(c.args) == 1 || len(c.args) == 2 && c.args[1].text == "-l" {
		c.calmly(ReadOnly, "shows mounts")
	}
}

// checkGetent: the lists of people are as secret as the files they come from.
func checkGetent(c *call) {
	switch c.firstWord() {
	case "shadow", "gshadow", "passwd":
		c.raise(Dangerous, "reads the list of accounts")
	}
}

// key is the name under which the row was found.
func (c *call) key() string { return c.row.key }

// checkSSH: options that run a command here, other settings, and tunnels.
func checkSSH(c *call) {
	for _, a := range c.args[1:] {
		low := strings.ToLower(a.text)
		if strings.Contains(low, "command") || strings.Contains(low, "proxy") || strings.Contains(low, "include") || strings.Contains(low, "pkcs11") || strings.Contains(low, "securitykeyprovider") || strings.Contains(low, "xauthlocation") {
			c.raise(Dangerous, "an option that runs a program here")
		}
		if strings.HasPrefix(a.text, "-") && len(a.text) > 1 && strings.IndexByte("FDLRwSEIAXYM", a.text[1]) >= 0 {
			c.raise(Dangerous, a.shown()+" opens a way or takes other settings")
		}
	}
	checkNetExtra(c)
}

// checkSCP: what lands here must land in the workspace, what leaves must not be a secret.
func checkSCP(c *call) {
	checkSSH(c)
	var ops []arg
	for _, a := range c.args[1:] {
		if !strings.HasPrefix(a.text, "-") {
			ops = append(ops, a)
		}
	}
	for i, a := range ops {
		switch {
		case remotePath(a.text) || c.key() == "sftp":
		case i == len(ops)-1:
			c.write(a)
		default:
			c.deep = true
			c.read(a)
			c.raise(Dangerous, "sends a file away")
		}
	}
}

func checkKeygen(c *call) {
	if c.key() == "ssh-keygen" && c.hasWord("-l", "-lf", "-B") && !c.hasWord("-D") {
		c.calmly(MustAsk, "shows a fingerprint")
	}
}

func checkHostname(c *call) {
	if len(c.operands) > 0 {
		c.raise(Dangerous, "sets the name of the machine")
	}
	if c.has("-f", "-d", "-i", "--fqdn", "--domain", "--ip-address", "-A") {
		c.raise(Network, "looks the name up")
	}
}

// checkCloud: verbs that change something are dangerous, and so is asking for a secret.
func checkCloud(c *call) {
	for _, a := range c.args[1:] {
		low := strings.ToLower(a.text)
		if strings.HasPrefix(low, "--kubeconfig") || strings.HasPrefix(low, "--as") || strings.HasPrefix(low, "--endpoint-url") || strings.HasPrefix(low, "--profile") {
			c.raise(Dangerous, a.shown()+" takes other settings")
		}
		if strings.HasPrefix(low, "-") {
			continue
		}
		if slices.Contains(cloudDanger, low) || slices.ContainsFunc(cloudVerbs, func(v string) bool { return strings.HasPrefix(low, v+"-") }) {
			c.raise(Dangerous, a.text+" changes something elsewhere or uses credentials")
		}
	}
	if c.key() == "kubectl" && (c.firstWord() == "version" && c.hasWord("--client") || c.firstWord() == "kustomize") || c.key() == "helm" && slices.Contains([]string{"template", "lint", "version"}, c.firstWord()) {
		c.calmly(Writes, "renders files")
	}
}

var (
	cloudVerbs  = []string{"delete", "create", "put", "update", "terminate", "run", "start", "stop", "reboot", "attach", "detach", "modify", "remove", "get-secret", "assume", "get-session", "get-login", "print-access", "send", "invoke", "print-identity"}
	cloudDanger = []string{
		"delete", "apply", "create", "edit", "exec", "patch", "replace", "scale", "drain", "cordon", "uncordon", "rollout", "run", "expose", "port-forward", "proxy", "cp", "mv", "rm", "sync", "rb", "mb", "attach", "debug", "label", "annotate", "taint", "auth", "config", "configure", "login", "logout",
		"install", "uninstall", "upgrade", "rollback", "deploy", "secret", "secrets", "set", "ssh", "scp", "terminate-instances", "invoke", "plugin", "set-context", "certificate", "autoscale", "start", "stop", "import", "export", "publish", "update", "push", "add", "remove",
	}
)

// checkTerraform: formatting and checking is local work.
func checkTerraform(c *call) {
	switch c.firstWord() {
	case "fmt":
		if c.hasWord("-check", "--check") && !c.hasWord("-write") {
			c.calmly(ReadOnly, "only compares")
		} else {
			c.calmly(Writes, "formats files")
		}
	case "validate", "version", "graph", "show", "output", "providers":
		c.calmly(Writes, "looks at the project")
	case "apply", "destroy", "import", "taint", "untaint", "state", "force-unlock", "login", "logout", "up", "ssh", "push", "console", "kv", "read", "write", "delete", "secrets", "token", "operator", "job", "halt", "decrypt", "encrypt", "edit", "view":
		c.raise(Dangerous, "changes or reads what is elsewhere")
	}
	if slices.Contains([]string{"ansible", "ansible-playbook", "salt", "puppet", "chef", "knife"}, c.key()) {
		c.raise(Dangerous, "runs commands on machines")
	}
}

// checkDocker: looking at containers is harmless enough, all else acts with the power of the service.
func checkDocker(c *call) {
	first := c.firstWord()
	second := ""
	if i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == first }); i > 0 && i+1 < len(c.args) {
		second = c.args[i+1].text
	}
	if slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return a.text == "-H" || strings.HasPrefix(a.text, "--host") || strings.HasPrefix(a.text, "--config") || a.text == "-c" || strings.HasPrefix(a.text, "--context")
	}) {
		return
	}
	lists := []string{"ls", "list", "inspect", "ps", "df", "history", "top", "port", "logs", "stats", "images", "version", "config"}
	groups := []string{"container", "image", "volume", "network", "system", "compose", "context", "builder", "buildx", "node", "stack"}
	switch {
	case slices.Contains([]string{"ps", "images", "version", "info", "logs", "inspect", "top", "stats", "port", "diff", "history", "events"}, first), slices.Contains(groups, first) && slices.Contains(lists, second):
		c.calmly(ReadOnly, "shows containers")
	case first == "pull" || first == "search" || first == "manifest" || first == "compose" && second == "pull":
		c.calmly(Network, "contacts a registry")
	case first == "build" || first == "compose" && second == "build" || first == "buildx" && second == "build":
		c.calmly(Dangerous, "builds through the container service")
	case first == "" && len(c.args) == 2:
		c.calmly(ReadOnly, "prints help")
	}
	if first == "exec" || first == "run" {
		checkAnyCommand(c)
	}
}

// checkDatabase: a shell escape runs a program, a destructive statement destroys.
func checkDatabase(c *call) {
	if c.at.feed.kind == feedText {
		c.statement(c.at.feed.text)
	}
	for i, a := range c.args[1:] {
		c.statement(a.text)
		switch a.text {
		case "-o", "-L", "--output", "--log-file", "-f", "--file", "--result-file":
			if i+2 < len(c.args) && c.key() != "sqlite3" {
				c.outsideIs(c.args[i+2], Dangerous)
			}
		case "-init", "-cmd":
			c.raise(MustAsk, "runs commands first")
		}
	}
	if c.key() == "dropdb" || c.key() == "mysqladmin" || c.key() == "pg_restore" || c.key() == "mongorestore" {
		c.raise(Dangerous, "destroys data")
	}
	if strings.HasPrefix(c.key(), "sqlite") || c.key() == "duckdb" {
		for _, o := range operandsNoFlags(c.args[1:min(2, len(c.args))]) {
			c.outsideIs(o.arg, Dangerous)
		}
	}
}

// statement looks for what is certainly harmful in text of a database language.
func (c *call) statement(text string) {
	low := strings.ToLower(text)
	for _, bad := range []string{".shell", ".system", ".output", ".once", ".save", ".backup", ".import", ".load", ".read", ".log", ".open", ".excel", ".cd ", `\!`, `\copy`, `\o `, `\i `, `\g `, `\gexec`, `\w `, "load_extension", "into outfile", "into dumpfile", "load_file", "load data", "copy ", "system ", "pg_read_file", "lo_export", "writefile", "readfile", "flushall", "flushdb", "drop ", "truncate ", "delete ", "shutdown", "eval ", "attach "} {
		if strings.Contains(low+" ", bad) {
			c.raise(Dangerous, "the statement runs a program, writes a file or destroys data")
			return
		}
	}
}

func checkGPG(c *call) {
	if c.hasWord("--verify", "--version", "--list-keys", "-k", "--fingerprint") && !c.hasWord("--output", "-o", "--import", "--keyserver", "--recv-keys", "--homedir", "--photo-viewer", "--options") || c.key() == "gpgv" {
		c.calmly(MustAsk, "looks at keys")
	}
}

// checkOpenSSL: a few verbs only compute.
func checkOpenSSL(c *call) {
	first := c.firstWord()
	for i, a := range c.args[1:] {
		next := arg{}
		if i+2 < len(c.args) {
			next = c.args[i+2]
		}
		switch a.text {
		case "-out", "-keyout", "-writerand":
			c.risk(i + 1)
			c.write(next)
		case "-in", "-inkey", "-key", "-CAkey", "-kfile", "-signkey":
			c.read(next)
		case "-engine", "-provider", "-provider-path", "-config":
			c.raise(Dangerous, a.text+" loads code")
		case "s_client", "s_server", "ocsp", "s_time":
			c.raise(Network, "opens a connection")
		}
	}
	known := slices.Contains([]string{"version", "dgst", "rand", "x509", "list", "ciphers", "prime", "asn1parse", "sha256", "md5", "help", "base64", "verify", "errstr"}, first)
	switch {
	case known && !c.hasWord("-out", "-sign", "-signkey", "-req", "-keyout", "-engine"):
		c.calmly(ReadOnly, "computes")
	case known:
		c.calmly(Writes, "writes a file")
	case first == "s_client":
		c.calmly(Network, "opens a connection")
	}
	if i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == first }); known && first != "" && i > 0 {
		c.each(operandsNoFlags(c.args[i+1:]), c.readIfPath)
	}
}

func (c *call) readIfPath(a arg) {
	if strings.ContainsAny(a.text, "./") {
		c.read(a)
	}
}

// checkPs: the environment of other processes may hold secrets.
func checkPs(c *call) {
	if c.key() != "ps" {
		return
	}
	for _, a := range c.args[1:] {
		if !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "e") && !strings.Contains(a.text, ",") && isName(a.text) && len(a.text) < 6 {
			c.raise(Dangerous, "shows the environment of processes")
		}
	}
}

func checkFuser(c *call) {
	if c.key() == "fuser" && slices.ContainsFunc(c.args[1:], func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "k") }) {
		c.raise(Dangerous, "kills processes")
	}
}

func checkSs(c *call) {
	if slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.ContainsAny(a.text, "KD") || a.text == "--kill"
	}) {
		c.raise(Dangerous, "closes connections")
	}
}

func checkJournal(c *call) {
	for _, a := range c.args[1:] {
		if strings.HasPrefix(a.text, "--vacuum") || strings.HasPrefix(a.text, "--rotate") || strings.HasPrefix(a.text, "--flush") || slices.Contains([]string{"-C", "-c", "--clear", "--read-clear", "-n", "-D", "-E", "--setup-keys", "--cursor-file"}, a.text) && c.key() == "dmesg" {
			c.raise(Dangerous, a.shown()+" changes the logs")
		}
	}
}

// checkIP: showing is harmless.
func checkIP(c *call) {
	changes := []string{"add", "del", "delete", "set", "change", "replace", "flush", "append", "up", "down", "netns", "exec", "connect", "modify", "hw", "mtu", "netmask"}
	if slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return slices.Contains(changes, a.text) || strings.HasPrefix(a.text, "-b") || a.text == "-s" && c.key() == "arp" || a.text == "-d" || a.dynamic()
	}) {
		return
	}
	if c.key() == "ip" || c.key() == "bridge" || len(operandsNoFlags(c.args[1:])) <= 1 && c.key() != "route" || len(c.args) == 1 {
		c.calmly(ReadOnly, "shows the network")
	}
}

func checkSysctl(c *call) {
	if !slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return strings.Contains(a.text, "=") || strings.HasPrefix(a.text, "-w") || strings.HasPrefix(a.text, "-p") || strings.HasPrefix(a.text, "--") || a.dynamic()
	}) {
		c.calmly(ReadOnly, "shows settings of the kernel")
	}
}

func checkServices(c *call) {
	shows := []string{"status", "list-units", "list-unit-files", "list-timers", "is-active", "is-enabled", "is-failed", "show", "cat", "list-dependencies", "list-sockets", "--version", "list-sessions", "list"}
	if slices.Contains(shows, c.firstWord()) || len(c.args) == 1 && c.key() != "init" {
		if !slices.ContainsFunc(c.args[1:], func(a arg) bool { return a.text == "-H" || strings.HasPrefix(a.text, "--host") }) {
			c.calmly(ReadOnly, "shows services")
		}
	}
}

func checkKill(c *call) {
	if len(c.args) > 1 && (c.args[1].text == "-l" || c.args[1].text == "-L" || c.args[1].text == "--list") {
		c.calmly(ReadOnly, "lists signals")
	}
}

// checkPackager: asking the local list is harmless, asking a mirror is network.
func checkPackager(c *call) {
	first := c.firstWord()
	if c.hasWord("-o", "--option", "-c", "--config-file", "--setopt", "--root", "--installroot") {
		return
	}
	local := map[string][]string{
		"apt": {"list", "show", "policy", "search", "depends"}, "apt-cache": {"policy", "show", "search", "depends", "rdepends", "madison", "pkgnames", "stats"},
		"apt-mark": {"showmanual", "showauto", "showhold"}, "brew": {"list", "--version", "--prefix", "config", "leaves", "--cellar"}, "snap": {"list"}, "flatpak": {"list"}, "apk": {"info"},
	}
	switch {
	case slices.Contains(local[c.key()], first):
		c.calmly(ReadOnly, "shows packages")
	case c.key() == "pacman" && len(c.args) > 1 && strings.HasPrefix(c.args[1].text, "-Q"):
		c.calmly(ReadOnly, "shows packages")
	}
}

func checkDpkg(c *call) {
	if len(c.args) < 2 {
		return
	}
	asks := []string{"-l", "-L", "-s", "-S", "-W", "-c", "-I", "--list", "--listfiles", "--status", "--search", "--get-selections", "--print-architecture", "--version", "--show", "--contents", "--info", "-qa", "-qi", "-ql", "-qf", "-q", "--query"}
	if slices.Contains(asks, c.args[1].text) {
		c.calmly(ReadOnly, "shows packages")
	}
}

// checkEditor: commands on the line run at once.
func checkEditor(c *call) {
	for _, a := range c.args[1:] {
		if strings.HasPrefix(a.text, "+") && len(a.text) > 1 && strings.Trim(a.text[1:], "0123456789") != "" || strings.Contains(a.text, "!") ||
			slices.Contains([]string{"-c", "--cmd", "-S", "-s", "-u", "-U", "--eval", "-eval", "--execute", "-f", "-l", "--load", "--script", "--batch", "-batch", "-es", "-e", "-x", "--install-extension"}, a.text) || strings.HasPrefix(a.text, "-c") || strings.HasPrefix(a.text, "--eval") || strings.HasPrefix(a.text, "--cmd") {
			c.raise(Dangerous, "the editor runs commands")
		}
		if !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") && strings.ContainsAny(a.text, "/~") {
			c.write(a)
		}
	}
	if c.at.feed.kind == feedText && strings.Contains(c.at.feed.text, "!") {
		c.raise(Dangerous, "the editor runs commands")
	}
}
