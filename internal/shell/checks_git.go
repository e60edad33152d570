package shell

import (
	"path"
	"slices"
	"strings"
)

// gitConfigFlag judges -c key=value: only settings of the output are harmless, many others name a program.
func gitConfigFlag(c *call, _ string, v arg, i int) {
	key, value, _ := strings.Cut(v.text, "=")
	if harmlessKey(key) && !v.dynamic() || disabled(key, value) {
		return
	}
	c.risk(i)
	c.raise(Dangerous, "the setting "+v.shown()+" may run a program")
}

// harmlessKey tells whether a setting of git only changes what is shown or who is named.
func harmlessKey(key string) bool {
	key = strings.ToLower(key)
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "color", "column", "advice", "status", "log", "blame", "pretty", "format", "grep", "branch", "rerere", "feature":
		return !strings.Contains(key, "mergeoptions") && !strings.Contains(key, "pager") && !strings.Contains(key, "remote") && !strings.HasSuffix(key, "headers")
	case "user":
		return name == "name" || name == "email" || name == "useconfigonly"
	case "init":
		return name == "defaultbranch"
	case "diff":
		return slices.Contains([]string{"context", "renames", "noprefix", "mnemonicprefix", "algorithm", "colormoved", "renamelimit", "interhunkcontext", "relative", "wordregex", "indentheuristic"}, name)
	case "core":
		return slices.Contains([]string{"quotepath", "abbrev", "autocrlf", "eol", "safecrlf", "ignorecase", "filemode", "precomposeunicode", "commentchar", "whitespace", "longpaths", "preloadindex"}, name)
	case "pull", "push", "fetch", "merge", "rebase":
		return slices.Contains([]string{"rebase", "ff", "default", "autosetupremote", "prune", "prunetags", "conflictstyle", "stat", "autostash", "autosquash", "renames", "followtags"}, name)
	}
	return false
}

// disabled tells whether a setting switches a program off.
func disabled(key, value string) bool {
	switch strings.ToLower(key) {
	case "core.pager", "core.fsmonitor", "core.editor", "diff.external", "core.hookspath", "commit.gpgsign", "tag.gpgsign", "core.untrackedcache":
		return slices.Contains([]string{"", "cat", "false", "true", "/dev/null", ":"}, value) && !(strings.EqualFold(key, "core.fsmonitor") && value == "true")
	}
	return false
}

// gitDirFlag: another repository brings its own settings, which may run programs.
func gitDirFlag(c *call, f string, v arg, i int) {
	c.risk(i)
	c.raise(Dangerous, f+" takes the settings of another repository")
}

// rest gives the words after the subcommand.
func (c *call) rest() []arg { return c.args[c.sub+1:] }

// any tells whether one of the words is among names; name=value and clusters of short flags count too.
func (c *call) any(names ...string) bool {
	for _, a := range c.rest() {
		if a.text == "--" {
			return false
		}
		name, _, _ := strings.Cut(a.text, "=")
		if slices.Contains(names, name) || shortIn(name, names) || longCut(name, names) {
			return true
		}
	}
	return false
}

// shortIn finds -f in a cluster like -fdx.
func shortIn(word string, names []string) bool {
	if len(word) < 3 || word[0] != '-' || word[1] == '-' {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool {
		return len(n) == 2 && strings.Contains(word[1:], n[1:])
	})
}

// longCut finds a long flag that was cut short; at least four letters are needed to tell flags apart.
func longCut(word string, names []string) bool {
	return len(word) > 3 && strings.HasPrefix(word, "--") && slices.ContainsFunc(names, func(n string) bool {
		return strings.HasPrefix(n, word)
	})
}

// plainWords are the words that are no flags, with those after -- last.
func (c *call) plainWords() []operand {
	var out []operand
	ends := false
	for i, a := range c.rest() {
		switch {
		case !ends && a.text == "--":
			ends = true
		case ends || !strings.HasPrefix(a.text, "-"):
			out = append(out, operand{a, c.sub + 1 + i})
		}
	}
	return out
}

func (c *call) dashes() bool {
	return slices.ContainsFunc(c.rest(), func(a arg) bool { return a.text == "--" })
}

// only parses the words with the flags of spec, for rows whose check must look before it judges; an unknown flag asks.
func (c *call) only(spec string) {
	known := parseFlags(spec, false)
	p := flagParser{c: c, row: c.row, set: known, i: c.sub + 1}
	p.all()
}

// checkGitShow: rev:path shows a file of the history, which may be a secret.
func checkGitShow(c *call) {
	for _, o := range c.operands {
		_, file, ok := strings.Cut(o.text, ":")
		if !ok {
			file = o.text
		}
		if secretName(path.Base(file)) {
			c.raise(Dangerous, "reads a secret: "+o.shown())
		}
	}
}

// checkGitDiff: with --no-index the operands are files anywhere; otherwise they are names in the repository.
func checkGitDiff(c *call) {
	if c.has("--no-index") {
		c.each(c.operands, c.read)
		for _, o := range c.operands {
			if !c.insideOnly(o.arg) {
				c.risk(o.index)
			}
		}
	}
	for _, o := range c.operands {
		if path.IsAbs(o.text) {
			c.read(o.arg)
		}
	}
	checkGitShow(c)
	c.lists = c.has("--name-only") && c.verdict == ReadOnly
}

func checkGitLists(c *call) {
	c.lists = c.has("-l", "-L", "--files-with-matches", "--name-only", "--files-without-match") && c.verdict == ReadOnly
	if c.has("--no-index") {
		for _, o := range c.operands {
			if strings.Contains(o.text, "/") {
				c.read(o.arg)
			}
		}
	}
}

func checkGitAlwaysLists(c *call) { c.lists = c.verdict == ReadOnly }

// checkGitQuery is for verbs that only ask, with many flags that change the form of the answer.
func checkGitQuery(c *call) {
	for _, a := range c.rest() {
		name, _, _ := strings.Cut(a.text, "=")
		switch {
		case a.mayBeFlag(), slices.Contains([]string{"--exclude-existing", "--lost-found", "--write", "--stdin-paths", "--shell", "--perl", "--python", "--tcl"}, name):
			c.raise(MustAsk, a.shown()+" is not known here")
		case name == "GIT_EDITOR" || strings.HasPrefix(name, "--output"):
			c.raise(MustAsk, a.shown()+" is not known here")
		}
	}
}

func checkGitReflog(c *call) {
	words := c.plainWords()
	if len(words) > 0 && slices.Contains([]string{"expire", "delete", "drop", "write"}, words[0].text) {
		c.raise(Dangerous, "discards what would bring work back")
		return
	}
	if len(words) > 0 && words[0].dynamic() {
		c.raise(MustAsk, "the subcommand is only known at run time")
	}
	c.only(gitLogFlags)
}

const gitBranchFlags = `-# -airvqf -l --list --all --remotes --verbose --show-current --merged? --no-merged? --contains? --no-contains? --points-at= --sort= --format= --color? --no-color --column? --no-column --abbrev? --no-abbrev --ignore-case --omit-empty
	-t --track? --no-track --create-reflog --quiet --recurse-submodules -u=,--set-upstream-to=:ask --unset-upstream:ask -m:mod -c:mod --move:mod --copy:mod -d:danger -D:danger --delete:danger -M:danger -C:danger -f:danger --force:danger --edit-description:run`

// checkGitBranch: the same verb lists, makes, renames and deletes.
func checkGitBranch(c *call) {
	c.only(gitBranchFlags)
	asks := c.has("-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at", "-a", "-r", "-v", "--all", "--remotes", "--show-current", "--format", "--sort")
	if len(c.operands) > 0 && !asks {
		c.raise(Writes, "makes or changes a branch")
	}
}

func checkGitTag(c *call) {
	c.only("-# -i -l --list -n? --sort= --format= --color? --column? --no-column --contains? --no-contains? --merged? --no-merged? --points-at? --ignore-case --omit-empty -a -m=,--message= -F=,--file=:read --annotate --no-sign --cleanup= --create-reflog --trailer= -v:ask --verify:ask -s:ask --sign:ask -u=:ask --local-user=:ask -d:danger --delete:danger -f:danger --force:danger -e:run --edit:run")
	asks := c.has("-l", "--list", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--sort", "--format")
	if len(c.operands) > 0 && !asks {
		c.raise(Writes, "makes a tag")
	}
}

// checkGitConfig: reading is free, a value of a harmless key in this repository is a write, all else is dangerous.
func checkGitConfig(c *call) {
	words := c.plainWords()
	verb := ""
	if len(words) > 0 && slices.Contains([]string{"get", "set", "unset", "list", "edit", "rename-section", "remove-section", "get-regexp", "get-all"}, words[0].text) {
		verb, words = words[0].text, words[1:]
	}
	reads := c.hasWord("--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--get-color", "--get-colorbool") || verb == "get" || verb == "list" || verb == "get-regexp" || verb == "get-all"
	if c.any("-f", "--file", "--blob") {
		c.raise(MustAsk, "settings in another file")
	}
	switch {
	case slices.ContainsFunc(words, func(o operand) bool { return credentialKey(o.text) }):
		c.raise(Dangerous, "the settings may hold credentials")
	case reads || verb == "" && len(words) == 1 && !c.writesConfig():
		return
	case c.any("--global", "--system", "-f", "--file", "--worktree", "-e", "--edit") || c.writesConfig() || verb != "" && verb != "set":
		c.raise(Dangerous, "changes settings of git")
	case len(words) > 0 && !words[0].dynamic() && harmlessKey(words[0].text):
		c.raise(Writes, "changes a plain setting of the repository")
	default:
		c.raise(Dangerous, "changes settings of the repository")
	}
}

func (c *call) writesConfig() bool {
	return c.any("--add", "--unset", "--unset-all", "--replace-all", "--rename-section", "--remove-section", "--edit", "-e")
}

func credentialKey(key string) bool {
	key = strings.ToLower(key)
	return strings.HasPrefix(key, "credential") || strings.Contains(key, "extraheader") || strings.HasSuffix(key, "password") || strings.HasSuffix(key, "token") || strings.Contains(key, "smtppass")
}

// checkGitPlace judges the folder that git worktree add makes.
func checkGitPlace(c *call) {
	c.only("-fdqt -b= -B=:danger --force:danger --detach --checkout --no-checkout --guess-remote --track --no-track --lock --reason= --orphan --quiet")
	if len(c.operands) > 0 {
		c.write(c.operands[0].arg)
	}
}

// checkGitCheckout: with paths it throws changes away, with a branch it only switches.
func checkGitCheckout(c *call) {
	c.only("-bqtldm -b= --detach --track? --no-track --guess --no-guess --quiet --progress --no-progress --orphan= --merge --conflict= -B=:danger -f,--force:danger -p,--patch:danger --ours:danger --theirs:danger --pathspec-from-file=:danger --overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees --recurse-submodules --ignore-skip-worktree-bits -2 -3")
	makes := c.has("-b", "--orphan", "-t", "--track")
	for i, o := range c.operands {
		switch {
		case o.dynamic():
			c.raise(MustAsk, "a branch or a file that is only known at run time")
		case c.dashes(), !makes && i > 0, o.glob, looksLikeFile(o.text):
			c.raise(Dangerous, "throws changes away")
		}
	}
}

// looksLikeFile tells a file from a branch as well as a name can: git itself would look.
func looksLikeFile(s string) bool {
	if s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ":") || strings.HasSuffix(s, "/") {
		return true
	}
	ext := path.Ext(s)
	return len(ext) > 1 && len(ext) < 8 && strings.Trim(ext[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" || strings.HasPrefix(s, ".")
}

// checkGitRestore: only the index can be restored without losing work.
func checkGitRestore(c *call) {
	c.only("-Sq -s=,--source= --staged --quiet --progress --no-progress --ignore-unmerged --recurse-submodules --pathspec-from-file=:read -W,--worktree:danger -p,--patch:danger")
	if c.has("-S", "--staged") {
		c.raise(Writes, "changes the index")
		return
	}
	c.raise(Dangerous, "throws changes away")
}

func checkGitReset(c *call) {
	if c.any("--hard", "--merge", "--keep", "-p", "--patch") {
		c.raise(Dangerous, "throws changes away")
		return
	}
	c.raise(Writes, "changes the index")
	c.only("-qN --soft --mixed --quiet --no-quiet --refresh --no-refresh --intent-to-add --pathspec-from-file=:read --pathspec-file-nul")
}

// checkGitClean: without -n it deletes what git does not know, for good.
func checkGitClean(c *call) {
	c.only("-dfnqxX -e=,--exclude= --dry-run --force --quiet -i:danger --interactive:danger")
	if !c.has("-n", "--dry-run") {
		c.raise(Dangerous, "deletes files that git does not know")
	}
}

func checkGitRm(c *call) {
	if c.any("-f", "--force") {
		c.raise(Dangerous, "deletes changed files")
	}
	c.only("-fnqr --force --dry-run --quiet --cached --ignore-unmatch --sparse --pathspec-from-file=:read")
	for _, o := range c.operands {
		c.write(o.arg)
		if base := path.Base(o.text); c.has("-r") && !c.has("--cached") || base == "." || base == "*" {
			c.raise(Dangerous, "deletes a whole folder")
		}
	}
}

func checkGitApply(c *call) {
	if c.has("--stat", "--numstat", "--summary", "--check") && !c.has("--apply", "--directory", "--build-fake-ancestor", "--unsafe-paths") && c.verdict == Writes {
		c.verdict, c.reason = ReadOnly, "only looks at the patch"
	}
}

func checkGitNotes(c *call) {
	words := c.plainWords()
	if len(words) == 0 || words[0].text == "list" || words[0].text == "show" {
		c.verdict, c.reason = ReadOnly, ""
	}
	if len(words) > 0 && (words[0].text == "remove" || words[0].text == "prune" || words[0].text == "edit") {
		c.raise(Dangerous, "discards notes or starts an editor")
	}
}

func checkGitBisect(c *call) {
	words := c.plainWords()
	switch {
	case len(words) > 0 && words[0].text == "run":
		c.raise(Dangerous, "runs a command again and again")
		c.wrapped(c.args[words[0].index+1:])
	case len(words) > 0 && (words[0].text == "log" || words[0].text == "view" || words[0].text == "visualize"):
		c.verdict, c.reason = ReadOnly, ""
	}
}

func checkGitGc(c *call) {
	if slices.ContainsFunc(c.rest(), func(a arg) bool {
		return strings.HasPrefix(a.text, "--prune") || strings.HasPrefix(a.text, "--expire") || a.text == "--aggressive"
	}) {
		c.raise(Dangerous, "discards what would bring work back")
	}
}

func checkGitPlumbing(c *call) {
	if c.row.key == "git symbolic-ref" && len(c.plainWords()) == 1 && !c.any("-d", "--delete") {
		c.verdict, c.reason = ReadOnly, ""
		return
	}
	if c.row.key == "git update-ref" || c.any("-d", "--delete", "-f", "--force", "--prefix", "-u", "--reset", "--stdin", "-m") && c.row.key != "git commit-tree" {
		c.raise(Dangerous, "discards or overwrites work")
	}
}

// checkGitArchive: an archive goes to the output unless a flag or an operand names a file.
func checkGitArchive(c *call) {
	words := c.plainWords()
	for i, a := range c.rest() {
		name, value, glued := strings.Cut(a.text, "=")
		switch {
		case name == "--exec" || name == "--remote" || strings.HasPrefix(a.text, "--upload"):
			c.raise(Dangerous, a.shown()+" runs a program or contacts a host")
		case (name == "-o" || name == "--output") && !glued && i+1 < len(c.rest()):
			c.risk(c.sub + 1 + i)
			c.write(c.rest()[i+1])
		case strings.HasPrefix(a.text, "-o"):
			c.risk(c.sub + 1 + i)
			c.write(arg{text: a.text[2:], known: true})
		case name == "--output":
			c.risk(c.sub + 1 + i)
			c.write(arg{text: value, known: true})
		case strings.HasPrefix(name, "--add-file"):
			c.read(arg{text: value, known: true})
		}
	}
	if c.row.key == "git bundle" && len(words) > 1 {
		switch words[0].text {
		case "create":
			c.write(words[1].arg)
		case "verify", "list-heads":
			c.read(words[1].arg)
		default:
			c.raise(MustAsk, "changes the repository")
		}
	}
}

func checkGitSubmodule(c *call) {
	words := c.plainWords()
	if len(words) == 0 {
		return
	}
	switch words[0].text {
	case "status", "summary":
	case "foreach":
		c.raise(Dangerous, "runs a command in each submodule")
		var all arg
		for _, a := range c.args[words[0].index+1:] {
			if !strings.HasPrefix(a.text, "--") {
				all.text += a.text + " "
			}
		}
		c.nested(all, nil)
	case "add", "update":
		c.raise(Network, "contacts a remote")
		checkGitRemoteArgs(c)
	case "init", "absorbgitdirs":
		c.raise(MustAsk, "changes settings of the repository")
	default:
		c.raise(Dangerous, "changes settings of the repository")
	}
}

// checkGitClone: where it writes, and what it runs while it copies.
func checkGitClone(c *call) {
	c.only("-# -4lnqsvj -b=,--branch= -o=,--origin= -j=,--jobs= --depth= --shallow-since= --shallow-exclude= --single-branch --no-single-branch --no-tags --tags --bare --mirror --quiet --verbose --progress --no-checkout --local --no-local --no-hardlinks --shared --recurse-submodules?,--recursive? --shallow-submodules --no-shallow-submodules --remote-submodules --filter= --also-filter-submodules --sparse --reject-shallow --no-reject-shallow --ipv4 --ipv6 --dissociate --bundle-uri= --revision= --reference=:ask --reference-if-able=:ask --server-option= -c=,--config=:gitconfig --template=:run -u=,--upload-pack=:run --separate-git-dir=:write")
	if len(c.operands) > 1 {
		c.write(c.operands[1].arg)
	}
	for _, d := range c.at.dirs {
		if len(c.operands) == 1 && !c.j.inside(d) && !c.j.temporary(d) {
			c.raise(Dangerous, "writes outside the workspace")
		}
	}
	checkGitRemoteArgs(c)
}

// checkGitRemoteArgs refuses addresses that name a program, and notes hosts.
func checkGitRemoteArgs(c *call) {
	for _, a := range c.rest() {
		if strings.HasPrefix(a.text, "+") && strings.Contains(a.text, ":refs/heads") {
			c.raise(Dangerous, "overwrites branches")
		}
		if strings.Contains(a.text, "::") && !strings.Contains(a.text, "://") || strings.HasPrefix(a.text, "ext::") || strings.HasPrefix(a.text, "fd::") {
			c.raise(Dangerous, "the address runs a program")
		}
		if strings.HasPrefix(a.text, "-oProxyCommand") || strings.HasPrefix(a.text, "ssh://-") {
			c.raise(Dangerous, "the address runs a program")
		}
		if h := hostOf(a.text); h != "" && (strings.Contains(a.text, "://") || strings.Contains(a.text, "@")) {
			c.j.out.Hosts = append(c.j.out.Hosts, h)
		}
	}
}

// checkGitPush: whatever overwrites or deletes on the other side is dangerous.
func checkGitPush(c *call) {
	if c.any("--force", "-f", "--force-with-lease", "--force-if-includes", "--delete", "-d", "--mirror", "--prune") {
		c.raise(Dangerous, "overwrites or deletes on the remote")
	}
	if c.any("--receive-pack", "--exec") {
		c.raise(Dangerous, "runs a program as transport")
	}
	for i, o := range c.plainWords() {
		if i > 0 && (strings.HasPrefix(o.text, "+") || strings.HasPrefix(o.text, ":") || o.dynamic()) {
			c.raise(Dangerous, "overwrites or deletes on the remote")
		}
	}
	checkGitRemoteArgs(c)
}

// checkGitTool looks at the command of -x, so that rules see it.
func checkGitTool(c *call) {
	rest := c.rest()
	for i, a := range rest {
		if name, value, glued := strings.Cut(a.text, "="); name == "--extcmd" && glued {
			c.nested(arg{text: value}, nil)
		} else if (a.text == "-x" || a.text == "--extcmd") && i+1 < len(rest) {
			c.nested(rest[i+1], nil)
		}
	}
}

// checkHooks: installing hooks makes later commands run programs.
func checkHooks(c *call) {
	if slices.ContainsFunc(c.args[1:], func(a arg) bool {
		return slices.Contains([]string{"install", "uninstall", "init", "add", "set", "init-templatedir", "--install"}, a.text)
	}) {
		c.raise(Dangerous, "changes the hooks of the repository")
	}
}
