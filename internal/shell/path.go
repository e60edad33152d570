package shell

import (
	"path"
	"slices"
	"strings"
)

// systemBins are the folders whose programs are those the tables know.
var systemBins = []string{
	"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/local/go/bin",
	"/opt/homebrew/bin", "/snap/bin",
}

// resolve gives the absolute paths that a word may mean, one for each folder the command may run in.
func resolve(at scope, text string) []string {
	if strings.HasPrefix(text, "/") {
		return []string{path.Clean(text)}
	}
	var all []string
	for _, d := range at.dirs {
		all = append(all, path.Join(d, text))
	}
	return all
}

// within tells whether p is dir or below it, by whole names.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

func (j *judge) inside(p string) bool {
	return slices.ContainsFunc(j.place.Roots, func(r string) bool { return within(p, r) })
}

func (j *judge) temporary(p string) bool {
	return slices.ContainsFunc(j.place.Temp, func(t string) bool { return within(p, t) })
}

// list judges showing names or attributes of a path.
func (c *call) list(a arg) {
	for _, p := range resolve(c.at, a.text) {
		if c.j.secretDir(p) {
			c.raise(Dangerous, "looks into a folder of secrets: "+a.shown())
		}
	}
}

// read judges reading what a path holds.
func (c *call) read(a arg) {
	if a.text == "-" || a.text == "" {
		return
	}
	if host, ok := socketPath(a.text); ok {
		c.raise(Network, "opens a connection")
		c.j.out.Hosts = append(c.j.out.Hosts, host)
		return
	}
	switch {
	case strings.HasPrefix(a.text, "/dev/fd/"):
		return
	case a.dynamic() && !a.known:
		c.raise(MustAsk, "reads a file that is only known at run time")
	case c.at.lost && !path.IsAbs(a.text):
		c.raise(MustAsk, "the folder is only known at run time")
	}
	for _, p := range resolve(c.at, a.text) {
		c.readPath(p, a)
	}
}

func (c *call) readPath(p string, a arg) {
	if !a.dynamic() {
		c.j.out.Reads = append(c.j.out.Reads, p)
	}
	switch {
	case c.j.secret(p, a.glob):
		c.raise(Dangerous, "reads a secret: "+a.shown())
	case c.deep && c.j.coversSecrets(p):
		c.raise(Dangerous, "reads everything below "+a.shown())
	}
}

// socketPath is bash's own way to open a connection.
func socketPath(s string) (string, bool) {
	for _, p := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			host, _, _ := strings.Cut(rest, "/")
			return host, true
		}
	}
	return "", false
}

// write judges creating or changing a path.
func (c *call) write(a arg) {
	if host, ok := socketPath(a.text); ok {
		c.raise(Network, "opens a connection")
		c.j.out.Hosts = append(c.j.out.Hosts, host)
		return
	}
	switch {
	case a.text == "/dev/null", a.text == "/dev/stdout", a.text == "/dev/stderr", a.text == "-", strings.HasPrefix(a.text, "/dev/fd/"):
		return
	case a.dynamic():
		c.raise(MustAsk, "writes to a path that is only known at run time")
		a.text, _, _ = strings.Cut(a.text, hole)
		if !path.IsAbs(a.text) {
			return
		}
	case a.text == "":
		c.raise(MustAsk, "writes to a path that is not given")
		return
	case c.at.lost && !path.IsAbs(a.text):
		c.raise(MustAsk, "the folder is only known at run time")
	}
	for _, p := range resolve(c.at, a.text) {
		c.writePath(p, a)
	}
}

func (c *call) writePath(p string, a arg) {
	c.j.out.Writes = append(c.j.out.Writes, p)
	switch {
	case c.j.temporary(p):
		c.raise(Writes, "writes a temporary file")
	case !c.j.inside(p):
		c.raise(Dangerous, "writes outside the workspace: "+a.shown())
	case protected(p, a.glob):
		c.raise(Dangerous, "changes settings of the repository or of the agent: "+a.shown())
	default:
		c.raise(Writes, "writes in the workspace")
	}
}

// remove judges deleting a path.
func (c *call) remove(a arg) {
	c.write(a)
	if a.dynamic() && a.split {
		c.raise(Dangerous, "deletes whatever the names turn out to be")
	}
	for _, p := range resolve(c.at, a.text) {
		c.removePath(p, a)
	}
}

func (c *call) removePath(p string, a arg) {
	base := path.Base(p)
	switch {
	case slices.ContainsFunc(c.j.place.Roots, func(r string) bool { return within(r, p) }):
		c.raise(Dangerous, "deletes the workspace")
	case strings.Trim(base, "*?.[]!") == "":
		c.raise(Dangerous, "deletes everything in a folder")
	case c.deep && !c.j.temporary(p) && !madeByTools(base):
		c.raise(Dangerous, "deletes a whole folder: "+a.shown())
	}
}

// madeByTools tells whether a folder of that name is made anew by a build.
func madeByTools(base string) bool {
	switch strings.ToLower(base) {
	case "build", "dist", "out", "target", "bin", "obj", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache",
		".ruff_cache", "coverage", ".cache", ".next", ".turbo", "tmp", "temp", ".tox", ".venv", "venv", "htmlcov", ".nyc_output":
		return true
	}
	return false
}

// moveAway judges taking a path away from where it is.
func (c *call) moveAway(a arg) {
	c.write(a)
	for _, p := range resolve(c.at, a.text) {
		if slices.ContainsFunc(c.j.place.Roots, func(r string) bool { return within(r, p) }) {
			c.raise(Dangerous, "moves the workspace away")
		}
	}
	c.readSecretOnly(a)
}

// readSecretOnly refuses to carry a secret to a place where it is no longer known as one.
func (c *call) readSecretOnly(a arg) {
	for _, p := range resolve(c.at, a.text) {
		if !a.dynamic() && c.j.secret(p, a.glob) {
			c.raise(Dangerous, "names a secret: "+a.shown())
		}
	}
}

// notSecret refuses the path of a secret as the value of any flag: a row may be wrong about which flags take one.
func (c *call) notSecret(v arg) {
	if strings.Contains(v.text, "/") {
		c.readSecretOnly(v)
	}
}

// chdir makes the rest of this call run in another folder.
func (c *call) chdir(a arg) {
	if a.dynamic() {
		c.raise(MustAsk, "works in a folder that is only known at run time")
		c.at.lost = true
		return
	}
	c.at.dirs = resolve(c.at, a.text)
	for _, p := range c.at.dirs {
		if !c.j.inside(p) {
			c.raise(MustAsk, "works outside the workspace: "+a.shown())
		}
	}
}

// protected tells whether writing p changes what later commands do: settings of the repository, of the agent, or
// of tools that run what they find there.
func protected(p string, glob bool) bool {
	for name := range strings.SplitSeq(strings.ToLower(p), "/") {
		if slices.Contains(protectedNames, name) || glob && matchesAny(name, protectedNames) {
			return true
		}
	}
	return false
}

var protectedNames = []string{".git", ".ikigai", ".husky", ".githooks", ".envrc", ".gitmodules", ".gitconfig", ".claude", ".codex", ".gemini", ".cursor", ".mcp.json"}

// matchesAny tells whether a pattern that names a hidden file matches one of the names.
func matchesAny(pattern string, names []string) bool {
	if !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, "[") || !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool {
		ok, err := path.Match(pattern, n)
		return ok || err != nil
	})
}
