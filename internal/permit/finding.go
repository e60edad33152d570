package permit

import (
	"fmt"
	"path/filepath"
	"strings"

	"ikigai/internal/shell"
	"ikigai/internal/tool"
)

// A finding is what a request would do, before any rule or mode is asked.
type finding struct {
	class         class
	why           string // the heaviest thing found, in words
	net           bool
	readsOutside  []string
	writesOutside []string
	parts         []Part
	line          *shell.Assessment // for shell lines
	at            shell.Place
}

// heavier raises the class, and keeps the reason of the heaviest thing.
func (f *finding) heavier(c class, why string) {
	if c > f.class {
		f.class, f.why = c, why
	}
}

func (e *Engine) find(r Request) finding {
	f := finding{at: e.place(r.Plan.Dir)}
	if len(r.Spec.Effects) == 0 {
		f.heavier(mustAsk, r.Spec.Name+" does not say what it touches")
	}
	if r.Spec.Has(tool.Exec) {
		e.findExec(r, &f)
	}
	for _, p := range r.Plan.Reads {
		e.findRead(p, &f)
	}
	for _, p := range r.Plan.Writes {
		e.findWrite(p, &f)
	}
	if r.Spec.Has(tool.Write) && len(r.Plan.Writes) == 0 {
		f.heavier(writeInside, "")
	}
	if r.Spec.Has(tool.Net) {
		f.net = true
		f.heavier(network, "it uses the network"+hostList(r.Plan.Hosts))
	}
	return f
}

func hostList(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return ": " + strings.Join(hosts, ", ")
}

func (e *Engine) place(dir string) shell.Place {
	if dir == "" {
		dir = e.opts.Dir
	}
	return shell.Place{Dir: dir, Roots: e.opts.Roots, Home: e.opts.Home, Temp: e.opts.Scratch}
}

// classOf says how heavy a shell verdict weighs in the matrix.
var classOf = map[shell.Verdict]class{
	shell.ReadOnly: execReads, shell.Writes: execWrites, shell.Network: network, shell.MustAsk: mustAsk, shell.Dangerous: danger,
}

func (e *Engine) findExec(r Request, f *finding) {
	if r.Plan.Command == "" {
		f.heavier(mustAsk, r.Spec.Name+" runs programs and does not say which")
		return
	}
	a := shell.Classify(r.Plan.Command, f.at)
	f.line = &a
	f.heavier(classOf[a.Verdict], a.Reason)
	for _, p := range a.Parts {
		f.net = f.net || p.Verdict == shell.Network
		f.parts = append(f.parts, Part{Command: p.Command, Class: p.Verdict.String(), Reason: p.Reason})
	}
	for _, p := range a.Writes {
		if !e.inside(p) {
			f.writesOutside = append(f.writesOutside, p)
		}
	}
	for _, p := range a.Reads {
		e.findRead(p, f)
	}
}

func (e *Engine) findRead(path string, f *finding) {
	switch {
	case within(path, e.opts.Scratch):
	case e.sensitive(path):
		f.heavier(danger, fmt.Sprintf("%s may hold secrets", path))
		if !e.inside(path) {
			f.readsOutside = append(f.readsOutside, path)
		}
	case !e.inside(path):
		f.readsOutside = append(f.readsOutside, path)
		if f.line == nil { // a command's own verdict has weighed what it reads
			f.heavier(danger, fmt.Sprintf("%s is outside the workspace", path))
		}
	}
}

func (e *Engine) findWrite(path string, f *finding) {
	switch {
	case within(path, e.opts.Scratch): // the session's own notes change nothing of the person's
	case within(path, e.opts.Own):
		f.heavier(danger, fmt.Sprintf("%s belongs to ikigai itself", path))
		f.writesOutside = append(f.writesOutside, path)
	case e.inside(path):
		f.heavier(writeInside, fmt.Sprintf("it writes %s", e.relative(path)))
	default:
		f.heavier(danger, fmt.Sprintf("%s is outside the workspace", path))
		f.writesOutside = append(f.writesOutside, path)
	}
}

func (e *Engine) inside(path string) bool {
	return within(path, e.opts.Roots) || within(path, e.opts.Scratch)
}

func (e *Engine) relative(path string) string {
	if rel, err := filepath.Rel(e.opts.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// within reports whether path is one of the folders or below one, by whole
// components.
func within(path string, folders []string) bool {
	for _, f := range folders {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(f, string(filepath.Separator)))
		if path == f || ok && rest != "" && rest[0] == filepath.Separator {
			return true
		}
	}
	return false
}

// Sensitive names: reading them asks, even in auto.
var (
	sensitiveFiles = []string{
		"/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d",
	}
	sensitiveHome = []string{
		".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".npmrc", ".netrc", "_netrc", ".pypirc",
		".git-credentials", ".config/git/credentials", ".config/gh", ".cargo/credentials", ".cargo/credentials.toml",
		".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", "Library/Keychains",
		".password-store", ".local/share/keyrings", ".terraform.d/credentials.tfrc.json",
	}
	sensitiveNames = []string{".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", ".pgpass"}
)

// harmlessNames are like sensitive ones, but are made to be shared.
var harmlessNames = []string{".env.example", ".env.sample", ".env.template", ".env.dist"}

// Secrets are the places whose content a sandbox hides from programs that were
// not granted it. Names that may occur anywhere are left to the rules.
func Secrets(home string) []string {
	var all []string
	for _, f := range sensitiveFiles {
		if f != "/etc/passwd" { // half of all programs look up a user there
			all = append(all, f)
		}
	}
	if home != "" {
		for _, h := range sensitiveHome {
			all = append(all, filepath.Join(home, h))
		}
	}
	return all
}

// sensitive is asked of every file of a tree that is searched, so it makes nothing.
func (e *Engine) sensitive(path string) bool {
	if within(path, sensitiveFiles) || within(path, e.opts.Own) || within(path, e.secrets) {
		return true
	}
	if strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ") {
		return true
	}
	base := filepath.Base(path)
	return matchesAny(base, sensitiveNames) && !matchesAny(base, harmlessNames)
}

func matchesAny(name string, patterns []string) bool {
	for _, p := range patterns {
		head, tail, star := strings.Cut(p, "*") // there is one at most
		if name == p || star && len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) {
			return true
		}
	}
	return false
}
