// Package law holds the house together: which package may import which, how
// deep the house may be, and what must stand in the tables and the papers.
package law

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "ikigai/"

// A rule says what of ours a package may import, and why no more. A name that
// ends in /... stands for all below it.
type rule struct {
	pkg   string
	may   []string
	cause string
}

var craft = []string{"internal/files", "internal/walk", "internal/search", "internal/diff", "internal/edit", "internal/clean", "internal/address", "internal/spell"}

// rules is the law. The first rule that fits a package holds.
var rules = []rule{
	// WORDS: everyone speaks them, so they depend on nobody.
	{"internal/spell", nil, "a word of its own"},
	{"internal/schema", nil, "the lowest word"},
	{"internal/tool", []string{"internal/schema", "internal/spell"}, "what a tool is must be sayable without any part of the house"},
	{"internal/convo", []string{"internal/tool"}, "what happened is told in words only"},

	// RULES: decide, and touch nothing.
	{"internal/llm", []string{"internal/convo", "internal/tool"}, "a model is known without any wire format"},
	{"internal/shell", nil, "a command line is judged by its text alone"},
	{"internal/permit", []string{"internal/shell", "internal/tool", "internal/convo"}, "a verdict depends on words and the shell line only, so it is the same everywhere"},
	{"internal/turn", []string{"internal/convo", "internal/tool"}, "the machine is pure"},
	{"internal/store", []string{"internal/convo"}, "what keeping means is no store"},
	{"internal/bus", []string{"internal/convo"}, "it carries events and knows none of them"},
	{"internal/window", []string{"internal/convo", "internal/llm", "internal/tool"}, "what fits is decided without asking anyone"},

	// ENGINE
	{
		"internal/agent",
		[]string{"internal/bus", "internal/convo", "internal/llm", "internal/permit", "internal/store", "internal/tool", "internal/turn", "internal/window"},
		"the engine knows no adapter, no face and no setting: they are handed to it",
	},

	// CRAFT: small skills.
	{"internal/files", []string{"internal/tool"}, "a skill on words"},
	{"internal/walk", nil, "a skill on the standard library"},
	{"internal/search", []string{"internal/walk"}, "searching is walking with a question"},
	{"internal/diff", []string{"internal/tool"}, "a skill on words"},
	{"internal/edit", []string{"internal/tool"}, "a skill on words"},
	{"internal/jobs", []string{"internal/tool"}, "it starts nothing itself: the way to start is given to it"},
	{"internal/secret", nil, "a skill on the standard library"},
	{"internal/clean", nil, "a skill on the standard library"},
	{"internal/address", []string{"internal/tool"}, "a skill on words"},

	// ADAPTERS: never one another, so each can be read and replaced alone.
	{"internal/dialect", []string{"internal/llm", "internal/convo", "internal/tool", "internal/schema"}, "what a wire format is knows no format"},
	{"internal/dialect/...", []string{"internal/dialect/...", "internal/llm", "internal/convo", "internal/tool", "internal/schema"}, "a format knows the words, never the network"},
	{"internal/provider/demo", []string{"internal/llm", "internal/convo", "internal/tool"}, "the demo is a model like any other"},
	{"internal/provider", []string{"internal/dialect/...", "internal/llm", "internal/convo", "internal/tool", "internal/schema", "internal/spell"}, "the network under the formats"},
	{"internal/store/...", []string{"internal/store/...", "internal/convo", "internal/tool"}, "a store keeps events and nothing else"},
	{"internal/policy", []string{"internal/permit"}, "it keeps rules and judges nothing"},
	{"internal/trust", nil, "it remembers folders and content"},
	{"internal/stats", []string{"internal/convo", "internal/tool"}, "numbers come from events alone"},
	{"internal/export", []string{"internal/convo", "internal/tool", "internal/view", "internal/diff", "internal/clean"}, "a face that writes a file"},
	{"internal/instruct", []string{"internal/clean"}, "it reads a few files"},
	{"internal/snapshot", []string{"internal/tool", "internal/walk", "internal/diff"}, "the workspace as it was"},
	{"internal/sandbox/...", []string{"internal/sandbox/...", "internal/tool"}, "the one place that starts processes depends on words alone"},
	{"internal/toolkit", []string{"internal/tool", "internal/schema"}, "authors of tools need no more"},
	{"internal/external", []string{"internal/tool", "internal/schema", "internal/toolkit"}, "confinement is a function given to it"},
	{"internal/tools", []string{"internal/tools/...", "internal/tool", "internal/toolkit", "internal/schema"}, "the table of built-in tools"},
	{"internal/tools/...", append([]string{"internal/tools/...", "internal/toolkit", "internal/tool", "internal/schema"}, craft...), "a tool is its own folder and skills"},

	// FACES: readers of the stream.
	{"internal/view", []string{"internal/convo", "internal/tool", "internal/clean"}, "whatever it returns is safe to draw: clean is its one skill"},
	{"internal/command", []string{"internal/agent", "internal/convo", "internal/tool", "internal/permit", "internal/view", "internal/spell", "internal/store", "internal/clean"}, "a command asks the session, never an adapter"},
	{"internal/headless", []string{"internal/agent", "internal/convo", "internal/tool", "internal/permit", "internal/view", "internal/clean"}, "a face knows two verbs and the words"},
	{"internal/tui/...", []string{"internal/tui/...", "internal/agent", "internal/convo", "internal/tool", "internal/permit", "internal/view", "internal/command", "internal/clean", "internal/diff", "internal/spell"}, "a face knows two verbs and the words"},

	// WIRING
	{"internal/config", []string{"internal/spell"}, "only app reads settings: every other part gets options of its own"},
	{"internal/app", []string{"..."}, "it builds the house"},
	{"cmd/...", []string{"..."}, "mains"},

	// FOR TESTS
	{"internal/bench", nil, "it writes down numbers and knows no workload"},
	{"internal/corpus", nil, "it reads rows and knows none of them"},
	{"internal/fake", nil, "it stands behind the wire, so it knows only bytes"},
	{"internal/law", nil, "it reads the tree"},
}

// longest is the longest chain of imports the house allows: cmd, app, tui,
// command, agent, turn, llm, convo, tool, schema.
const longest = 9

func TestImportsFollowTheLaw(t *testing.T) {
	for pkg, imports := range tree(t) {
		r, ok := ruleOf(pkg)
		if !ok {
			t.Errorf("%s is not in the law: give it a rule and a reason", pkg)
			continue
		}
		for _, imp := range imports {
			if !slices.ContainsFunc(r.may, func(m string) bool { return fits(m, imp) }) {
				t.Errorf("%s imports %s: %s", pkg, imp, r.cause)
			}
		}
	}
}

func TestSettingsStayInTheWiring(t *testing.T) {
	for pkg, imports := range tree(t) {
		if pkg != "internal/app" && slices.Contains(imports, "internal/config") {
			t.Errorf("%s imports the settings: hand it a small options struct", pkg)
		}
	}
}

func TestTheHouseIsNotDeep(t *testing.T) {
	all := tree(t)
	depth := map[string][]string{}
	var chain func(string) []string
	chain = func(pkg string) []string {
		if c, ok := depth[pkg]; ok {
			return c
		}
		var deepest []string
		for _, imp := range all[pkg] {
			if c := chain(imp); len(c) > len(deepest) {
				deepest = c
			}
		}
		depth[pkg] = append([]string{pkg}, deepest...)
		return depth[pkg]
	}
	for pkg := range all {
		if c := chain(pkg); len(c)-1 > longest {
			t.Errorf("a chain of %d imports, at most %d: %s", len(c)-1, longest, strings.Join(c, " -> "))
		}
	}
}

func TestNoPackageSaysNothing(t *testing.T) {
	empty := []string{"util", "utils", "common", "helpers", "types", "core", "api", "spi", "misc", "shared"}
	for pkg := range tree(t) {
		if slices.Contains(empty, path.Base(pkg)) {
			t.Errorf("%s: that name says nothing", pkg)
		}
	}
}

// starters are the ways to start a process. One package may use them.
var starters = map[string][]string{
	"os/exec":               {"Command", "CommandContext", "Cmd"},
	"os":                    {"StartProcess"},
	"syscall":               {"ForkExec", "StartProcess", "Exec"},
	"golang.org/x/sys/unix": {"ForkExec", "Exec"},
}

// mayStart are the packages that start processes: the sandbox, and suites that
// only tests link.
var mayStart = []string{"internal/sandbox/...", "internal/store/storetest/..."}

func TestOnlyTheSandboxStartsProcesses(t *testing.T) {
	eachFile(t, func(pkg, name string, f *ast.File) {
		if slices.ContainsFunc(mayStart, func(p string) bool { return fits(p, pkg) }) {
			return
		}
		names := importNames(f)
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(starters[names[x.Name]], s.Sel.Name) {
				t.Errorf("%s uses %s.%s: sandbox.Start is the one way to start a process", name, x.Name, s.Sel.Name)
			}
			return true
		})
	})
}

func TestNothingRunsAtPackageLevel(t *testing.T) {
	eachFile(t, func(_, name string, f *ast.File) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					t.Errorf("%s has an init function", name)
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR && compiles(d) {
					t.Errorf("%s compiles a regular expression at package level: use sync.OnceValue", name)
				}
			}
		}
	})
}

// compiles reports a regexp.MustCompile that runs when the package is loaded.
func compiles(d *ast.GenDecl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, _ := s.X.(*ast.Ident)
			found = found || x != nil && x.Name == "regexp" && strings.HasPrefix(s.Sel.Name, "MustCompile")
		}
		return true
	})
	return found
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	said := map[string]bool{}
	eachFile(t, func(pkg, _ string, f *ast.File) { said[pkg] = said[pkg] || f.Doc != nil })
	for pkg, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

func TestThePapersNameEveryPackage(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			listed[name] = true
		}
	}
	all := tree(t)
	for pkg := range all {
		name := strings.TrimPrefix(pkg, "internal/")
		if strings.HasPrefix(name, "tools/") {
			continue // one row speaks for all tools
		}
		if !listed[name] {
			t.Errorf("docs/packages.md has no row for %s", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/packages.md has a row for %s, which does not exist", name)
	}
}

func ruleOf(pkg string) (rule, bool) {
	for _, r := range rules {
		if fits(r.pkg, pkg) {
			return r, true
		}
	}
	return rule{}, false
}

func fits(pattern, pkg string) bool {
	if pattern == "..." || pattern == pkg {
		return true
	}
	prefix, wild := strings.CutSuffix(pattern, "/...")
	return wild && (pkg == prefix || strings.HasPrefix(pkg, prefix+"/"))
}

const root = "../.."

// tree is every package of ours and what of ours it imports, tests apart.
func tree(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	eachFile(t, func(pkg, _ string, f *ast.File) {
		all[pkg] = append(all[pkg], nil...)
		for _, imp := range f.Imports {
			if name, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); ours && !slices.Contains(all[pkg], name) {
				all[pkg] = append(all[pkg], name)
			}
		}
		if all[pkg] == nil {
			all[pkg] = []string{}
		}
	})
	return all
}

// eachFile reads every Go file of ours that is no test.
func eachFile(t *testing.T, do func(pkg, name string, f *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return skip(err)
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(name))
			do(filepath.ToSlash(rel), name, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func skip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// importNames maps the names used in a file to import paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, imp := range f.Imports {
		p := strings.Trim(imp.Path.Value, `"`)
		name := path.Base(p)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = p
	}
	return names
}
