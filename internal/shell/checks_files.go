package shell

import (
	"path"
	"slices"
	"strings"
)

// checkArchiveDeep: cp -a takes folders whole; a copy of the place above a secret carries the secret.
func checkArchiveDeep(c *call) {
	if c.has("-a") && !c.deep {
		c.deep = true
		c.roles(copying)
	}
}

// checkLink judges both ends: a link that leads out of the workspace lets later writes through.
func checkLink(c *call) {
	c.parse(c.row)
	ops := c.operands
	if len(ops) == 0 {
		return
	}
	targets, at := ops, c.at
	if !c.target && len(ops) > 1 {
		targets = ops[:len(ops)-1]
		c.write(ops[len(ops)-1].arg)
	}
	for _, o := range targets {
		if c.has("-s", "--symbolic") && !path.IsAbs(o.text) && len(ops) > 1 && !c.target {
			at = scope{dirs: linkDirs(c.at, ops[len(ops)-1].text)}
		}
		for _, p := range resolve(at, o.text) {
			if !c.j.inside(p) || o.dynamic() || protected(p, o.glob) {
				c.raise(Dangerous, "links to something outside: "+o.shown())
			}
		}
	}
}

// linkDirs gives the folders a relative link is read from: that of the link, or the link's name when it is a folder.
func linkDirs(at scope, name string) []string {
	var dirs []string
	for _, p := range resolve(at, name) {
		if strings.HasSuffix(name, "/") || path.Base(name) == "." {
			dirs = append(dirs, p)
			continue
		}
		dirs = append(dirs, path.Dir(p))
	}
	return dirs
}

// checkInstall: with -d all operands are folders to make.
func checkInstall(c *call) {
	if c.has("-d", "--directory") {
		c.each(c.operands, c.write)
		return
	}
	c.transfer(c.operands, c.read)
}

// checkMode is chmod: a mode, then files. Rights that let a program run as another person are dangerous.
func checkMode(c *call) {
	var mode string
	for _, a := range c.args[1:] {
		switch {
		case slices.Contains([]string{"-R", "--recursive", "-v", "-c", "-f", "--verbose", "--changes", "--silent", "--quiet", "-h", "-Rv", "-vR", "-Rf", "-fR", "--"}, a.text):
		case strings.HasPrefix(a.text, "--reference="):
			mode = "reference"
		case strings.HasPrefix(a.text, "--"):
			c.raise(MustAsk, "unknown flag "+a.shown())
		case mode == "":
			mode = a.text
		default:
			c.write(a)
		}
	}
	octal := strings.TrimLeft(mode, "0")
	if strings.ContainsAny(mode, "st") && !isNumber(mode) || isNumber(mode) && len(octal) > 3 || strings.Contains(mode, hole) {
		c.raise(Dangerous, "gives a program special rights")
	}
}

// checkMktemp: the file is made where a template says, else in the folder for temporary files.
func checkMktemp(c *call) {
	switch {
	case c.has("-u", "--dry-run"):
		c.calmly(ReadOnly, "only prints a name")
	case len(c.operands) > 0 && !c.has("-t"):
		c.write(c.operands[0].arg)
	case c.has("-p") || len(c.j.place.Temp) > 0:
	default:
		c.raise(Dangerous, "makes a file in the temporary folder of the system")
	}
}

// checkDd reads its operands: if= is read, of= is written.
func checkDd(c *call) {
	for i, a := range c.args[1:] {
		key, value, ok := strings.Cut(a.text, "=")
		v := a
		v.text = value
		switch {
		case !ok:
			c.raise(MustAsk, "unknown word "+a.shown()+" of dd")
		case key == "if":
			c.read(v)
		case key == "of":
			c.risk(i + 1)
			c.write(v)
		}
	}
}

// checkRsync: a host makes it network, the last operand is written, -e and --rsync-path run programs.
func checkRsync(c *call) {
	var ops []arg
	takes := false
	for _, a := range c.args[1:] {
		name, _, glued := strings.Cut(a.text, "=")
		switch {
		case takes:
			takes = false
		case !strings.HasPrefix(a.text, "-"):
			ops = append(ops, a)
		case name == "--rsh" || name == "--rsync-path" || !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "e"):
			c.raise(Dangerous, a.shown()+" runs a program")
			takes = !glued && (name == "--rsh" || name == "--rsync-path" || strings.HasSuffix(name, "e"))
		case name == "--delete" || strings.HasPrefix(name, "--delete-") || name == "--remove-source-files":
			c.raise(Dangerous, a.shown()+" deletes files")
		case name == "--daemon" || name == "--config" || name == "--log-file" || name == "--write-batch" || name == "--temp-dir" || name == "--backup-dir" || name == "--partial-dir" || name == "-T":
			c.raise(Dangerous, a.shown()+" reaches further than the operands")
		case !glued && slices.Contains([]string{"--exclude", "--include", "--filter", "-f", "--exclude-from", "--include-from", "--files-from", "--compare-dest", "--link-dest", "--copy-dest", "--bwlimit", "--port", "--timeout"}, name):
			takes = true
		}
	}
	c.deep = true
	for i, a := range ops {
		switch {
		case remotePath(a.text):
			c.hosts([]operand{{arg: a}})
		case i == len(ops)-1 && len(ops) > 1:
			c.write(a)
		default:
			c.read(a)
		}
	}
}

// remotePath tells host:path from a path.
func remotePath(s string) bool {
	before, _, ok := strings.Cut(s, ":")
	return ok && !strings.Contains(before, "/")
}

// checkPatch: files named inside the patch are relative to the folder; only flags name others.
func checkPatch(c *call) {
	for i := 1; i < len(c.args); i++ {
		name, value, glued := strings.Cut(c.args[i].text, "=")
		takesPath := slices.Contains([]string{"-d", "--directory", "-o", "--output", "-r", "--reject-file", "-B", "--prefix"}, name)
		switch {
		case takesPath && !glued && i+1 < len(c.args):
			i++
			c.risk(i)
			c.write(c.args[i])
		case takesPath:
			c.risk(i)
			c.write(arg{text: value})
		case (name == "-i" || name == "--input") && !glued && i+1 < len(c.args):
			i++
			c.read(c.args[i])
		case name == "--posix" || name == "--dry-run" || name == "--binary" || name == "--merge" || name == "--verbose" || name == "--quiet" || name == "--silent" || name == "--forward" || name == "--reverse" || name == "--batch" || name == "--force":
		case strings.HasPrefix(name, "--strip") || strings.HasPrefix(name, "--fuzz") || name == "--input" || name == "--backup" || name == "--ignore-whitespace" || name == "--remove-empty-files" || name == "--unified":
		case strings.HasPrefix(name, "--"):
			c.raise(MustAsk, "unknown flag "+name+" of patch")
		case strings.HasPrefix(name, "-") && len(name) > 2 && strings.IndexByte("doBrY", name[1]) >= 0:
			c.risk(i)
			c.write(arg{text: name[2:]})
		case strings.HasPrefix(name, "-"):
		default:
			c.write(c.args[i])
		}
	}
}

// oldStyleTar puts the bundle without a dash into the usual form: its letters take their values in order.
func oldStyleTar(args []arg) []arg {
	if len(args) < 2 || args[1].text == "" || strings.HasPrefix(args[1].text, "-") || args[1].dynamic() {
		return args
	}
	out := []arg{args[0]}
	next := 2
	for _, letter := range args[1].text {
		out = append(out, arg{text: "-" + string(letter)})
		if strings.ContainsRune("fCTXbNHLVKgIF", letter) && next < len(args) {
			out = append(out, args[next])
			next++
		}
	}
	return append(out, args[next:]...)
}

// checkTar: what is read and what is written depends on the mode.
func checkTar(c *call) {
	into := c.at
	if u, ok := c.flag("-C", "--directory"); ok {
		into.dirs = resolve(c.at, u.value.text)
		into.lost = into.lost || u.value.dynamic()
	}
	file, named := c.flag("-f", "--file")
	if named && remotePath(file.value.text) && !c.has("--force-local") {
		c.raise(Network, "an archive on another host")
	}
	c.deep = true
	switch {
	case c.has("-x", "--extract", "--get"):
		c.read(file.value)
		if !c.has("-O", "--to-stdout") {
			c.at = into
			c.write(arg{text: "."})
		}
	case c.has("-t", "--list", "-d", "--diff", "--compare"):
		c.read(file.value)
	case c.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete", "--concatenate"):
		if named {
			c.write(file.value)
		}
		c.at = into
		c.each(c.operands, c.read)
	default:
		c.raise(MustAsk, "what tar shall do is not said")
	}
}

func checkZip(c *call) {
	var ops []arg
	for _, a := range c.args[1:] {
		switch {
		case a.text == "-" || !strings.HasPrefix(a.text, "-"):
			ops = append(ops, a)
		case strings.HasPrefix(a.text, "-TT") || strings.HasPrefix(a.text, "--unzip-command"):
			c.raise(Dangerous, a.shown()+" runs a program")
		case strings.Contains(a.text, "m") && !strings.HasPrefix(a.text, "--") || strings.HasPrefix(a.text, "--move"):
			c.raise(Dangerous, "deletes what it packs")
		case strings.HasPrefix(a.text, "-b") || strings.HasPrefix(a.text, "--temp-path") || strings.HasPrefix(a.text, "--output-file") || a.text == "-O" || strings.HasPrefix(a.text, "-l") && strings.Contains(a.text, "f"):
			c.raise(MustAsk, "writes elsewhere")
		}
	}
	c.deep = true
	for i, a := range ops {
		if i == 0 {
			c.write(a)
			continue
		}
		c.read(a)
	}
}

func checkUnzip(c *call) {
	lists, to := false, arg{text: "."}
	for i := 1; i < len(c.args); i++ {
		text := c.args[i].text
		switch {
		case text == "-d" && i+1 < len(c.args):
			i++
			to = c.args[i]
		case strings.HasPrefix(text, "-d"):
			to = arg{text: text[2:], known: true}
		case text == "-x" || text == "-P":
		case strings.HasPrefix(text, "-"):
			lists = lists || strings.ContainsAny(text, "lpvtzZc")
			if strings.Contains(text, ":") {
				c.raise(Dangerous, "lets members leave the folder")
			}
		default:
			c.read(c.args[i])
		}
	}
	if !lists {
		c.write(to)
	}
}

// checkCompress is gzip and its kin: files are replaced unless the output goes to the terminal.
func checkCompress(c *call) {
	shows, given := false, arg{}
	var ops []arg
	for i := 1; i < len(c.args); i++ {
		text := c.args[i].text
		switch {
		case text == "-o" && i+1 < len(c.args):
			i++
			given = c.args[i]
			c.risk(i)
		case strings.HasPrefix(text, "--output="), strings.HasPrefix(text, "--files="), strings.HasPrefix(text, "--filelist"):
			c.raise(MustAsk, text+" names other files")
		case strings.HasPrefix(text, "--"):
			shows = shows || slices.Contains([]string{"--stdout", "--to-stdout", "--list", "--test", "--help", "--version"}, text)
		case strings.HasPrefix(text, "-") && text != "-":
			shows = shows || strings.ContainsAny(text, "clt")
		default:
			ops = append(ops, c.args[i])
		}
	}
	for _, a := range ops {
		c.read(a)
		if !shows && given.text == "" {
			c.write(a)
		}
	}
	if given.text != "" {
		c.write(given)
	}
}

func checkSevenZip(c *call) {
	for i, a := range c.args[1:] {
		switch {
		case strings.HasPrefix(a.text, "-o"), strings.HasPrefix(a.text, "-w"):
			c.write(arg{text: a.text[2:], known: true})
		case i > 0 && !strings.HasPrefix(a.text, "-"):
			c.write(a)
		}
	}
	if len(c.args) > 1 && (c.args[1].text == "l" || c.args[1].text == "t") {
		c.verdict = ReadOnly
	}
}

// checkAr: an operation, the archive, its members.
func checkAr(c *call) {
	ops := operandsNoFlags(c.args[1:])
	if len(c.args) > 1 && strings.HasPrefix(c.args[1].text, "-") {
		ops = append([]operand{{arg: c.args[1]}}, ops...)
	}
	for i, o := range ops {
		switch {
		case i == 1 && strings.ContainsAny(ops[0].text, "rdqms"):
			c.write(o.arg)
		case i > 0:
			c.read(o.arg)
		}
	}
	if len(ops) > 0 && !strings.ContainsAny(ops[0].text, "rdqmsx") {
		c.calmly(ReadOnly, "lists an archive")
	}
}

// checkNamedOutside refuses words that name places outside the workspace, for programs that are asked anyway.
func checkNamedOutside(c *call) {
	for _, a := range c.args[1:] {
		if strings.Contains(a.text, "/") {
			c.write(a)
		}
	}
}

// checkSplit: the second operand is the start of the names that are written.
func checkSplit(c *call) {
	for i, o := range c.operands {
		if i == 0 {
			c.read(o.arg)
			continue
		}
		c.write(o.arg)
	}
}

// checkLists notes that the output is names of workspace files.
func checkLists(c *call) {
	c.lists = c.verdict == ReadOnly && !slices.ContainsFunc(c.operands, func(o operand) bool { return !c.insideOnly(o.arg) })
}

// checkGrepLists: grep -l and rg --files print names.
func checkGrepLists(c *call) {
	if c.has("-l", "-L", "--files", "--files-with-matches", "--files-without-match") {
		ops := c.operands
		if !c.pattern && len(ops) > 0 {
			ops = ops[1:]
		}
		c.lists = c.verdict == ReadOnly && !slices.ContainsFunc(ops, func(o operand) bool { return !c.insideOnly(o.arg) })
	}
}

// checkPagerStart: a pager runs commands given with +.
func checkPagerStart(c *call) {
	for _, o := range c.operands {
		if strings.HasPrefix(o.text, "+") && strings.ContainsAny(o.text, "!|s") {
			c.raise(Dangerous, "a start command of the pager")
		}
	}
}

// checkDate: a word without + sets the clock.
func checkDate(c *call) {
	for _, o := range c.operands {
		if !strings.HasPrefix(o.text, "+") {
			c.raise(Dangerous, "sets the clock")
		}
	}
}

// checkPrintenv refuses the variables that are there to hold a secret.
func checkPrintenv(c *call) {
	for _, a := range c.args[1:] {
		if holdsSecret(a.text) {
			c.raise(Dangerous, "reads a secret: "+a.shown())
		}
	}
}

// checkJq: options that take two words, the second of which may be a file.
func checkJq(c *call) {
	for i, a := range c.args {
		switch a.text {
		case "--slurpfile", "--rawfile", "--argfile":
			if i+2 < len(c.args) {
				c.read(c.args[i+2])
			}
		}
	}
}

// checkYq: the expression of yq may read files and the environment, -i is in place.
func checkYq(c *call) {
	for _, o := range c.operands {
		if strings.Contains(o.text, "load") || strings.Contains(o.text, "system(") {
			c.raise(MustAsk, "the expression reads other files")
		}
	}
}
