package shell

import (
	"slices"
	"strings"
)

// hasWord tells whether some word after the program is one of names, alone or with =value.
func (c *call) hasWord(names ...string) bool {
	return slices.ContainsFunc(c.args[1:], func(a arg) bool {
		name, _, _ := strings.Cut(a.text, "=")
		return slices.Contains(names, name)
	})
}

// firstWord gives the first word that is no flag, usually a subcommand.
func (c *call) firstWord() string {
	for _, a := range c.args[1:] {
		if !strings.HasPrefix(a.text, "-") {
			return a.text
		}
	}
	return ""
}

// calmly lowers the verdict of a row: this form of the program only looks.
func (c *call) calmly(v Verdict, why string) {
	if c.verdict <= c.row.does {
		c.verdict, c.reason = v, why
	}
}

// checkFlock: with -c a script, else a command behind the lock file.
func checkFlock(c *call) {
	if len(c.operands) > 0 {
		c.write(c.operands[0].arg)
	}
	if len(c.operands) > 2 && c.word(1) == "-c" {
		c.nested(c.operands[2].arg, nil)
		return
	}
	c.wrapped(c.commandFrom(1))
}

// checkTracer: the program may follow --args.
func checkTracer(c *call) {
	c.runs = true
	c.wrapped(c.commandFrom(0))
}

// checkEachScript judges every plain word as a script.
func checkEachScript(c *call) {
	for _, a := range c.args[1:] {
		if !strings.HasPrefix(a.text, "-") && strings.Trim(a.text, "0123456789") != "" {
			c.nested(a, nil)
		}
	}
}

// checkEscapes finds the words by which some old languages start a command.
func checkEscapes(c *call) {
	c.runs = true
	for _, text := range append([]string{c.at.feed.text}, c.texts()...) {
		for _, bad := range []string{"esyscmd", "syscmd", "system", "-dNOSAFER", "%pipe%", "-U", ".sy "} {
			if strings.Contains(text, bad) {
				c.raise(Dangerous, "runs a command")
			}
		}
	}
}

func (c *call) texts() []string {
	var out []string
	for _, a := range c.args[1:] {
		out = append(out, a.text)
	}
	return out
}

// checkPrivileged is sudo: assignments may stand before the command, and a flag may start a shell.
func checkPrivileged(c *call) {
	n := 0
	for n < len(c.operands) && strings.Contains(c.operands[n].text, "=") {
		n++
	}
	c.wrapped(c.commandFrom(n))
}

// checkWrapperLoose: the command may follow a user name.
func checkWrapperLoose(c *call) {
	for i := range min(len(c.operands), 2) {
		c.wrapped(c.commandFrom(i))
	}
}

// checkAnyCommand looks at the first word that a table knows as the start of a command, so that rules see it.
func checkAnyCommand(c *call) {
	for i, a := range c.args[1:] {
		if !strings.HasPrefix(a.text, "-") && lookup(a.text) != nil {
			c.wrapped(c.args[i+1:])
			return
		}
	}
}

func checkScheduled(c *call) {
	if c.at.feed.kind == feedText {
		c.nested(arg{text: c.at.feed.text}, nil)
	}
}

func checkTerminal(c *call) {
	if c.hasWord("-X", "-dr", "-D", "kill", "kill-server") {
		c.raise(Dangerous, "acts in other terminals")
	}
	switch c.firstWord() {
	case "ls", "list-sessions", "list-windows", "list-panes", "show-options", "display-message", "-ls":
	case "kill-server", "kill-session", "kill-pane", "kill-window", "send-keys", "run-shell", "source-file", "pipe-pane", "if-shell":
		c.raise(Dangerous, "acts in other terminals")
	}
}

// checkInPlaceCode is perl and ruby: code, and a flag that changes files in place.
func checkInPlaceCode(c *call) {
	checkScriptRunner(c)
	inPlace := slices.ContainsFunc(c.args[1:], func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "i") })
	for _, a := range c.args[1:] {
		if inPlace && !strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "/~") && !strings.ContainsAny(a.text, " ;{") {
			c.outsideIs(a, Dangerous)
		}
		if !strings.HasPrefix(a.text, "-") {
			c.readSecretOnly(a)
		}
	}
}

// checkNode is node: only a few flags do not run code.
func checkNode(c *call) {
	switch {
	case len(c.args) == 2 && slices.Contains([]string{"-v", "--version", "-h", "--help"}, c.args[1].text):
		return
	case len(c.args) > 2 && (c.args[1].text == "--check" || c.args[1].text == "-c"):
		c.each(operandsOf(c.args[2:]), c.read)
		return
	case c.hasWord("--test") && !c.hasWord("-e", "--eval", "-r", "--require", "--import", "--loader", "--experimental-loader", "-p", "--print"):
		c.raise(Writes, project)
		return
	}
	checkScriptRunner(c)
	if c.hasWord("-r", "--require", "--import", "--loader", "--experimental-loader", "--inspect", "--inspect-brk", "--diagnostic-dir", "--openssl-config") {
		c.raise(Dangerous, "loads other code first")
	}
}

func operandsOf(args []arg) []operand {
	var out []operand
	for i, a := range args {
		out = append(out, operand{a, i})
	}
	return out
}

// checkScriptRunner is for interpreters: asking for the version is all they do without code.
func checkScriptRunner(c *call) {
	if len(c.args) == 2 && slices.Contains([]string{"-v", "-V", "--version", "-version", "-h", "--help", "-help"}, c.args[1].text) {
		return
	}
	c.code(operandsOf(c.args[1:]))
	if c.at.feed.net {
		c.raise(Dangerous, "downloads and runs")
	}
}

// checkPython knows the modules of the standard library that are tools.
func checkPython(c *call) {
	i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == "-m" })
	plain := i > 0 && !slices.ContainsFunc(c.args[1:i], func(a arg) bool { return !slices.Contains(harmlessPythonFlags, a.text) })
	if !plain || i+1 >= len(c.args) {
		checkScriptRunner(c)
		return
	}
	rest := c.args[i+2:]
	switch module := c.args[i+1].text; module {
	case "pytest", "mypy", "ruff", "black", "isort", "flake8", "pylint", "coverage", "build", "tox", "nox", "pyflakes":
		c.wrapped(c.args[i+1:])
	case "pip":
		c.wrapped(append([]arg{{text: "pip"}}, rest...))
	case "unittest", "compileall", "py_compile", "doctest":
		c.raise(Writes, project)
	case "venv", "virtualenv":
		c.each(operandsNoFlags(rest), c.write)
	case "json.tool", "tokenize", "ast", "dis", "calendar", "platform", "sysconfig":
		c.convert(operandsNoFlags(rest))
	case "http.server", "smtpd", "ftplib", "telnetlib":
		c.raise(Network, "opens a port")
	case "zipfile", "tarfile", "gzip", "base64":
		c.raise(MustAsk, "may write files")
		checkNamedOutside(c)
	default:
		checkScriptRunner(c)
	}
}

var harmlessPythonFlags = []string{"-B", "-E", "-I", "-O", "-OO", "-P", "-q", "-s", "-S", "-u", "-v", "-b", "-bb", "-d", "-x"}

func operandsNoFlags(args []arg) []operand {
	var out []operand
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			out = append(out, operand{a, i})
		}
	}
	return out
}

// checkMake: recipes of the project run; another makefile, shell or folder is another matter.
func checkMake(c *call) {
	for i := 1; i < len(c.args); i++ {
		a := c.args[i]
		name, value, assigned := strings.Cut(a.text, "=")
		next := arg{}
		if i+1 < len(c.args) {
			next = c.args[i+1]
		}
		switch {
		case a.mayBeFlag():
			c.raise(MustAsk, "a word may turn into a flag at run time")
		case name == "--eval" || strings.HasPrefix(a.text, "-E") && len(a.text) > 1:
			c.raise(Dangerous, "runs a recipe from the line")
			c.risk(i)
		case name == "-f" || name == "--file" || name == "--makefile" || name == "-I" || name == "--include-dir" || strings.HasPrefix(a.text, "-f") || strings.HasPrefix(a.text, "-I"):
			c.risk(i)
			c.otherMakefile(a, name, value, next)
			if a.text == "-f" || a.text == "-I" || a.text == "--file" || a.text == "--makefile" {
				i++
			}
		case name == "-C" || name == "--directory":
			if assigned {
				next = arg{text: value, known: true}
			} else {
				i++
			}
			c.otherFolder(next)
		case strings.HasPrefix(a.text, "-C"):
			c.otherFolder(arg{text: a.text[2:], known: true})
		case assigned && !strings.HasPrefix(a.text, "-"):
			c.makeVariable(strings.TrimRight(name, ":+?!"), value, i)
		case slices.Contains(outwardTargets, a.text):
			c.raise(Dangerous, a.text+" usually reaches outside the workspace")
		}
	}
}

// outwardTargets are names of recipes that by custom install or publish.
var outwardTargets = []string{"install", "uninstall", "deploy", "publish", "release", "push", "upload", "install-strip", "dist-upload"}

func (c *call) otherMakefile(a arg, name, value string, next arg) {
	file := arg{text: value, known: true}
	switch {
	case a.text == name && (name == "-f" || name == "-I" || strings.HasPrefix(name, "--")):
		file = next
	case value == "":
		file = arg{text: a.text[2:], known: true}
	}
	c.raise(MustAsk, "another makefile")
	if !c.insideOnly(file) {
		c.raise(Dangerous, "a makefile from outside the workspace")
	}
}

func (c *call) otherFolder(a arg) {
	if !c.insideOnly(a) {
		c.raise(Dangerous, "builds outside the workspace")
	}
}

// makeVariable: names that recipes use as programs are programs.
func (c *call) makeVariable(name, value string, i int) {
	switch {
	case powerful(name) || name == "SHELL" || name == ".SHELLFLAGS" || strings.Contains(value, "$(shell") || strings.Contains(value, "`"):
		c.risk(i)
		c.raise(Dangerous, "the variable "+name+" may name a program")
	case (name == "DESTDIR" || strings.EqualFold(name, "prefix")) && !c.insideOnly(arg{text: value, known: true}):
		c.raise(Dangerous, "installs outside the workspace")
	}
}

// checkCMake: -E is a small tool box, -P runs a script, else it configures or builds.
func checkCMake(c *call) {
	if i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == "-E" }); i > 0 {
		c.cmakeTool(c.args[i+1:])
		return
	}
	if len(c.args) == 1 {
		return
	}
	c.raise(Writes, project)
	for i, a := range c.args[1:] {
		next := arg{}
		if i+2 < len(c.args) {
			next = c.args[i+2]
		}
		switch {
		case a.text == "-P" || a.text == "-C" || a.text == "--open":
			c.raise(MustAsk, "runs a script")
		case a.text == "--install" && !c.hasWord("--prefix"):
			c.raise(Dangerous, "installs outside the workspace")
		case a.text == "--prefix" || a.text == "-B":
			c.write(next)
		case strings.HasPrefix(a.text, "-B"):
			c.write(arg{text: a.text[2:], known: true})
		case strings.HasPrefix(a.text, "--prefix="):
			c.write(arg{text: a.text[9:], known: true})
		case strings.Contains(a.text, "COMPILER") || strings.Contains(a.text, "LAUNCHER") || strings.Contains(a.text, "_PROGRAM") || strings.Contains(a.text, "TOOLCHAIN"):
			c.raise(Dangerous, a.shown()+" names a program")
		}
	}
}

// cmakeTool judges cmake -E, whose verbs are like those of the file tools.
func (c *call) cmakeTool(args []arg) {
	if len(args) == 0 {
		return
	}
	as := map[string]string{
		"copy": "cp", "rename": "mv", "remove": "rm", "rm": "rm", "make_directory": "mkdir", "touch": "touch", "echo": "echo", "cat": "cat",
		"env": "env", "time": "time", "tar": "tar", "sleep": "sleep", "create_symlink": "ln", "md5sum": "md5sum", "sha256sum": "sha256sum", "compare_files": "cmp",
	}
	name, known := as[args[0].text]
	if !known {
		c.raise(MustAsk, "a verb of cmake -E that is not known here")
		return
	}
	c.wrapped(append([]arg{{text: name}}, args[1:]...))
}

// checkProjectTool is for tools that run the project's own recipes: flags that name a program, another
// configuration or a place outside are not covered by that.
func checkProjectTool(c *call) {
	for i, a := range c.args[1:] {
		name, value, glued := strings.Cut(a.text, "=")
		v := arg{text: value, known: true}
		if !glued && i+2 < len(c.args) {
			v = c.args[i+2]
		}
		c.projectWord(a, name, v, i+1)
	}
}

func (c *call) projectWord(a arg, name string, v arg, i int) {
	switch {
	case a.mayBeFlag():
		c.raise(MustAsk, "a word may turn into a flag at run time")
	case slices.Contains([]string{"publish", "deploy", "release", "push", "upload", "login", "logout", "install-global", "nuget", "uninstall"}, a.text):
		c.raise(Dangerous, a.text+" reaches outside")
	case slices.Contains([]string{"install", "restore", "update", "upgrade", "fetch", "add", "download", "sync", "deps", "dependency:resolve", "deps.get", "publishToMavenLocal"}, a.text):
		c.raise(Network, a.text+" may download")
	case a.text == "run" && slices.Contains([]string{"vitest", "golangci-lint", "turbo", "nx", "cypress", "lerna", "tox", "trunk"}, c.key()):
	case a.text == "-r" && slices.Contains([]string{"mocha", "rspec", "rake", "nyc", "cucumber"}, c.key()):
		c.raise(Dangerous, "-r loads other code first")
	case slices.Contains([]string{"rake", "rails", "artisan"}, c.key()) && strings.ContainsAny(a.text, ":") && !strings.HasPrefix(a.text, "test:") && !strings.HasPrefix(a.text, "spec:"):
		c.raise(MustAsk, a.text+" may change a database")
	case slices.Contains([]string{"meson", "dotnet"}, c.key()) && a.text == "install":
		c.raise(Dangerous, a.text+" installs outside the workspace")
	case slices.Contains([]string{"run", "exec", "exec:java", "exec:exec", "bootRun", "repl", "console", "shell", "watch", "serve", "start", "dlx", "server"}, a.text):
		c.raise(MustAsk, a.text+" runs code")
	case !strings.HasPrefix(a.text, "-"):
	case slices.Contains(projectRun, name):
		c.risk(i)
		c.raise(Dangerous, name+" runs a program or takes other settings")
	case slices.Contains(projectAsk, name):
		c.risk(i)
		c.raise(MustAsk, name+" takes other settings")
		c.outsideIs(v, Dangerous)
	case slices.Contains(projectWrite, name):
		c.risk(i)
		c.write(v)
	}
}

var (
	projectRun = []string{
		"--init-script", "-I", "--run_under", "--config-env", "--shell", "--script-shell", "--reporter", "--reporters", "--require", "--import", "--loader", "--runner", "--testRunner", "--globalSetup", "--globalTeardown",
		"--setupFiles", "--setupFilesAfterEnv", "--transform", "--resolver", "--environment", "--env", "--testEnvironment", "--plugin", "--plugins", "--pdbcls", "--eval", "--opener", "--browser", "--exec", "--exec-path", "--toolexec",
		"-javaagent", "--jvmArgs", "-Dexec.executable", "--action_env", "--workspace_status_command", "--strategy", "--rcfile", "--bazelrc", "--settings", "--global-settings", "-gs",
		"--load-plugins", "--init-hook", "--custom-typeshed-dir", "--python-executable", "--custom-gcl", "--new-from-rev_",
	}
	projectAsk   = []string{"--config", "-c", "--config-file", "--rcfile", "-f", "--file", "--makefile", "--rakefile", "--justfile", "--taskfile", "--configuration-file", "-s", "--cwd", "-C", "--dir", "--directory", "--root", "--project-dir", "-p", "--rootDir", "--prefix", "--working-directory", "-b", "--build-file", "-m", "--pom"}
	projectWrite = []string{"--output", "--out", "--output-file", "--outfile", "--out-dir", "--outdir", "--dest", "--destination", "--outputFile", "--coverage-directory", "--coverageDirectory", "--cache-location", "--junitxml", "--log-file", "--report", "--report-file", "--output_base", "--output_user_root", "--artifacts-path", "--results-directory", "-o"}
)

// outsideIs raises to v when a path is not known to be in the workspace.
func (c *call) outsideIs(a arg, v Verdict) {
	if strings.ContainsAny(a.text, "/~") && !c.insideOnly(a) {
		c.raise(v, "takes "+a.shown()+" from outside the workspace")
	}
}

// checkGenerator: plugins are programs, outputs are files.
func checkGenerator(c *call) {
	for i, a := range c.args[1:] {
		name, value, glued := strings.Cut(a.text, "=")
		switch {
		case strings.HasPrefix(name, "--plugin") || strings.HasPrefix(name, "-exec"):
			c.risk(i + 1)
			c.raise(Dangerous, name+" runs a program")
		case strings.HasSuffix(name, "_out") || strings.HasSuffix(name, "-out") || name == "-destination" || name == "-output":
			if _, dir, ok := strings.Cut(value, ":"); ok {
				value = dir
			}
			if !glued && i+2 < len(c.args) {
				value = c.args[i+2].text
			}
			c.write(arg{text: value, known: true})
		case name == "-o" && i+2 < len(c.args):
			c.write(c.args[i+2])
		}
	}
}

// checkGoRun: a flag that starts another program is more than running the project.
func checkGoRun(c *call) {
	c.opaque = true
	for _, a := range c.rest() {
		name, _, _ := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		if strings.HasPrefix(a.text, "-") && (name == "exec" || name == "toolexec") {
			c.raise(Dangerous, a.text+" runs a program")
		}
		if strings.Contains(a.text, "@") && !strings.HasPrefix(a.text, "-") {
			c.raise(Dangerous, "downloads and runs")
		}
	}
}

func checkGoTool(c *call) {
	switch words := c.plainWords(); {
	case len(words) == 0:
		c.calmly(ReadOnly, "lists tools")
	case slices.Contains([]string{"nm", "objdump", "buildid", "doc", "addr2line", "vet", "covdata"}, words[0].text), words[0].text == "cover" && c.any("-func"):
		c.calmly(ReadOnly, "looks at a program")
	}
}

func checkWorkUse(c *call) {
	for _, o := range c.plainWords() {
		c.write(o.arg)
	}
}

// checkCompiler: -o is written, wrappers and plugins run programs.
func checkCompiler(c *call) {
	if len(c.args) == 2 && slices.Contains([]string{"-v", "--version", "-dumpversion", "-dumpmachine", "-V", "--help", "-version"}, c.args[1].text) {
		c.calmly(ReadOnly, "prints the version")
		return
	}
	for i, a := range c.args[1:] {
		text := a.text
		next := arg{}
		if i+2 < len(c.args) {
			next = c.args[i+2]
		}
		switch {
		case text == "-o" || text == "-d" || text == "--out-dir" || text == "-MF":
			c.risk(i + 1)
			c.write(next)
		case strings.HasPrefix(text, "-o") && len(text) > 2:
			c.write(arg{text: text[2:], known: true})
		case strings.HasPrefix(text, "--out-dir=") || strings.HasPrefix(text, "--output="):
			_, v, _ := strings.Cut(text, "=")
			c.write(arg{text: v, known: true})
		case text == "-wrapper" || strings.HasPrefix(text, "-B") || strings.HasPrefix(text, "-fplugin") || strings.HasPrefix(text, "-specs") || strings.HasPrefix(text, "--specs") || text == "-load" || strings.Contains(text, "linker=") || strings.HasPrefix(text, "-fuse-ld=/") || strings.Contains(text, "-plugin") || strings.HasPrefix(text, "-processor") || strings.HasPrefix(text, "-J-"):
			c.risk(i + 1)
			c.raise(Dangerous, text+" runs a program")
		case strings.HasPrefix(text, "@"):
			c.raise(MustAsk, "flags from a file")
		case !strings.HasPrefix(text, "-"):
			c.read(a)
		}
	}
}

func checkLatex(c *call) {
	if slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return strings.Contains(a.text, "shell-escape") || strings.Contains(a.text, "write18") || a.text == "-e" || a.text == "-r"
	}) {
		c.raise(Dangerous, "the document runs programs")
	}
}

// checkNodePackages: whether it installs for everybody.
func checkNodePackages(c *call) {
	for _, a := range c.args[1:] {
		switch name, _, _ := strings.Cut(a.text, "="); name {
		case "-g", "--global", "--location", "--prefix", "--script-shell", "--node-options", "--shell", "--userconfig", "--globalconfig", "--registry", "--cache", "--unsafe-perm", "link", "ln":
			c.raise(Dangerous, a.shown()+" reaches outside the workspace")
		}
	}
}

// checkNodeExec looks at the tool that npx starts, but never trusts it: it may be downloaded first.
func checkNodeExec(c *call) {
	c.opaque, c.runs = true, true
	for i, a := range c.args[c.sub+1:] {
		if a.text == "-c" || a.text == "--call" {
			c.raise(Dangerous, "runs a command")
			if c.sub+2+i < len(c.args) {
				c.nested(c.args[c.sub+2+i], nil)
			}
			return
		}
	}
	if slices.ContainsFunc(c.args, func(a arg) bool {
		return a.text == "--yes" || a.text == "-y" || a.text == "-p" || strings.HasPrefix(a.text, "--package") || strings.Contains(a.text, "@")
	}) {
		c.raise(Dangerous, "downloads and runs")
	}
}

// checkNodeConfig: reading a plain setting is harmless.
func checkNodeConfig(c *call) {
	words := c.plainWords()
	if c.row.key == "npm whoami" || c.row.key == "npm ping" {
		c.calmly(Network, "contacts the registry with a stored token")
	}
	get := strings.HasSuffix(c.row.key, " get") || strings.HasSuffix(c.row.key, "config") && len(words) > 0 && (words[0].text == "get" || words[0].text == "list" || words[0].text == "ls")
	if get && !slices.ContainsFunc(words, func(o operand) bool { return strings.Contains(o.text, "_") || strings.Contains(o.text, "//") }) {
		c.calmly(ReadOnly, "shows settings")
	}
}

// checkPipInstall: packages come from the network; places outside and other indexes are dangerous.
func checkPipInstall(c *call) {
	for i, a := range c.rest() {
		name, _, _ := strings.Cut(a.text, "=")
		switch name {
		case "--user", "--break-system-packages", "--index-url", "-i", "--extra-index-url", "--trusted-host", "--root", "--prefix", "--global-option", "--install-option", "--config-settings", "--python":
			c.raise(Dangerous, a.shown()+" reaches outside the workspace")
		case "-t", "--target", "-d", "--dest", "--src":
			if i+1 < len(c.rest()) {
				c.write(c.rest()[i+1])
			}
		}
	}
}

// dangerWords are verbs that change something elsewhere for good or hand out credentials.
var dangerWords = []string{
	"delete", "remove", "rm", "destroy", "merge", "close", "create", "edit", "release", "auth", "login", "logout", "token", "secret", "secrets", "ssh-key", "gpg-key", "alias", "extension", "api", "run", "exec", "ssh", "install", "uninstall",
	"publish", "apply", "push", "rename", "archive", "transfer", "sync", "fork", "config", "variable", "self", "cache", "python", "tool", "upload", "set", "codespace", "workflow", "approve", "review", "comment", "ready", "lock", "reopen", "revert", "deploy",
}

// checkDangerWords is for clients with many verbs: those that change something are dangerous.
func checkDangerWords(c *call) {
	for _, a := range c.args[1:] {
		if strings.HasPrefix(a.text, "-") {
			continue
		}
		if slices.Contains(dangerWords, a.text) {
			c.raise(Dangerous, a.text+" changes something elsewhere or uses credentials")
		}
	}
}

func checkPythonProject(c *call) {
	switch c.firstWord() {
	case "run", "exec":
		i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == "run" || a.text == "exec" })
		c.verdict, c.reason = ReadOnly, "starts a program of the project"
		c.wrapped(c.args[i+1:])
	case "publish", "config", "self", "cache", "shell", "clean", "create", "remove", "activate", "env":
		c.raise(Dangerous, "reaches outside the project")
	case "show", "check", "list", "info", "version", "--version", "graph":
		c.calmly(ReadOnly, "shows the project")
	case "build", "init", "new", "test", "fmt":
		c.calmly(Writes, project)
	}
}

// checkUvRun looks through uv run, which may download first.
func checkUvRun(c *call) {
	rest := c.rest()
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
		if n := rest[0].text; n == "--with" || n == "-p" || n == "--python" || n == "--index-url" || n == "--env-file" || n == "-m" {
			c.raise(MustAsk, n+" brings other code")
		}
		rest = rest[1:]
	}
	c.runs = true
	c.wrapped(rest)
}

// checkScriptName: scripts of a project that by custom publish are asked.
func checkScriptName(c *call) {
	for _, o := range c.operands {
		if slices.Contains(outwardTargets, o.text) {
			c.raise(MustAsk, o.text+" usually reaches outside the workspace")
		}
	}
}

func checkCoverage(c *call) {
	switch c.firstWord() {
	case "report":
		c.calmly(ReadOnly, "shows numbers")
	case "run":
		c.raise(MustAsk, "runs code")
		if i := slices.IndexFunc(c.args, func(a arg) bool { return a.text == "-m" }); i > 0 && i+1 < len(c.args) && (c.args[i+1].text == "pytest" || c.args[i+1].text == "unittest") {
			c.verdict, c.reason = Writes, project
		}
	}
}

func checkBundleExec(c *call) { c.wrapped(c.rest()) }

func checkComposer(c *call) {
	switch c.firstWord() {
	case "show", "validate", "licenses", "check-platform-reqs", "depends", "why", "status", "about", "--version":
		c.calmly(ReadOnly, "shows the project")
	case "dump-autoload", "dumpautoload", "run-script", "test":
		c.calmly(Writes, project)
	case "global", "config", "exec", "self-update", "selfupdate":
		c.raise(Dangerous, "reaches outside the project")
	}
}

// checkFormatCheck: with --check and --diff nothing is written.
func checkFormatCheck(c *call) {
	if c.has("--check", "--diff", "--check-only") && !c.has("--in-place") {
		if c.verdict == Writes {
			c.verdict, c.reason = ReadOnly, "only compares"
		}
	}
}

func checkRuff(c *call) {
	if c.hasWord("--config") {
		c.raise(MustAsk, "other settings")
	}
	first := c.firstWord()
	writes := c.hasWord("--fix", "--unsafe-fixes", "--fix-only", "--add-noqa", "-o", "--output-file", "clean") || first == "format" && !c.hasWord("--check", "--diff")
	if !writes && slices.Contains([]string{"check", "format", "rule", "config", "linter", "version"}, first) {
		c.calmly(ReadOnly, "looks at the code")
	}
	checkProjectTool(c)
}

func checkPythonLint(c *call) {
	checkProjectTool(c)
	if c.hasWord("--install-types") {
		c.raise(Network, "downloads packages")
	}
	if c.hasWord("--plugins", "--load-plugins", "--init-hook", "--python-executable") {
		c.raise(Dangerous, "runs code")
	}
}

func checkTsc(c *call) {
	if c.has("--noEmit", "--showConfig", "--listFilesOnly") && c.verdict == Writes {
		c.verdict, c.reason = ReadOnly, "only checks"
	}
}
