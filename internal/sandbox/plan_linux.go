package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ikigai/internal/sandbox/jail"
	"ikigai/internal/tool"
)

const (
	politeness   = 5    // nice value of what we start, so that the screen stays quick
	mostAtOnce   = 4096 // processes in one jail
	memoryShare  = 4    // one process may have all but a quarter of the memory
	fileCapsRoot = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID
)

// full are folders of sockets and run-time state of other programs.
var full = []string{"/run"}

// shown are what programs need of them: on some systems everything installed
// is found there.
var shown = []string{"/run/current-system", "/run/opengl-driver", "/run/wrappers"}

// plan says all about one start.
func (s *Sandbox) plan(p program, g tool.Grant, kind jailKind) *jail.Plan {
	plan := &jail.Plan{Path: p.path, Dir: p.dir, Argv: p.argv, Env: p.env, Nice: politeness}
	if kind == plain {
		return plan
	}
	plan.Confine, plan.Net, plan.Memory = true, g.Net, mostMemory()
	if os.Getuid() == 0 {
		plan.Caps = fileCapsRoot // its files may belong to others
	}
	plan.Write = s.writable(g)
	plan.NewFile, plan.NewDir = absent(g.Write)
	plan.Hide = s.hidden(g)
	if kind == light {
		return plan
	}
	plan.Whole, plan.Most = true, mostAtOnce
	s.arrange(plan, g)
	s.protect(plan, g)
	plan.Hide = append(plan.Hide, sockets(plan)...)
	plan.Replace = s.accounts(g)
	return plan
}

// writable are the folders and files that may be written and that exist.
func (s *Sandbox) writable(g tool.Grant) []string {
	var list []string
	for _, path := range slices.Concat(s.o.Roots, []string{s.o.Temp, s.o.Cache}, g.Write) {
		if path != "" && path != "/" && exists(path) && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// absent sorts granted paths that do not exist yet into files and folders.
func absent(paths []string) (files, folders []string) {
	for _, path := range paths {
		switch {
		case exists(path):
		case namesFile(path):
			files = append(files, path)
		default:
			folders = append(folders, path)
		}
	}
	return files, folders
}

// namesFile guesses what a path that does not exist will be: one with an
// extension is taken for a file.
func namesFile(path string) bool {
	return filepath.Ext(strings.TrimPrefix(filepath.Base(path), ".")) != ""
}

// arrange empties the folders that are full of other programs' things, and
// shows again what is needed or granted of them.
func (s *Sandbox) arrange(plan *jail.Plan, g tool.Grant) {
	covered := func(dir string) bool {
		return !slices.ContainsFunc(plan.Write, func(w string) bool { return jail.Within(dir, w) })
	}
	for _, dir := range full {
		if covered(dir) && isFolder(dir) {
			plan.Empty = append(plan.Empty, dir)
		}
	}
	lids := plan.Empty
	if s.o.Temp != "" && covered("/tmp") && isFolder("/tmp") {
		plan.Tmp = s.o.Temp
		lids = append(slices.Clone(lids), "/tmp")
	}
	wanted := append(slices.Clone(shown), g.Read...)
	if g.Net {
		if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
			wanted = append(wanted, real)
		}
	}
	for _, path := range wanted {
		if jail.WithinAny(path, lids) && !jail.WithinAny(path, plan.Write) && exists(path) {
			plan.Read = append(plan.Read, path)
		}
	}
}

// protect adds what must stay as it is although it lies in a writable folder:
// what git and we would run or believe later.
func (s *Sandbox) protect(plan *jail.Plan, g tool.Grant) {
	for _, root := range s.o.Roots {
		guard(plan, filepath.Join(root, ".ikigai"), false)
		guardGit(plan, filepath.Join(root, ".git"), func(path string) bool { return s.lifted(path, g) })
	}
	for _, path := range s.o.Protect {
		guard(plan, path, namesFile(path))
	}
}

// lifted reports whether the person granted writing path itself, which a grant
// of a whole root does not mean.
func (s *Sandbox) lifted(path string, g tool.Grant) bool {
	return slices.ContainsFunc(g.Write, func(w string) bool {
		return jail.Within(path, w) && !slices.ContainsFunc(s.o.Roots, func(r string) bool { return jail.Within(r, w) })
	})
}

// guardGit keeps the hooks and the configuration of a repository, both of
// which name programs that git starts. Linked checkouts and modules have their
// own, so those folders are kept whole. An extra file can lead git to another
// configuration; its name cannot be held, since git would read the placeholder.
func guardGit(plan *jail.Plan, git string, lifted func(string) bool) {
	if lifted(git) {
		return
	}
	if real, err := filepath.EvalSymlinks(git); err == nil {
		git = real
	}
	if !isFolder(git) {
		guard(plan, git, exists(git))
		return
	}
	parts := []struct {
		name         string
		file, always bool
	}{{"hooks", false, true}, {"config", true, true}, {"modules", false, false}, {"worktrees", false, false}, {"commondir", true, false}}
	for _, p := range parts {
		path := filepath.Join(git, p.name)
		if (p.always || exists(path)) && !lifted(path) {
			guard(plan, path, p.file)
		}
	}
	if path := filepath.Join(git, "commondir"); !exists(path) && jail.WithinAny(path, plan.Write) {
		plan.Unwanted = append(plan.Unwanted, path)
	}
}

// guard makes path unwritable, or the first missing folder on the way to it.
// The folders between it and the writable one that holds it are pinned.
func guard(plan *jail.Plan, path string, file bool) {
	base := ""
	for _, w := range plan.Write {
		if jail.Within(path, w) && len(w) > len(base) {
			base = w
		}
	}
	if base == "" || base == path {
		if base == "" {
			return // nobody can write there
		}
		base = filepath.Dir(path)
	}
	rest := strings.Split(strings.TrimPrefix(path, base+"/"), "/")
	for i, name := range rest {
		base = filepath.Join(base, name)
		last := i == len(rest)-1
		switch {
		case !last && exists(base):
			plan.Pin = addOnce(plan.Pin, base)
		case last && (file || exists(base) && !isFolder(base)):
			plan.Files = addOnce(plan.Files, base)
		default:
			plan.Folders = addOnce(plan.Folders, base)
			return
		}
	}
}

// hidden are the paths that must not be read, existing ones only. What was
// granted, or lies on the way to where programs work, is left out of them.
func (s *Sandbox) hidden(g tool.Grant) []string {
	keep := slices.Concat(g.Read, g.Write, s.o.Roots, []string{s.o.Temp, s.o.Cache})
	var list []string
	for _, pattern := range s.o.Hide {
		if !filepath.IsAbs(pattern) || jail.Within(pattern, "/proc") {
			continue // in there a jail has its own, or Landlock refuses to look at others
		}
		for _, path := range matches(pattern) {
			if slices.Contains(accountFiles, path) {
				continue // replaced instead
			}
			inside := slices.DeleteFunc(slices.Clone(keep), func(k string) bool { return k == "" || !jail.Within(k, path) })
			list = append(list, jail.Around(path, inside)...)
		}
	}
	return list
}

func matches(pattern string) []string {
	if strings.ContainsAny(pattern, "*?[") {
		found, _ := filepath.Glob(pattern) // a malformed pattern matches nothing
		return found
	}
	if !exists(pattern) {
		return nil
	}
	return []string{pattern}
}

// sockets are the paths at which other programs listen. A read-only mount does
// not keep anybody from connecting to them; nothing but covering them does.
func sockets(plan *jail.Plan) []string {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	lids := plan.Empty
	if plan.Tmp != "" {
		lids = append(slices.Clone(lids), "/tmp")
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		_, path, ok := strings.Cut(line, " /")
		path = "/" + strings.TrimSuffix(path, "\n")
		if ok && (!jail.WithinAny(path, lids) || jail.WithinAny(path, plan.Write)) {
			list = addOnce(list, path)
		}
	}
	return list
}

// accountFiles tell who has an account. When they are hidden, programs still
// need to know who they are.
var accountFiles = []string{"/etc/passwd", "/etc/group"}

// accounts gives what is seen in place of hidden lists of accounts: root,
// nobody and ourselves.
func (s *Sandbox) accounts(g tool.Grant) []string {
	var pairs []string
	ids := []string{"0", "65534", strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid())}
	for _, file := range accountFiles {
		if !slices.Contains(s.o.Hide, file) || slices.Contains(g.Read, file) {
			continue
		}
		text, _ := os.ReadFile(file) // unreadable: then there is nobody to list
		var kept strings.Builder
		for line := range strings.Lines(string(text)) {
			if f := strings.SplitN(line, ":", 4); len(f) == 4 && slices.Contains(ids, f[2]) {
				kept.WriteString(line)
			}
		}
		pairs = append(pairs, file, kept.String())
	}
	return pairs
}

// mostMemory is how much data one process may have.
func mostMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := uint64(info.Totalram) * uint64(info.Unit)
	return total - total/memoryShare
}

// exists reports whether something is at path; a name that another jail holds
// is nothing.
func exists(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && !jail.IsPlaceholder(&st)
}

func isFolder(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && !jail.IsPlaceholder(&st)
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
