package law

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// words are literals that are spelt like a tool and mean something else: where,
// which, and what it is there.
var words = map[[2]string]string{
	{"internal/app", "bash"}:             "a shell whose words are completed",
	{"internal/export", "bash"}:          "a language of code blocks",
	{"internal/shell", "grep"}:           "a program, and a section of git's settings",
	{"internal/shell", "ls"}:             "a word of several programs",
	{"internal/provider/demo", "glob"}:   "a word that the demo looks for in what tools say of themselves",
	{"internal/store/storetest", "grep"}: "a made-up event: no tool is meant to be there",
	{"internal/toolkit", "file_read"}:    "the requirements (G12) fix that line word for word",
}

// What knows a tool's name, other than its own folder, is a bug: the tool could
// not be renamed, left out or offered under another name.
func TestNobodyKnowsAToolByItsName(t *testing.T) {
	names, used := toolNames(t), map[[2]string]bool{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		if fits("internal/tools/...", pkg) {
			return
		}
		for _, known := range namesIn(f, names) {
			at := [2]string{pkg, known}
			if used[at] = true; words[at] == "" {
				t.Errorf("%s knows the tool %s by its name: say what is wanted of it, or give it a word in internal/tool", name, known)
			}
		}
	})
	for at := range words {
		if !used[at] {
			t.Errorf("%s no longer says %q: take it out of the table", at[0], at[1])
		}
	}
}

// toolNames are the folders of internal/tools that hold a tool.
func toolNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "internal", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && e.Name() != "testdata" {
			names = append(names, e.Name())
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d tools: %v", len(names), names)
	}
	return names
}

// namesIn are the tools that literals of a file name: as a whole, or, where no
// word of a language is spelt like that, in the middle of a text.
func namesIn(f *ast.File, names []string) []string {
	whole := map[string]bool{}
	var long []string
	for _, n := range names {
		whole[n] = true
		if strings.Contains(n, "_") {
			long = append(long, n)
		}
	}
	inside := regexp.MustCompile(`\b(` + strings.Join(long, "|") + `)\b`)
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(l.Value) // it was parsed
		if whole[text] {
			found = append(found, text)
			return true
		}
		found = append(found, inside.FindAllString(text, -1)...)
		return true
	})
	return found
}

func TestANameInALiteralIsNoticed(t *testing.T) {
	for text, want := range map[string]string{
		`"ls"`: "ls", "`ls`": "ls", `"ls -l"`: "", `"lsof"`: "", `"file_read"`: "file_read",
		`"read it with file_read first"`: "file_read", `"profile_reader"`: "", `"file_read, then job_kill"`: "file_read job_kill",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\nconst a = "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(namesIn(f, []string{"ls", "file_read", "job_kill"}), " "); got != want {
			t.Errorf("in %s it finds %q, want %q", text, got, want)
		}
	}
}
