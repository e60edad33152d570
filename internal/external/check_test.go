package external

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

// broken are the rules that the tool at path breaks, the first words of why with them.
func (b *bench) broken(path string, o Options) (rules []string) {
	b.t.Helper()
	for _, f := range Check(b.t.Context(), path, o) {
		if f.Why == "" {
			b.t.Errorf("%s says nothing", f.Rule)
		}
		if !f.OK {
			rules = append(rules, f.Rule)
			b.t.Logf("%s", f)
		}
	}
	return rules
}

const errorAnswer = `cat >/dev/null; echo '{"error":"no","error_code":"INVALID_PARAMS"}'`

func TestCheckNamesTheRuleThatIsBroken(t *testing.T) {
	t.Parallel()
	needy := `{"name":"needy","description":"d","parameters":{"x":{"type":"string","required":true}}}`
	all := []string{"file", "owner", "schema", "object", "fields", "name", "stable", "broken", "empty"}
	for _, c := range []struct {
		name, script string
		mode         os.FileMode
		want         []string
	}{
		{"good", sh("good", "", errorAnswer), 0o755, nil},
		{"plain", sh("plain", "", errorAnswer), 0o644, all},
		{"bad.name", sh("bad.name", "", errorAnswer), 0o755, all},
		{"shared", sh("shared", "", errorAnswer), 0o777, all[1:]},
		{"fails", "#!/bin/sh\nexit 3\n", 0o755, all[2:]},
		{"hangs", "#!/bin/sh\nexec sleep 60\n", 0o755, all[2:]},
		{"noisy", "#!/bin/sh\necho hello; echo '{}'\n", 0o755, all[3:]},
		{"bare", sh("", `{"name":"bare"}`, errorAnswer), 0o755, all[4:]},
		{"poser", sh("other", "", errorAnswer), 0o755, []string{"name"}},
		{"fickle", "#!/bin/sh\n[ \"$1\" ] && echo '{\"name\":\"fickle\",\"description\":\"'$$'\",\"parameters\":{}}' || { " + errorAnswer + "; }\n", 0o755, []string{"stable"}},
		{"deaf", sh("deaf", "", `echo '{"output":"fine"}'`), 0o755, []string{"broken"}},
		{"needy", sh("", needy, `grep -q not && { `+errorAnswer+`; } || echo '{}'`), 0o755, []string{"empty"}},
		{"crashes", sh("crashes", "", "exit 1"), 0o755, []string{"broken", "empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Off)
			path := b.put(c.name, c.script)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			o := b.options()
			if c.name == "hangs" {
				o = b.hasty()
			}
			if got := b.broken(path, o); !slices.Equal(got, c.want) {
				t.Errorf("broken %v, want %v", got, c.want)
			}
		})
	}
}

func TestEveryRuleIsInTheDocument(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "tool-protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	b := newBench(t, sandbox.Off)
	findings := Check(t.Context(), b.put("x", ""), b.options())
	for _, f := range findings {
		if !strings.Contains(page, "| `"+f.Rule+"` |") {
			t.Errorf("the rule %s is not in the document", f.Rule)
		}
	}
	_, rules, _ := strings.Cut(page, "## The rules")
	rules, _, _ = strings.Cut(rules, "\n## ")
	if n := strings.Count(rules, "\n| `"); n != len(findings) {
		t.Errorf("the document has %d rules, Check %d", n, len(findings))
	}
	for _, word := range []string{
		SchemaTimeout, SchemaInvalid, NameMismatch, NotExecutable, NotAFile, SpawnFailed, UnsafePermissions, IgnoredName,
		string(tool.ToolTimeout), string(tool.ToolCrashed), string(tool.InvalidJSONOutput), string(tool.OutputTooLarge),
	} {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("%s is not in the document", word)
		}
	}
}

// TestTheToolInTheDocumentPasses follows the page as an author would.
func TestTheToolInTheDocumentPasses(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "tool-protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(raw), "```python\n")
	source, _, _ = strings.Cut(source, "```")
	b := newBench(t, sandbox.Auto)
	if got := b.broken(b.put("word_count.py", source), b.options()); len(got) != 0 {
		t.Errorf("broken: %v", got)
	}
	if r := b.call(b.only(b.options()), `{"text":"one two three"}`); string(r.Envelope()) != `{"tool_success":true,"result":{"words":3}}` {
		t.Errorf("%s", r.Envelope())
	}
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
}

func TestTemplatesPassAndWork(t *testing.T) {
	t.Parallel()
	for lang, program := range map[string]string{"sh": "jq", "python": "python3", "go": "go"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, program)
			made, err := New("my_tool", lang)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, sandbox.Auto)
			path := filepath.Join(b.tools, made.File)
			if err := writeProgram(path, made.Source, made.Mode); err != nil {
				t.Fatal(err)
			}
			if made.Build != nil {
				build := exec.Command(made.Build[0], made.Build[1:]...)
				build.Dir = b.tools
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				path = filepath.Join(b.tools, "my_tool")
			}
			if got := b.broken(path, b.options()); len(got) != 0 {
				t.Errorf("broken: %v", got)
			}
			r := b.call(b.only(b.options()), `{"text":"one \"two\"\nthree é\n"}`)
			if !sameJSON(r.Data, []byte(`{"lines":2,"words":4,"bytes":19}`)) {
				t.Errorf("%s", r.Envelope())
			}
		})
	}
	for _, c := range [][2]string{{"my_tool", "cobol"}, {"my tool", "sh"}, {"", "go"}, {"a/b", "sh"}, {"$(x)", "sh"}} {
		if _, err := New(c[0], c[1]); err == nil {
			t.Errorf("made %q in %q", c[0], c[1])
		}
	}
}

func TestExamplesPassAndWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		needs      []string
		args, want string
	}{
		{"git_hotspots", "git_hotspots", []string{"jq", "git"}, `{"limit":1}`, `{"files":[{"path":"b \"q\".txt","commits":2}],"count":1}`},
		{"csv_summary", "csv_summary.py", []string{"python3"}, `{"path":"t.csv"}`, `{"rows":2,"columns":[{"name": "a", "kind": "number"`},
		{"go_outline", "go_outline", []string{"go"}, `{"path":"x.go"}`, `func F(a, b int) (string, error)  // F adds.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needs(t, c.needs...)
			b := newBench(t, sandbox.Auto)
			path := filepath.Join(b.tools, c.file)
			install(t, filepath.Join("..", "..", "examples", "tools", c.file), path)
			if got := b.broken(path, b.options()); len(got) != 0 {
				t.Errorf("broken: %v", got)
			}
			furnish(t, b.place.Files.Dir())
			r := b.call(b.only(b.options()), c.args)
			if !strings.Contains(string(r.Data), c.want) {
				t.Errorf("%s", r.Envelope())
			}
			bad := b.call(b.only(b.options()), strings.Replace(c.args, `.`, `-missing.`, 1))
			if strings.Contains(c.args, "path") && bad.Code() != tool.FileNotFound {
				t.Errorf("%s", bad.Envelope())
			}
		})
	}
}

// install copies a script, or builds a folder of Go source.
func install(t *testing.T, from, to string) {
	t.Helper()
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		if out, err := exec.Command("go", "build", "-o", to, "./"+filepath.ToSlash(from)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeProgram(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// furnish fills a workspace with something to look at.
func furnish(t *testing.T, dir string) {
	t.Helper()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("t.csv", "a,b\n1,x\n2,\n")
	write("x.go", "package x\n\n// F adds.\nfunc F(a, b int) (string, error) { return \"\", nil }\n")
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	git("init", "-q")
	for _, text := range []string{"one", "two"} {
		write(`b "q".txt`, text)
		git("add", "-A")
		git("commit", "-q", "-m", text)
	}
}
