package files

import (
	_ "embed"
	"encoding/base64"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ikigai/internal/corpus"
	"ikigai/internal/tool"
)

//go:embed testdata/path_confinement.jsonl
var confinement []byte // a plain user, as which the test runs again, may be unable to read the file

// A row is one case of the corpus.
type row struct {
	ID, Reason string
	Op         string
	Path       string
	PathB64    string `json:"path_b64"`
	PathGz     string `json:"path_gz_b64"`
	Setup      []map[string]string
	Expect     string
	AlsoOK     []string `json:"also_ok"`
	Check      string
	MaxMS      int  `json:"max_ms"`
	SkipAsRoot bool `json:"skip_as_root"`
}

func rows(tb testing.TB) []row {
	tb.Helper()
	all := corpus.Parse[row](tb, confinement)
	for i, r := range all {
		all[i].Path = string(corpus.Value(tb, r.Path, r.PathB64, r.PathGz))
	}
	return all
}

// A stage is a temp folder with a workspace and an outside.
type stage struct {
	tb      testing.TB
	tmp     string
	replace *strings.Replacer
}

func newStage(tb testing.TB) stage {
	tb.Helper()
	tmp, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := stage{tb: tb, tmp: tmp}
	s.replace = strings.NewReplacer("{TMP}", tmp, "{WS}", s.ws(), "{OUT}", s.out())
	for _, d := range []string{s.ws(), s.out()} {
		s.must(os.Mkdir(d, 0o755))
	}
	return s
}

func (s stage) ws() string  { return filepath.Join(s.tmp, "ws") }
func (s stage) out() string { return filepath.Join(s.tmp, "out") }

func (s stage) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

func (s stage) open() *Roots {
	s.tb.Helper()
	r, err := Open(s.ws())
	s.must(err)
	s.tb.Cleanup(func() { r.Close() })
	return r
}

// file, link: names are relative to the workspace unless they begin with a placeholder.
func (s stage) path(name string) string {
	if strings.HasPrefix(name, "{") {
		return s.replace.Replace(name)
	}
	return s.ws() + "/" + name
}

func (s stage) file(name, content string) {
	s.tb.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(content), 0o644))
}

func (s stage) dir(name string) { s.tb.Helper(); s.must(os.MkdirAll(s.path(name), 0o755)) }

func (s stage) link(name, to string) {
	s.tb.Helper()
	s.must(os.Symlink(s.replace.Replace(to), s.path(name)))
}

func (s stage) step(do map[string]string) {
	s.tb.Helper()
	for what, name := range do {
		switch what {
		case "file":
			s.file(name, do["content"])
		case "file_b64":
			raw, err := base64.StdEncoding.DecodeString(name)
			s.must(err)
			s.file(string(raw), do["content"])
		case "dir":
			s.dir(name)
		case "symlink":
			s.link(name, do["to"])
		case "hardlink":
			s.must(os.Link(s.path(do["to"]), s.path(name)))
		case "fifo":
			s.must(mkfifo(s.path(name)))
		case "socket":
			l, err := net.Listen("unix", s.path(name))
			s.must(err)
			s.tb.Cleanup(func() { l.Close() })
		case "chmod":
			mode, err := strconv.ParseUint(do["mode"], 8, 32)
			s.must(err)
			s.must(os.Chmod(s.path(name), fs.FileMode(mode)))
			s.tb.Cleanup(func() { os.Chmod(s.path(name), 0o755) })
		case "content", "to", "mode":
		default:
			s.tb.Fatalf("unknown setup step %q", what)
		}
	}
}

// outside is everything in the temp folder that is not the workspace.
func (s stage) outside() map[string]string {
	s.tb.Helper()
	seen := map[string]string{}
	s.must(filepath.WalkDir(s.tmp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.ws() {
			return fs.SkipDir
		}
		content := d.Type().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			s.must(err)
			content += string(data)
		}
		seen[path] = content
		return nil
	}))
	return seen
}

// perform does an operation of the corpus; what was read is returned.
func perform(r tool.Files, op, path string) (string, error) {
	switch op {
	case "read":
		data, _, err := r.ReadFile(path)
		return string(data), err
	case "write":
		return "", r.WriteFile(path, []byte("written by ikigai"), tool.Stamp{})
	case "list":
		list, err := r.ReadDir(path)
		var names []string
		for _, e := range list {
			names = append(names, e.Name())
		}
		return strings.Join(names, "\n"), err
	case "mkdir":
		return "", r.Mkdir(path)
	}
	panic("unknown operation " + op)
}

func TestPathConfinementCorpus(t *testing.T) {
	var exact, accepted, skipped int
	for _, c := range rows(t) {
		t.Run(c.ID, func(t *testing.T) {
			if c.SkipAsRoot && os.Geteuid() == 0 {
				skipped++
				t.Skip("needs a plain user")
			}
			s := newStage(t)
			for _, do := range c.Setup {
				s.step(do)
			}
			r := s.open()
			before := s.outside()
			start := time.Now()
			got, err := perform(r, c.Op, s.replace.Replace(c.Path))
			took := time.Since(start)
			answer := Outcome(err)
			switch {
			case answer == c.Expect:
				exact++
			case slices.Contains(c.AlsoOK, answer):
				accepted++
				t.Logf("%s instead of %s is accepted (%s)", answer, c.Expect, c.Reason)
			default:
				t.Errorf("%s %.80q is %s, want %s: %s; error: %v", c.Op, c.Path, answer, c.Expect, c.Reason, err)
			}
			if strings.Contains(got, "secret") {
				t.Errorf("SAFETY: read a secret")
			}
			if after := s.outside(); !equal(before, after) {
				t.Errorf("SAFETY: the outside changed")
			}
			if c.MaxMS > 0 && took > time.Duration(c.MaxMS)*time.Millisecond {
				t.Errorf("took %s", took) // a bound of the corpus against waiting for ever, not a measurement
			}
		})
	}
	t.Logf("uid %d: %d exact, %d accepted, %d skipped of %d", os.Geteuid(), exact, accepted, skipped, len(rows(t)))
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}
