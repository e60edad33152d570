package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ikigai/internal/tool"
)

const (
	mostRefusals  = 5
	refusalWindow = 64 << 10 // bytes at the end of each stream that are looked at

	noNetwork = "network: %s cannot be reached, there is no network in the jail; it needs a grant"
	notHere   = "network: %s was not reached: services of this machine are outside the jail, and the network needs a grant"
	noSockets = "seccomp: %s cannot be reached, sockets are refused in the jail; the network needs a grant"
)

// A sign is a text by which programs say that the kernel refused something.
// It counts only where the jail is a likelier cause than the world is.
type sign struct {
	text  string // in lower case
	jails []jailKind
	finds finder
	words string // with one %s for what finds gives
}

// A finder gives what was refused, from a line that holds the sign; not ok
// means that it was not the jail.
type finder func(v view, line string) (what string, ok bool)

// view is what the jail let the program see.
type view struct {
	s   *Sandbox
	g   tool.Grant
	dir string
}

// signs is the one table of them; the first that fits a line counts.
var signs = []sign{
	{"read-only file system", []jailKind{whole}, unwritable, "namespaces: %s is read-only in the jail; writing there needs a grant"},
	{"device or resource busy", []jailKind{whole}, guarded, "namespaces: %s is protected in the jail and cannot be replaced"},
	{"permission denied", []jailKind{whole, light}, hiddenPath, "%s is hidden in the jail; reading it needs a grant"},
	{"permission denied", []jailKind{light}, unwritable, "landlock: %s may not be written in the jail; that needs a grant"},
	{"could not resolve host", []jailKind{whole, light}, offline, noNetwork},
	{"temporary failure in name resolution", []jailKind{whole, light}, offline, noNetwork},
	{"name or service not known", []jailKind{whole, light}, offline, noNetwork},
	{"no such host", []jailKind{whole, light}, offline, noNetwork},
	{"dial tcp: lookup", []jailKind{whole, light}, offline, noNetwork},
	{"enotfound", []jailKind{whole, light}, offline, noNetwork},
	{"eai_again", []jailKind{whole, light}, offline, noNetwork},
	{"network is unreachable", []jailKind{whole, light}, offline, noNetwork},
	{"enetunreach", []jailKind{whole, light}, offline, noNetwork},
	{"connection refused", []jailKind{whole}, offline, notHere},
	{"econnrefused", []jailKind{whole}, offline, notHere},
	{"socket: operation not permitted", []jailKind{light}, offline, noSockets},
	{"permissionerror: [errno 1] operation not permitted", []jailKind{light}, offline, noSockets},
	{"io_uring", []jailKind{whole, light}, named, "seccomp: %s is refused in the jail"},
	{"fork: resource temporarily unavailable", []jailKind{whole}, named, "limits: %s: too many processes in the jail"},
	{"fork: retry", []jailKind{whole}, named, "limits: %s: too many processes in the jail"},
}

// refusals says what the jail stopped, as far as a failed program's output
// tells: the layer, and the path or host.
func (s *Sandbox) refusals(e tool.Exit, kind jailKind, g tool.Grant, dir string) []string {
	if e.Code == 0 || kind == plain {
		return nil
	}
	v := view{s, g, dir}
	var list []string
	for _, stream := range [][]byte{e.Stderr, e.Stdout} {
		for line := range strings.Lines(string(stream[max(0, len(stream)-refusalWindow):])) {
			words, ok := v.judge(kind, strings.TrimSpace(line))
			if ok && len(list) < mostRefusals && !slices.Contains(list, words) {
				list = append(list, words)
			}
		}
	}
	return list
}

func (v view) judge(kind jailKind, line string) (string, bool) {
	lower := strings.ToLower(line)
	for _, s := range signs {
		if !strings.Contains(lower, s.text) || !slices.Contains(s.jails, kind) {
			continue
		}
		if what, ok := s.finds(v, line); ok {
			return fmt.Sprintf(s.words, what), true
		}
	}
	return "", false
}

// unwritable gives the path of the line, unless it may be written: then it was
// not the jail that refused.
func unwritable(v view, line string) (string, bool) {
	path, ok := pathIn(line)
	if !ok {
		return "a path outside the workspace", true
	}
	real := v.absolute(path)
	for _, root := range slices.Concat(v.s.o.Roots, []string{v.s.o.Temp, v.s.o.Cache}, v.g.Write) {
		if root != "" && inside(real, root) && !v.isGuarded(real) {
			return "", false
		}
	}
	return path, true
}

// guarded gives the path of the line if it is one that jails protect.
func guarded(v view, line string) (string, bool) {
	path, ok := pathIn(line)
	return path, ok && v.isGuarded(v.absolute(path))
}

// isGuarded reports whether path is protected within a writable folder.
func (v view) isGuarded(path string) bool {
	for _, root := range v.s.o.Roots {
		if inside(path, filepath.Join(root, ".git")) || inside(path, filepath.Join(root, ".ikigai")) {
			return true
		}
	}
	return slices.ContainsFunc(v.s.o.Protect, func(p string) bool { return inside(path, p) })
}

// hiddenPath gives the path of the line if it is one that jails hide.
func hiddenPath(v view, line string) (string, bool) {
	path, ok := pathIn(line)
	if !ok {
		return "", false
	}
	real := v.absolute(path)
	return path, slices.ContainsFunc(v.s.o.Hide, func(pattern string) bool {
		match, _ := filepath.Match(pattern, real) // a malformed pattern hides nothing
		return match || inside(real, pattern)
	})
}

// offline gives the host of the line, if the program had no network.
func offline(v view, line string) (string, bool) {
	if v.g.Net {
		return "", false
	}
	if host := hostIn(line); host != "" {
		return host, true
	}
	return "a host", true
}

// named gives the line itself.
func named(_ view, line string) (string, bool) { return line, true }

func (v view) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(v.dir, path)
}

func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// quotes are the marks programs put round a path.
var quotes = [][2]string{{"'", "'"}, {"‘", "’"}, {"\"", "\""}, {"`", "'"}}

// pathIn finds the path a message speaks of: a quoted one, else the first word
// with a slash in it, else what stands before the last colon.
func pathIn(line string) (string, bool) {
	for _, q := range quotes {
		if _, rest, ok := strings.Cut(line, q[0]); ok {
			if path, _, ok := strings.Cut(rest, q[1]); ok && path != "" {
				return path, true
			}
		}
	}
	for _, word := range strings.Fields(line) {
		if word = strings.Trim(word, ":,;()[]"); strings.Contains(word, "/") && !strings.Contains(word, "://") {
			return word, true
		}
	}
	parts := strings.Split(line, ":")
	if len(parts) < 2 {
		return "", false
	}
	words := strings.Fields(parts[len(parts)-2])
	if len(words) == 0 {
		return "", false
	}
	return words[len(words)-1], true
}

// hostMarks are words that stand right before a host.
var hostMarks = []string{"could not resolve host: ", "lookup ", "enotfound ", "eai_again ", "resolve host ", "connect to ", "econnrefused ", "dial tcp ", "ssh: "}

// hostIn finds the host a message speaks of, in quotes or after a mark.
func hostIn(line string) string {
	lower := strings.ToLower(line)
	for _, mark := range hostMarks {
		if _, rest, ok := strings.Cut(lower, mark); ok {
			if words := strings.Fields(rest); len(words) > 0 && strings.ContainsAny(words[0], ".:") || len(words) > 0 && words[0] == "localhost" {
				return strings.Trim(words[0], "'\"‘’:,;()")
			}
			if _, host, ok := strings.Cut(rest, "hostname "); ok {
				return strings.Trim(strings.Fields(host + " ?")[0], "'\"‘’:,;()")
			}
		}
	}
	for _, q := range quotes {
		if _, rest, ok := strings.Cut(line, q[0]); ok {
			if host, _, ok := strings.Cut(rest, q[1]); ok && strings.ContainsAny(host, ".:") && !strings.ContainsAny(host, " ") {
				return host
			}
		}
	}
	return ""
}
